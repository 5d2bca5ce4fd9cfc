//! What is derived from messages: the outline, the full-text index, and which values are blobs. A session that an older Pleat stored, or whose
//! derived data are of an older version, has them made anew when the store is opened.

use super::session::{self, SessionRow};
use super::sql::{Row, Sql, owned_values, values};
use super::{call, change, outline, part, search_index};
use crate::failure::Failure;
use pleat_transcript::ids::SessionId;

/// The version of what is derived; a session with another one is brought up to date.
pub(crate) const VERSION: i64 = 1;

/// Sessions whose derived data are of another version, at most so many.
pub(crate) async fn outdated<S: Sql>(sql: &S, limit: i64) -> Result<Vec<SessionId>, Failure> {
    let statement = "SELECT id FROM session WHERE derived < $1 ORDER BY derived, key LIMIT $2";
    let rows = sql.query(statement, values![VERSION, limit]).await?;
    rows.into_iter().map(|mut row: Row| row.id(SessionId::new)).collect()
}

/// Makes what is derived of a session anew.
pub(crate) async fn rebuild<S: Sql>(sql: &S, id: &SessionId) -> Result<(), Failure> {
    let session = session::lock(sql, id).await?;
    call::move_large_values(sql, &session).await?;
    part::move_large_media(sql, &session).await?;
    let document = change::read(sql, &session).await?;
    outline::rebuild(sql, &session, &document).await?;
    mark_all(sql, &session).await?;
    search_index::index_all(sql, &session).await?;
    sql.post("UPDATE session SET derived = $1 WHERE key = $2", owned_values![VERSION, session.key]).await
}

/// Makes everything wait for the full-text index, which knows what of it is searched.
async fn mark_all<S: Sql>(sql: &S, session: &SessionRow) -> Result<(), Failure> {
    let statement = "UPDATE message SET unindexed = $1 WHERE session = $2";
    sql.post(statement, owned_values![true, session.key]).await?;
    let statement = "UPDATE part SET unindexed = $1 WHERE message IN (SELECT key FROM message WHERE session = $2)";
    sql.post(statement, owned_values![true, session.key]).await
}

//! Lists of sessions.

use super::session::SessionRow;
use super::sql::{Sql, values};
use crate::failure::Failure;
use crate::{SessionCursor, SessionListing};
use pleat_transcript::ids::SessionId;
use pleat_transcript::session::TurnState;

macro_rules! listing {
    ($end:literal) => {
        concat!(
            "SELECT id, title, agent, root, updated_at, \
             (SELECT turn.state FROM turn WHERE turn.session = session.key ORDER BY turn.seq DESC LIMIT 1), \
             live_turn IS NOT NULL, EXISTS (SELECT 1 FROM permission WHERE permission.session = session.key \
             AND permission.state = 'open'), (SELECT count(*) FROM prompt WHERE prompt.session = session.key \
             AND prompt.ended = 0), last_words FROM session ",
            $end
        )
    };
}

pub(crate) const FIRST_PAGE: &str = listing!("ORDER BY updated_at DESC, key DESC LIMIT $1");

pub(crate) const LATER_PAGE: &str = listing!(
    "WHERE (updated_at, key) < ($1, (SELECT before.key FROM session AS before WHERE before.id = $2)) \
     ORDER BY updated_at DESC, key DESC LIMIT $3"
);

/// Sessions for the list, newest activity first: those after the cursor's.
pub(crate) async fn page<S: Sql>(
    sql: &S,
    after: Option<&SessionCursor>,
    limit: usize,
) -> Result<Vec<SessionListing>, Failure> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = match after {
        None => sql.query(FIRST_PAGE, values![limit]).await?,
        Some(after) => sql.query(LATER_PAGE, values![after.updated_at, after.id.as_str(), limit]).await?,
    };
    let listing = |mut row: super::sql::Row| {
        Ok(SessionListing {
            id: row.id(SessionId::new)?,
            title: row.optional_text()?,
            agent: row.optional_text()?,
            root: row.optional_text()?,
            updated_at: row.integer()?,
            last_turn: row.optional_word(&TurnState::WORDS)?,
            live: row.boolean()?,
            needs_person: row.boolean()?,
            waiting: row.count()?,
            last_words: row.optional_text()?,
        })
    };
    rows.into_iter().map(listing).collect()
}

/// The keys of sessions in which something is open. A call that is open because its turn was running is found by its turn.
macro_rules! open_sessions {
    () => {
        "(SELECT key FROM session WHERE live_turn IS NOT NULL \
         UNION SELECT session FROM turn WHERE state IN ('queued', 'running') \
         UNION SELECT session FROM permission WHERE state = 'open')"
    };
}

/// Sessions in which something is open, oldest first.
pub(crate) async fn open<S: Sql>(sql: &S) -> Result<Vec<SessionId>, Failure> {
    let statement = concat!("SELECT id FROM session WHERE key IN ", open_sessions!(), " ORDER BY key");
    sql.query(statement, values![]).await?.into_iter().map(|mut row| row.id(SessionId::new)).collect()
}

/// Whether something is open in a session.
pub(crate) async fn is_open<S: Sql>(sql: &S, session: &SessionRow) -> Result<bool, Failure> {
    let statement = concat!("SELECT 1 FROM session WHERE key = $1 AND key IN ", open_sessions!());
    Ok(!sql.query(statement, values![session.key]).await?.is_empty())
}

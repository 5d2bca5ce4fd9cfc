//! Rows of permission requests: all that were asked about a call; the document shows the newest.

use super::session::SessionRow;
use super::sql::{Row, Sql, array_text, object_text, owned_values, values};
use crate::failure::Failure;
use pleat_transcript::call::{Permission, PermissionState};
use pleat_transcript::ids::PermissionId;

/// How many columns [`from_row`] reads after the first, which tells whether there is a request.
const COLUMNS: usize = 7;

/// Reads the columns that `call_columns!` ends with.
pub(crate) fn from_row(row: &mut Row) -> Result<Option<Permission>, Failure> {
    if !row.boolean()? {
        row.skip(COLUMNS);
        return Ok(None);
    }
    Ok(Some(Permission {
        request: row.optional_id(PermissionId::new)?,
        options: row.array()?,
        chosen: row.optional_text()?,
        by: row.optional_text()?,
        at: row.optional_integer()?,
        state: row.optional_word(&PermissionState::WORDS)?,
        extra: row.object()?,
    }))
}

/// Stores a request after all others of its call.
pub(crate) async fn insert<S: Sql>(
    sql: &S,
    session: &SessionRow,
    call: i64,
    asked: &Permission,
) -> Result<(), Failure> {
    let statement = "INSERT INTO permission (session, call, request, options, chosen, by, at, state, extra) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    sql.post(
        statement,
        owned_values![
            session.key,
            call,
            asked.request.as_ref().map(PermissionId::as_str),
            array_text(&asked.options)?,
            &asked.chosen,
            &asked.by,
            asked.at,
            asked.state.map(PermissionState::word),
            object_text(&asked.extra)?,
        ],
    )
    .await
}

/// Makes a request a call's newest, or updates the newest where it is the same; tells whether that altered something.
pub(crate) async fn set<S: Sql>(sql: &S, session: &SessionRow, call: i64, asked: &Permission) -> Result<bool, Failure> {
    match newest(sql, call).await? {
        Some((_, stored)) if stored == *asked => return Ok(false),
        Some((key, stored)) if stored.request == asked.request => update(sql, key, asked).await?,
        Some((key, _)) => {
            // A request that another one replaced is not asked any more.
            expire(sql, key).await?;
            insert(sql, session, call, asked).await?;
        }
        None => insert(sql, session, call, asked).await?,
    }
    Ok(true)
}

async fn newest<S: Sql>(sql: &S, call: i64) -> Result<Option<(i64, Permission)>, Failure> {
    let statement = "SELECT key, key IS NOT NULL, request, options, chosen, by, at, state, extra FROM permission \
         WHERE call = $1 ORDER BY key DESC LIMIT 1";
    let Some(mut row) = sql.query(statement, values![call]).await?.into_iter().next() else { return Ok(None) };
    let key = row.integer()?;
    Ok(from_row(&mut row)?.map(|asked| (key, asked)))
}

async fn update<S: Sql>(sql: &S, key: i64, asked: &Permission) -> Result<(), Failure> {
    let statement = "UPDATE permission SET options = $1, chosen = $2, by = $3, at = $4, state = $5, extra = $6 \
         WHERE key = $7";
    sql.post(
        statement,
        owned_values![
            array_text(&asked.options)?,
            &asked.chosen,
            &asked.by,
            asked.at,
            asked.state.map(PermissionState::word),
            object_text(&asked.extra)?,
            key,
        ],
    )
    .await
}

async fn expire<S: Sql>(sql: &S, key: i64) -> Result<(), Failure> {
    sql.post("UPDATE permission SET state = 'expired' WHERE key = $1 AND state = 'open'", owned_values![key]).await
}

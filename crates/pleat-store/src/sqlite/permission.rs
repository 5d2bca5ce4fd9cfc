//! Rows of permission requests: all that were asked about a call; the document shows the newest.

use super::failure::Failure;
use super::session::SessionRow;
use super::value::{Columns, array_text, object_text};
use pleat_transcript::call::{Permission, PermissionState};
use pleat_transcript::ids::PermissionId;
use rusqlite::{Connection, params};

/// How many columns [`from_columns`] reads after the first, which tells whether there is a request.
const COLUMNS: usize = 7;

/// Reads the columns that `call_columns!` ends with.
pub(super) fn from_columns(columns: &mut Columns<'_, '_>) -> Result<Option<Permission>, Failure> {
    if !columns.take::<bool>()? {
        columns.skip(COLUMNS);
        return Ok(None);
    }
    Ok(Some(Permission {
        request: columns.optional_id(PermissionId::new)?,
        options: columns.array()?,
        chosen: columns.take()?,
        by: columns.take()?,
        at: columns.take()?,
        state: columns.optional_word(&PermissionState::WORDS)?,
        extra: columns.object()?,
    }))
}

/// Stores a request after all others of its call.
pub(super) fn insert(
    connection: &Connection,
    session: &SessionRow,
    call: i64,
    asked: &Permission,
) -> Result<(), Failure> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO permission (session, call, request, options, chosen, by, at, state, extra) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?;
    statement.execute(params![
        session.key,
        call,
        asked.request.as_ref().map(PermissionId::as_str),
        array_text(&asked.options)?,
        asked.chosen,
        asked.by,
        asked.at,
        asked.state.map(PermissionState::word),
        object_text(&asked.extra)?,
    ])?;
    Ok(())
}

/// Makes a request a call's newest, or updates the newest where it is the same; tells whether that altered something.
pub(super) fn set(
    connection: &Connection,
    session: &SessionRow,
    call: i64,
    asked: &Permission,
) -> Result<bool, Failure> {
    match newest(connection, call)? {
        Some((_, stored)) if stored == *asked => Ok(false),
        Some((key, stored)) if stored.request == asked.request => {
            update(connection, key, asked)?;
            Ok(true)
        }
        Some((key, _)) => {
            // A request that another one replaced is not asked any more.
            expire(connection, key)?;
            insert(connection, session, call, asked)?;
            Ok(true)
        }
        None => {
            insert(connection, session, call, asked)?;
            Ok(true)
        }
    }
}

fn newest(connection: &Connection, call: i64) -> Result<Option<(i64, Permission)>, Failure> {
    let mut statement = connection.prepare_cached(
        "SELECT key, 1, request, options, chosen, by, at, state, extra FROM permission \
         WHERE call = ?1 ORDER BY key DESC LIMIT 1",
    )?;
    let mut rows = statement.query([call])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let mut columns = Columns::of(row);
    let key = columns.take()?;
    Ok(from_columns(&mut columns)?.map(|asked| (key, asked)))
}

fn update(connection: &Connection, key: i64, asked: &Permission) -> Result<(), Failure> {
    let mut statement = connection.prepare_cached(
        "UPDATE permission SET options = ?2, chosen = ?3, by = ?4, at = ?5, state = ?6, extra = ?7 WHERE key = ?1",
    )?;
    statement.execute(params![
        key,
        array_text(&asked.options)?,
        asked.chosen,
        asked.by,
        asked.at,
        asked.state.map(PermissionState::word),
        object_text(&asked.extra)?,
    ])?;
    Ok(())
}

fn expire(connection: &Connection, key: i64) -> Result<(), Failure> {
    let mut statement =
        connection.prepare_cached("UPDATE permission SET state = 'expired' WHERE key = ?1 AND state = 'open'")?;
    statement.execute([key])?;
    Ok(())
}

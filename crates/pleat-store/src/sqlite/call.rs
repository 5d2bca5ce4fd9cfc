//! Rows of calls and what was appended to their output.

use super::failure::Failure;
use super::permission;
use super::session::{SessionRow, does_not_fit, id_taken};
use super::value::{Columns, array_text, json_text, object_text};
use crate::IdKind;
use pleat_transcript::call::{Call, CallState, Lines};
use pleat_transcript::change::{CallUpdate, ChangeError, append_to_terminal};
use pleat_transcript::ids::{AgentCallId, CallId};
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::Value;

/// A piece of appended output is not written again once it has this many bytes.
const FULL_PIECE_BYTES: i64 = 32 * 1024;

/// The columns that [`from_light_columns`] reads, in its order.
macro_rules! light_columns {
    () => {
        "call.id, call.agent_id, call.name, call.server, call.kind, call.title, call.state, call.locations, \
         call.parent, call.started_at, call.ended_at, call.waited_ms, call.feedback, call.lines_added, \
         call.lines_removed, call.announced, call.closed_by_host, call.extra"
    };
}

/// The columns that [`from_columns`] reads, in its order; their rows come from `call` and `newest_permission!`.
macro_rules! call_columns {
    () => {
        concat!(
            light_columns!(),
            ", EXISTS (SELECT 1 FROM terminal_output WHERE terminal_output.call = call.key), call.input, call.output, \
             permission.key IS NOT NULL, permission.request, \
             permission.options, permission.chosen, permission.by, permission.at, permission.state, permission.extra"
        )
    };
}

/// Joins the newest permission request of each call, if there is one.
macro_rules! newest_permission {
    () => {
        "LEFT JOIN permission ON permission.key = (SELECT max(asked.key) FROM permission AS asked \
         WHERE asked.call = call.key)"
    };
}

pub(super) use {call_columns, light_columns, newest_permission};

/// Reads `light_columns!`: a call without input, output and permission.
fn from_light_columns(columns: &mut Columns<'_, '_>) -> Result<Call, Failure> {
    Ok(Call {
        id: columns.id(CallId::new)?,
        agent_id: columns.take::<Option<String>>()?.map(AgentCallId),
        name: columns.take()?,
        server: columns.take()?,
        kind_word: columns.take()?,
        title: columns.take()?,
        state: columns.word(&CallState::WORDS)?,
        input: None,
        output: Vec::new(),
        locations: columns.array()?,
        parent: columns.optional_id(CallId::new)?,
        started_at: columns.take()?,
        ended_at: columns.take()?,
        waited_ms: columns.take()?,
        feedback: columns.take()?,
        lines: lines(columns.take()?, columns.take()?),
        permission: None,
        announced: columns.take()?,
        closed_by_host: columns.take()?,
        extra: columns.object()?,
    })
}

/// Reads `call_columns!`: the whole call.
pub(super) fn from_columns(connection: &Connection, key: i64, columns: &mut Columns<'_, '_>) -> Result<Call, Failure> {
    let mut call = from_light_columns(columns)?;
    let appended: bool = columns.take()?;
    call.input = columns.json()?;
    call.output = columns.array()?;
    if appended {
        append_to_terminal(&mut call.output, &appended_output(connection, key)?);
    }
    call.permission = permission::from_columns(columns)?;
    Ok(call)
}

fn lines(added: Option<i64>, removed: Option<i64>) -> Option<Lines> {
    Some(Lines { added: added?.cast_unsigned(), removed: removed?.cast_unsigned() })
}

/// Stores a call; `part` is the key of the part that holds it.
pub(super) fn insert(connection: &Connection, session: &SessionRow, part: i64, call: &Call) -> Result<(), Failure> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO call (key, session, id, agent_id, name, server, kind, title, state, locations, parent, \
         started_at, ended_at, waited_ms, feedback, lines_added, lines_removed, announced, closed_by_host, extra, \
         terminal, input, output) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, \
         ?17, ?18, ?19, ?20, ?21, ?22, ?23) ON CONFLICT (session, id) DO NOTHING",
    )?;
    let inserted = statement.execute(params![
        part,
        session.key,
        call.id.as_str(),
        call.agent_id.as_ref().map(|id| &id.0),
        call.name,
        call.server,
        call.kind_word,
        call.title,
        call.state.word(),
        array_text(&call.locations)?,
        call.parent.as_ref().map(CallId::as_str),
        call.started_at,
        call.ended_at,
        call.waited_ms,
        call.feedback,
        call.lines.map(|lines| lines.added.cast_signed()),
        call.lines.map(|lines| lines.removed.cast_signed()),
        call.announced,
        call.closed_by_host,
        object_text(&call.extra)?,
        has_terminal(&call.output),
        json_text(call.input.as_ref()),
        array_text(&call.output)?,
    ])?;
    if inserted == 0 {
        return Err(id_taken(session, IdKind::Call, call.id.as_str()));
    }
    match &call.permission {
        Some(asked) => permission::insert(connection, session, part, asked),
        None => Ok(()),
    }
}

/// Whether [`append_to_terminal`] finds a block.
fn has_terminal(output: &[Value]) -> bool {
    output.iter().any(|block| {
        block.get("type").and_then(Value::as_str) == Some("terminal")
            && block.get("output").is_some_and(Value::is_string)
    })
}

/// Sets what is given; tells whether that altered something.
pub(super) fn update(
    connection: &Connection,
    session: &SessionRow,
    id: &CallId,
    mut update: CallUpdate,
) -> Result<bool, Failure> {
    let (input, output, permission) = (update.input.take(), update.output.take(), update.permission.take());
    let (key, stored) = read_light(connection, session, id)?;
    let mut call = stored.clone();
    update.apply_to(&mut call);
    let mut altered = call != stored;
    if altered {
        write_light(connection, key, &call)?;
    }
    if let Some(input) = input {
        altered |= set_input(connection, key, &input)?;
    }
    if let Some(output) = output {
        altered |= set_output(connection, key, &output)?;
    }
    if let Some(permission) = permission {
        altered |= permission::set(connection, session, key, &permission)?;
    }
    Ok(altered)
}

fn read_light(connection: &Connection, session: &SessionRow, id: &CallId) -> Result<(i64, Call), Failure> {
    let mut statement = connection.prepare_cached(concat!(
        "SELECT call.key, ",
        light_columns!(),
        " FROM call WHERE session = ?1 AND id = ?2"
    ))?;
    let mut rows = statement.query(params![session.key, id.as_str()])?;
    let Some(row) = rows.next()? else { return Err(unknown(session, id)) };
    let mut columns = Columns::of(row);
    Ok((columns.take()?, from_light_columns(&mut columns)?))
}

fn write_light(connection: &Connection, key: i64, call: &Call) -> Result<(), Failure> {
    // `id`, `agent_id`, `started_at` and `extra` are set once, when the call is stored.
    let mut statement = connection.prepare_cached(
        "UPDATE call SET name = ?2, server = ?3, kind = ?4, title = ?5, state = ?6, locations = ?7, parent = ?8, \
         ended_at = ?9, waited_ms = ?10, feedback = ?11, lines_added = ?12, lines_removed = ?13, announced = ?14, \
         closed_by_host = ?15 WHERE key = ?1",
    )?;
    statement.execute(params![
        key,
        call.name,
        call.server,
        call.kind_word,
        call.title,
        call.state.word(),
        array_text(&call.locations)?,
        call.parent.as_ref().map(CallId::as_str),
        call.ended_at,
        call.waited_ms,
        call.feedback,
        call.lines.map(|lines| lines.added.cast_signed()),
        call.lines.map(|lines| lines.removed.cast_signed()),
        call.announced,
        call.closed_by_host,
    ])?;
    Ok(())
}

fn set_input(connection: &Connection, key: i64, input: &Value) -> Result<bool, Failure> {
    let mut statement = connection.prepare_cached("UPDATE call SET input = ?2 WHERE key = ?1 AND input IS NOT ?2")?;
    Ok(statement.execute(params![key, input.to_string()])? > 0)
}

fn set_output(connection: &Connection, key: i64, output: &[Value]) -> Result<bool, Failure> {
    let appended = appended_output(connection, key)?;
    if !appended.is_empty() {
        let mut stored = stored_output(connection, key)?;
        append_to_terminal(&mut stored, &appended);
        if stored == output {
            return Ok(false);
        }
        connection.prepare_cached("DELETE FROM terminal_output WHERE call = ?1")?.execute([key])?;
    }
    let mut statement =
        connection.prepare_cached("UPDATE call SET output = ?2, terminal = ?3 WHERE key = ?1 AND output IS NOT ?2")?;
    let updated = statement.execute(params![key, array_text(output)?, has_terminal(output)])?;
    Ok(updated > 0 || !appended.is_empty())
}

fn stored_output(connection: &Connection, key: i64) -> Result<Vec<Value>, Failure> {
    let mut statement = connection.prepare_cached("SELECT output FROM call WHERE key = ?1")?;
    let mut rows = statement.query([key])?;
    rows.next()?.map_or(Ok(Vec::new()), |row| Columns::of(row).array())
}

/// All that was appended to a call's output since it was stored whole.
fn appended_output(connection: &Connection, key: i64) -> Result<String, Failure> {
    let mut statement = connection.prepare_cached("SELECT text FROM terminal_output WHERE call = ?1 ORDER BY seq")?;
    let mut rows = statement.query([key])?;
    let mut appended = String::new();
    while let Some(row) = rows.next()? {
        appended.push_str(Columns::of(row).optional_text()?.unwrap_or_default());
    }
    Ok(appended)
}

/// Appends to the terminal block of a call's output; tells whether that altered something.
pub(super) fn append_output(
    connection: &Connection,
    session: &SessionRow,
    id: &CallId,
    text: &str,
) -> Result<bool, Failure> {
    let mut statement = connection.prepare_cached("SELECT key, terminal FROM call WHERE session = ?1 AND id = ?2")?;
    let found: Option<(i64, bool)> =
        statement.query_row(params![session.key, id.as_str()], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let Some((key, true)) = found else { return Err(unknown(session, id)) };
    if text.is_empty() {
        return Ok(false);
    }
    append_piece(connection, key, text)?;
    Ok(true)
}

fn append_piece(connection: &Connection, key: i64, text: &str) -> Result<(), Failure> {
    let mut statement = connection.prepare_cached(
        "UPDATE terminal_output SET text = text || ?2 WHERE call = ?1 AND octet_length(text) < ?3 \
         AND seq = (SELECT max(seq) FROM terminal_output WHERE call = ?1)",
    )?;
    if statement.execute(params![key, text, FULL_PIECE_BYTES])? == 0 {
        let mut statement = connection.prepare_cached(
            "INSERT INTO terminal_output (call, seq, text) \
             VALUES (?1, (SELECT coalesce(max(seq), -1) + 1 FROM terminal_output WHERE call = ?1), ?2)",
        )?;
        statement.execute(params![key, text])?;
    }
    Ok(())
}

/// One call with everything.
pub(super) fn read(connection: &Connection, session: &SessionRow, id: &CallId) -> Result<Option<Call>, Failure> {
    let mut statement = connection.prepare_cached(concat!(
        "SELECT call.key, ",
        call_columns!(),
        " FROM call ",
        newest_permission!(),
        " WHERE call.session = ?1 AND call.id = ?2"
    ))?;
    let mut rows = statement.query(params![session.key, id.as_str()])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let mut columns = Columns::of(row);
    let key = columns.take()?;
    from_columns(connection, key, &mut columns).map(Some)
}

fn unknown(session: &SessionRow, id: &CallId) -> Failure {
    does_not_fit(session, ChangeError::UnknownCall(id.clone()))
}

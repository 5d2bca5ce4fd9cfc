//! Rows of calls: what was asked of a tool, and what came of it.

use super::session::{SessionRow, does_not_fit, id_taken};
use super::sql::{Row, Sql, Value as SqlValue, array_text, json_text, object_text, owned_values, values};
use super::{blob, part, permission, piece};
use crate::IdKind;
use crate::failure::Failure;
use blob::Hash;
use pleat_transcript::call::{Call, CallState, Lines};
use pleat_transcript::change::{CallUpdate, ChangeError, append_to_terminal};
use pleat_transcript::ids::{AgentCallId, CallId};
use pleat_transcript::preview::{LARGE_VALUE_BYTES, preview_input, preview_output};
use serde_json::Value;

/// The columns that [`from_light_columns`] reads, in its order.
macro_rules! light_columns {
    () => {
        "call.id, call.agent_id, call.name, call.server, call.kind, call.title, call.state, call.locations, \
         call.parent, call.started_at, call.ended_at, call.waited_ms, call.feedback, call.lines_added, \
         call.lines_removed, call.announced, call.closed_by_host, call.extra"
    };
}

/// The columns that [`from_row`] reads, in its order; their rows come from `call` and `newest_permission!`.
macro_rules! call_columns {
    () => {
        concat!(
            light_columns!(),
            ", call.input, call.output, permission.key IS NOT NULL, permission.request, permission.options, \
             permission.chosen, permission.by, permission.at, permission.state, permission.extra"
        )
    };
}

/// The columns that [`FullValues::from_row`] reads; their rows come from `blob`, joined as `request` and `result`.
macro_rules! full_values {
    () => {
        "request.content, result.content"
    };
}

/// Joins the newest permission request of each call, if there is one.
macro_rules! newest_permission {
    () => {
        "LEFT JOIN permission ON permission.key = (SELECT max(asked.key) FROM permission AS asked \
         WHERE asked.call = call.key)"
    };
}

pub(crate) use {call_columns, full_values, light_columns, newest_permission};

/// The contents of the blobs that a call's large values are in, where they are read and there are some.
#[derive(Debug, Default)]
pub(crate) struct FullValues {
    input: Option<Vec<u8>>,
    output: Option<Vec<u8>>,
}

impl FullValues {
    pub(crate) fn from_row(row: &mut Row) -> Result<Self, Failure> {
        Ok(Self { input: row.optional_bytes()?, output: row.optional_bytes()? })
    }
}

/// Reads `light_columns!`: a call without input, output and permission.
fn from_light_columns(row: &mut Row) -> Result<Call, Failure> {
    Ok(Call {
        id: row.id(CallId::new)?,
        agent_id: row.optional_text()?.map(AgentCallId),
        name: row.optional_text()?,
        server: row.optional_text()?,
        kind_word: row.optional_text()?,
        title: row.optional_text()?,
        state: row.word(&CallState::WORDS)?,
        input: None,
        output: Vec::new(),
        locations: row.array()?,
        parent: row.optional_id(CallId::new)?,
        started_at: row.optional_integer()?,
        ended_at: row.optional_integer()?,
        waited_ms: row.optional_integer()?,
        feedback: row.optional_text()?,
        lines: lines(row.optional_integer()?, row.optional_integer()?),
        permission: None,
        announced: row.boolean()?,
        closed_by_host: row.boolean()?,
        extra: row.object()?,
    })
}

/// Reads `call_columns!`: the whole call; `appended` is what was appended to its output.
pub(crate) fn from_row(row: &mut Row, values: FullValues, appended: &str) -> Result<Call, Failure> {
    let mut call = from_light_columns(row)?;
    let (input, output) = (row.json()?, row.array()?);
    call.input = match values.input {
        Some(content) => Some(serde_json::from_str(&blob::value(&content)?)?),
        None => input,
    };
    call.output = match values.output {
        Some(content) => serde_json::from_str(&blob::value(&content)?)?,
        None => output,
    };
    if !appended.is_empty() {
        append_to_terminal(&mut call.output, appended);
    }
    call.permission = permission::from_row(row)?;
    Ok(call)
}

fn lines(added: Option<i64>, removed: Option<i64>) -> Option<Lines> {
    Some(Lines { added: added?.cast_unsigned(), removed: removed?.cast_unsigned() })
}

/// A request or result as it is stored: whole in the row, or as a preview beside a blob.
struct StoredValue {
    column: Option<String>,
    blob: Option<Hash>,
    /// The whole, where it goes into the blob.
    large: Option<String>,
}

impl StoredValue {
    fn new(whole: Option<String>, preview: impl FnOnce() -> Result<Option<String>, Failure>) -> Result<Self, Failure> {
        match whole {
            Some(whole) if blob::is_large(&whole) => {
                Ok(Self { column: preview()?, blob: Some(blob::hash(&whole)), large: Some(whole) })
            }
            column => Ok(Self { column, blob: None, large: None }),
        }
    }

    fn of_input(input: Option<&Value>) -> Result<Self, Failure> {
        Self::new(json_text(input), || Ok(input.and_then(preview_input).as_ref().map(Value::to_string)))
    }

    fn of_output(output: &[Value]) -> Result<Self, Failure> {
        Self::new(array_text(output)?, || array_text(&preview_output(output).unwrap_or_default()))
    }

    async fn keep<S: Sql>(&self, sql: &S) -> Result<(), Failure> {
        match (&self.blob, &self.large) {
            (Some(hash), Some(value)) => blob::add(sql, hash, value).await,
            (Some(_) | None, None) | (None, Some(_)) => Ok(()),
        }
    }
}

/// Stores a call; `part` is the key of the part that holds it.
pub(crate) async fn insert<S: Sql>(
    sql: &S,
    session: &SessionRow,
    part: i64,
    call: &Call,
    shown_by: Option<i64>,
) -> Result<(), Failure> {
    let (input, output) = (StoredValue::of_input(call.input.as_ref())?, StoredValue::of_output(&call.output)?);
    input.keep(sql).await?;
    output.keep(sql).await?;
    let statement = "INSERT INTO call (name, server, kind, title, state, locations, parent, ended_at, waited_ms, \
         feedback, lines_added, lines_removed, announced, closed_by_host, key, session, id, agent_id, started_at, \
         extra, terminal, input, output, shown_by, input_blob, output_blob) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, \
         $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26) \
         ON CONFLICT (session, id) DO NOTHING";
    let mut values = changing_values(call)?;
    values.extend(owned_values![
        part,
        session.key,
        call.id.as_str(),
        call.agent_id.as_ref().map(|id| &id.0),
        call.started_at,
        object_text(&call.extra)?,
        has_terminal(&call.output),
        &input.column,
        &output.column,
        shown_by,
        input.blob.as_deref(),
        output.blob.as_deref(),
    ]);
    let inserted = sql.execute(statement, &values).await?;
    if inserted == 0 {
        return Err(id_taken(session, IdKind::Call, call.id.as_str()));
    }
    match &call.permission {
        Some(asked) => permission::insert(sql, session, part, asked).await,
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

/// What an update did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Updated {
    pub(crate) altered: bool,
    /// It stands inside of another call now, or of none.
    pub(crate) moved: bool,
    /// It waits for the full-text index now, and did not before.
    pub(crate) newly_unindexed: bool,
}

/// Sets what is given.
pub(crate) async fn update<S: Sql>(
    sql: &S,
    session: &SessionRow,
    id: &CallId,
    update: &CallUpdate,
) -> Result<Updated, Failure> {
    let found = find(sql, session, id).await?;
    let mut call = found.call.clone();
    light(update).apply_to(&mut call);
    let mut searched = call.title != found.call.title;
    let mut altered = call != found.call;
    if altered {
        write_light(sql, found.key, &call).await?;
    }
    if let Some(input) = &update.input {
        searched |= set_input(sql, &found, input).await?;
    }
    let mut output_blob = found.output_blob.clone();
    if let Some(output) = &update.output {
        let (set, blob) = set_output(sql, &found, output).await?;
        searched |= set;
        output_blob = blob;
    }
    altered |= searched;
    if let Some(permission) = &update.permission {
        altered |= permission::set(sql, session, found.key, permission).await?;
    }
    if found.call.state.is_unresolved() && !call.state.is_unresolved() {
        join_pieces(sql, found.key, output_blob).await?;
    }
    let newly_unindexed = searched && !found.unindexed;
    if newly_unindexed {
        part::mark_unindexed(sql, found.key).await?;
    }
    Ok(Updated { altered, moved: call.parent != found.call.parent, newly_unindexed })
}

/// An update without what is stored apart.
fn light(update: &CallUpdate) -> CallUpdate {
    CallUpdate {
        name: update.name.clone(),
        server: update.server.clone(),
        kind_word: update.kind_word.clone(),
        title: update.title.clone(),
        state: update.state,
        input: None,
        output: None,
        locations: update.locations.clone(),
        parent: update.parent.clone(),
        ended_at: update.ended_at,
        waited_ms: update.waited_ms,
        feedback: update.feedback.clone(),
        lines: update.lines,
        permission: None,
        announced: update.announced,
        closed_by_host: update.closed_by_host,
    }
}

/// A call's row without its heavy columns.
struct Found {
    key: i64,
    input_blob: Option<Hash>,
    output_blob: Option<Hash>,
    terminal: bool,
    unindexed: bool,
    call: Call,
}

async fn find<S: Sql>(sql: &S, session: &SessionRow, id: &CallId) -> Result<Found, Failure> {
    let statement = concat!(
        "SELECT call.key, call.input_blob, call.output_blob, call.terminal, part.unindexed, ",
        light_columns!(),
        " FROM call JOIN part ON part.key = call.key WHERE call.session = $1 AND call.id = $2"
    );
    let rows = sql.query(statement, values![session.key, id.as_str()]).await?;
    let mut row = rows.into_iter().next().ok_or_else(|| unknown(session, id))?;
    Ok(Found {
        key: row.integer()?,
        input_blob: row.optional_bytes()?,
        output_blob: row.optional_bytes()?,
        terminal: row.boolean()?,
        unindexed: row.boolean()?,
        call: from_light_columns(&mut row)?,
    })
}

async fn write_light<S: Sql>(sql: &S, key: i64, call: &Call) -> Result<(), Failure> {
    // `id`, `agent_id`, `started_at` and `extra` are set once, when the call is stored.
    let statement = "UPDATE call SET name = $1, server = $2, kind = $3, title = $4, state = $5, locations = $6, \
         parent = $7, ended_at = $8, waited_ms = $9, feedback = $10, lines_added = $11, lines_removed = $12, \
         announced = $13, closed_by_host = $14 WHERE key = $15";
    let mut values = changing_values(call)?;
    values.push(key.into());
    sql.post(statement, values).await
}

/// The light columns that may change, from `name` to `closed_by_host`.
fn changing_values(call: &Call) -> Result<Vec<SqlValue<'static>>, Failure> {
    Ok(owned_values![
        &call.name,
        &call.server,
        &call.kind_word,
        &call.title,
        call.state.word(),
        array_text(&call.locations)?,
        call.parent.as_ref().map(CallId::as_str),
        call.ended_at,
        call.waited_ms,
        &call.feedback,
        call.lines.map(|lines| lines.added.cast_signed()),
        call.lines.map(|lines| lines.removed.cast_signed()),
        call.announced,
        call.closed_by_host,
    ])
}

async fn set_input<S: Sql>(sql: &S, found: &Found, input: &Value) -> Result<bool, Failure> {
    let new = StoredValue::of_input(Some(input))?;
    if new.blob.is_some() && new.blob == found.input_blob {
        return Ok(false);
    }
    new.keep(sql).await?;
    let statement = "UPDATE call SET input = $1, input_blob = $2 WHERE key = $3 \
         AND (input IS DISTINCT FROM $1 OR input_blob IS DISTINCT FROM $2)";
    let updated = sql.execute(statement, values![&new.column, new.blob.as_deref(), found.key]).await?;
    if let Some(old) = &found.input_blob {
        blob::release(sql, old).await?;
    }
    Ok(updated > 0)
}

/// Replaces the output whole; tells whether that altered something, and the blob that it is in now.
async fn set_output<S: Sql>(sql: &S, found: &Found, output: &[Value]) -> Result<(bool, Option<Hash>), Failure> {
    let appended = if found.terminal { piece::read(sql, found.key).await? } else { String::new() };
    if !appended.is_empty() {
        let mut stored = stored_output(sql, found.key).await?;
        append_to_terminal(&mut stored, &appended);
        if stored == output {
            return Ok((false, found.output_blob.clone()));
        }
        piece::delete(sql, found.key).await?;
    }
    let new = StoredValue::of_output(output)?;
    if appended.is_empty() && new.blob.is_some() && new.blob == found.output_blob {
        return Ok((false, new.blob));
    }
    new.keep(sql).await?;
    let statement = "UPDATE call SET output = $1, output_blob = $2, terminal = $3 WHERE key = $4 \
         AND (output IS DISTINCT FROM $1 OR output_blob IS DISTINCT FROM $2)";
    let values = values![&new.column, new.blob.as_deref(), has_terminal(output), found.key];
    let updated = sql.execute(statement, values).await?;
    if let Some(old) = &found.output_blob {
        blob::release(sql, old).await?;
    }
    Ok((updated > 0 || !appended.is_empty(), new.blob))
}

/// The output as it was stored whole.
async fn stored_output<S: Sql>(sql: &S, key: i64) -> Result<Vec<Value>, Failure> {
    let statement = "SELECT result.content, call.output FROM call \
         LEFT JOIN blob AS result ON result.hash = call.output_blob WHERE call.key = $1";
    let Some(mut row) = sql.query(statement, values![key]).await?.into_iter().next() else { return Ok(Vec::new()) };
    match row.optional_bytes()? {
        Some(content) => Ok(serde_json::from_str(&blob::value(&content)?)?),
        None => row.array(),
    }
}

/// Makes one value of an output that was appended to, once the call has ended, where that is large.
async fn join_pieces<S: Sql>(sql: &S, key: i64, old: Option<Hash>) -> Result<(), Failure> {
    let appended = piece::read(sql, key).await?;
    if !blob::is_large(&appended) {
        return Ok(());
    }
    let mut output = stored_output(sql, key).await?;
    append_to_terminal(&mut output, &appended);
    let whole = StoredValue::of_output(&output)?;
    whole.keep(sql).await?;
    let statement = "UPDATE call SET output = $1, output_blob = $2 WHERE key = $3";
    sql.post(statement, owned_values![&whole.column, whole.blob.as_deref(), key]).await?;
    if let Some(old) = old {
        blob::release(sql, &old).await?;
    }
    piece::delete(sql, key).await
}

/// What an append to a call's output did; `None` where there was nothing to append.
pub(crate) async fn append_output<S: Sql>(
    sql: &S,
    session: &SessionRow,
    id: &CallId,
    text: &str,
) -> Result<Option<Updated>, Failure> {
    let statement = "SELECT call.key, call.terminal, part.unindexed FROM call JOIN part ON part.key = call.key \
         WHERE call.session = $1 AND call.id = $2";
    let rows = sql.query(statement, values![session.key, id.as_str()]).await?;
    let mut row = rows.into_iter().next().ok_or_else(|| unknown(session, id))?;
    let (key, terminal, unindexed) = (row.integer()?, row.boolean()?, row.boolean()?);
    if !terminal {
        return Err(unknown(session, id));
    }
    if text.is_empty() {
        return Ok(None);
    }
    piece::append(sql, key, text).await?;
    if !unindexed {
        part::mark_unindexed(sql, key).await?;
    }
    Ok(Some(Updated { altered: true, moved: false, newly_unindexed: !unindexed }))
}

/// One call with everything.
pub(crate) async fn read<S: Sql>(sql: &S, session: &SessionRow, id: &CallId) -> Result<Option<Call>, Failure> {
    let statement = concat!(
        "SELECT call.key, ",
        full_values!(),
        ", ",
        call_columns!(),
        " FROM call LEFT JOIN blob AS request ON request.hash = call.input_blob \
         LEFT JOIN blob AS result ON result.hash = call.output_blob ",
        newest_permission!(),
        " WHERE call.session = $1 AND call.id = $2"
    );
    let rows = sql.query(statement, values![session.key, id.as_str()]).await?;
    let Some(mut row) = rows.into_iter().next() else { return Ok(None) };
    let key = row.integer()?;
    let values = FullValues::from_row(&mut row)?;
    let appended = piece::read(sql, key).await?;
    from_row(&mut row, values, &appended).map(Some)
}

/// Makes blobs of the large values that an older Pleat kept in the rows.
pub(crate) async fn move_large_values<S: Sql>(sql: &S, session: &SessionRow) -> Result<(), Failure> {
    let statement = "SELECT key, input, output FROM call WHERE session = $1 AND input_blob IS NULL \
         AND output_blob IS NULL AND (octet_length(input) > $2 OR octet_length(output) > $2)";
    let large = i64::try_from(LARGE_VALUE_BYTES).unwrap_or(i64::MAX);
    for mut row in sql.query(statement, values![session.key, large]).await? {
        let key = row.integer()?;
        let input = StoredValue::of_input(row.json()?.as_ref())?;
        let output = StoredValue::of_output(&row.array()?)?;
        input.keep(sql).await?;
        output.keep(sql).await?;
        let statement = "UPDATE call SET input = $1, input_blob = $2, output = $3, output_blob = $4 WHERE key = $5";
        let (request, result) = (input.blob.as_deref(), output.blob.as_deref());
        sql.post(statement, owned_values![&input.column, request, &output.column, result, key]).await?;
    }
    Ok(())
}

/// The calls that a person is asked about now, without their large values.
pub(crate) async fn asked<S: Sql>(sql: &S, session: &SessionRow) -> Result<Vec<Call>, Failure> {
    let statement = concat!(
        "SELECT ",
        call_columns!(),
        " FROM permission AS open CROSS JOIN call ",
        newest_permission!(),
        " WHERE open.session = $1 AND open.state = 'open' AND call.key = open.call ORDER BY open.key"
    );
    let rows = sql.query(statement, values![session.key]).await?;
    rows.into_iter().map(|mut row| from_row(&mut row, FullValues::default(), "")).collect()
}

fn unknown(session: &SessionRow, id: &CallId) -> Failure {
    does_not_fit(session, ChangeError::UnknownCall(id.clone()))
}

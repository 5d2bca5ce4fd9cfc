//! Rows of messages.

use super::failure::Failure;
use super::part;
use super::session::{SessionRow, does_not_fit, id_taken};
use super::value::{Columns, object_text};
use crate::IdKind;
use pleat_transcript::change::{ChangeError, MessageUpdate};
use pleat_transcript::document::Role;
use pleat_transcript::ids::{CallId, MessageId, TurnId};
use pleat_transcript::message::{
    Assistant, Body, Media, Message, Notice, NoticeLevel, Origin, Part, Plan, PlanContent, PlanEntry, Rating,
    RoundState, ToolResult, User,
};
use rusqlite::{Connection, params};
use serde_json::{Value, json};

/// A message's row, found by its id.
#[derive(Debug, Clone, Copy)]
pub(super) struct MessageRow {
    pub(super) key: i64,
    pub(super) role: Role,
}

/// Finds a message.
pub(super) fn find(connection: &Connection, session: &SessionRow, id: &MessageId) -> Result<MessageRow, Failure> {
    let mut statement = connection.prepare_cached("SELECT key, role FROM message WHERE session = ?1 AND id = ?2")?;
    let mut rows = statement.query(params![session.key, id.as_str()])?;
    let Some(row) = rows.next()? else { return Err(unknown(session, id)) };
    let mut columns = Columns::of(row);
    Ok(MessageRow { key: columns.take()?, role: columns.word(&Role::WORDS)? })
}

/// The error for a message that is not there, or of another role.
pub(super) fn unknown(session: &SessionRow, id: &MessageId) -> Failure {
    does_not_fit(session, ChangeError::UnknownMessage(id.clone()))
}

/// The columns of a message that only some roles have.
#[derive(Default)]
struct RoleColumns<'a> {
    role: &'static str,
    parent: Option<&'a str>,
    state: Option<&'static str>,
    error: Option<&'a str>,
    rating: Option<i64>,
    lead: bool,
    origin: Option<&'static str>,
    call: Option<&'a str>,
    level: Option<&'static str>,
    code: Option<&'a str>,
    text: Option<&'a str>,
    entries: Option<String>,
}

fn role_columns(body: &Body) -> RoleColumns<'_> {
    match body {
        Body::User(user) => RoleColumns {
            role: "user",
            lead: user.lead,
            origin: user.origin.map(Origin::word),
            text: Some(&user.text),
            ..RoleColumns::default()
        },
        Body::Assistant(assistant) => RoleColumns {
            role: "assistant",
            parent: assistant.parent.as_ref().map(CallId::as_str),
            state: assistant.state.map(RoundState::word),
            error: assistant.error.as_deref(),
            rating: assistant.rating.map(rating_number),
            ..RoleColumns::default()
        },
        Body::Tool(result) => RoleColumns {
            role: "tool",
            call: result.call.as_ref().map(CallId::as_str),
            text: Some(&result.text),
            ..RoleColumns::default()
        },
        Body::Plan(plan) => {
            let (text, entries) = plan_columns(&plan.content);
            let call = plan.stream.as_ref().map(CallId::as_str);
            RoleColumns { role: "plan", call, text, entries, ..RoleColumns::default() }
        }
        Body::Notice(notice) => RoleColumns {
            role: "notice",
            level: Some(notice.level.word()),
            code: notice.code.as_deref(),
            text: Some(&notice.text),
            ..RoleColumns::default()
        },
    }
}

fn rating_number(rating: Rating) -> i64 {
    match rating {
        Rating::Up => 1,
        Rating::Down => -1,
    }
}

fn of_rating_number(number: i64) -> Rating {
    if number < 0 { Rating::Down } else { Rating::Up }
}

/// The columns `text` and `entries` of a plan.
fn plan_columns(content: &PlanContent) -> (Option<&str>, Option<String>) {
    match content {
        PlanContent::Text(text) => (Some(text), None),
        PlanContent::Entries(entries) => (None, Some(entries.iter().map(entry_json).collect::<Value>().to_string())),
    }
}

// Foreign keys stand apart, so that none is ever taken for one of ours.
fn entry_json(entry: &PlanEntry) -> Value {
    json!({
        "content": entry.content,
        "status": entry.status_word,
        "priority": entry.priority,
        "extra": entry.extra,
    })
}

fn entry_of_json(mut entry: Value) -> Result<PlanEntry, Failure> {
    let mut taken = |key: &str| entry.get_mut(key).map(Value::take).unwrap_or_default();
    Ok(PlanEntry {
        content: serde_json::from_value(taken("content"))?,
        status_word: serde_json::from_value(taken("status"))?,
        priority: serde_json::from_value(taken("priority"))?,
        extra: serde_json::from_value(taken("extra"))?,
    })
}

/// Stores a message after all others, with its parts or attachments.
pub(super) fn insert(connection: &Connection, session: &SessionRow, message: &Message) -> Result<(), Failure> {
    let columns = role_columns(&message.body);
    let mut statement = connection.prepare_cached(
        "INSERT INTO message (session, id, seq, role, turn, created_at, parent, state, error, rating, lead, origin, \
         call, level, code, text, entries, extra) VALUES (?1, ?2, \
         (SELECT coalesce(max(seq), -1) + 1 FROM message WHERE session = ?1), ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, \
         ?12, ?13, ?14, ?15, ?16, ?17) ON CONFLICT (session, id) DO NOTHING",
    )?;
    let inserted = statement.execute(params![
        session.key,
        message.id.as_str(),
        columns.role,
        message.turn.as_ref().map(TurnId::as_str),
        message.created_at,
        columns.parent,
        columns.state,
        columns.error,
        columns.rating,
        columns.lead,
        columns.origin,
        columns.call,
        columns.level,
        columns.code,
        columns.text,
        columns.entries,
        object_text(&message.extra)?,
    ])?;
    if inserted == 0 {
        return Err(id_taken(session, IdKind::Message, message.id.as_str()));
    }
    insert_parts(connection, session, connection.last_insert_rowid(), &message.body)
}

fn insert_parts(connection: &Connection, session: &SessionRow, key: i64, body: &Body) -> Result<(), Failure> {
    match body {
        Body::Assistant(assistant) => {
            assistant.parts.iter().try_for_each(|each| part::insert(connection, session, key, each))
        }
        Body::User(user) => user.attachments.iter().try_for_each(|each| part::insert_media(connection, key, each)),
        Body::Tool(_) | Body::Plan(_) | Body::Notice(_) => Ok(()),
    }
}

/// Sets what is given of a message; tells whether that altered something.
pub(super) fn update(
    connection: &Connection,
    session: &SessionRow,
    id: &MessageId,
    update: &MessageUpdate,
) -> Result<bool, Failure> {
    let message = find(connection, session, id)?;
    match message.role {
        Role::Assistant => update_assistant(connection, message.key, update),
        Role::User => update_user(connection, message.key, update),
        Role::Plan => update.plan.as_ref().map_or(Ok(false), |plan| update_plan(connection, message.key, plan)),
        Role::Tool | Role::Notice => Err(unknown(session, id)),
    }
}

fn update_assistant(connection: &Connection, key: i64, update: &MessageUpdate) -> Result<bool, Failure> {
    let mut statement = connection.prepare_cached(
        "UPDATE message SET state = coalesce(?2, state), error = coalesce(?3, error), parent = coalesce(?4, parent) \
         WHERE key = ?1 AND (state IS NOT coalesce(?2, state) OR error IS NOT coalesce(?3, error) \
         OR parent IS NOT coalesce(?4, parent))",
    )?;
    let updated = statement.execute(params![
        key,
        update.state.map(RoundState::word),
        update.error,
        update.parent.as_ref().map(CallId::as_str),
    ])?;
    Ok(updated > 0)
}

fn update_user(connection: &Connection, key: i64, update: &MessageUpdate) -> Result<bool, Failure> {
    let text = update.append_text.as_deref().unwrap_or_default();
    if !text.is_empty() {
        connection
            .prepare_cached("UPDATE message SET text = text || ?2 WHERE key = ?1")?
            .execute(params![key, text])?;
    }
    for media in &update.append_attachments {
        part::insert_media(connection, key, media)?;
    }
    Ok(!text.is_empty() || !update.append_attachments.is_empty())
}

fn update_plan(connection: &Connection, key: i64, plan: &PlanContent) -> Result<bool, Failure> {
    let (text, entries) = plan_columns(plan);
    let mut statement = connection.prepare_cached(
        "UPDATE message SET text = ?2, entries = ?3 WHERE key = ?1 AND (text IS NOT ?2 OR entries IS NOT ?3)",
    )?;
    Ok(statement.execute(params![key, text, entries])? > 0)
}

/// All messages of a session in order.
pub(super) fn read_all(connection: &Connection, session: &SessionRow) -> Result<Vec<Message>, Failure> {
    let mut statement = connection.prepare_cached(
        "SELECT key, role, id, turn, created_at, extra, parent, state, error, rating, lead, origin, call, level, \
         code, text, entries FROM message WHERE session = ?1 ORDER BY seq",
    )?;
    let mut rows = statement.query([session.key])?;
    let mut parts = part::read_all(connection, session)?.into_iter().peekable();
    let mut messages = Vec::new();
    while let Some(row) = rows.next()? {
        let mut columns = Columns::of(row);
        let key: i64 = columns.take()?;
        let role = columns.word(&Role::WORDS)?;
        let mut own = Vec::new();
        while let Some(part) = parts.next_if(|part| part.message == key) {
            own.push(part.part);
        }
        messages.push(Message {
            id: columns.id(MessageId::new)?,
            turn: columns.optional_id(TurnId::new)?,
            created_at: columns.take()?,
            extra: columns.object()?,
            body: body_from_columns(role, &mut columns, own)?,
        });
    }
    Ok(messages)
}

/// Reads the columns from `parent` on.
fn body_from_columns(role: Role, columns: &mut Columns<'_, '_>, parts: Vec<Part>) -> Result<Body, Failure> {
    let parent = columns.optional_id(CallId::new)?;
    let state = columns.optional_word(&RoundState::WORDS)?;
    let error = columns.take()?;
    let rating = columns.take::<Option<i64>>()?.map(of_rating_number);
    let lead = columns.take()?;
    let origin = columns.optional_word(&Origin::WORDS)?;
    let call = columns.optional_id(CallId::new)?;
    let level = columns.optional_word(&NoticeLevel::WORDS)?;
    let code = columns.take()?;
    let text: Option<String> = columns.take()?;
    Ok(match role {
        Role::User => {
            Body::User(User { text: text.unwrap_or_default(), lead, origin, attachments: attachments(parts)? })
        }
        Role::Assistant => Body::Assistant(Assistant { parts, state, error, rating, parent }),
        Role::Tool => Body::Tool(ToolResult { call, text: text.unwrap_or_default() }),
        Role::Plan => Body::Plan(Plan { stream: call, content: plan_content(text, columns.array()?)? }),
        Role::Notice => {
            let level = level.ok_or_else(|| Failure::Unreadable("a notice has no level".to_owned()))?;
            Body::Notice(Notice { level, code, text: text.unwrap_or_default() })
        }
    })
}

fn plan_content(text: Option<String>, entries: Vec<Value>) -> Result<PlanContent, Failure> {
    match text {
        Some(text) => Ok(PlanContent::Text(text)),
        None => Ok(PlanContent::Entries(entries.into_iter().map(entry_of_json).collect::<Result<_, _>>()?)),
    }
}

fn attachments(parts: Vec<Part>) -> Result<Vec<Media>, Failure> {
    let media = parts.into_iter().map(|part| match part {
        Part::Media(media) => Ok(media),
        Part::Text(_) | Part::Thinking(_) | Part::Call(_) => {
            Err(Failure::Unreadable("a user message has a part that is no attachment".to_owned()))
        }
    });
    media.collect()
}

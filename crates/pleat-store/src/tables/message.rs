//! Rows of messages.

use super::message_columns::{body_from_row, plan_columns, rating_number};
use super::outline::{self, Makes, Placement};
use super::part;
use super::session::{SessionRow, does_not_fit, id_taken};
use super::sql::{Row, Sql, object_text, owned_values, values};
use crate::IdKind;
use crate::failure::Failure;
use pleat_transcript::change::{ChangeError, MessageUpdate};
use pleat_transcript::document::Role;
use pleat_transcript::ids::{CallId, MessageId, TurnId};
use pleat_transcript::message::{Body, Message, NoticeLevel, Origin, Part, PlanContent, RoundState};

/// A message's row, found by its id or key.
#[derive(Debug, Clone)]
pub(crate) struct MessageRow {
    pub(crate) key: i64,
    pub(crate) role: Role,
    pub(crate) turn: Option<String>,
    pub(crate) parent: Option<String>,
    pub(crate) placement: Placement,
    /// It waits for the full-text index.
    pub(crate) unindexed: bool,
}

/// The columns of [`MessageRow`].
macro_rules! message_row_columns {
    () => {
        "key, role, turn, parent, ordinal, shown_by, makes, starts_run, unindexed"
    };
}

pub(crate) use message_row_columns;

impl MessageRow {
    pub(crate) fn from_row(row: &mut Row) -> Result<Self, Failure> {
        Ok(Self {
            key: row.integer()?,
            role: row.word(&Role::WORDS)?,
            turn: row.optional_text()?,
            parent: row.optional_text()?,
            placement: Placement {
                ordinal: row.optional_integer()?,
                shown_by: row.optional_integer()?,
                makes: Makes::from_number(row.integer()?),
                starts_run: row.boolean()?,
            },
            unindexed: row.boolean()?,
        })
    }
}

/// Finds a message.
pub(crate) async fn find<S: Sql>(sql: &S, session: &SessionRow, id: &MessageId) -> Result<MessageRow, Failure> {
    find_optional(sql, session, id).await?.ok_or_else(|| unknown(session, id))
}

/// Finds a message, if it is there.
pub(crate) async fn find_optional<S: Sql>(
    sql: &S,
    session: &SessionRow,
    id: &MessageId,
) -> Result<Option<MessageRow>, Failure> {
    let statement = concat!("SELECT ", message_row_columns!(), " FROM message WHERE session = $1 AND id = $2");
    let row = sql.query(statement, values![session.key, id.as_str()]).await?.into_iter().next();
    row.map(|mut row| MessageRow::from_row(&mut row)).transpose()
}

/// The error for a message that is not there, or of another role.
pub(crate) fn unknown(session: &SessionRow, id: &MessageId) -> Failure {
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
    searched: bool,
}

fn role_columns(body: &Body) -> RoleColumns<'_> {
    match body {
        Body::User(user) => RoleColumns {
            role: "user",
            lead: user.lead,
            origin: user.origin.map(Origin::word),
            text: Some(&user.text),
            searched: true,
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
            searched: true,
            ..RoleColumns::default()
        },
        Body::Plan(plan) => {
            let (text, entries) = plan_columns(&plan.content);
            let call = plan.stream.as_ref().map(CallId::as_str);
            RoleColumns { role: "plan", call, text, entries, searched: true, ..RoleColumns::default() }
        }
        Body::Notice(notice) => RoleColumns {
            role: "notice",
            level: Some(NoticeLevel::word(notice.level)),
            code: notice.code.as_deref(),
            text: Some(&notice.text),
            ..RoleColumns::default()
        },
    }
}

/// Stores a message after all others, without its parts; returns its key. Where it stands is what `placement` says, but
/// for the ordinal, which is the next where there is one.
pub(crate) async fn insert_row<S: Sql>(
    sql: &S,
    session: &SessionRow,
    message: &Message,
    placement: &Placement,
) -> Result<i64, Failure> {
    let columns = role_columns(&message.body);
    let statement = "INSERT INTO message (session, id, seq, role, turn, created_at, parent, state, error, rating, \
         lead, origin, call, level, code, text, entries, extra, unindexed, ordinal, shown_by, makes, starts_run) \
         VALUES ($1, $2, (SELECT coalesce(max(seq), -1) + 1 FROM message WHERE session = $1), $3, $4, $5, $6, $7, $8, \
         $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, CASE WHEN $19 THEN \
         (SELECT coalesce(max(ordinal), -1) + 1 FROM message WHERE session = $1 AND ordinal IS NOT NULL) END, \
         $20, $21, $22) ON CONFLICT (session, id) DO NOTHING RETURNING key";
    let inserted = sql
        .query(
            statement,
            values![
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
                columns.searched,
                placement.is_top_level(),
                placement.shown_by,
                placement.makes.number(),
                placement.starts_run,
            ],
        )
        .await?;
    let row = inserted.into_iter().next();
    row.ok_or_else(|| id_taken(session, IdKind::Message, message.id.as_str()))?.integer()
}

/// Whether the text of a message is searched (that of rounds is in their parts).
pub(crate) fn is_searched(body: &Body) -> bool {
    role_columns(body).searched
}

/// Sets what is given of a round; tells whether that altered something.
pub(crate) async fn update_round<S: Sql>(sql: &S, key: i64, update: &MessageUpdate) -> Result<bool, Failure> {
    let statement = "UPDATE message SET state = coalesce($1, state), error = coalesce($2, error), \
         parent = coalesce($3, parent) WHERE key = $4 AND (state IS DISTINCT FROM coalesce($1, state) \
         OR error IS DISTINCT FROM coalesce($2, error) OR parent IS DISTINCT FROM coalesce($3, parent))";
    let updated = sql
        .execute(
            statement,
            values![
                update.state.map(RoundState::word),
                &update.error,
                update.parent.as_ref().map(CallId::as_str),
                key,
            ],
        )
        .await?;
    Ok(updated > 0)
}

/// Appends to a user message; tells whether that altered something.
pub(crate) async fn update_user<S: Sql>(sql: &S, key: i64, update: &MessageUpdate) -> Result<bool, Failure> {
    let text = update.append_text.as_deref().unwrap_or_default();
    if !text.is_empty() {
        let statement = "UPDATE message SET text = text || $1 WHERE key = $2";
        sql.post(statement, owned_values![text, key]).await?;
    }
    for media in &update.append_attachments {
        part::insert_media(sql, key, media).await?;
    }
    Ok(!text.is_empty() || !update.append_attachments.is_empty())
}

/// Replaces a plan's content; tells whether that altered something. One statement and at most one row.
pub(crate) async fn update_plan<S: Sql>(sql: &S, key: i64, plan: &PlanContent) -> Result<bool, Failure> {
    let (text, entries) = plan_columns(plan);
    let statement = "UPDATE message SET text = $1, entries = $2, unindexed = $3 \
         WHERE key = $4 AND (text IS DISTINCT FROM $1 OR entries IS DISTINCT FROM $2)";
    Ok(sql.execute(statement, values![text, entries, true, key]).await? > 0)
}

/// Makes a message's own text wait for the full-text index.
pub(crate) async fn mark_unindexed<S: Sql>(sql: &S, key: i64) -> Result<(), Failure> {
    sql.post("UPDATE message SET unindexed = $1 WHERE key = $2", owned_values![true, key]).await
}

/// The columns that [`from_row`] reads after the key.
macro_rules! message_columns {
    () => {
        "message.role, message.id, message.turn, message.created_at, message.extra, message.parent, message.state, \
         message.error, message.rating, message.lead, message.origin, message.call, message.level, message.code, \
         message.text, message.entries"
    };
}

pub(crate) use message_columns;

/// A message without its parts.
pub(crate) struct StoredMessage {
    pub(crate) key: i64,
    pub(crate) message: Message,
}

/// Reads a key and `message_columns!`; the parts are still to come.
pub(crate) fn from_row(row: &mut Row) -> Result<StoredMessage, Failure> {
    let key = row.integer()?;
    let role = row.word(&Role::WORDS)?;
    let message = Message {
        id: row.id(MessageId::new)?,
        turn: row.optional_id(TurnId::new)?,
        created_at: row.optional_integer()?,
        extra: row.object()?,
        body: body_from_row(role, row)?,
    };
    Ok(StoredMessage { key, message })
}

/// All messages of a session in order.
pub(crate) async fn read_all<S: Sql>(sql: &S, session: &SessionRow) -> Result<Vec<Message>, Failure> {
    let statement =
        concat!("SELECT message.key, ", message_columns!(), " FROM message WHERE session = $1 ORDER BY seq");
    let mut rows = sql.query(statement, values![session.key]).await?;
    let messages = rows.iter_mut().map(from_row).collect::<Result<Vec<_>, _>>()?;
    let parts = part::read_all(sql, session).await?;
    with_parts(messages, parts)
}

/// Puts parts into the messages they belong to; both are in order.
pub(crate) fn with_parts(
    messages: Vec<StoredMessage>,
    parts: Vec<part::PartOfMessage>,
) -> Result<Vec<Message>, Failure> {
    let mut parts = parts.into_iter().peekable();
    let mut whole = Vec::with_capacity(messages.len());
    for StoredMessage { key, mut message } in messages {
        while let Some(part) = parts.next_if(|part| part.message == key) {
            push_part(&mut message.body, part.part)?;
        }
        whole.push(message);
    }
    Ok(whole)
}

fn push_part(body: &mut Body, part: Part) -> Result<(), Failure> {
    match (body, part) {
        (Body::Assistant(assistant), part) => assistant.parts.push(part),
        (Body::User(user), Part::Media(media)) => user.attachments.push(media),
        (Body::User(_), Part::Text(_) | Part::Thinking(_) | Part::Call(_))
        | (Body::Tool(_) | Body::Plan(_) | Body::Notice(_), _) => {
            return Err(Failure::Unreadable("a message has a part of a kind it cannot have".to_owned()));
        }
    }
    Ok(())
}

/// Stores a message and its parts, and places it in the outline; tells how much of it waits for the full-text index.
pub(crate) async fn insert<S: Sql>(
    sql: &S,
    session: &SessionRow,
    message: &Message,
    outline: &mut outline::Upkeep,
) -> Result<i64, Failure> {
    let placement = outline.place_new(sql, session, message).await?;
    let key = insert_row(sql, session, message, &placement).await?;
    outline.remember_plan(sql, session, message, key).await?;
    let mut unindexed = i64::from(is_searched(&message.body));
    match &message.body {
        Body::Assistant(assistant) => {
            for part in &assistant.parts {
                let owner = part::Owner { key, parent: assistant.parent.as_ref().map(CallId::as_str) };
                part::insert(sql, session, owner, part, outline).await?;
                unindexed += 1;
            }
        }
        Body::User(user) => {
            for media in &user.attachments {
                part::insert_media(sql, key, media).await?;
            }
        }
        Body::Tool(_) | Body::Plan(_) | Body::Notice(_) => {}
    }
    Ok(unindexed)
}

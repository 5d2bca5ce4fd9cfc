//! JSON in, domain types out (docs/spec/fold.md, "Input").

use super::error::{DOCUMENT, DocumentError, Path, Problem};
use super::fields::Fields;
use super::waiting;
use super::words::{PartType, Role};
use super::{Document, PART_KEYS, Window};
use crate::call::{Call, CallState, Lines, Permission, PermissionState};
use crate::ids::{AgentCallId, CallId, MessageId, PermissionId, SessionId, TurnId};
use crate::message::{
    Assistant, Body, JsonObject, Media, MediaKind, Message, Notice, NoticeLevel, Origin, Part, Plan, PlanContent,
    PlanEntry, Rating, RoundState, TextPart, ToolResult, User,
};
use crate::session::{ContextGauge, Session, Turn, TurnState};
use serde_json::Value;
use std::collections::HashSet;

pub(super) type Read<T> = Result<T, DocumentError>;

impl Document {
    /// Reads a transcript document.
    pub fn from_json(text: &str) -> Result<Self, DocumentError> {
        Self::from_value(serde_json::from_str(text)?)
    }

    /// Reads a transcript document that is parsed already.
    pub fn from_value(value: Value) -> Result<Self, DocumentError> {
        let mut fields = Fields::of(value, DOCUMENT)?;
        let session = fields.any("session").ok_or_else(|| fields.missing("session", "an object"))?;
        let session = session_at(session, fields.path("session"))?;
        let messages = fields.list_of("messages", message_at)?;
        let (window, unknown) = window_of(&mut fields)?;
        let mut extra = fields.rest();
        keep_unknown(&mut extra, "window", unknown);
        let document = Self { session, messages, window, extra };
        check_ids(&document)?;
        Ok(document)
    }
}

/// Reads a session with its turns.
pub fn session_from_json(value: Value) -> Result<Session, DocumentError> {
    session_at(value, Path::Root("session"))
}

/// Reads a turn.
pub fn turn_from_json(value: Value) -> Result<Turn, DocumentError> {
    turn_at(value, Path::Root("turn"))
}

/// Reads a message with its parts.
pub fn message_from_json(value: Value) -> Result<Message, DocumentError> {
    message_at(value, Path::Root("message"))
}

/// Reads a part of a round.
pub fn part_from_json(value: Value) -> Result<Part, DocumentError> {
    part_at(value, Path::Root("part"))
}

/// Reads an image, audio or a resource of a user message.
pub fn attachment_from_json(value: Value) -> Result<Media, DocumentError> {
    attachment_at(value, Path::Root("attachment"))
}

/// Reads a call.
pub fn call_from_json(value: Value) -> Result<Call, DocumentError> {
    call_at(value, Path::Root("call"))
}

/// Keeps the unknown keys of an object that has no `extra` in the `extra` around it.
pub(super) fn keep_unknown(extra: &mut JsonObject, key: &str, unknown: JsonObject) {
    if !unknown.is_empty() {
        extra.insert(key.to_owned(), Value::Object(unknown));
    }
}

fn session_at(value: Value, path: Path) -> Read<Session> {
    let mut fields = Fields::of(value, path)?;
    let mut session = Session::new(fields.own_id("id", SessionId::new)?);
    session.root = fields.text("root")?;
    session.live_turn = turn_id(&mut fields, "live_turn")?;
    session.title = fields.text("title")?;
    session.agent = fields.text("agent")?;
    session.created_at = fields.integer("created_at")?;
    session.turns = fields.list_of("turns", turn_at)?;
    let (context, unknown) = context_of(&mut fields)?;
    session.context = context;
    let beside = waiting::take_into(&mut session, &mut fields);
    session.extra = fields.rest();
    keep_unknown(&mut session.extra, "context", unknown);
    session.extra.extend(beside);
    Ok(session)
}

/// A turn's id; an empty one is null.
fn turn_id(fields: &mut Fields, key: &'static str) -> Read<Option<TurnId>> {
    match fields.text(key)? {
        Some(text) if !text.is_empty() => {
            TurnId::new(text).map(Some).map_err(|error| Problem::Id(error).at(&fields.path(key)))
        }
        Some(_) | None => Ok(None),
    }
}

fn context_of(fields: &mut Fields) -> Read<(Option<ContextGauge>, JsonObject)> {
    let (pair, unknown) = counts_of(fields, "context", ["used", "size"])?;
    Ok((pair.map(|[used, size]| ContextGauge { used, size }), unknown))
}

fn lines_of(fields: &mut Fields) -> Read<(Option<Lines>, JsonObject)> {
    let (pair, unknown) = counts_of(fields, "lines", ["added", "removed"])?;
    Ok((pair.map(|[added, removed]| Lines { added, removed }), unknown))
}

/// An object of two counts, and its unknown keys. One of the two alone makes the other 0.
fn counts_of(fields: &mut Fields, key: &'static str, keys: [&'static str; 2]) -> Read<(Option<[u64; 2]>, JsonObject)> {
    let Some(value) = fields.any(key) else { return Ok((None, JsonObject::new())) };
    let mut inner = Fields::of(value, fields.path(key))?;
    let (first, second) = (inner.count(keys[0])?, inner.count(keys[1])?);
    let pair = (first.is_some() || second.is_some()).then(|| [first.unwrap_or(0), second.unwrap_or(0)]);
    Ok((pair, inner.rest()))
}

fn turn_at(value: Value, path: Path) -> Read<Turn> {
    let mut fields = Fields::of(value, path)?;
    let id = fields.own_id("id", TurnId::new)?;
    let state = fields.word("state", "turn state", &TurnState::WORDS)?;
    Ok(Turn {
        id,
        state: state.ok_or_else(|| fields.missing("state", "a turn state"))?,
        stop_reason: fields.text("stop_reason")?,
        started_at: fields.integer("started_at")?,
        ended_at: fields.integer("ended_at")?,
        usage: fields.any("usage"),
        extra: fields.rest(),
    })
}

fn message_at(value: Value, path: Path) -> Read<Message> {
    let mut fields = Fields::of(value, path)?;
    let id = fields.own_id("id", MessageId::new)?;
    let turn = turn_id(&mut fields, "turn")?;
    let created_at = fields.integer("created_at")?;
    let role = fields.word("role", "role", &Role::WORDS)?;
    let body = match role.ok_or_else(|| fields.missing("role", "a role"))? {
        Role::User => Body::User(user_of(&mut fields)?),
        Role::Assistant => Body::Assistant(assistant_of(&mut fields)?),
        Role::Tool => Body::Tool(ToolResult {
            call: fields.id("call", CallId::new)?,
            text: fields.text("text")?.unwrap_or_default(),
        }),
        Role::Plan => Body::Plan(plan_of(&mut fields)?),
        Role::Notice => Body::Notice(Notice {
            level: fields.word("level", "level", &NoticeLevel::WORDS)?.unwrap_or(NoticeLevel::Info),
            code: fields.text("code")?,
            text: fields.text("text")?.unwrap_or_default(),
        }),
    };
    Ok(Message { id, turn, created_at, body, extra: fields.rest() })
}

fn user_of(fields: &mut Fields) -> Read<User> {
    Ok(User {
        text: fields.text("text")?.unwrap_or_default(),
        lead: fields.flag("lead")?,
        origin: fields.word("origin", "origin", &Origin::WORDS)?,
        attachments: fields.list_of("attachments", attachment_at)?,
    })
}

fn assistant_of(fields: &mut Fields) -> Read<Assistant> {
    Ok(Assistant {
        parts: fields.list_of("parts", part_at)?,
        state: fields.word("state", "message state", &RoundState::WORDS)?,
        error: fields.text("error")?,
        rating: rating_of(fields)?,
        parent: fields.id("parent", CallId::new)?,
    })
}

fn rating_of(fields: &mut Fields) -> Read<Option<Rating>> {
    let Some(value) = fields.any("rating") else { return Ok(None) };
    match value.as_i64() {
        Some(1) => Ok(Some(Rating::Up)),
        Some(-1) => Ok(Some(Rating::Down)),
        Some(_) | None => Err(fields.wrong("rating", &value, "-1, 1 or null")),
    }
}

fn plan_of(fields: &mut Fields) -> Read<Plan> {
    let stream = fields.id("stream", CallId::new)?;
    let text = fields.text("text")?;
    let entries = fields.list_of("entries", entry_at)?;
    let content = match text {
        None => PlanContent::Entries(entries),
        Some(text) if entries.is_empty() => PlanContent::Text(text),
        Some(text) => return Err(fields.wrong("text", &Value::String(text), "either text or entries")),
    };
    Ok(Plan { stream, content })
}

fn entry_at(value: Value, path: Path) -> Read<PlanEntry> {
    let mut fields = Fields::of(value, path)?;
    Ok(PlanEntry {
        content: fields.text("content")?.unwrap_or_default(),
        status_word: fields.text("status")?,
        priority: fields.text("priority")?,
        extra: fields.rest(),
    })
}

pub(super) fn attachment_at(value: Value, path: Path) -> Read<Media> {
    let mut fields = Fields::of(value, path)?;
    let kind = fields.word("type", "attachment type", &MediaKind::WORDS)?;
    let kind = kind.ok_or_else(|| fields.missing("type", "an attachment type"))?;
    media_of(fields, kind)
}

fn media_of(mut fields: Fields, kind: MediaKind) -> Read<Media> {
    Ok(Media {
        kind,
        mime: fields.text("mime")?,
        data: fields.text("data")?,
        uri: fields.text("uri")?,
        name: fields.text("name")?,
        message_id: fields.text("message_id")?,
        extra: fields.rest(),
    })
}

fn part_at(value: Value, path: Path) -> Read<Part> {
    let mut fields = Fields::of(value, path)?;
    let kind = fields.word("type", "part type", &PartType::WORDS)?;
    match kind.ok_or_else(|| fields.missing("type", "a part type"))? {
        PartType::Thinking => Ok(Part::Thinking(text_part_of(fields)?)),
        PartType::Text => Ok(Part::Text(text_part_of(fields)?)),
        PartType::Media(kind) => Ok(Part::Media(media_of(fields, kind)?)),
        PartType::Call => {
            let call = fields.any("call").ok_or_else(|| fields.missing("call", "an object"))?;
            let mut call = call_at(call, fields.path("call"))?;
            keep_unknown(&mut call.extra, PART_KEYS, fields.rest());
            Ok(Part::Call(Box::new(call)))
        }
    }
}

fn text_part_of(mut fields: Fields) -> Read<TextPart> {
    Ok(TextPart {
        text: fields.text("text")?.unwrap_or_default(),
        message_id: fields.text("message_id")?,
        extra: fields.rest(),
    })
}

fn call_at(value: Value, path: Path) -> Read<Call> {
    let mut fields = Fields::of(value, path)?;
    let mut call = Call::new(fields.own_id("id", CallId::new)?);
    call.agent_id = fields.text("agent_id")?.map(AgentCallId);
    call.name = fields.text("name")?;
    call.server = fields.text("server")?;
    call.kind_word = fields.text("kind")?;
    call.title = fields.text("title")?;
    // A call of which no state is known is one that was announced and nothing more.
    call.state = fields.word("state", "call state", &CallState::WORDS)?.unwrap_or(CallState::Pending);
    call.input = fields.any("input");
    call.output = fields.list("output")?;
    call.locations = fields.list("locations")?;
    call.parent = fields.id("parent", CallId::new)?;
    call.started_at = fields.integer("started_at")?;
    call.ended_at = fields.integer("ended_at")?;
    call.waited_ms = fields.integer("waited_ms")?;
    call.feedback = fields.text("feedback")?;
    let (lines, unknown) = lines_of(&mut fields)?;
    call.lines = lines;
    if let Some(permission) = fields.any("permission") {
        call.permission = Some(permission_at(permission, fields.path("permission"))?);
    }
    call.announced = fields.flag("announced")?;
    call.closed_by_host = fields.flag("closed_by_host")?;
    call.extra = fields.rest();
    keep_unknown(&mut call.extra, "lines", unknown);
    Ok(call)
}

fn permission_at(value: Value, path: Path) -> Read<Permission> {
    let mut fields = Fields::of(value, path)?;
    Ok(Permission {
        request: fields.id("request", PermissionId::new)?,
        options: fields.list("options")?,
        chosen: fields.text("chosen")?,
        by: fields.text("by")?,
        at: fields.integer("at")?,
        state: fields.word("state", "permission state", &PermissionState::WORDS)?,
        extra: fields.rest(),
    })
}

fn window_of(fields: &mut Fields) -> Read<(Window, JsonObject)> {
    let Some(value) = fields.any("window") else { return Ok((Window::Latest, JsonObject::new())) };
    let path = fields.path("window");
    let described = Problem::of_type(
        &value,
        "exactly one of \"latest\": true, \"at\", \"earlier\", \"later\", or \"from\" with \"to\"",
    );
    let mut inner = Fields::of(value, path)?;
    let latest = inner.flag("latest")?;
    let [at, earlier, later, from, to] =
        ["at", "earlier", "later", "from", "to"].map(|key| inner.id(key, MessageId::new));
    let window = match (latest, at?, earlier?, later?, from?, to?) {
        (true, None, None, None, None, None) => Window::Latest,
        (false, Some(id), None, None, None, None) => Window::At(id),
        (false, None, Some(id), None, None, None) => Window::Earlier(id),
        (false, None, None, Some(id), None, None) => Window::Later(id),
        (false, None, None, None, Some(from), Some(to)) => Window::Range { from, to },
        _ => return Err(described.at(&path)),
    };
    Ok((window, inner.rest()))
}

/// Ids of one kind are unique in a session (docs/spec/fold.md, "Input").
fn check_ids(document: &Document) -> Read<()> {
    let session = Path::Key(&DOCUMENT, "session");
    let turns = Path::Key(&session, "turns");
    let mut seen = HashSet::new();
    for (index, turn) in document.session.turns.iter().enumerate() {
        check_new(&mut seen, "turn", turn.id.as_str(), Path::Item(&turns, index))?;
    }
    waiting::check(&document.session)?;
    let messages = Path::Key(&DOCUMENT, "messages");
    let (mut seen, mut seen_calls) = (HashSet::new(), HashSet::new());
    for (index, message) in document.messages.iter().enumerate() {
        let path = Path::Item(&messages, index);
        check_new(&mut seen, "message", message.id.as_str(), path)?;
        let Body::Assistant(assistant) = &message.body else { continue };
        let parts = Path::Key(&path, "parts");
        for (index, part) in assistant.parts.iter().enumerate() {
            let Part::Call(call) = part else { continue };
            let part = Path::Item(&parts, index);
            check_new(&mut seen_calls, "call", call.id.as_str(), Path::Key(&part, "call"))?;
        }
    }
    Ok(())
}

pub(super) fn check_new<'d>(seen: &mut HashSet<&'d str>, what: &'static str, id: &'d str, path: Path) -> Read<()> {
    if seen.insert(id) {
        return Ok(());
    }
    Err(Problem::RepeatedId { what, id: id.to_owned() }.at(&Path::Key(&path, "id")))
}

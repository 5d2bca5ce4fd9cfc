//! Domain types in, JSON out: the mirror image of reading.
//!
//! Known keys come first, in a fixed order; then those of `extra`, in the order they came. What is absent, null, empty
//! or false is left out, with three exceptions that carry meaning: a document's `messages`, a plan's content, and an
//! optional string that is set to an empty one.

use super::words::{PartType, Role};
use super::{Document, PART_KEYS, Window, waiting};
use crate::call::{Call, Lines, Permission};
use crate::message::{
    Assistant, Body, JsonObject, Media, Message, Part, Plan, PlanContent, PlanEntry, Rating, TextPart, User,
};
use crate::session::{ContextGauge, Session, Turn};
use serde_json::{Value, json};

impl Document {
    /// The document as JSON; reading it again gives the same document.
    pub fn to_json(&self) -> Value {
        let mut object = JsonObject::new();
        put(&mut object, "session", session_to_json(&self.session));
        put(&mut object, "messages", self.messages.iter().map(message_to_json).collect::<Value>());
        put_some(&mut object, "window", window_to_json(&self.window));
        finish(object, &self.extra)
    }
}

pub(super) fn put(object: &mut JsonObject, key: &str, value: impl Into<Value>) {
    object.insert(key.to_owned(), value.into());
}

pub(super) fn put_some(object: &mut JsonObject, key: &str, value: Option<impl Into<Value>>) {
    match value.map(Into::into) {
        None | Some(Value::Null) => {}
        Some(value) => put(object, key, value),
    }
}

fn put_id(object: &mut JsonObject, key: &str, id: Option<&impl ToString>) {
    put_some(object, key, id.map(ToString::to_string));
}

pub(super) fn put_text(object: &mut JsonObject, key: &str, text: &str) {
    if !text.is_empty() {
        put(object, key, text);
    }
}

pub(super) fn put_list(object: &mut JsonObject, key: &str, list: Vec<Value>) {
    if !list.is_empty() {
        put(object, key, list);
    }
}

fn put_flag(object: &mut JsonObject, key: &str, flag: bool) {
    if flag {
        put(object, key, true);
    }
}

/// Adds the keys of `extra` that are not written yet. Unknown keys of an object without an `extra` of its own stand in
/// `extra` under its name, and go back into it.
fn finish(mut object: JsonObject, extra: &JsonObject) -> Value {
    for (key, value) in extra {
        match (object.get_mut(key), value) {
            (None, _) => put(&mut object, key, value.clone()),
            (Some(Value::Object(ours)), Value::Object(unknown)) => add_missing(ours, unknown),
            (Some(_), _) => {}
        }
    }
    Value::Object(object)
}

fn add_missing(object: &mut JsonObject, unknown: &JsonObject) {
    for (key, value) in unknown {
        object.entry(key.as_str()).or_insert_with(|| value.clone());
    }
}

/// Writes a session with its turns.
pub fn session_to_json(session: &Session) -> Value {
    let mut object = JsonObject::new();
    put(&mut object, "id", session.id.as_str());
    put_some(&mut object, "root", session.root.as_deref());
    put_id(&mut object, "live_turn", session.live_turn.as_ref());
    put_some(&mut object, "title", session.title.as_deref());
    put_some(&mut object, "agent", session.agent.as_deref());
    put_some(&mut object, "created_at", session.created_at);
    put_list(&mut object, "turns", session.turns.iter().map(turn_to_json).collect());
    put_some(
        &mut object,
        "context",
        session.context.map(|ContextGauge { used, size }| json!({"used": used, "size": size})),
    );
    waiting::put_all(&mut object, session);
    finish(object, &session.extra)
}

/// Writes a turn.
pub fn turn_to_json(turn: &Turn) -> Value {
    let mut object = JsonObject::new();
    put(&mut object, "id", turn.id.as_str());
    put(&mut object, "state", turn.state.word());
    put_some(&mut object, "stop_reason", turn.stop_reason.as_deref());
    put_some(&mut object, "started_at", turn.started_at);
    put_some(&mut object, "ended_at", turn.ended_at);
    put_some(&mut object, "usage", turn.usage.clone());
    finish(object, &turn.extra)
}

/// Writes a message with its parts.
pub fn message_to_json(message: &Message) -> Value {
    let mut object = JsonObject::new();
    put(&mut object, "id", message.id.as_str());
    put_id(&mut object, "turn", message.turn.as_ref());
    put(&mut object, "role", Role::of(&message.body).word());
    put_some(&mut object, "created_at", message.created_at);
    match &message.body {
        Body::User(user) => put_user(&mut object, user),
        Body::Assistant(assistant) => put_assistant(&mut object, assistant),
        Body::Tool(result) => {
            put_id(&mut object, "call", result.call.as_ref());
            put_text(&mut object, "text", &result.text);
        }
        Body::Plan(plan) => put_plan(&mut object, plan),
        Body::Notice(notice) => {
            put(&mut object, "level", notice.level.word());
            put_some(&mut object, "code", notice.code.as_deref());
            put_text(&mut object, "text", &notice.text);
        }
    }
    finish(object, &message.extra)
}

fn put_user(object: &mut JsonObject, user: &User) {
    put_text(object, "text", &user.text);
    put_flag(object, "lead", user.lead);
    put_some(object, "origin", user.origin.map(crate::message::Origin::word));
    put_list(object, "attachments", user.attachments.iter().map(media_to_json).collect());
}

fn put_assistant(object: &mut JsonObject, assistant: &Assistant) {
    put_list(object, "parts", assistant.parts.iter().map(part_to_json).collect());
    put_some(object, "state", assistant.state.map(crate::message::RoundState::word));
    put_some(object, "error", assistant.error.as_deref());
    put_some(object, "rating", assistant.rating.map(rating_number));
    put_id(object, "parent", assistant.parent.as_ref());
}

fn rating_number(rating: Rating) -> i64 {
    match rating {
        Rating::Up => 1,
        Rating::Down => -1,
    }
}

fn put_plan(object: &mut JsonObject, plan: &Plan) {
    put_id(object, "stream", plan.stream.as_ref());
    // Written also where empty: an empty list and an empty text are two things.
    match &plan.content {
        PlanContent::Text(text) => put(object, "text", text.as_str()),
        PlanContent::Entries(entries) => put(object, "entries", entries.iter().map(entry_to_json).collect::<Value>()),
    }
}

fn entry_to_json(entry: &PlanEntry) -> Value {
    let mut object = JsonObject::new();
    put_text(&mut object, "content", &entry.content);
    put_some(&mut object, "status", entry.status_word.as_deref());
    put_some(&mut object, "priority", entry.priority.as_deref());
    finish(object, &entry.extra)
}

/// Writes a part of a round.
pub fn part_to_json(part: &Part) -> Value {
    match part {
        Part::Thinking(text) => text_part_to_json(PartType::Thinking, text),
        Part::Text(text) => text_part_to_json(PartType::Text, text),
        Part::Media(media) => media_to_json(media),
        Part::Call(call) => call_part_to_json(call),
    }
}

fn text_part_to_json(kind: PartType, part: &TextPart) -> Value {
    let mut object = JsonObject::new();
    put(&mut object, "type", kind.word());
    put_text(&mut object, "text", &part.text);
    put_some(&mut object, "message_id", part.message_id.as_deref());
    finish(object, &part.extra)
}

/// Writes an image, audio or a resource.
pub fn media_to_json(media: &Media) -> Value {
    let mut object = JsonObject::new();
    put(&mut object, "type", media.kind.word());
    put_some(&mut object, "mime", media.mime.as_deref());
    put_some(&mut object, "data", media.data.as_deref());
    put_some(&mut object, "uri", media.uri.as_deref());
    put_some(&mut object, "name", media.name.as_deref());
    put_some(&mut object, "message_id", media.message_id.as_deref());
    finish(object, &media.extra)
}

fn call_part_to_json(call: &Call) -> Value {
    let mut written = call_to_json(call);
    let mut object = JsonObject::new();
    put(&mut object, "type", PartType::Call.word());
    let beside = match written.as_object_mut() {
        Some(call) if call.get(PART_KEYS).is_some_and(Value::is_object) => call.shift_remove(PART_KEYS),
        Some(_) | None => None,
    };
    put(&mut object, "call", written);
    if let Some(Value::Object(unknown)) = beside {
        add_missing(&mut object, &unknown);
    }
    Value::Object(object)
}

/// Writes a call; with the unknown keys of its part under [`PART_KEYS`].
pub fn call_to_json(call: &Call) -> Value {
    let mut object = JsonObject::new();
    put(&mut object, "id", call.id.as_str());
    put_id(&mut object, "agent_id", call.agent_id.as_ref());
    put_some(&mut object, "name", call.name.as_deref());
    put_some(&mut object, "server", call.server.as_deref());
    put_some(&mut object, "kind", call.kind_word.as_deref());
    put_some(&mut object, "title", call.title.as_deref());
    put(&mut object, "state", call.state.word());
    put_some(&mut object, "input", call.input.clone());
    put_list(&mut object, "output", call.output.clone());
    put_list(&mut object, "locations", call.locations.clone());
    put_id(&mut object, "parent", call.parent.as_ref());
    put_some(&mut object, "started_at", call.started_at);
    put_some(&mut object, "ended_at", call.ended_at);
    put_some(&mut object, "waited_ms", call.waited_ms);
    put_some(&mut object, "feedback", call.feedback.as_deref());
    put_some(
        &mut object,
        "lines",
        call.lines.map(|Lines { added, removed }| json!({"added": added, "removed": removed})),
    );
    put_some(&mut object, "permission", call.permission.as_ref().map(permission_to_json));
    put_flag(&mut object, "announced", call.announced);
    put_flag(&mut object, "closed_by_host", call.closed_by_host);
    finish(object, &call.extra)
}

fn permission_to_json(permission: &Permission) -> Value {
    let mut object = JsonObject::new();
    put_id(&mut object, "request", permission.request.as_ref());
    put_list(&mut object, "options", permission.options.clone());
    put_some(&mut object, "chosen", permission.chosen.as_deref());
    put_some(&mut object, "by", permission.by.as_deref());
    put_some(&mut object, "at", permission.at);
    put_some(&mut object, "state", permission.state.map(crate::call::PermissionState::word));
    finish(object, &permission.extra)
}

fn window_to_json(window: &Window) -> Option<Value> {
    match window {
        Window::Latest => None,
        Window::At(id) => Some(json!({"at": id})),
        Window::Earlier(id) => Some(json!({"earlier": id})),
        Window::Later(id) => Some(json!({"later": id})),
        Window::Range { from, to } => Some(json!({"from": from, "to": to})),
    }
}

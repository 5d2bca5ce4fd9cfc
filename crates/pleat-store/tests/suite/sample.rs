//! Things with something in every field.

use super::{call_id, message_id, permission_id, prompt_id, turn_id};
use pleat_transcript::call::{Call, CallState, Lines, Permission, PermissionState};
use pleat_transcript::document::Document;
use pleat_transcript::ids::{AgentCallId, SessionId};
use pleat_transcript::message::{
    Assistant, Body, JsonObject, Media, MediaKind, Message, Notice, NoticeLevel, Origin, Part, Plan, PlanContent,
    PlanEntry, Rating, RoundState, TextPart, ToolResult, User,
};
use pleat_transcript::session::{ChosenSettings, ContextGauge, Session, Turn, TurnState, WaitingPrompt};
use serde_json::{Value, json};

pub(crate) fn extra() -> JsonObject {
    let mut extra = JsonObject::new();
    extra.insert("theirs".to_owned(), json!({"n": 0.1, "big": u64::MAX, "null": null}));
    extra
}

pub(crate) fn session(id: SessionId) -> Session {
    Session {
        id,
        root: Some("/home/me/app".to_owned()),
        live_turn: Some(turn_id("t2")),
        title: Some("A title\0with a NUL".to_owned()),
        agent: Some("claude".to_owned()),
        created_at: Some(1_700_000_000_000),
        turns: vec![turn("t1", TurnState::Completed), turn("t2", TurnState::Running)],
        context: Some(ContextGauge { used: 7, size: u64::MAX }),
        waiting: vec![prompt("q1"), WaitingPrompt { key: None, held: None, ..prompt("q2") }],
        chosen: chosen("plan"),
        directories: vec!["/srv/shared \0\"".to_owned(), String::new()],
        extra: extra(),
    }
}

/// A prompt that is held, with a key of its own.
pub(crate) fn prompt(id: &str) -> WaitingPrompt {
    WaitingPrompt {
        id: prompt_id(id),
        key: Some(format!("key of {id}")),
        text: format!("do {id}\0"),
        attachments: vec![media(MediaKind::Image), media(MediaKind::Resource)],
        created_at: Some(8),
        held: Some("Not now.".to_owned()),
    }
}

pub(crate) fn chosen(mode: &str) -> ChosenSettings {
    let options = [("effort", json!("high")), ("", json!({"z": null, "a": ["\u{0}", 0.1]}))];
    ChosenSettings {
        mode: Some(mode.to_owned()),
        model: Some(String::new()),
        options: options.map(|(id, value)| (id.to_owned(), value)).into(),
    }
}

pub(crate) fn turn(id: &str, state: TurnState) -> Turn {
    Turn {
        id: turn_id(id),
        state,
        stop_reason: Some("end_turn".to_owned()),
        started_at: Some(1),
        ended_at: Some(-2),
        usage: Some(Value::Null),
        extra: extra(),
    }
}

pub(crate) fn message(id: &str, body: Body) -> Message {
    Message { id: message_id(id), turn: Some(turn_id("t1")), created_at: Some(3), body, extra: extra() }
}

pub(crate) fn user(text: &str) -> Body {
    let attachments = vec![media(MediaKind::Image), media(MediaKind::Resource)];
    Body::User(User { text: text.to_owned(), lead: true, origin: Some(Origin::Agent), attachments })
}

pub(crate) fn media(kind: MediaKind) -> Media {
    Media {
        kind,
        mime: Some("image/png".to_owned()),
        data: Some("aGVsbG8=".to_owned()),
        uri: Some("file:///a".to_owned()),
        name: Some(String::new()),
        message_id: Some("am".to_owned()),
        extra: extra(),
    }
}

pub(crate) fn round(parts: Vec<Part>) -> Body {
    Body::Assistant(Assistant {
        parts,
        state: Some(RoundState::Streaming),
        error: Some("out of luck".to_owned()),
        rating: Some(Rating::Down),
        parent: Some(call_id("of another")),
    })
}

pub(crate) fn text(text: &str) -> Part {
    Part::Text(TextPart { text: text.to_owned(), message_id: None, extra: JsonObject::new() })
}

pub(crate) fn thinking(text: &str) -> Part {
    Part::Thinking(TextPart { text: text.to_owned(), message_id: Some("tm".to_owned()), extra: extra() })
}

pub(crate) fn call(id: &str) -> Call {
    Call {
        id: call_id(id),
        agent_id: Some(AgentCallId(String::new())),
        name: Some("Bash".to_owned()),
        server: Some("a server".to_owned()),
        kind_word: Some("execute".to_owned()),
        title: Some("ls".to_owned()),
        state: CallState::AwaitingPermission,
        input: Some(json!({"z": 1, "a": [1.5, "\u{0}"]})),
        output: vec![json!({"type": "content"}), terminal("$ ")],
        locations: vec![json!({"path": "/a"})],
        parent: Some(call_id("of another")),
        started_at: Some(4),
        ended_at: Some(5),
        waited_ms: Some(6),
        feedback: Some("no".to_owned()),
        lines: Some(Lines { added: 1, removed: u64::MAX }),
        permission: Some(permission("p1", PermissionState::Open)),
        announced: true,
        closed_by_host: true,
        extra: extra(),
    }
}

pub(crate) fn terminal(output: &str) -> Value {
    json!({"type": "terminal", "output": output, "exit": null})
}

pub(crate) fn permission(request: &str, state: PermissionState) -> Permission {
    Permission {
        request: Some(permission_id(request)),
        options: vec![json!({"optionId": "a", "name": "Allow"})],
        chosen: Some("a".to_owned()),
        by: Some("me".to_owned()),
        at: Some(7),
        state: Some(state),
        extra: extra(),
    }
}

pub(crate) fn entries(statuses: &[&str]) -> PlanContent {
    let entries = statuses.iter().map(|status| PlanEntry {
        content: "do it".to_owned(),
        status_word: Some((*status).to_owned()),
        priority: None,
        extra: extra(),
    });
    PlanContent::Entries(entries.collect())
}

pub(crate) fn plan(content: PlanContent) -> Body {
    Body::Plan(Plan { stream: Some(call_id("c1")), content })
}

pub(crate) fn notice(text: &str) -> Body {
    Body::Notice(Notice { level: NoticeLevel::Warning, code: Some("odd".to_owned()), text: text.to_owned() })
}

/// A message of every kind, with a part of every kind.
pub(crate) fn messages() -> Vec<Message> {
    let parts = vec![
        thinking("hm"),
        text("well"),
        Part::Call(Box::new(call("c1"))),
        Part::Call(Box::new(Call::new(call_id("c2")))),
        Part::Media(media(MediaKind::Audio)),
    ];
    vec![
        message("user", user("do it")),
        message("round", round(parts)),
        message("bare round", Body::Assistant(Assistant::default())),
        message("tool", Body::Tool(ToolResult { call: Some(call_id("c1")), text: "done".to_owned() })),
        message("plan", plan(entries(&["completed", "odd"]))),
        message("plan text", plan(PlanContent::Text(String::new()))),
        message("plan of nothing", plan(PlanContent::Entries(Vec::new()))),
        message("notice", notice("mind the gap")),
        Message {
            turn: None,
            created_at: None,
            extra: JsonObject::new(),
            ..message("bare", Body::User(User::default()))
        },
    ]
}

pub(crate) fn document(id: SessionId) -> Document {
    Document { messages: messages(), extra: extra(), ..Document::new(session(id)) }
}

//! What a process left open that was killed, and what recovery must make of it.

use pleat_store::{Durability, Revision, Signal, Signals, Store};
use pleat_transcript::call::{Call, CallState, Permission, PermissionState};
use pleat_transcript::change::Change;
use pleat_transcript::document::Document;
use pleat_transcript::ids::{CallId, MessageId, PermissionId, SessionId, TurnId};
use pleat_transcript::message::{
    Assistant, Body, JsonObject, Message, Notice, NoticeLevel, Part, RoundState, TextPart, User,
};
use pleat_transcript::session::{Millis, Session, Turn, TurnState};
use std::collections::BTreeSet;

/// When the killed process was at work.
pub(crate) const BEFORE: Millis = 1_000;

/// When recovery comes.
pub(crate) const AFTER: Millis = 5_000;

pub(crate) const REASON: &str = "Pleat was ended hard.";

pub(crate) fn session_id(id: &str) -> SessionId {
    SessionId::new(id).unwrap()
}

pub(crate) fn turn_id(id: &str) -> TurnId {
    TurnId::new(id).unwrap()
}

pub(crate) fn message_id(id: &str) -> MessageId {
    MessageId::new(id).unwrap()
}

pub(crate) fn call_id(id: &str) -> CallId {
    CallId::new(id).unwrap()
}

pub(crate) fn turn(id: &str, state: TurnState) -> Turn {
    let ended_at = (!state.is_open()).then_some(BEFORE);
    let started_at = Some(BEFORE);
    Turn { id: turn_id(id), state, stop_reason: None, started_at, ended_at, usage: None, extra: JsonObject::new() }
}

pub(crate) fn message(id: &str, turn: &str, body: Body) -> Message {
    let created_at = Some(BEFORE);
    Message { id: message_id(id), turn: Some(turn_id(turn)), created_at, body, extra: JsonObject::new() }
}

pub(crate) fn user(text: &str) -> Body {
    Body::User(User { text: text.to_owned(), ..User::default() })
}

pub(crate) fn round(state: RoundState, parent: Option<&str>, parts: Vec<Part>) -> Body {
    Body::Assistant(Assistant { parts, state: Some(state), parent: parent.map(call_id), ..Assistant::default() })
}

pub(crate) fn text(text: &str) -> Part {
    Part::Text(TextPart { text: text.to_owned(), message_id: None, extra: JsonObject::new() })
}

pub(crate) fn call(id: &str, state: CallState) -> Call {
    Call { state, started_at: Some(BEFORE), announced: true, ..Call::new(call_id(id)) }
}

pub(crate) fn call_part(id: &str, state: CallState) -> Part {
    Part::Call(Box::new(call(id, state)))
}

fn sub_call(id: &str, state: CallState, parent: &str) -> Part {
    Part::Call(Box::new(Call { parent: Some(call_id(parent)), ..call(id, state) }))
}

pub(crate) fn asked(call: Call, request: &str) -> Call {
    let permission = Permission {
        request: Some(PermissionId::new(request).unwrap()),
        options: vec![serde_json::json!({"optionId": "yes", "name": "Allow"})],
        chosen: None,
        by: None,
        at: None,
        state: Some(PermissionState::Open),
        extra: JsonObject::new(),
    };
    Call { state: CallState::AwaitingPermission, permission: Some(permission), ..call }
}

fn asking(part: Part, request: &str) -> Part {
    match part {
        Part::Call(call) => Part::Call(Box::new(asked(*call, request))),
        Part::Text(_) | Part::Thinking(_) | Part::Media(_) => part,
    }
}

pub(crate) fn notice(id: &str, turn: &str, text: &str) -> Message {
    let notice = Notice { level: NoticeLevel::Warning, code: Some("interrupted".to_owned()), text: text.to_owned() };
    message(id, turn, Body::Notice(notice))
}

/// A session in which calls are open in several rounds, in a sub-agent and in a sub-agent of that; three questions wait.
pub(crate) fn open_document(id: &str) -> Document {
    let session = Session {
        title: Some("A session".to_owned()),
        live_turn: Some(turn_id("t2")),
        created_at: Some(BEFORE),
        turns: vec![turn("t1", TurnState::Completed), turn("t2", TurnState::Running)],
        ..Session::new(session_id(id))
    };
    let ended = call_part("ended", CallState::Completed);
    let first = vec![text("I shall"), call_part("running", CallState::Running), call_part("task", CallState::Running)];
    let second = vec![asking(call_part("asks", CallState::Pending), "p1"), call_part("failed", CallState::Failed)];
    let inner = vec![
        text("inside"),
        sub_call("inner pending", CallState::Pending, "task"),
        sub_call("inner task", CallState::Running, "task"),
        asking(sub_call("inner asks", CallState::Pending, "task"), "p2"),
    ];
    let innermost = vec![asking(sub_call("innermost asks", CallState::Pending, "inner task"), "p3")];
    let messages = vec![
        message("u1", "t1", user("before")),
        message("r0", "t1", round(RoundState::Complete, None, vec![ended])),
        message("u2", "t2", user("do it")),
        message("r1", "t2", round(RoundState::Complete, None, first)),
        message("r2", "t2", round(RoundState::Streaming, Some("task"), inner)),
        message("r3", "t2", round(RoundState::Complete, Some("inner task"), innermost)),
        message("r4", "t2", round(RoundState::Complete, None, second)),
        message("r5", "t2", round(RoundState::Streaming, None, vec![text("and th")])),
    ];
    Document { messages, ..Document::new(session) }
}

/// Stores a document by commits, as a process that is at work does.
pub(crate) async fn store(store: &dyn Store, document: &Document) -> Revision {
    let mut session = document.session.clone();
    let id = session.id.clone();
    session.live_turn = None;
    let turns = std::mem::take(&mut session.turns);
    store.create_session(session).await.unwrap();
    let mut changes: Vec<Change> = turns.into_iter().map(Change::InsertTurn).collect();
    let live = pleat_transcript::change::SessionUpdate {
        live_turn: Some(document.session.live_turn.clone()),
        ..Default::default()
    };
    changes.push(Change::UpdateSession(live));
    let mut revision = store.commit(id.clone(), changes, BEFORE, Durability::Person).await.unwrap();
    for message in &document.messages {
        let changes = vec![Change::InsertMessage(Box::new(message.clone()))];
        revision = store.commit(id.clone(), changes, BEFORE, Durability::Agent).await.unwrap();
    }
    revision
}

/// What recovery must make of [`open_document`]; `notice` is the id of what it adds.
pub(crate) fn closed_document(id: &str, notice: &MessageId) -> Document {
    let mut document = open_document(id);
    for message in &mut document.messages {
        let Body::Assistant(round) = &mut message.body else { continue };
        round.state = Some(RoundState::Complete);
        for part in &mut round.parts {
            let Part::Call(call) = part else { continue };
            if call.state.is_unresolved() {
                call.waited_ms = call.permission.is_some().then_some(AFTER - BEFORE);
                call.state = CallState::Interrupted;
                call.ended_at = Some(AFTER);
                call.closed_by_host = true;
            }
            if let Some(permission) = &mut call.permission {
                permission.state = Some(PermissionState::Expired);
            }
        }
    }
    let text = format!("{REASON} What was still running has no known outcome.");
    let said = self::notice(notice.as_str(), "t2", &text);
    document.messages.push(Message { created_at: Some(AFTER), ..said });
    document.session.live_turn = None;
    document.session.turns[1].state = TurnState::Interrupted;
    document.session.turns[1].ended_at = Some(AFTER);
    document
}

/// The document is as recovery must leave [`open_document`].
pub(crate) fn assert_closed(document: &Document) {
    let notice = document.messages.last().unwrap().id.clone();
    let expected = closed_document(document.session.id.as_str(), &notice);
    for (message, expected) in document.messages.iter().zip(&expected.messages) {
        assert_eq!(message, expected);
    }
    assert!(*document == expected, "{:#?}", document.session);
}

/// What was signalled so far, each revision once: a signal may be doubled. A commit to a session of its own makes sure
/// that everything that was answered before has been signalled.
pub(crate) async fn heard(store: &dyn Store, signals: &mut Signals) -> BTreeSet<(String, u64)> {
    let fence = session_id(&format!("fence {}", uuid::Uuid::now_v7()));
    store.create_session(Session::new(fence.clone())).await.unwrap();
    let mut heard = BTreeSet::new();
    loop {
        match signals.next().await.unwrap() {
            Signal::Changed { session, .. } if session == fence => return heard,
            Signal::Changed { session, revision } => {
                if !session.as_str().starts_with("fence ") {
                    heard.insert((session.to_string(), revision.0));
                }
            }
            Signal::Command { .. } | Signal::Missed => {}
        }
    }
}

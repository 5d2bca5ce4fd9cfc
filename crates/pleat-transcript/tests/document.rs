//! The transcript document is read strictly and written without loss (docs/spec/fold.md, "Input").

#![allow(clippy::unwrap_used, reason = "the helpers of tests may panic too")]

mod document_generator;

use document_generator::document;
use pleat_transcript::call::{CallState, PermissionState};
use pleat_transcript::document::{
    Document, DocumentError, attachment_from_json, call_from_json, call_to_json, chosen_from_json, chosen_to_json,
    media_to_json, message_from_json, message_to_json, part_from_json, part_to_json, session_from_json,
    session_to_json, turn_from_json, turn_to_json,
};
use pleat_transcript::message::{Body, RoundState};
use pleat_transcript::session::TurnState;
use proptest::prelude::*;
use serde_json::{Value, json};

fn with_messages(messages: &Value) -> Value {
    json!({"session": {"id": "s1"}, "messages": messages})
}

fn error_of(document: &Value) -> String {
    Document::from_json(&document.to_string()).unwrap_err().to_string()
}

#[test]
fn malformed_json_is_reported_with_line_and_column() {
    let error = Document::from_json("{\n  \"session\": {\"id\": \"s1\"},\n  \"messages\": [}\n").unwrap_err();
    assert!(matches!(error, DocumentError::Malformed { line: 3, column: 16, .. }), "{error:?}");
    assert_eq!(error.to_string(), "malformed JSON in line 3, column 16: expected value");
    assert!(matches!(Document::from_json("{} x"), Err(DocumentError::Malformed { line: 1, column: 4, .. })));
}

#[test]
fn every_error_names_the_place_what_was_found_and_what_was_expected() {
    let part = |part: Value| with_messages(&json!([{"id": "m1", "role": "assistant", "parts": [part]}]));
    let call = |call: Value| part(json!({"type": "call", "call": call}));
    for (document, expected) in [
        (json!([]), "document: found a list, expected an object"),
        (json!({}), "session: found nothing, expected an object"),
        (json!({"session": {}}), "session.id: found nothing, expected an id"),
        (json!({"session": {"id": 7}}), "session.id: found the number 7, expected a string"),
        (
            json!({"session": {"id": ""}}),
            "session.id: found a string that is no id, expected 1 to 128 bytes: an id may not be empty",
        ),
        (
            json!({"session": {"id": "s", "turns": [{"id": "t1", "state": "asleep"}]}}),
            "session.turns[0].state: unknown turn state \"asleep\", expected one of queued, running, completed, \
             cancelled, failed, interrupted",
        ),
        (
            json!({"session": {"id": "s", "turns": [{"id": "t1"}]}}),
            "session.turns[0].state: found nothing, expected a turn state",
        ),
        (
            json!({"session": {"id": "s", "context": {"used": -1}}}),
            "session.context.used: found the number -1, expected a whole number from 0",
        ),
        (with_messages(&json!({})), "messages: found an object, expected a list"),
        (with_messages(&json!(["x"])), "messages[0]: found the string \"x\", expected an object"),
        (with_messages(&json!([{"id": "m1"}])), "messages[0].role: found nothing, expected a role"),
        (
            with_messages(&json!([{"id": "m1", "role": "narrator"}])),
            "messages[0].role: unknown role \"narrator\", expected one of user, assistant, tool, plan, notice",
        ),
        (
            with_messages(&json!([{"id": "m1", "role": "user", "lead": "yes"}])),
            "messages[0].lead: found the string \"yes\", expected true or false",
        ),
        (
            with_messages(&json!([{"id": "m1", "role": "assistant", "rating": 2}])),
            "messages[0].rating: found the number 2, expected -1, 1 or null",
        ),
        (
            with_messages(&json!([{"id": "m1", "role": "assistant", "state": "thinking"}])),
            "messages[0].state: unknown message state \"thinking\", expected one of streaming, complete",
        ),
        (
            part(json!({"type": "zip"})),
            "messages[0].parts[0].type: unknown part type \"zip\", expected one of thinking, text, call, image, \
             audio, resource",
        ),
        (part(json!({"type": "call"})), "messages[0].parts[0].call: found nothing, expected an object"),
        (
            call(json!({"id": "c1", "state": "paused"})),
            "messages[0].parts[0].call.state: unknown call state \"paused\", expected one of pending, \
             awaiting_permission, running, completed, failed, denied, cancelled, superseded, interrupted",
        ),
        (
            call(json!({"id": "c1", "permission": {"state": "lost"}})),
            "messages[0].parts[0].call.permission.state: unknown permission state \"lost\", expected one of open, \
             answered, expired",
        ),
        (
            call(json!({"id": "c1", "started_at": 1.5})),
            "messages[0].parts[0].call.started_at: found the number 1.5, expected a whole number",
        ),
        (
            json!({"session": {"id": "s"}, "window": {"at": "m1", "latest": true}}),
            "window: found an object, expected exactly one of \"latest\": true, \"at\", \"earlier\", \"later\", or \
             \"from\" with \"to\"",
        ),
    ] {
        assert_eq!(error_of(&document), expected);
    }
}

#[test]
fn a_long_found_value_is_shortened() {
    let error = error_of(&with_messages(&json!([{"id": "m1", "role": "ä".repeat(500)}])));
    assert!(error.starts_with(&format!("messages[0].role: unknown role \"{}…\"", "ä".repeat(40))), "{error}");
}

#[test]
fn ids_are_unique_in_their_session() {
    let twice = with_messages(&json!([{"id": "m1", "role": "user"}, {"id": "m1", "role": "user"}]));
    assert_eq!(error_of(&twice), "messages[1].id: found message id \"m1\" a second time, expected one of its own");
    let call = json!({"type": "call", "call": {"id": "c1"}});
    let calls = with_messages(&json!([{"id": "m1", "role": "assistant", "parts": [call, {"type": "text"}, call]}]));
    let expected = "messages[0].parts[2].call.id: found call id \"c1\" a second time, expected one of its own";
    assert_eq!(error_of(&calls), expected);
    let turn = json!({"id": "t1", "state": "completed"});
    let turns = json!({"session": {"id": "s1", "turns": [turn, turn]}});
    assert_eq!(error_of(&turns), "session.turns[1].id: found turn id \"t1\" a second time, expected one of its own");
    let waiting = |ids: [&str; 2], keys: [&str; 2]| {
        let prompt = |place: usize| json!({"id": ids[place], "key": keys[place]});
        json!({"session": {"id": "s1", "waiting": [prompt(0), prompt(1)]}})
    };
    let expected = "session.waiting[1].id: found prompt id \"q1\" a second time, expected one of its own";
    assert_eq!(error_of(&waiting(["q1", "q1"], ["a", "b"])), expected);
    let expected = "session.waiting[1].key: found the key \"a\" of a prompt a second time, expected one of its own";
    assert_eq!(error_of(&waiting(["q1", "q2"], ["a", "a"])), expected);
}

/// A document with every key, and an unknown one at every level, in the order of the export.
fn everything() -> Value {
    let text = r#"{
        "session": {
            "id": "s1", "root": "/r", "live_turn": "t1", "title": "T", "agent": "claude", "created_at": 1,
            "turns": [{"id": "t1", "state": "running", "stop_reason": "end_turn", "started_at": 1, "ended_at": 2,
                "usage": {"inputTokens": 7}, "x": 1}],
            "context": {"used": 1, "size": 0, "x": 2},
            "waiting": [
                {"id": "q1", "key": "k", "text": "next", "attachments": [{"type": "image", "data": "AA==", "x": 12}],
                    "created_at": 1, "held": "Wait."},
                {"id": "q2"},
                {"id": "q3", "key": ""}],
            "chosen": {"mode": "plan", "model": "m", "options": {"a": true, "b": null}, "x": 15},
            "directories": ["/d", ""],
            "x": 3
        },
        "messages": [
            {"id": "m1", "turn": "t1", "role": "user", "created_at": -1, "text": "Hi", "lead": true, "origin": "agent",
                "attachments": [{"type": "image", "mime": "image/png", "data": "AA==", "x": 4}], "x": null},
            {"id": "m2", "turn": "t1", "role": "assistant", "parts": [
                {"type": "thinking", "text": "Hm", "message_id": "a", "x": 5},
                {"type": "text", "text": "So", "message_id": ""},
                {"type": "call", "call": {
                    "id": "c1", "agent_id": "toolu_1", "name": "Edit", "server": "s", "kind": "strange",
                    "title": "Edit", "state": "awaiting_permission", "input": {"b": 1, "a": [0.1, 1e300, -0.0]},
                    "output": [{"type": "diff"}], "locations": [{"path": "a"}], "parent": "c0", "started_at": 1,
                    "ended_at": 2, "waited_ms": 3, "feedback": "no", "lines": {"added": 1, "removed": 0, "x": 6},
                    "permission": {"request": "p1", "options": [{"optionId": "a"}], "chosen": "a", "by": "me",
                        "at": 4, "state": "open", "x": 7},
                    "announced": true, "closed_by_host": true, "x": {"y": 8}
                }, "x": 9},
                {"type": "resource", "mime": "text/plain", "data": "d", "uri": "file:///a", "name": "a",
                    "message_id": "b"}
            ], "state": "streaming", "error": "", "rating": -1, "parent": "c0", "entries": "not of this role"},
            {"id": "m3", "role": "tool", "call": "c1", "text": "ok"},
            {"id": "m4", "turn": "t1", "role": "plan", "stream": "c1", "text": ""},
            {"id": "m5", "role": "plan", "entries": [{"content": "c", "status": "s", "priority": "p", "x": 10}]},
            {"id": "m6", "role": "plan", "entries": []},
            {"id": "m7", "role": "notice", "level": "warning", "code": "c", "text": "n"}
        ],
        "window": {"from": "m1", "to": "m7", "x": 11},
        "x": [{}]
    }"#;
    serde_json::from_str(text).unwrap()
}

#[test]
fn every_key_is_kept_also_unknown_ones_at_every_level() {
    let text = serde_json::to_string_pretty(&everything()).unwrap();
    let document = Document::from_json(&text).unwrap();
    assert_eq!(serde_json::to_string_pretty(&document.to_json()).unwrap(), text);
}

#[test]
fn what_is_absent_null_empty_or_false_is_the_same_and_is_not_written() {
    let full = json!({
        "session": {"id": "s1", "root": null, "live_turn": "", "turns": null, "context": {}, "waiting": [],
            "chosen": {"mode": null, "options": {}}, "directories": null},
        "messages": [
            {"id": "m1", "turn": "", "role": "user", "text": "", "lead": false, "attachments": []},
            {"id": "m2", "turn": null, "role": "assistant", "parts": [
                {"type": "call", "call": {"id": "c1", "input": null, "output": [], "announced": false, "lines": null}}
            ]}
        ],
        "window": {"latest": true}
    });
    let bare = json!({
        "session": {"id": "s1"},
        "messages": [
            {"id": "m1", "role": "user"},
            {"id": "m2", "role": "assistant", "parts": [
                {"type": "call", "call": {"id": "c1", "state": "pending"}}
            ]}
        ]
    });
    let document = Document::from_json(&full.to_string()).unwrap();
    assert_eq!(document.to_json().to_string(), bare.to_string());
    assert_eq!(Document::from_json(&bare.to_string()).unwrap(), document);
}

/// Keys that came late: a document that has them with another meaning is read as before.
#[test]
fn what_has_another_shape_is_kept_as_foreign() {
    for foreign in [
        json!({"waiting": true}),
        json!({"waiting": {"q1": "text"}}),
        json!({"waiting": ["text"]}),
        json!({"waiting": [{"id": "q1"}, {"text": "without an id"}]}),
        json!({"waiting": [{"id": "q1", "text": 7}]}),
        json!({"waiting": [{"id": "q1"}, {"id": "q2", "x": 8}]}),
        json!({"waiting": [{"id": "q1", "key": "k".repeat(129)}]}),
        json!({"waiting": [{"id": "q1", "attachments": [{"type": "zip"}]}]}),
        json!({"chosen": "m1"}),
        json!({"chosen": {"mode": 1, "x": 2}}),
        json!({"chosen": {"options": ["a"]}}),
        json!({"directories": "/d"}),
        json!({"directories": ["/d", 1]}),
        json!({"waiting": 1, "chosen": 2, "directories": 3}),
    ] {
        let mut written = json!({"session": {"id": "s1"}, "messages": []});
        written["session"].as_object_mut().unwrap().extend(foreign.as_object().unwrap().clone());
        let document = Document::from_value(written.clone()).unwrap();
        assert_eq!(Value::Object(document.session.extra.clone()), foreign);
        assert_eq!(document.to_json().to_string(), written.to_string());
        let ours = (document.session.waiting, document.session.chosen, document.session.directories);
        assert_eq!(ours, Default::default());
    }
}

#[test]
fn parts_of_a_document_are_read_and_written_alone() {
    let document = Document::from_json(&everything().to_string()).unwrap();
    assert_eq!(session_from_json(session_to_json(&document.session)).as_ref(), Ok(&document.session));
    for turn in &document.session.turns {
        assert_eq!(turn_from_json(turn_to_json(turn)).as_ref(), Ok(turn));
    }
    for message in &document.messages {
        assert_eq!(message_from_json(message_to_json(message)).as_ref(), Ok(message));
        let Body::Assistant(assistant) = &message.body else { continue };
        for part in &assistant.parts {
            assert_eq!(part_from_json(part_to_json(part)).as_ref(), Ok(part));
        }
        for call in assistant.calls() {
            assert_eq!(call_from_json(call_to_json(call)).as_ref(), Ok(call));
        }
    }
    let chosen = &document.session.chosen;
    assert_eq!(chosen_from_json(chosen_to_json(chosen)).as_ref(), Ok(chosen));
    for attachment in document.session.waiting.iter().flat_map(|prompt| &prompt.attachments) {
        assert_eq!(attachment_from_json(media_to_json(attachment)).as_ref(), Ok(attachment));
    }
    let error = message_from_json(json!({"id": "m1", "role": "assistant", "parts": [7]})).unwrap_err();
    assert_eq!(error.to_string(), "message.parts[0]: found the number 7, expected an object");
}

#[test]
fn an_import_leaves_nothing_running() {
    let call = |id: &str, state: &str| {
        let permission = json!({"state": "open"});
        json!({"type": "call", "call": {"id": id, "state": state, "permission": permission}})
    };
    let round = |id: &str, turn: &str, calls: [Value; 2]| json!({"id": id, "turn": turn, "role": "assistant", "state": "streaming", "parts": calls});
    let mut document = Document::from_value(json!({
        "session": {"id": "s1", "live_turn": "t3", "turns": [
            {"id": "t1", "state": "completed"}, {"id": "t2", "state": "queued"}, {"id": "t3", "state": "running"}],
            "waiting": [{"id": "q1"}, {"id": "q2", "held": "Already."}],
            "chosen": {"mode": "allow everything"}, "directories": ["/"]},
        "messages": [
            round("m1", "t1", [call("c1", "pending"), call("c2", "failed")]),
            round("m2", "t3", [call("c3", "running"), call("c4", "completed")]),
        ]
    }))
    .unwrap();
    document.prepare_import();
    let once = document.clone();
    document.prepare_import();
    assert_eq!(document, once);
    assert_eq!(document.session.live_turn, None);
    // What it grants is kept, and not in force.
    assert!(document.session.chosen.is_empty() && document.session.directories.is_empty());
    let aside = json!({"chosen": {"mode": "allow everything"}, "directories": ["/"]});
    assert_eq!(document.session.extra["imported"], aside);
    let held: Vec<_> = document.session.waiting.iter().map(|prompt| prompt.held.as_deref()).collect();
    assert_eq!(held, [Some("It was imported with its session. Send it or remove it."), Some("Already.")]);
    let states: Vec<_> = document.session.turns.iter().map(|turn| turn.state).collect();
    assert_eq!(states, [TurnState::Completed, TurnState::Interrupted, TurnState::Interrupted]);
    let rounds = document.messages.iter().filter_map(|message| match &message.body {
        Body::Assistant(assistant) => Some(assistant),
        Body::User(_) | Body::Tool(_) | Body::Plan(_) | Body::Notice(_) => None,
    });
    let rounds: Vec<_> = rounds.collect();
    assert!(rounds.iter().all(|round| round.state == Some(RoundState::Complete)));
    let calls: Vec<_> = rounds.iter().flat_map(|round| round.calls()).collect();
    // A turn that was over keeps its call without a result.
    let ends: Vec<_> = calls.iter().map(|call| (call.state, call.closed_by_host)).collect();
    assert_eq!(
        ends,
        [
            (CallState::Pending, false),
            (CallState::Failed, false),
            (CallState::Interrupted, true),
            (CallState::Completed, false)
        ]
    );
    let expired = Some(PermissionState::Expired);
    assert!(calls.iter().all(|call| call.permission.as_ref().and_then(|asked| asked.state) == expired));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn an_export_is_read_without_loss_and_written_again_byte_for_byte(document in document(12)) {
        let text = document.to_json().to_string();
        let read = Document::from_json(&text).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(&read, &document);
        prop_assert_eq!(read.to_json().to_string(), text);
    }

    #[test]
    fn an_imported_document_stays_a_document(mut document in document(12)) {
        document.prepare_import();
        let text = document.to_json().to_string();
        prop_assert_eq!(Document::from_json(&text), Ok(document.clone()));
        prop_assert!(document.session.turns.iter().all(|turn| !turn.state.is_open()));
    }

    #[test]
    fn reading_never_panics(value in "[\\[\\]{}\":,a-z0-9]{0,40}") {
        let _ = Document::from_json(&value);
    }
}

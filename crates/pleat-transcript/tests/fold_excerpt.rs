//! An excerpt of a session folds to the rows that the same window of the whole session has.

#![allow(clippy::unwrap_used, reason = "the helpers of tests may panic too")]

mod document_generator;

use document_generator::conversation::conversation;
use document_generator::document;
use pleat_transcript::document::{Document, Window};
use pleat_transcript::fold::{
    Excerpt, Makes, PlanIdentity, TopLevel, excerpt, fold, fold_excerpt, outline, supersedes, top_level_messages,
};
use pleat_transcript::ids::{CallId, MessageId, TurnId};
use pleat_transcript::message::{Body, Message};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

/// The most messages that a generated session has: one window and a half.
const MOST_MESSAGES: usize = 70;

/// Windows of every kind and of several sizes, all over a session.
fn windows(document: &Document) -> Vec<Window> {
    let mut windows = vec![Window::Latest, document.window.clone()];
    for (number, message) in document.messages.iter().enumerate() {
        let id = || message.id.clone();
        match number % 6 {
            0 => windows.push(Window::At(id())),
            2 => windows.push(Window::Earlier(id())),
            4 => windows.push(Window::Later(id())),
            // Small ones have more of the session outside, and ranges name messages that are not top-level.
            _ => {
                let to = document.messages.get(number + number % 7).unwrap_or(message).id.clone();
                windows.push(Window::Range { from: id(), to });
            }
        }
    }
    windows
}

fn check(document: &Document, window: &Window) {
    match (fold(document, window), excerpt(document, window)) {
        (Ok(rows), Ok(excerpt)) => {
            assert_eq!(fold_excerpt(&excerpt), rows, "{window:?}");
        }
        (Err(expected), Err(found)) => assert_eq!(found, expected),
        (expected, found) => panic!("{window:?}: expected {expected:?}, found {found:?}"),
    }
}

fn check_windows(document: &Document) {
    let windows = windows(document);
    for window in &windows {
        check(document, window);
    }
    for excerpt in windows.iter().rev().filter_map(|window| excerpt(document, window).ok()).take(3) {
        check_contents(&excerpt, document);
    }
}

/// The rows name only what the excerpt has, and the excerpt has nothing that its window does not show.
fn check_contents(excerpt: &Excerpt, document: &Document) {
    let rows = serde_json::to_value(fold_excerpt(excerpt)).unwrap();
    let has_message = |id: &Value| excerpt.messages().any(|message| message.id.as_str() == id);
    for row in rows["rows"].as_array().unwrap() {
        let shown = row["messages"].as_array().map_or_else(|| vec![row["message"].clone()], Clone::clone);
        assert!(shown.iter().all(has_message));
    }
    let text = rows.to_string();
    for message in &excerpt.document.messages {
        if let Body::Assistant(assistant) = &message.body {
            assert!(assistant.calls().all(|call| text.contains(&format!("\"{}\"", call.id))));
        }
    }
    let newest = document.session.turns.last();
    assert_eq!(excerpt.document.session.turns.last(), newest);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Rule: fold 3.4, fold 4.3
    #[test]
    fn an_excerpt_of_a_conversation_has_the_rows_of_its_window(document in conversation(MOST_MESSAGES)) {
        check_windows(&document);
    }

    /// Rule: fold 3.4, fold 4.3, fold 1.9
    #[test]
    fn an_excerpt_of_any_document_has_the_rows_of_its_window(document in document(MOST_MESSAGES)) {
        check_windows(&document);
    }
}

/// The documents of all vectors, in all their windows.
#[test]
fn an_excerpt_of_any_vector_has_the_rows_of_its_window() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/fold");
    let mut documents = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let vector: Value = serde_json::from_str(&std::fs::read_to_string(file.unwrap().path()).unwrap()).unwrap();
        let steps = vector["steps"].as_array().cloned().unwrap_or_else(|| vec![vector]);
        for document in steps.iter().filter_map(|step| Document::from_json(&step["given"].to_string()).ok()) {
            documents += 1;
            check_windows(&document);
            let top = top_level_messages(&document);
            for two in top.windows(2) {
                check(&document, &Window::Range { from: two[0].clone(), to: two[1].clone() });
            }
        }
    }
    assert!(documents > 70);
}

/// What is wrong with an excerpt, by what it lacks.
type Spoilt = (&'static str, fn(&mut Excerpt, &Document));

/// Of `lost_calls`, which count in rare sessions only, there is a test of its own.
const SPOILT: [Spoilt; 10] = [
    ("superseded_plans", |excerpt, _| excerpt.superseded_plans.clear()),
    ("plan_contents", |excerpt, _| excerpt.plan_contents.clear()),
    ("before", |excerpt, _| excerpt.around.before = 0),
    ("after", |excerpt, _| excerpt.around.after = 0),
    ("run_start", |excerpt, _| excerpt.around.run_start = None),
    ("run_goes_on", |excerpt, _| excerpt.around.run_goes_on = !excerpt.around.run_goes_on),
    ("not followed", |excerpt, _| excerpt.around.followed = false),
    ("followed", |excerpt, _| excerpt.around.followed = true),
    ("whole messages", |excerpt, document| {
        for message in &mut excerpt.document.messages {
            message.clone_from(document.messages.iter().find(|whole| whole.id == message.id).unwrap());
        }
    }),
    ("only top-level messages", |excerpt, document| {
        let top = top_level_messages(document);
        excerpt.document.messages.retain(|message| top.contains(&&message.id));
    }),
];

/// Each fact of an excerpt matters in some session, so the properties above would find any that is wrong.
#[test]
fn every_fact_of_an_excerpt_counts() {
    let mut differences = SPOILT.map(|(what, _)| (what, 0));
    let mut runner = TestRunner::deterministic();
    // Some count in rare sessions only.
    for _ in 0..200 {
        if differences.iter().all(|(_, found)| *found > 0) {
            return;
        }
        let document = conversation(MOST_MESSAGES).new_tree(&mut runner).unwrap().current();
        for excerpt in windows(&document).iter().filter_map(|window| excerpt(&document, window).ok()) {
            let rows = fold_excerpt(&excerpt);
            for ((_, spoil), (_, found)) in SPOILT.iter().zip(&mut differences) {
                let mut spoilt = excerpt.clone();
                spoil(&mut spoilt, &document);
                *found += usize::from(fold_excerpt(&spoilt) != rows);
            }
        }
    }
    panic!("{differences:?}");
}

fn read(messages: &Value) -> Document {
    Document::from_value(json!({"session": {"id": "s1"}, "messages": messages})).unwrap()
}

/// A message with calls, of which each may name a parent.
fn round(id: &str, calls: &[(&str, Option<&str>)]) -> Value {
    let part = |(id, parent): &(&str, Option<&str>)| json!({"type": "call", "call": {"id": id, "parent": parent}});
    json!({"id": id, "role": "assistant", "turn": "t1", "parts": calls.iter().map(part).collect::<Vec<_>>()})
}

fn makes(document: &Document) -> Vec<Option<Makes>> {
    outline(document).messages.iter().map(|message| message.top_level.map(|top_level| top_level.makes)).collect()
}

/// Rule: fold 1.1, fold 4.1, fold 4.2
#[test]
fn an_outline_says_where_each_message_and_call_is_shown() {
    let document = read(&json!([
        {"id": "m0", "role": "user", "text": "go"},
        round("m1", &[("c0", None)]),
        {"id": "m2", "role": "assistant", "turn": "t1", "parts": [{"type": "text", "text": " "}]},
        round("m3", &[("c1", Some("c0")), ("c2", None)]),
        {"id": "m4", "role": "tool", "call": "c1", "text": "a result"},
        {"id": "m5", "role": "assistant", "turn": "t1", "parent": "c2", "parts": [{"type": "text", "text": "inside"}]},
        {"id": "m6", "role": "tool", "call": "nowhere", "text": "a result"},
        round("m7", &[("c3", None)]),
    ]));
    let outline = outline(&document);
    let shown_by: Vec<_> = outline.messages.iter().map(|message| message.shown_by).collect();
    assert_eq!(shown_by, [0, 1, 2, 3, 1, 3, 6, 7]);
    let calls: Vec<_> = outline.calls.iter().map(|call| (call.call.as_str(), call.shown_by)).collect();
    assert_eq!(calls, [("c0", 1), ("c1", 1), ("c2", 3), ("c3", 7)]);
    assert_eq!(outline.messages[6].top_level, Some(TopLevel { ordinal: 4, makes: Makes::Row }));
    let round = |starts_run| Some(Makes::Round { starts_run });
    let (row, nothing) = (Some(Makes::Row), Some(Makes::Nothing));
    assert_eq!(makes(&document), [row, round(true), nothing, round(false), None, None, row, round(true)]);
}

fn plan(id: &str, stream: Option<&str>, content: &Value) -> Value {
    let mut plan = json!({"id": id, "role": "plan", "turn": "t1", "stream": stream});
    plan[if content.is_string() { "text" } else { "entries" }] = content.clone();
    plan
}

/// Rule: fold 3.1, fold 3.2, fold 3.6
#[test]
fn an_outline_says_where_each_plan_begins_and_what_is_its_newest() {
    let entries = json!([{"content": "a"}]);
    let document = read(&json!([
        plan("m0", Some("c9"), &entries),
        plan("m1", None, &entries),
        plan("m2", Some("c9"), &json!("text")),
        plan("m3", None, &json!([])),
        plan("m4", None, &json!("by itself")),
    ]));
    let (turn, call) = (TurnId::new("t1").unwrap(), CallId::new("c9").unwrap());
    let plans = outline(&document).plans;
    let found: Vec<_> = plans.iter().map(|plan| (plan.identity, plan.first, plan.newest)).collect();
    let stream = PlanIdentity::Stream { turn: Some(&turn), call: &call };
    assert_eq!(found, [(stream, 0, 2), (PlanIdentity::List { turn: &turn }, 1, 3)]);
    let (row, nothing) = (Some(Makes::Row), Some(Makes::Nothing));
    assert_eq!(makes(&document), [row, row, nothing, nothing, row]);
}

/// Rule: fold 3.3
#[test]
fn only_a_strict_prefix_in_the_same_turn_is_superseded() {
    let message = |turn: Option<&str>, stream: Option<&str>, text: &str| -> Message {
        let plan = json!([{"id": "m", "role": "plan", "turn": turn, "stream": stream, "text": text}]);
        read(&plan).messages.remove(0)
    };
    let earlier = message(Some("t1"), None, "one");
    assert!(supersedes(&message(Some("t1"), None, "one two"), &earlier));
    assert!(!supersedes(&earlier, &message(Some("t1"), None, "one two")));
    assert!(!supersedes(&message(Some("t1"), None, "one"), &earlier));
    assert!(!supersedes(&message(Some("t1"), None, "two one"), &earlier));
    assert!(!supersedes(&message(Some("t2"), None, "one two"), &earlier));
    assert!(!supersedes(&message(Some("t1"), Some("c1"), "one two"), &earlier));
    assert!(!supersedes(&message(None, None, "one two"), &message(None, None, "one")));
}

/// A message whose calls are shown in two places: outside of its own place, only the call shows.
/// Rule: fold 4.6, fold 4.7
#[test]
fn a_mixed_message_is_in_two_excerpts_in_part() {
    let mut mixed = round("m2", &[("c1", Some("c0")), ("c2", None)]);
    mixed["error"] = json!("broke");
    mixed["parts"].as_array_mut().unwrap().insert(0, json!({"type": "text", "text": "said"}));
    let document = read(&json!([round("m1", &[("c0", None)]), mixed]));
    let only = |id: &str| {
        let id = || MessageId::new(id).unwrap();
        excerpt(&document, &Window::Range { from: id(), to: id() }).unwrap()
    };
    let of_parent = only("m1");
    let mut expected = round("m2", &[("c1", Some("c0"))]);
    assert_eq!(of_parent.document.messages[1], read(&json!([expected.take()])).messages[0]);
    assert!(of_parent.lost_calls.is_empty());
    let own = only("m2");
    assert_eq!(own.document.messages.len(), 1);
    assert_eq!(own.lost_calls.first().map(MessageId::as_str), Some("m2"));
    assert_eq!(own.around.run_start, Some(MessageId::new("m1").unwrap()));
}

/// A message in a sub-agent's call whose only call is shown elsewhere is still listed there, as the whole session has it.
/// Rule: fold 4.7
#[test]
fn a_message_whose_calls_are_shown_elsewhere_is_still_listed() {
    let mut inside = round("m3", &[("c2", Some("c1"))]);
    inside["parent"] = json!("c0");
    let user = json!({"id": "u", "role": "user", "text": "go"});
    let document = read(&json!([round("m1", &[("c0", None)]), user, round("m2", &[("c1", None)]), inside]));
    let from = MessageId::new("m1").unwrap();
    let mut excerpt = excerpt(&document, &Window::Range { from: from.clone(), to: from }).unwrap();
    let rounds = |rows| {
        let rows = serde_json::to_value(rows).unwrap();
        rows["rows"][0]["rounds"][0]["calls"][0]["children"]["rounds"].clone()
    };
    assert_eq!(rounds(fold_excerpt(&excerpt)), json!([{"message": "m3", "calls": []}]));
    excerpt.lost_calls.clear();
    assert_eq!(rounds(fold_excerpt(&excerpt)), Value::Null);
}

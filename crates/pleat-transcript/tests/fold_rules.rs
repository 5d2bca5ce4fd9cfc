//! Rules of docs/spec/fold.md that its conformance vectors do not reach.

#![allow(clippy::unwrap_used, reason = "the helpers of tests may panic too")]

use pleat_transcript::document::{Document, Window};
use pleat_transcript::fold::{FoldError, fold};
use pleat_transcript::ids::MessageId;
use pleat_transcript::message::{Body, NoticeLevel};
use serde_json::{Value, json};

fn document(live_turn: Option<&str>, messages: &[Value]) -> Document {
    Document::from_value(json!({"session": {"id": "s1", "live_turn": live_turn}, "messages": messages})).unwrap()
}

fn rows_of(live_turn: Option<&str>, messages: &[Value]) -> Vec<Value> {
    rows_in(&document(live_turn, messages), &Window::Latest)
}

fn rows_in(document: &Document, window: &Window) -> Vec<Value> {
    let folded = serde_json::to_value(fold(document, window).unwrap()).unwrap();
    folded["rows"].as_array().unwrap().clone()
}

fn range(from: &str, to: &str) -> Window {
    Window::Range { from: MessageId::new(from).unwrap(), to: MessageId::new(to).unwrap() }
}

/// `id=message` of each row; of an activity row, `run:messages`.
fn outline(rows: &[Value]) -> Vec<String> {
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    let outline = |row: &Value| match row["messages"].as_array() {
        Some(messages) => format!("{}:{}", word(&row["run"]), messages.iter().map(word).collect::<Vec<_>>().join(",")),
        None if row["id"] == row["message"] => word(&row["id"]),
        None => format!("{}={}", word(&row["id"]), word(&row["message"])),
    };
    rows.iter().map(outline).collect()
}

fn call(id: &str, state: &str) -> Value {
    json!({"type": "call", "call": {"id": id, "state": state, "name": "Bash", "input": {"command": id}}})
}

fn call_inside(id: &str, parent: &str) -> Value {
    json!({"type": "call", "call": {"id": id, "state": "completed", "parent": parent}})
}

fn said(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn round(id: &str, parts: &[Value]) -> Value {
    json!({"id": id, "turn": "t1", "role": "assistant", "state": "complete", "parts": parts})
}

fn round_inside(id: &str, parent: &str, parts: &[Value]) -> Value {
    json!({"id": id, "turn": "t1", "role": "assistant", "parent": parent, "parts": parts})
}

fn text_plan(id: &str, text: &str) -> Value {
    json!({"id": id, "turn": "t1", "role": "plan", "text": text})
}

fn list_plan(id: &str, turn: Option<&str>, stream: Option<&str>, entries: usize) -> Value {
    let entries = vec![json!({"content": "x"}); entries];
    json!({"id": id, "turn": turn, "role": "plan", "stream": stream, "entries": entries})
}

fn notice(id: &str) -> Value {
    json!({"id": id, "role": "notice", "text": "n"})
}

/// Rule: fold Input.5
#[test]
fn an_absent_state_of_a_call_is_pending_and_an_absent_level_info_but_a_turn_has_a_state() {
    let call = json!({"type": "call", "call": {"id": "c1"}});
    let document = document(None, &[round("a1", &[call]), notice("n1")]);
    let rows = rows_in(&document, &Window::Latest);
    assert_eq!(rows[0]["rounds"][0]["calls"][0]["state"], "pending");
    let Body::Notice(notice) = &document.messages[1].body else { panic!("no notice") };
    assert_eq!(notice.level, NoticeLevel::Info);
    let turn = json!({"session": {"id": "s1", "turns": [{"id": "t1"}]}});
    let error = Document::from_value(turn).unwrap_err().to_string();
    assert!(error.contains("session.turns[0].state"), "{error}");
}

/// Rule: fold Input.6, fold 5.kinds, fold 3.5
#[test]
fn words_of_the_agent_that_nobody_knows_are_no_error() {
    let of_kind =
        |id: &str, kind: Value| json!({"type": "call", "call": {"id": id, "state": "completed", "kind": kind}});
    let calls = [of_kind("c1", json!("teleport")), of_kind("c2", Value::Null), of_kind("c3", json!("read"))];
    let entries =
        json!([{"content": "x", "status": "begun"}, {"content": "y"}, {"content": "z", "status": "in_progress"}]);
    let plan = json!({"id": "p1", "turn": "t1", "role": "plan", "entries": entries});
    let rows = rows_of(Some("t1"), &[round("a1", &calls), plan]);
    assert_eq!(rows[0]["summary"]["kinds"], json!({"other": 2, "read": 1}));
    assert_eq!(rows[1]["progress"], json!({"done": 0, "total": 3, "running": 1}));
}

/// Rule: fold 1.7
#[test]
fn a_range_has_at_most_200_messages_and_runs_forwards() {
    let messages: Vec<_> = (0..202).map(|n| notice(&format!("n{n}"))).collect();
    let document = document(None, &messages);
    assert_eq!(rows_in(&document, &range("n1", "n200")).len(), 200);
    let too_long = fold(&document, &range("n1", "n201")).unwrap_err();
    assert!(matches!(too_long, FoldError::RangeTooLong { count: 201, .. }));
    assert!(too_long.to_string().contains("from `n1` to `n201` holds 201 messages, more than 200"));
    assert!(matches!(fold(&document, &range("n2", "n1")), Err(FoldError::BackwardRange { .. })));
}

/// Rule: fold 3.1, fold 3.2
#[test]
fn a_stream_without_a_turn_is_one_plan_and_a_list_without_one_stands_alone() {
    let stream = |id, entries| list_plan(id, None, Some("c9"), entries);
    let list = |id, entries| list_plan(id, None, None, entries);
    let messages = [stream("p1", 1), list("p2", 1), stream("p3", 2), list("p4", 2), list("p5", 0)];
    assert_eq!(outline(&rows_of(None, &messages)), ["p1=p3", "p2", "p4"]);
}

/// Rule: fold 3.1, fold 3.5
#[test]
fn texts_and_lists_of_one_stream_are_one_plan() {
    let text = json!({"id": "p1", "turn": "t1", "role": "plan", "stream": "c9", "text": "Draft"});
    let rows = rows_of(None, &[text, list_plan("p2", Some("t1"), Some("c9"), 2)]);
    assert_eq!(outline(&rows), ["p1=p2"]);
    assert_eq!(rows[0]["progress"], json!({"done": 0, "total": 2, "running": 0}));
}

/// Rule: fold 3.6
#[test]
fn the_place_of_an_emptied_stream_still_stands_between() {
    let stream = |id, entries| list_plan(id, Some("t1"), Some("c9"), entries);
    let first = round("a1", &[call("c1", "completed")]);
    let second = round("a2", &[call("c2", "completed")]);
    let messages = [first, stream("p1", 1), second, stream("p2", 0)];
    assert_eq!(outline(&rows_of(None, &messages)), ["a1:a1", "a2:a2"]);
    let texts = [text_plan("x1", "a"), stream("p1", 1), text_plan("x2", "ab"), stream("p2", 0)];
    assert_eq!(outline(&rows_of(None, &texts)), ["x1", "x2"]);
}

/// Rule: fold 3.3
#[test]
fn later_snapshots_break_neither_a_chain_nor_a_group() {
    let list = |id| list_plan(id, Some("t1"), None, 1);
    let messages = [list("p1"), text_plan("x1", "a"), list("p2"), text_plan("x2", "ab"), text_plan("x3", "ac")];
    assert_eq!(outline(&rows_of(None, &messages)), ["p1=p2", "x2", "x3"]);
}

/// Rule: fold 5.current, fold 4.3
#[test]
fn a_row_of_a_part_of_a_run_has_no_current_call_where_the_active_round_lies_outside() {
    let rounds = [round("a1", &[call("c1", "running")]), round("a2", &[call("c2", "completed")])];
    let document = document(Some("t1"), &rounds);
    let part = |window| rows_in(&document, &window).remove(0);
    let (first, second) = (part(range("a1", "a1")), part(range("a2", "a2")));
    assert_eq!(first["continues"], json!({"earlier": false, "later": true}));
    assert_eq!((&first["summary"]["live"], &first["summary"]["current"]), (&json!(true), &Value::Null));
    assert_eq!(second["run"], "a1");
    assert_eq!(
        (&second["summary"]["title"], &second["summary"]["current"]),
        (&json!("Working · 1 action"), &Value::Null)
    );
    let whole = part(Window::Latest);
    assert_eq!(whole["summary"]["current"]["id"], "c1");
}

/// Rule: fold Input.10, fold 4.6, fold 4.7
#[test]
fn a_call_takes_the_parent_of_its_message_and_a_message_that_of_its_first_call() {
    let messages = [
        round("a1", &[call("c1", "completed"), call("c2", "completed")]),
        round("a2", &[call_inside("c3", "c2"), call_inside("c4", "c1"), said("Inside the first call's parent")]),
        round_inside("a3", "c4", &[call_inside("c5", "nowhere"), call_inside("c6", "c5")]),
        round("a4", &[call_inside("c7", "c1"), call("c8", "completed")]),
    ];
    let rows = rows_of(None, &messages);
    assert_eq!(outline(&rows), ["a1:a1,a4"]);
    assert_eq!(rows[0]["summary"]["actions"], 3);
    let calls = &rows[0]["rounds"][0]["calls"];
    let [inside_c1, inside_c2] = [&calls[0]["children"], &calls[1]["children"]];
    assert_eq!(inside_c2["narration"], "Inside the first call's parent");
    assert_eq!((&inside_c2["actions"], &inside_c2["rounds"][0]["calls"][0]["id"]), (&json!(1), &json!("c3")));
    assert_eq!((&inside_c1["actions"], &inside_c1["narration"]), (&json!(2), &Value::Null));
    let inside_c4 = &inside_c1["rounds"][0]["calls"][0]["children"];
    assert_eq!(inside_c4["rounds"][0]["calls"][0]["children"]["rounds"][0]["calls"][0]["id"], "c6");
    assert_eq!(inside_c1["rounds"][1], json!({"message": "a4", "calls": [inside_c1["rounds"][1]["calls"][0]]}));
}

/// Rule: fold 4.7, fold 5.title
#[test]
fn what_a_sub_agent_only_says_counts_no_action_and_a_blank_one_is_not_there() {
    let messages = [
        round("a1", &[call("c1", "running"), call("c2", "running")]),
        round_inside("a2", "c1", &[said("Looking")]),
        round_inside("a3", "c2", &[said(" ")]),
    ];
    let rows = rows_of(Some("t1"), &messages);
    let calls = &rows[0]["rounds"][0]["calls"];
    let children = &calls[0]["children"];
    assert_eq!((&children["title"], &children["current"]), (&json!("Working · 0 actions"), &Value::Null));
    assert_eq!(children["rounds"], json!([{"message": "a2", "calls": []}]));
    assert_eq!(calls[1]["children"], Value::Null);
}

/// Rule: fold 5.missing, fold 5.live
#[test]
fn calls_inside_are_missing_where_the_turn_of_the_row_is_over() {
    let child = |state| json!([call("c2", state)]).as_array().unwrap().clone();
    let messages = [round("a1", &[call("c1", "completed")]), round_inside("a2", "c1", &child("running"))];
    let children = |live| rows_of(live, &messages)[0]["rounds"][0]["calls"][0]["children"].clone();
    let (live, over) = (children(Some("t1")), children(None));
    // Its call has ended, so it is not at work; but a result may still come.
    assert_eq!((&live["live"], &live["missing"], &live["issues"]), (&json!(false), &json!(0), &json!("")));
    assert_eq!((&over["missing"], &over["issues"]), (&json!(1), &json!("1 without a result")));
}

/// Rule: fold 2.1, fold 1.8
#[test]
fn a_result_without_a_call_id_or_before_its_call() {
    let result = |id: &str, call: Option<&str>| json!({"id": id, "role": "tool", "call": call, "text": "ok"});
    let messages = [result("r1", None), result("r2", Some("c1")), round("a1", &[call("c1", "completed")])];
    let document = document(None, &messages);
    assert_eq!(outline(&rows_in(&document, &Window::Latest)), ["r1", "a1:a1"]);
    // The id of what is not top-level stands for the message that shows it.
    assert_eq!(outline(&rows_in(&document, &range("r2", "r2"))), ["a1:a1"]);
}

/// Rule: fold 5.narration
#[test]
fn narration_is_one_trimmed_line_of_at_most_160_characters() {
    let narration = |text: &str| {
        let rows = rows_of(None, &[round("a1", &[said("before"), said(text), call("c1", "completed")])]);
        rows[0]["summary"]["narration"].clone()
    };
    assert_eq!(narration("\r\n \u{2028} One. \rTwo."), "One.");
    assert_eq!(narration(&format!("{} y", "é".repeat(159))), "é".repeat(159));
    assert_eq!(narration("\u{3000}"), "before");
}

/// Rule: fold 3.3
#[test]
fn a_copy_grows_only_where_every_character_of_the_one_before_stays() {
    let plan = |id: &str, text: &str| json!({"id": id, "turn": "t1", "role": "plan", "text": text});
    assert_eq!(outline(&rows_of(None, &[plan("p1", "1. Read\n"), plan("p2", "1. Read it")])), ["p1", "p2"]);
    assert_eq!(outline(&rows_of(None, &[plan("p1", "1. Read"), plan("p2", "1. Read it")])), ["p2"]);
}

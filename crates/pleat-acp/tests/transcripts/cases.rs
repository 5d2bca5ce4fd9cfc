//! Cases of docs/cases.md, as far as a transcript without a host can show them.

use crate::live::{Live, content};
use crate::said::Channel;
use crate::transcript::{call, calls, notices, output_text, spoken, texts, turn_states};
use pleat_transcript::session::ContextGauge;
use serde_json::{Value, json};

/// Rule: record Rest.5.10
#[test]
fn b01_replayed_history_is_not_stored_again() {
    let mut live = Live::new();
    for turn in ["first", "second"] {
        live.prompt(turn).text("An answer ").text("to the ").text(turn).stops("end_turn");
    }
    for round in 0..3 {
        let before = live.document.clone();
        live.restarts().loads(|live| {
            live.user_text("first").text("An answer ").text("to the first");
            live.user_text("second").text("An answer ").text("to the second");
        });
        assert_eq!(live.document.messages, before.messages, "load {round}");
        live.prompt("go on").text("Yes.").stops("end_turn");
        assert_eq!(live.document.messages.len(), before.messages.len() + 2, "load {round}");
    }
    let said = texts(&live.document, Channel::Message);
    assert_eq!(said, ["An answer to the first", "An answer to the second", "Yes.", "Yes.", "Yes."]);
}

/// Rule: record Text.4.1, record Text.4.2
#[test]
fn b02_the_consolidated_copy_adds_nothing() {
    let mut live = Live::new();
    live.prompt("1")
        .text("Looking ")
        .text("around.")
        .thought_with_id("Hm.", "m1")
        .text_with_id("Looking around.", "m1");
    live.call("t1", "completed", json!({"title": "Read"})).stops("end_turn");
    assert_eq!(texts(&live.document, Channel::Message), ["Looking around."]);
    // The rule ends with the turn.
    live.prompt("2").text_with_id("Looking around.", "m2").stops("end_turn");
    assert_eq!(texts(&live.document, Channel::Message), ["Looking around.", "Looking around."]);
}

/// Rule: record Text.1
#[test]
fn b03_deltas_are_kept_exactly() {
    let mut live = Live::new();
    live.prompt("A table").text("|--|").text("--|").text("--|\n").stops("end_turn");
    assert_eq!(texts(&live.document, Channel::Message), ["|--|--|--|\n"]);
}

/// Rule: record Text.3.1
#[test]
fn b04_an_empty_chunk_is_nothing() {
    let mut live = Live::new();
    live.prompt("Go").text("").text("ok").call("t1", "completed", json!({"title": "Read"})).stops("end_turn");
    live.prompt("waited").text("Next.").stops("end_turn");
    assert_eq!(live.row_kinds(), ["message", "activity", "message", "message"]);
    assert_eq!(spoken(&live.document, Channel::Message), "okNext.");
    assert_eq!(turn_states(&live.document), ["completed", "completed"]);
}

#[test]
fn b05_one_plan_card() {
    let six: Vec<(&str, &str)> = ["a", "b", "c", "d", "e", "f"].map(|step| (step, "pending")).to_vec();
    let mut live = Live::new();
    live.prompt("Plan").plan(&six).thought_with_id("Hm.", "t").text("So.").plan(&six);
    assert_eq!(live.row_kinds(), ["message", "plan", "message"]);
    let mut next = six;
    next[0].1 = "completed";
    live.plan(&next);
    assert_eq!(live.row_kinds(), ["message", "plan", "message"]);
    assert_eq!(live.rows()[1]["progress"], json!({"done": 1, "total": 6, "running": 0}));
}

#[test]
fn b06_a_plan_stops_with_its_turn() {
    let endings: [fn(&mut Live); 3] = [
        |live| {
            live.stops("end_turn");
        },
        |live| {
            live.cancel().stops("cancelled");
        },
        |live| {
            live.answered(Err(json!({"code": -32603, "message": "Internal error"})));
        },
    ];
    for end in endings {
        let mut live = Live::new();
        let mut steps = vec![("done", "completed"), ("now", "in_progress")];
        steps.extend([("later", "pending"); 6]);
        live.prompt("Plan").plan(&steps);
        let progress = |live: &Live| live.rows().iter().find(|row| row["kind"] == "plan").unwrap()["progress"].clone();
        assert_eq!(progress(&live), json!({"done": 1, "total": 8, "running": 1}));
        end(&mut live);
        assert_eq!(progress(&live), json!({"done": 1, "total": 8, "running": 0}));
    }
}

/// Rule: record Calls.1.3, record Calls.1.4, record Calls.2.2
#[test]
fn b07_update_without_call() {
    let mut live = Live::new();
    live.prompt("Go").call_update("t9", json!({"status": "completed", "content": content("x")}));
    let first = live.document.messages.len();
    assert_eq!(call(&live.document, "Tool").state.word(), "completed");
    live.call_update("t9", json!({"rawOutput": "more"}));
    live.call("t9", "completed", json!({"title": "Write todos", "kind": "other"})).stops("end_turn");
    let filled = call(&live.document, "Write todos");
    assert_eq!((filled.state.word(), output_text(filled).as_str()), ("completed", "x"));
    assert_eq!(live.document.messages.len(), first, "one card");
    assert_eq!(turn_states(&live.document), ["completed"]);
}

/// Rule: record Calls.2.1
#[test]
fn b08_ids_that_repeat_are_separate_calls() {
    let outputs = |live: &Live| calls(&live.document).map(|(_, call)| output_text(call)).collect::<Vec<_>>();
    let edit = |live: &mut Live, text: &str| {
        live.call("edit:22", "pending", json!({"title": text, "rawInput": {"text": text}}));
        live.call_update("edit:22", json!({"status": "completed", "content": content(text)}));
    };
    let mut live = Live::new();
    live.prompt("1");
    edit(&mut live, "one");
    live.stops("end_turn").prompt("2");
    edit(&mut live, "two");
    edit(&mut live, "three");
    live.stops("end_turn");
    assert_eq!(outputs(&live), ["one", "two", "three"]);
}

#[test]
fn b09_a_crash_interrupts_what_ran() {
    let mut live = Live::new();
    live.prompt("Go").call("t1", "in_progress", json!({"title": "make", "kind": "execute"})).restarts();
    let running = call(&live.document, "make");
    assert_eq!(running.state.word(), "interrupted");
    assert!(running.ended_at.is_some(), "elapsed is frozen");
    assert_eq!(turn_states(&live.document), ["interrupted"]);
    assert_eq!(live.document.session.live_turn, None);
    let group = &live.groups()[0];
    assert_eq!((&group["interrupted"], &group["unresolved"], &group["live"]), (&json!(1), &json!(0), &json!(false)));
    assert_eq!(notices(&live.document).len(), 1);
    live.prompt("Again").text("Yes.").stops("end_turn");
    assert_eq!(turn_states(&live.document), ["interrupted", "completed"]);
}

fn two_options() -> Value {
    json!([{"optionId": "yes", "name": "Allow", "kind": "allow_once"}, {"optionId": "no", "name": "Reject", "kind": "reject_once"}])
}

/// Rule: record Calls.4.5
#[test]
fn b12_a_permission_outlasts_a_status_change() {
    let mut live = Live::new();
    live.prompt("Go").call("t1", "pending", json!({"title": "make", "kind": "execute"}));
    live.asks("r1", json!({"toolCallId": "t1"}), two_options()).call_update("t1", json!({"status": "in_progress"}));
    let waiting = call(&live.document, "make");
    assert_eq!(waiting.state.word(), "awaiting_permission");
    assert_eq!(live.groups()[0]["current"]["id"], json!(waiting.id));
    assert_eq!(live.record.open_requests().len(), 1);
    live.answer("r1", "yes");
    assert_eq!(call(&live.document, "make").state.word(), "running");
    assert!(live.record.open_requests().is_empty());
}

#[test]
fn b14_options_stay_as_the_agent_gave_them() {
    let options = json!([
        {"optionId": "a", "name": "Once", "kind": "allow_once"},
        {"optionId": "b", "name": "Always, for this session", "kind": "allow_always"},
        {"optionId": "c", "name": "Always, in this project", "kind": "allow_always"},
        {"optionId": "d", "name": "No", "kind": "reject_once"},
    ]);
    let mut live = Live::new();
    live.prompt("Go").asks("r1", json!({"toolCallId": "t1", "title": "make"}), options.clone());
    let asked = call(&live.document, "make").permission.clone().unwrap();
    assert_eq!(Value::from(asked.options), options);
    live.answer("r1", "c");
    let answered = call(&live.document, "make").permission.clone().unwrap();
    assert_eq!(answered.chosen.as_deref(), Some("c"));
}

#[test]
fn b22_unknown_update_kinds_end_nothing() {
    let mut live = Live::new();
    live.prompt("Go").update(json!({"sessionUpdate": "usage_update", "used": 1, "size": 2}));
    live.update(json!({"sessionUpdate": "brand_new_kind", "what": {"ever": true}})).text("Here.").stops("end_turn");
    assert_eq!(live.row_kinds(), ["message", "message"]);
    assert_eq!(spoken(&live.document, Channel::Message), "Here.");
    assert_eq!(turn_states(&live.document), ["completed"]);
}

#[test]
fn b43_tool_rounds_are_grouped_live_and_reloaded() {
    let mut live = Live::new();
    live.prompt("Go").text("First.");
    for number in 0..5 {
        live.call(&format!("a{number}"), "completed", json!({"title": "Read", "kind": "read"}));
    }
    live.text("Then.");
    for number in 0..2 {
        live.call(&format!("b{number}"), "completed", json!({"title": "Read", "kind": "read"}));
    }
    // Rounds of one turn are one run (docs/spec/fold.md, section 4): both rounds stand in it, with their own text.
    let rounds = |live: &Live| {
        let rounds = live.rows()[1]["rounds"].as_array().unwrap().clone();
        rounds.iter().map(|round| round["calls"].as_array().unwrap().len()).collect::<Vec<_>>()
    };
    assert_eq!(rounds(&live), [5, 2]);
    live.stops("end_turn");
    assert_eq!(rounds(&live), [5, 2]);
    assert_eq!(live.row_kinds(), ["message", "activity"]);
}

/// Rule: record Calls.7.3
#[test]
fn b52_new_deleted_and_emptied_files() {
    let diffs = [
        ("new", json!({"oldText": null, "newText": "a\nb\n"}), (2, 0)),
        ("deleted", json!({"oldText": "a\nb\nc\n", "newText": "a\nb\nc\n", "_meta": {"kind": "delete"}}), (0, 3)),
        ("emptied", json!({"oldText": "a\nb\n", "newText": ""}), (0, 2)),
        ("empty", json!({"oldText": null, "newText": ""}), (0, 0)),
    ];
    let mut live = Live::new();
    live.prompt("Go");
    for (title, mut diff, _) in diffs.clone() {
        diff["type"] = json!("diff");
        diff["path"] = json!("/workspace/file");
        live.call(title, "completed", json!({"title": title, "kind": "edit", "content": [diff]}));
    }
    live.stops("end_turn");
    for (number, (title, _, (added, removed))) in diffs.iter().enumerate() {
        let (_, call) = calls(&live.document).nth(number).unwrap();
        let lines = call.lines.unwrap();
        assert_eq!((lines.added, lines.removed), (*added, *removed), "{title}");
        assert_eq!(call.output.len(), 1, "{title} is shown");
    }
}

/// Rule: record Calls.6.1
#[test]
fn b53_output_only_in_raw_output() {
    let mut live = Live::new();
    live.prompt("Go").call("t1", "pending", json!({"title": "first"})).call(
        "t2",
        "pending",
        json!({"title": "second"}),
    );
    live.call_update("t1", json!({"status": "completed", "rawOutput": {"stdout": "ok", "exitCode": 0}}));
    live.call_update("t2", json!({"status": "completed", "content": content("ok"), "rawOutput": {"stdout": "ok"}}));
    live.stops("end_turn");
    for title in ["first", "second"] {
        assert_eq!(output_text(call(&live.document, title)), "ok", "{title}");
    }
}

/// Rule: record Calls.9.1
#[test]
fn b54_mcp_tool_names() {
    let mut live = Live::new();
    live.prompt("Go");
    for title in ["mcp__osprey_workspace__submit_response", "mcp__a__b__c", "mcp__x"] {
        live.call(title, "completed", json!({"title": title}));
    }
    live.stops("end_turn");
    let names: Vec<(Option<&str>, Option<&str>)> =
        calls(&live.document).map(|(_, call)| (call.server.as_deref(), call.name.as_deref())).collect();
    let expected =
        [(Some("osprey_workspace"), Some("submit_response")), (Some("a"), Some("b__c")), (None, Some("mcp__x"))];
    assert_eq!(names, expected);
}

#[test]
fn b57_the_gauge_is_no_sum() {
    let mut live = Live::new();
    live.prompt("Go").text("Hi.").update(json!({"sessionUpdate": "usage_update", "used": 218_000, "size": 512_000}));
    let usage = json!({"totalTokens": 2_000_000, "inputTokens": 1_900_000, "cachedReadTokens": 1_500_000});
    live.answered(Ok(json!({"stopReason": "end_turn", "usage": usage.clone()})));
    assert_eq!(live.document.session.context, Some(ContextGauge { used: 218_000, size: 512_000 }));
    assert_eq!(live.document.session.turns[0].usage, Some(usage));
}

#[test]
fn b58_our_stop_is_no_failure() {
    let mut live = Live::new();
    live.prompt("Go").text("Well").cancel().answered(Err(json!({"code": -32800, "message": "Request cancelled"})));
    assert_eq!(turn_states(&live.document), ["cancelled"]);
    assert!(notices(&live.document).is_empty());
    live.prompt("Again").text("Yes.").stops("end_turn");
    assert_eq!(turn_states(&live.document), ["cancelled", "completed"]);
    assert_eq!(live.json()["messages"].as_array().unwrap().len(), 4);
}

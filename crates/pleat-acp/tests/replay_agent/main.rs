//! The replay agent, driven by a client in this process.

#![allow(clippy::expect_used, reason = "a test fails by panicking, in its helpers too")]
#![allow(clippy::needless_pass_by_value, reason = "`json!` reads better without a reference")]

mod client;
mod mirror;

use std::time::{Duration, Instant};

use client::{Client, FAST};
use mirror::Mirror;
use pleat_acp::replay_agent::{ReplayEnd, ReplayError, ReplayOptions};
use pleat_acp::trace::TraceItem;
use serde_json::{Value, json};

/// Follows a part from beginning to end.
fn check_mirrored(name: &str) {
    let mut client = Client::start(name, FAST);
    Mirror::default().follow(&mut client, &mirror::part(name, 1), None);
    let (more, ended) = client.close();
    assert_eq!(more, [""; 0]);
    assert_eq!(ended.expect("played"), ReplayEnd::InputClosed);
}

#[test]
fn claude_tools() {
    check_mirrored("claude-tools");
}

#[test]
fn claude_plan() {
    check_mirrored("claude-plan");
}

#[test]
fn claude_fail() {
    check_mirrored("claude-fail");
}

#[test]
fn claude_sub() {
    check_mirrored("claude-sub");
}

#[test]
fn claude_sub_native() {
    check_mirrored("claude-sub-native");
}

#[test]
fn gemini_fail() {
    check_mirrored("gemini-fail");
}

#[test]
fn copilot_midprompt() {
    check_mirrored("copilot-midprompt");
}

#[test]
fn gemini_cancel() {
    check_mirrored("gemini-cancel");
}

/// A further prompt begins the recorded ones again, and nothing it says has an id of the first time.
#[test]
fn a_second_round_has_ids_of_its_own() {
    let items = mirror::part("claude-tools", 1);
    let mut client = Client::start("claude-tools", FAST);
    let mut rounds = vec![Mirror::default()];
    rounds[0].follow(&mut client, &items, None);
    let session = json!(rounds[0].id("7f726ae8-9fbd-4abf-bb7a-301f365329b2"));
    for _ in 0..2 {
        let mut round = Mirror::default();
        round.follow(&mut client, mirror::prompts_of(&items), Some(&session));
        assert_eq!(round.id("7f726ae8-9fbd-4abf-bb7a-301f365329b2"), session);
        for kind in ["toolu_", "msg_", "request"] {
            let said = round.said(kind);
            for earlier in &rounds {
                assert!(earlier.said(kind).is_disjoint(&said), "{kind} {said:?}");
            }
        }
        assert!(!round.said("toolu_").is_empty() && !round.said("request").is_empty());
        rounds.push(round);
    }
}

/// A sub-agent's own session is the same for one round, and another in the next.
#[test]
fn a_sub_agents_session_is_fresh_in_each_round() {
    let items = mirror::part("claude-sub-native", 1);
    let mut client = Client::start("claude-sub-native", FAST);
    let mut first = Mirror::default();
    first.follow(&mut client, &items, None);
    let session = json!(first.id("e9d5a714-7e5e-448b-9ead-f8a67575cd46"));
    let mut second = Mirror::default();
    second.follow(&mut client, mirror::prompts_of(&items), Some(&session));
    assert!(first.said("a31f7d87").is_disjoint(&second.said("a31f7d87")));
    assert_eq!(second.said("a31f7d87").len(), 1);
}

/// In one process and in two.
#[test]
fn sessions_are_always_new() {
    let (mut one, mut other) = (Client::start("gemini-fail", FAST), Client::start("gemini-fail", FAST));
    let mut sessions = vec![one.open_session(), other.open_session()];
    for _ in 0..2 {
        sessions.push(one.ask("session/new", json!({"cwd": "/workspace"}))["result"]["sessionId"].clone());
    }
    sessions.sort_by_key(Value::to_string);
    sessions.dedup();
    assert_eq!(sessions.len(), 4, "{sessions:?}");
    let prompt = one.prompt(&sessions[3]);
    let (_, updates) = one.until_answer(&prompt);
    assert!(updates.iter().all(|update| update["params"]["sessionId"] == sessions[3]));
}

/// The client asks for nothing but what it needs.
#[test]
fn steps_that_the_client_leaves_out_are_passed_over() {
    let mut client = Client::start("claude-tools", FAST);
    let session = client.open_session();
    // The recorded client set a mode here.
    let prompt = client.prompt(&session);
    let (answer, before) = client.until_answer(&prompt);
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    assert!(before.iter().all(|message| message.get("method").is_some()), "an answer to nothing");
    // It does so after all.
    let set_mode = client.ask("session/set_mode", json!({"sessionId": session, "modeId": "plan"}));
    assert_eq!(set_mode["result"], json!({}));
}

#[test]
fn what_the_recording_does_not_know_is_refused() {
    let mut client = Client::start("claude-tools", FAST);
    client.open_session();
    client.notify("no/such_notification", json!({}));
    let refused = client.ask("session/list", json!({}));
    assert_eq!(refused["error"], json!({"code": -32601, "message": "Method not found: session/list"}));
}

/// Whatever the answer is, the recording goes on; without one it does not.
#[test]
fn a_permission_is_waited_for() {
    let mut client = Client::start("claude-tools", FAST);
    let session = client.open_session();
    let prompt = client.prompt(&session);
    let ask = loop {
        let message = client.next();
        if message["method"] == "session/request_permission" {
            break message;
        }
    };
    // This update was recorded before the answer.
    assert_eq!(client.next()["params"]["update"]["sessionUpdate"], "usage_update");
    assert!(client.is_silent());
    client.answer(&ask["id"], json!({"outcome": {"outcome": "cancelled"}}));
    assert_eq!(client.until_answer(&prompt).0["result"]["stopReason"], "end_turn");
}

/// Stop while a permission is open, and a prompt waits behind that turn.
#[test]
fn stop_ends_a_turn_that_waits_for_a_permission() {
    let mut client = Client::start("claude-plan", FAST);
    let session = client.open_session();
    let (first, second) = (client.prompt(&session), client.prompt(&session));
    let ask = loop {
        let message = client.next();
        if message["method"] == "session/request_permission" {
            break message;
        }
    };
    client.notify("session/cancel", json!({"sessionId": session}));
    let cancelled = json!({"stopReason": "cancelled"});
    // The one that was not begun is answered first: it is over at once.
    assert_eq!(client.until_answer(&second).0["result"], cancelled);
    assert_eq!(client.until_answer(&first).0["result"], cancelled);
    client.answer(&ask["id"], json!({"outcome": {"outcome": "cancelled"}}));
    // And the next prompt is played.
    let prompt = client.prompt(&session);
    assert_eq!(client.until_answer(&prompt).0["result"]["stopReason"], "end_turn");
}

/// What needs no place in the recording does not wait for one.
#[test]
fn a_pause_does_not_keep_a_request_waiting() {
    // The answer to `initialize` would take a minute.
    let mut client = Client::start("gemini-kill", ReplayOptions { speed: 0.05, part: 1 });
    client.request("initialize", json!({}));
    assert!(client.is_silent());
    let unknown = client.request("no/such_method", json!({}));
    assert_eq!(client.next()["id"], unknown);
}

/// At the recorded pace, so that there are pauses to be stopped in.
#[test]
fn stop_ends_a_turn_that_is_being_played() {
    let mut client = Client::start("gemini-kill", ReplayOptions { speed: 3.0, part: 1 });
    let session = client.open_session();
    let prompt = client.prompt(&session);
    while client.next()["params"]["update"]["sessionUpdate"] != "tool_call" {}
    let began = Instant::now();
    client.notify("session/cancel", json!({"sessionId": session}));
    let (answer, before) = client.until_answer(&prompt);
    assert_eq!(answer["result"], json!({"stopReason": "cancelled"}));
    assert!(before.len() < 5, "{before:?}");
    assert!(began.elapsed() < Duration::from_secs(2));
    // The turn in which the recorded agent was killed was stopped before that.
    let prompt = client.prompt(&session);
    while client.next()["params"]["update"]["sessionUpdate"] != "tool_call" {}
    client.notify("session/cancel", json!({"sessionId": session}));
    client.until_answer(&prompt);
    assert_eq!(client.close().1.expect("played"), ReplayEnd::InputClosed);
}

/// Where the recorded client stopped the turn too, what came of it is played, though ours was quicker.
#[test]
fn a_recorded_stop_is_followed() {
    let mut client = Client::start("gemini-cancel", ReplayOptions { speed: 3.0, part: 1 });
    let items = mirror::part("gemini-cancel", 1);
    let recorded: Vec<_> = items
        .iter()
        .filter_map(|item| match item {
            TraceItem::AgentToClient(message) => message["result"].get("stopReason").cloned(),
            TraceItem::ClientToAgent(_) | TraceItem::AgentRaw(_) | TraceItem::AgentStderr(_) | TraceItem::Note(_) => {
                None
            }
        })
        .collect();
    let session = client.open_session();
    let prompt = client.prompt(&session);
    client.next();
    client.notify("session/cancel", json!({"sessionId": session}));
    let (answer, before) = client.until_answer(&prompt);
    assert_eq!(answer["result"]["stopReason"], recorded[0]);
    assert!(before.len() > 3, "{before:?}");
}

#[test]
fn a_kill_ends_a_part_and_the_next_is_after_the_restart() {
    let mut client = Client::start("gemini-kill", FAST);
    let mut before = Mirror::default();
    before.follow(&mut client, &mirror::part("gemini-kill", 1), None);
    let (more, ended) = client.end();
    assert_eq!(more, [""; 0]);
    assert_eq!(ended.expect("played"), ReplayEnd::Killed);

    let session = json!(before.id("fbedef8a-6af5-431e-af9f-7fa01ee1b2ce"));
    let mut client = Client::start("gemini-kill", ReplayOptions { part: 2, ..FAST });
    Mirror::default().follow(&mut client, &mirror::part("gemini-kill", 2), Some(&session));
    assert_eq!(client.close().1.expect("played"), ReplayEnd::InputClosed);

    let (_, ended) = Client::start("gemini-kill", ReplayOptions { part: 3, ..FAST }).end();
    assert!(matches!(ended, Err(ReplayError::NoSuchPart { part: 3, parts: 2 })), "{ended:?}");
}

/// A kill tears the line that was being written (docs/agents.md, 27); it is torn again.
#[test]
fn a_torn_line_is_torn_again() {
    let trace = concat!(
        "{\"t_ms\": 0, \"dir\": \"client->agent\", \"msg\": {\"id\": 1, \"method\": \"initialize\"}}\n",
        "{\"t_ms\": 9, \"dir\": \"note\", \"msg\": {\"event\": \"SIGKILL the agent\"}}\n",
        "{\"t_ms\": 9, \"dir\": \"agent->client\", \"raw\": \"{\\\"meth\"}\n",
        "{\"t_ms\": 9, \"dir\": \"note\", \"msg\": {\"agent_stdout\": \"eof\"}}\n",
    );
    let mut client = Client::over(trace.as_bytes(), FAST);
    client.request("initialize", json!({}));
    let (said, ended) = client.end();
    assert_eq!(said, ["{\"meth"]);
    assert_eq!(ended.expect("played"), ReplayEnd::Killed);
}

//! Rules of `docs/spec/record.md` that no vector, case or oddity shows.

use crate::live::{Live, content};
use crate::traces::Trace;
use crate::transcript::{call, calls, notices, output_text};
use pleat_acp::adapter::Adapter;
use pleat_transcript::message::Media;
use serde_json::{Value, json};

fn options() -> Value {
    json!([{"optionId": "yes", "name": "Allow", "kind": "allow_once"}, {"optionId": "no", "name": "Reject", "kind": "reject_once"}])
}

/// Mime, data, uri and name.
fn fields(media: &Media) -> [Option<&str>; 4] {
    [&media.mime, &media.data, &media.uri, &media.name].map(Option::as_deref)
}

/// Rule: record Text.6.2, record Text.6.3
#[test]
fn resources_and_attachments() {
    let link = json!({"type": "resource_link", "uri": "file:///a.rs", "name": "a.rs"});
    let embedded =
        json!({"type": "resource", "resource": {"uri": "file:///b.md", "mimeType": "text/markdown", "text": "# B"}});
    let expected = [
        [None, None, Some("file:///a.rs"), Some("a.rs")],
        [Some("text/markdown"), Some("# B"), Some("file:///b.md"), None],
    ];
    let (text, attachments) =
        Adapter::prompt(&json!({"prompt": [{"type": "text", "text": "Look"}, link.clone(), embedded.clone()]}));
    assert_eq!((text.as_str(), attachments.iter().map(fields).collect::<Vec<_>>()), ("Look", expected.to_vec()));
    let mut live = Live::new();
    live.prompt("Go");
    for block in [link, embedded] {
        live.update(json!({"sessionUpdate": "agent_message_chunk", "content": block}));
    }
    let parts = live.json()["messages"][1]["parts"].clone();
    let key = |part: usize, key: &str| parts[part][key].as_str().map(str::to_owned);
    assert_eq!((key(0, "type"), key(0, "uri")), (Some("resource".to_owned()), Some("file:///a.rs".to_owned())));
    assert_eq!((key(1, "mime"), key(1, "data")), (Some("text/markdown".to_owned()), Some("# B".to_owned())));
}

/// Rule: record Calls.2.4
#[test]
fn a_request_about_an_ended_call_opens_a_new_one() {
    let mut live = Live::new();
    live.prompt("Go").call("t", "completed", json!({"title": "make"}));
    live.asks("r", json!({"toolCallId": "t", "title": "make again"}), options());
    let states: Vec<&str> = calls(&live.document).map(|(_, call)| call.state.word()).collect();
    assert_eq!(states, ["completed", "awaiting_permission"]);
}

/// Rule: record Calls.4.9
#[test]
fn an_answer_without_a_choice() {
    let asked = |live: &mut Live| {
        live.prompt("Go").asks("r", json!({"toolCallId": "t", "title": "make"}), options());
    };
    let mut refused = Live::new();
    asked(&mut refused);
    refused.answer_without_choice("r");
    assert_eq!(call(&refused.document, "make").state.word(), "denied");
    let mut stopped = Live::new();
    asked(&mut stopped);
    stopped.cancel().answer_without_choice("r");
    assert_eq!(call(&stopped.document, "make").state.word(), "cancelled");
}

/// Rule: record Calls.4.10, record Calls.4.11, record Rest.1.2
#[test]
fn a_request_is_answered_once_or_expires() {
    let mut live = Live::new();
    live.prompt("Go").call("t", "in_progress", json!({"title": "make"}));
    live.asks("first", json!({"toolCallId": "t"}), options()).asks("second", json!({"toolCallId": "t"}), options());
    live.answer("first", "no");
    assert_eq!(call(&live.document, "make").state.word(), "awaiting_permission", "the first is moot");
    live.stops("end_turn");
    let ended = call(&live.document, "make");
    assert_eq!(ended.state.word(), "running", "as before the first");
    assert_eq!(ended.permission.as_ref().unwrap().state.unwrap().word(), "expired");
    live.answer("second", "no");
    assert_eq!(call(&live.document, "make").state.word(), "running", "too late");

    let mut twice = Live::new();
    twice
        .prompt("Go")
        .asks("r", json!({"toolCallId": "t", "title": "make"}), options())
        .answer("r", "yes")
        .answer("r", "no");
    assert_eq!(call(&twice.document, "make").permission.as_ref().unwrap().chosen.as_deref(), Some("yes"));
}

/// Rule: record Calls.6.2, record Calls.6.3
#[test]
fn a_released_terminal_stays_in_the_transcript() {
    let kimi = Trace::of("kimi-cancel").document();
    let (_, killed) = calls(&kimi).next().unwrap();
    assert_eq!(
        (output_text(killed).as_str(), &killed.output[0]["exit"]),
        ("tick 1\ntick 2\ntick 3\n", &json!("SIGKILL"))
    );
    let failed = Trace::of("kimi-fail").document();
    assert_eq!(calls(&failed).next().unwrap().1.output[0]["exit"], json!(3));
}

/// Rule: record Plans.4.2
#[test]
fn an_update_for_an_unknown_session_makes_no_document() {
    let update = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Hello?"}});
    let message =
        json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "who", "update": update}});
    let line = json!({"t_ms": 1, "dir": "agent->client", "msg": message}).to_string();
    let trace = Trace { name: "unknown session".to_owned(), bytes: line.into_bytes() };
    assert_eq!(trace.documents(), Vec::new());
}

/// Rule: record Rest.5.9, record Rest.5.1
#[test]
fn prompts_that_are_not_stored_are_added_after_the_last_turn() {
    let mut live = Live::new();
    live.prompt("One").text("1.").stops("end_turn").restarts();
    let mut before_the_answer = 0;
    live.loads(|live| {
        live.user_text("One").text("1.").user_text("Two").text("2.");
        live.call("t", "in_progress", json!({"title": "make"}));
        before_the_answer = live.document.messages.len();
    });
    assert_eq!(before_the_answer, 2, "a replay is collected apart");
    let turns: Vec<&str> = live.document.session.turns.iter().map(|turn| turn.state.word()).collect();
    assert_eq!(turns, ["completed", "completed"]);
    assert_eq!(call(&live.document, "make").state.word(), "interrupted");
    assert_eq!(live.document.messages.len(), 4);
    assert!(notices(&live.document).is_empty());
}

/// Rule: record Rest.7.1
#[test]
fn a_title_from_the_first_prompt_until_the_agent_names_the_session() {
    let mut live = Live::new();
    live.prompt("\n  Mend the roof  \nsoon").prompt("Something else");
    assert_eq!(live.document.session.title.as_deref(), Some("Mend the roof"));
    live.update(json!({"sessionUpdate": "session_info_update", "title": "Roof"}));
    assert_eq!(live.document.session.title.as_deref(), Some("Roof"));
    let mut long = Live::new();
    long.prompt(&"é".repeat(90));
    assert_eq!(long.document.session.title.unwrap(), "é".repeat(80) + "…");
    // A history that is loaded into an empty store has a first prompt too.
    let mut loaded = Live::new();
    loaded.loads(|live| {
        live.user_text("Once").text("Yes.");
    });
    assert_eq!(loaded.document.session.title.as_deref(), Some("Once"));
}

/// An agent's terminal that never speaks is no output, and keeps none away.
/// Rule: record Calls.6.1, record Calls.4.4
#[test]
fn a_reference_to_a_silent_terminal_says_nothing() {
    let terminal = json!([{"type": "terminal", "terminalId": "t"}]);
    let mut live = Live::new();
    live.prompt("Go").call("a", "pending", json!({"title": "first", "content": terminal.clone()}));
    assert_eq!(call(&live.document, "first").state.word(), "pending");
    live.call_update("a", json!({"status": "completed", "rawOutput": "made"}));
    assert_eq!(output_text(call(&live.document, "first")), "made");
    live.call("b", "in_progress", json!({"title": "second", "content": content("made")}));
    live.call_update("b", json!({"content": terminal}));
    assert_eq!(output_text(call(&live.document, "second")), "made");
}

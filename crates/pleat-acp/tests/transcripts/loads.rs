//! `kill`, `replay` and `resume` traces: what a load adds (docs/spec/record.md, "the rest" 5).

use crate::live::Live;
use crate::said::Channel;
use crate::traces::Trace;
use crate::transcript::{calls, notices, texts, turn_states};
use pleat_transcript::document::Document;
use pleat_transcript::message::Message;
use serde_json::{Value, json};

/// The messages that were there before the second process.
fn before(trace: &Trace) -> (Vec<Message>, Document) {
    let first = trace.first_process().document();
    (first.messages.clone(), first)
}

/// After the load everything stored stands as it did, and only the next prompt's turn follows.
fn adds_nothing(name: &str) {
    let trace = Trace::of(name);
    let (stored, first) = before(&trace);
    let document = trace.document();
    assert_eq!(document.messages[..stored.len()], stored, "{name}: what is stored");
    assert_eq!(document.session.turns[..first.session.turns.len()], first.session.turns, "{name}: turns");
    let next_turn = &document.session.turns[first.session.turns.len()..];
    assert_eq!(next_turn.len(), 1, "{name}: the next prompt's turn, and no other");
    for message in &document.messages[stored.len()..] {
        assert_eq!(message.turn.as_ref(), Some(&next_turn[0].id), "{name}: {message:?}");
    }
}

macro_rules! loads_that_add_nothing {
    ($($test:ident $name:literal)*) => { $(#[test] fn $test() { adds_nothing($name); })* };
}

loads_that_add_nothing! {
    claude_replay_adds_nothing "claude-replay"
    codex_replay_adds_nothing "codex-replay"
    codex_resume_adds_nothing "codex-resume"
    gemini_replay_that_fails_adds_nothing "gemini-replay-same-minute-fails"
    gemini_resume_that_fails_adds_nothing "gemini-resume"
    kimi_replay_adds_nothing "kimi-replay"
    opencode_replay_adds_nothing "opencode-replay"
    qwen_replay_adds_nothing "qwen-replay"
    qwen_resume_adds_nothing "qwen-resume"
    codex_zed_load_after_the_turn_adds_nothing "codex-zed-kill"
    fast_agent_load_after_a_kill_adds_nothing "fast-agent-kill"
    gemini_load_after_a_kill_adds_nothing "gemini-kill"
    qwen_load_after_a_kill_adds_nothing "qwen-kill"
}

/// Copilot ends the call that was cut with the next prompt, so that one message changes.
#[test]
fn copilot_load_after_a_kill_adds_nothing() {
    let trace = Trace::of("copilot-kill");
    let (stored, _) = before(&trace);
    let document = trace.document();
    let ids = |messages: &[Message]| messages.iter().map(|message| message.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&document.messages[..stored.len()]), ids(&stored));
    assert_eq!(turn_states(&document), ["interrupted", "completed"]);
    assert_eq!(document.messages.len(), stored.len() + 2);
}

#[test]
fn a_kill_interrupts_the_open_call_and_ends_the_turn() {
    for name in ["copilot-kill", "fast-agent-kill", "gemini-kill", "qwen-kill"] {
        let trace = Trace::of(name);
        for document in [trace.first_process().document(), trace.document()] {
            let turn = &document.session.turns[0];
            assert_eq!(turn.state.word(), "interrupted", "{name}");
            assert!(turn.ended_at.is_some(), "{name}");
            let (_, last) = calls(&document).filter(|(of, _)| of.as_ref() == Some(&turn.id)).last().unwrap();
            assert_eq!(last.state.word(), "interrupted", "{name}");
            assert_eq!(notices(&document).len(), 1, "{name}: one notice");
        }
    }
}

/// Two loads of the same history: the second adds nothing to what the first made of an empty store.
/// Rule: record Rest.5.10
#[test]
fn a_load_adds_nothing_the_second_time() {
    for name in [
        "claude-replay",
        "codex-replay",
        "kimi-replay",
        "opencode-replay",
        "qwen-replay",
        "copilot-kill",
        "fast-agent-kill",
        "gemini-kill",
        "qwen-kill",
        "codex-zed-kill",
    ] {
        let once = Trace::of(name).without_first_process();
        let text = String::from_utf8(once.bytes.clone()).unwrap();
        let until_prompt: Vec<&str> = text.lines().take_while(|line| !line.contains(r#""session/prompt""#)).collect();
        let load = until_prompt.join("\n") + "\n";
        let of = |bytes: String| Trace { name: name.to_owned(), bytes: bytes.into_bytes() }.document();
        let (first, second) = (of(load.clone()), of(load.clone() + &load));
        assert_eq!(second.messages, first.messages, "{name}");
        assert_eq!(turn_states(&second), vec!["completed"; first.session.turns.len()], "{name}");
    }
}

/// What a replay says to somebody who has nothing stored: the same texts as live, in parts of their own, with nothing
/// that was injected.
#[test]
fn a_load_into_an_empty_store_tells_the_same() {
    for name in [
        "claude-replay",
        "codex-replay",
        "kimi-replay",
        "opencode-replay",
        "qwen-replay",
        "copilot-kill",
        "fast-agent-kill",
        "gemini-kill",
    ] {
        let trace = Trace::of(name);
        let live = trace.document();
        let loaded = trace.without_first_process().document();
        assert_eq!(texts(&loaded, Channel::Message), texts(&live, Channel::Message), "{name}");
        assert_eq!(prompts(&loaded), prompts(&live), "{name}");
    }
}

fn prompts(document: &Document) -> Vec<String> {
    let json = document.to_json();
    let users = json["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "user");
    users.map(|message| message["text"].as_str().map(str::to_owned).unwrap_or_default()).collect()
}

#[test]
fn a_prompt_of_an_unknown_session_makes_no_document() {
    assert_eq!(Trace::of("kimi-legacy-plain").documents(), Vec::new());
    assert_eq!(Trace::of("cline-plain").replayed().last_error.as_deref(), Some("Invalid params"));
    assert!(Value::from(Trace::of("cline-plain").json()).as_array().unwrap().is_empty());
}

/// What stands in the transcript after a turn that was cut off and a load.
fn after_a_cut(live: impl FnOnce(&mut Live), replay: impl Fn(&mut Live)) -> Vec<String> {
    let mut session = Live::new();
    session.prompt("Go");
    live(&mut session);
    session.restarts();
    for _ in 0..2 {
        session.loads(|live| {
            live.user_text("Go");
            replay(live);
        });
    }
    texts(&session.document, Channel::Message).into_iter().map(str::to_owned).collect()
}

fn call_between(live: &mut Live) {
    live.call("t", "completed", json!({"title": "Read", "kind": "read"}));
}

#[test]
fn several_stored_texts_may_be_replayed_as_one() {
    let told = |live: &mut Live| {
        live.text("One.");
        call_between(live);
        live.text("Two.");
    };
    let said = after_a_cut(told, |live| {
        live.text("One.Two.");
        call_between(live);
    });
    assert_eq!(said, ["One.", "Two."]);
}

#[test]
fn one_stored_text_may_be_replayed_as_several() {
    let said = after_a_cut(
        |live| {
            live.text("One.").text("Two.");
        },
        |live| {
            live.text_with_id("One.", "a").text_with_id("Two.", "b");
        },
    );
    assert_eq!(said, ["One.Two."]);
}

/// Rule: record Rest.5.7
#[test]
fn a_text_that_was_cut_off_is_completed_though_the_replay_joins_it() {
    let told = |live: &mut Live| {
        live.text("One.");
        call_between(live);
        live.text("Tw");
    };
    let said = after_a_cut(told, |live| {
        call_between(live);
        live.text("One.Two.");
    });
    assert_eq!(said, ["One.", "Two."]);
}

#[test]
fn thinking_at_the_cut_is_added_once() {
    let mut session = Live::new();
    session.prompt("Go").text("One.").thought_with_id("Hm.", "t").restarts();
    for _ in 0..2 {
        session.loads(|live| {
            live.user_text("Go").text("One.").thought_with_id("Hm.", "t").text("New.");
        });
    }
    assert_eq!(texts(&session.document, Channel::Thinking), ["Hm."]);
    assert_eq!(texts(&session.document, Channel::Message), ["One.", "New."]);
}

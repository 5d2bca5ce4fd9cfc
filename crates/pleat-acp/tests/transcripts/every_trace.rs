//! What holds for the transcript of every recorded trace.

use crate::said::{Channel, Said};
use crate::traces::{Trace, assert_same};
use crate::transcript::{calls, makes_row, shown, spoken};
use pleat_transcript::call::CallState;
use pleat_transcript::document::{Document, Window};
use pleat_transcript::fold::{fold, top_level_messages};
use pleat_transcript::message::Body;
use pleat_transcript::session::TurnState;
use std::collections::{BTreeSet, HashSet};

#[test]
fn every_trace_keeps_what_holds_for_all() {
    for trace in Trace::all() {
        let documents = trace.documents();
        let said = Said::by_session(&trace);
        assert_eq!(documents.len(), said.len(), "{}: sessions", trace.name);
        for (document, said) in documents.iter().zip(&said) {
            let name = format!("{} {}", trace.name, document.session.id);
            every_delta_stands_once_and_in_order(document, said, &name);
            every_call_stands_once(document, said, &name);
            no_turn_is_open(document, &name);
            calls_of_broken_turns_are_closed(document, &name);
            one_plan_for_each_stream_or_list(document, &name);
            windows_show_everything_once(document, &name);
        }
    }
}

/// Rule: record Replay.1
#[test]
fn replaying_twice_gives_the_same_json() {
    for trace in Trace::all() {
        assert_same(&trace.json(), &trace.json(), &trace.name);
    }
}

fn every_delta_stands_once_and_in_order(document: &Document, said: &Said, name: &str) {
    for channel in [Channel::Message, Channel::Thinking] {
        // White space that would open something may be dropped (Text 3); what is left of the text may not.
        let visible = |text: String| text.split_whitespace().collect::<String>();
        assert_eq!(visible(spoken(document, channel)), visible(said.text(channel)), "{name}: {channel:?}");
        if !said.holds_blank_deltas(channel) {
            assert_eq!(spoken(document, channel), said.text(channel), "{name}: {channel:?}, exactly");
        }
    }
}

fn every_call_stands_once(document: &Document, said: &Said, name: &str) {
    let mut seen = HashSet::new();
    for (turn, call) in calls(document) {
        assert!(seen.insert((turn, &call.agent_id)), "{name}: {:?} stands twice in {turn:?}", call.agent_id);
    }
    let ours: BTreeSet<&str> =
        calls(document).filter_map(|(_, call)| Some(call.agent_id.as_ref()?.0.as_str())).collect();
    let missing: Vec<&String> = said.calls.iter().filter(|id| !ours.contains(id.as_str())).collect();
    assert_eq!(missing, Vec::<&String>::new(), "{name}: calls that are lost");
    let invented: Vec<&&str> = ours.iter().filter(|id| !said.names_call(id)).collect();
    assert_eq!(invented, Vec::<&&str>::new(), "{name}: calls that nobody mentioned");
}

fn no_turn_is_open(document: &Document, name: &str) {
    assert_eq!(document.session.live_turn, None, "{name}");
    for turn in &document.session.turns {
        assert!(!turn.state.is_open(), "{name}: {} is {:?}", turn.id, turn.state);
    }
}

fn calls_of_broken_turns_are_closed(document: &Document, name: &str) {
    for turn in &document.session.turns {
        let broken = matches!(turn.state, TurnState::Cancelled | TurnState::Failed | TurnState::Interrupted);
        for (_, call) in calls(document).filter(|(of, _)| broken && of.as_ref() == Some(&turn.id)) {
            assert!(!call.state.is_unresolved(), "{name}: {} of {} is {:?}", call.id, turn.id, call.state);
        }
    }
    for (_, call) in calls(document) {
        assert_ne!(call.state, CallState::AwaitingPermission, "{name}: {} waits for an answer", call.id);
        assert_eq!(call.ended_at.is_some(), !call.state.is_unresolved(), "{name}: {}", call.id);
    }
}

fn one_plan_for_each_stream_or_list(document: &Document, name: &str) {
    let mut seen = HashSet::new();
    for message in &document.messages {
        if let Body::Plan(plan) = &message.body {
            assert!(seen.insert((&message.turn, &plan.stream)), "{name}: a second card for {:?}", plan.stream);
        }
    }
}

/// Each page folds, the pages show every message once, and so does each window around a message.
fn windows_show_everything_once(document: &Document, name: &str) {
    let all: Vec<String> = top_level_messages(document).into_iter().map(ToString::to_string).collect();
    fold(document, &Window::Latest).unwrap();
    let mut on_pages = Vec::new();
    for page in top_level_messages(document).chunks(7) {
        let range = Window::Range { from: page[0].clone(), to: page[page.len() - 1].clone() };
        let rows = serde_json::to_value(fold(document, &range).unwrap()).unwrap();
        on_pages.extend(shown(&rows));
    }
    assert_eq!(on_pages.iter().collect::<HashSet<_>>().len(), on_pages.len(), "{name}: shown twice: {on_pages:?}");
    for id in &all {
        assert_eq!(on_pages.contains(id), makes_row(document, id), "{name}: {id}");
    }
    for message in &document.messages {
        for window in
            [Window::At(message.id.clone()), Window::Earlier(message.id.clone()), Window::Later(message.id.clone())]
        {
            fold(document, &window).unwrap();
        }
    }
}

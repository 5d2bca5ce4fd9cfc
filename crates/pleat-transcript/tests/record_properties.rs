//! Properties of the record: any order of events, put away and taken up again anywhere, gives the same transcript.

#![allow(clippy::unwrap_used, reason = "the helpers of tests may panic too")]

use pleat_transcript::call::CallState;
use pleat_transcript::change::Change;
use pleat_transcript::document::Document;
use pleat_transcript::event::{
    CallReport, CallStatus, Channel, Event, PermissionOutcome, PromptAnswer, PromptKey, RequestKey, TerminalOutput,
    TerminalReport, TextChunk,
};
use pleat_transcript::ids::{AgentCallId, CountedIds, SessionId};
use pleat_transcript::message::{Body, Part, PlanEntry};
use pleat_transcript::record::{SessionRecord, coalesce};
use pleat_transcript::session::{Millis, Session};
use proptest::prelude::*;
use serde_json::{Value, json};

fn some_call() -> impl Strategy<Value = AgentCallId> {
    prop_oneof![Just("a"), Just("b"), Just("c")].prop_map(|id| AgentCallId(id.to_owned()))
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![4 => "[a-z]{1,4}", 1 => Just(String::new()), 1 => Just(" ".to_owned()), 1 => Just("\n".to_owned())]
}

fn chunk() -> impl Strategy<Value = Event> {
    let channel = prop_oneof![3 => Just(Channel::Message), 1 => Just(Channel::Thinking)];
    let id = prop::option::of(prop_oneof![Just("m1".to_owned()), Just("m2".to_owned())]);
    (channel, text(), id, prop::option::weighted(0.2, some_call()))
        .prop_map(|(channel, text, message_id, parent)| Event::Text(TextChunk { channel, text, message_id, parent }))
}

fn blocks(text: &str) -> Vec<Value> {
    vec![json!({"type": "content", "content": {"type": "text", "text": text}})]
}

fn report() -> impl Strategy<Value = CallReport> {
    let status = prop::option::of(prop_oneof![
        Just(CallStatus::Pending),
        Just(CallStatus::InProgress),
        Just(CallStatus::Completed),
        Just(CallStatus::Failed)
    ]);
    let output = 0..6u8;
    let parent = prop::option::weighted(0.2, some_call());
    (some_call(), any::<bool>(), status, output, "[a-z]{1,3}", parent).prop_map(
        |(id, announced, status, output, text, parent)| {
            let mut report = CallReport::new(id);
            report.announced = announced;
            report.status = status;
            report.parent = parent;
            match output {
                0 => report.content = Some(blocks(&text)),
                1 => {
                    let output = Some(TerminalOutput::Delta(text));
                    report.terminal = Some(TerminalReport { output, exit: None });
                }
                2 => report.raw_output = Some(blocks(&text)),
                3 => report.plan_text = Some(text),
                4 => report.content = Some(vec![json!({"type": "terminal", "terminalId": "t"})]),
                _ => report.title = Some(text),
            }
            report
        },
    )
}

fn event() -> impl Strategy<Value = Event> {
    let prompt = prop_oneof![Just("p1"), Just("p2")].prop_map(|key| PromptKey(key.to_owned()));
    let reason = prop_oneof![Just("end_turn"), Just("cancelled"), Just("refusal"), Just("what")];
    let answer = prop_oneof![
        4 => reason.prop_map(|reason| PromptAnswer::Stopped { reason: Some(reason.to_owned()), usage: None }),
        1 => Just(PromptAnswer::Error { code: 1, message: "broken".to_owned() }),
    ];
    let options = vec![json!({"optionId": "y", "kind": "allow_once"}), json!({"optionId": "n", "kind": "reject_once"})];
    let request = prop_oneof![Just("r1"), Just("r2")].prop_map(|key| RequestKey(key.to_owned()));
    let outcome = prop_oneof![
        Just(PermissionOutcome::Selected { option: "y".to_owned() }),
        Just(PermissionOutcome::Selected { option: "n".to_owned() }),
        Just(PermissionOutcome::Cancelled)
    ];
    let entry =
        |content: String| PlanEntry { content, status_word: None, priority: None, extra: serde_json::Map::new() };
    prop_oneof![
        8 => chunk(),
        8 => report().prop_map(|report| Event::Call(Box::new(report))),
        3 => (prompt.clone(), text()).prop_map(|(prompt, text)| Event::Prompt { prompt, text, attachments: Vec::new() }),
        3 => (prompt, answer).prop_map(|(prompt, answer)| Event::PromptAnswered { prompt, answer }),
        2 => (request.clone(), report()).prop_map(move |(request, report)| {
            Event::PermissionAsked { request, report: Box::new(report), options: options.clone() }
        }),
        2 => (request, outcome)
            .prop_map(|(request, outcome)| Event::PermissionAnswered { request, outcome, by: None }),
        1 => prop::collection::vec("[a-z]{1,2}", 0..3)
            .prop_map(move |entries| Event::Plan { entries: entries.into_iter().map(entry).collect() }),
        1 => text().prop_map(|text| Event::UserText { text, message_id: None }),
        1 => Just(Event::TextEnded { parent: None }),
        1 => Just(Event::CancelSent),
        1 => Just(Event::AgentGone { reason: None, last_words: String::new() }),
    ]
}

fn session() -> SessionId {
    SessionId::new("s").unwrap()
}

/// The transcript and all changes, with something done to the record before each event.
fn recorded(events: &[Event], between: fn(&mut SessionRecord, &Document)) -> (Document, Vec<Change>) {
    let mut record = SessionRecord::new(session());
    let mut document = Document::new(Session::new(session()));
    let mut ids = CountedIds::default();
    let mut all = Vec::new();
    for (at, event) in events.iter().enumerate() {
        between(&mut record, &document);
        let changes = record.apply(event.clone(), Millis::try_from(at).unwrap(), &mut ids);
        for change in &changes {
            document.apply(change).unwrap();
        }
        all.extend(changes);
    }
    (document, all)
}

/// All deltas of a channel, or all that stands in the transcript, without white space.
fn visible<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<char> {
    let mut characters: Vec<char> = texts.flat_map(str::chars).filter(|c| !c.is_whitespace()).collect();
    characters.sort_unstable();
    characters
}

proptest! {
    #[test]
    fn a_rebuilt_record_goes_on_as_before(events in prop::collection::vec(event(), 0..40)) {
        let (straight, _) = recorded(&events, |_, _| {});
        let (rebuilt, _) = recorded(&events, |record, document| {
            *record = SessionRecord::rebuilt(document, record.unstored());
        });
        prop_assert_eq!(rebuilt, straight);
    }

    #[test]
    fn coalesced_changes_make_the_same_transcript(events in prop::collection::vec(event(), 0..40)) {
        let (straight, changes) = recorded(&events, |_, _| {});
        let mut document = Document::new(Session::new(session()));
        for change in coalesce(changes) {
            document.apply(&change).unwrap();
        }
        prop_assert_eq!(document, straight);
    }

    #[test]
    fn no_text_is_lost_or_doubled(events in prop::collection::vec(event(), 0..40)) {
        // Without ids there are no consolidated copies.
        let mut events = events;
        for event in &mut events {
            if let Event::Text(chunk) = event {
                chunk.message_id = None;
            }
        }
        let (document, _) = recorded(&events, |_, _| {});
        let said = events.iter().filter_map(|event| {
            let Event::Text(chunk) = event else { return None };
            Some(chunk.text.as_str())
        });
        let parts = document.messages.iter().filter_map(|message| match &message.body {
            Body::Assistant(assistant) => Some(&assistant.parts),
            Body::User(_) | Body::Tool(_) | Body::Plan(_) | Body::Notice(_) => None,
        });
        let stored = parts.flatten().filter_map(|part| match part {
            Part::Text(text) | Part::Thinking(text) => Some(text.text.as_str()),
            Part::Call(_) | Part::Media(_) => None,
        });
        prop_assert_eq!(visible(stored), visible(said));
    }

    #[test]
    fn nothing_is_open_once_the_agent_is_gone(mut events in prop::collection::vec(event(), 0..40)) {
        events.push(Event::AgentGone { reason: None, last_words: String::new() });
        let (document, _) = recorded(&events, |_, _| {});
        prop_assert_eq!(&document.session.live_turn, &None);
        prop_assert!(document.session.turns.iter().all(|turn| !turn.state.is_open()));
        for message in &document.messages {
            let Body::Assistant(assistant) = &message.body else { continue };
            prop_assert!(assistant.calls().all(|call| call.state != CallState::AwaitingPermission));
        }
    }
}

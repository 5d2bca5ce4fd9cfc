//! Looking things up in a transcript.

use crate::said::Channel;
use pleat_transcript::call::Call;
use pleat_transcript::document::Document;
use pleat_transcript::ids::TurnId;
use pleat_transcript::message::{Assistant, Body, Notice, Part};
use serde_json::Value;

pub(crate) fn rounds(document: &Document) -> impl Iterator<Item = (&Option<TurnId>, &Assistant)> {
    document.messages.iter().filter_map(|message| match &message.body {
        Body::Assistant(assistant) => Some((&message.turn, assistant)),
        Body::User(_) | Body::Tool(_) | Body::Plan(_) | Body::Notice(_) => None,
    })
}

pub(crate) fn calls(document: &Document) -> impl Iterator<Item = (&Option<TurnId>, &Call)> {
    rounds(document).flat_map(|(turn, assistant)| assistant.calls().map(move |call| (turn, call)))
}

/// The only call whose title contains this.
pub(crate) fn call<'a>(document: &'a Document, title: &str) -> &'a Call {
    let named = |call: &Call| call.title.as_ref().is_some_and(|found| found.contains(title));
    let found: Vec<&Call> = calls(document).map(|(_, call)| call).filter(|call| named(call)).collect();
    assert_eq!(found.len(), 1, "calls with `{title}` in their title");
    found[0]
}

/// All text of a channel, in the order of the transcript.
pub(crate) fn spoken(document: &Document, channel: Channel) -> String {
    texts(document, channel).concat()
}

/// The parts of a channel.
pub(crate) fn texts(document: &Document, channel: Channel) -> Vec<&str> {
    let parts = rounds(document).flat_map(|(_, assistant)| &assistant.parts);
    let texts = parts.filter_map(|part| match (part, channel) {
        (Part::Text(text), Channel::Message) | (Part::Thinking(text), Channel::Thinking) => Some(text.text.as_str()),
        (Part::Text(_) | Part::Thinking(_) | Part::Call(_) | Part::Media(_), _) => None,
    });
    texts.collect()
}

pub(crate) fn notices(document: &Document) -> Vec<&Notice> {
    let notices = document.messages.iter().filter_map(|message| match &message.body {
        Body::Notice(notice) => Some(notice),
        Body::User(_) | Body::Assistant(_) | Body::Tool(_) | Body::Plan(_) => None,
    });
    notices.collect()
}

/// The words of the turns' states, in order.
pub(crate) fn turn_states(document: &Document) -> Vec<&'static str> {
    document.session.turns.iter().map(|turn| turn.state.word()).collect()
}

/// A call's output: the texts of its content blocks and terminals.
pub(crate) fn output_text(call: &Call) -> String {
    let texts = call
        .output
        .iter()
        .filter_map(|block| block.pointer("/content/text").or_else(|| block.get("output")).and_then(Value::as_str));
    texts.collect()
}

/// Whether a top-level message shows something.
pub(crate) fn makes_row(document: &Document, id: &str) -> bool {
    let message = document.messages.iter().find(|message| message.id.as_str() == id).unwrap();
    match &message.body {
        Body::User(_) | Body::Notice(_) | Body::Plan(_) | Body::Tool(_) => true,
        Body::Assistant(assistant) => {
            assistant.error.is_some()
                || assistant.parts.iter().any(|part| match part {
                    Part::Text(text) => !text.text.trim().is_empty(),
                    Part::Call(_) | Part::Media(_) => true,
                    Part::Thinking(_) => false,
                })
        }
    }
}

/// The ids of the messages that rows show.
pub(crate) fn shown(rows: &Value) -> Vec<String> {
    let rows = rows["rows"].as_array().unwrap();
    let shown = rows.iter().flat_map(|row| {
        let messages = row.get("messages").and_then(Value::as_array).cloned();
        messages.unwrap_or_else(|| vec![row["message"].clone()])
    });
    shown.map(|id| id.as_str().unwrap().to_owned()).collect()
}

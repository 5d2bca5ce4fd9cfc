//! Changes that supersede each other, merged before they reach the store (docs/spec/record.md, Calls 7).

use crate::change::{CallUpdate, Change, MessageUpdate};
use std::collections::HashMap;

/// Merges the changes of one commit: a value that a later change of the same list replaces is written once, and text
/// that is appended piece by piece is appended at once. The transcript after it is the same.
pub fn coalesce(changes: Vec<Change>) -> Vec<Change> {
    let mut merged: Vec<Change> = Vec::with_capacity(changes.len());
    // Where the last change of a call's fields, of a call's output or of a part's text stands.
    let mut places: HashMap<Target, usize> = HashMap::new();
    for change in changes {
        let Some(target) = target(&change) else {
            merged.push(change);
            continue;
        };
        let earlier = places.get(&target).and_then(|place| merged.get_mut(*place));
        if let Some(change) = merge(earlier, change) {
            places.insert(target, merged.len());
            merged.push(change);
        }
    }
    merged
}

/// What a change is about, where an earlier change of the same can take it up. A call's fields and its appended output
/// share a target, so that an output written anew never overtakes what was appended before it, or after.
#[derive(PartialEq, Eq, Hash)]
enum Target {
    Call(String),
    Text(String, usize),
    Message(String),
    Plan(String),
}

fn target(change: &Change) -> Option<Target> {
    match change {
        Change::UpdateCall { call, .. } | Change::AppendOutput { call, .. } => Some(Target::Call(call.to_string())),
        Change::AppendText { message, part, .. } => Some(Target::Text(message.to_string(), *part)),
        Change::UpdateMessage { message, .. } => Some(Target::Message(message.to_string())),
        Change::UpsertPlan(snapshot) => Some(Target::Plan(snapshot.call.to_string())),
        Change::UpdateSession(_)
        | Change::InsertTurn(_)
        | Change::UpdateTurn { .. }
        | Change::InsertMessage(_)
        | Change::InsertPart { .. }
        | Change::SetPartMessageId { .. }
        | Change::QueuePrompt(_)
        | Change::UpdatePrompt { .. }
        | Change::RemovePrompt { .. } => None,
    }
}

/// Merges a change into an earlier one, or gives it back.
fn merge(earlier: Option<&mut Change>, change: Change) -> Option<Change> {
    match (earlier, change) {
        (Some(Change::AppendText { text: earlier, .. }), Change::AppendText { text, .. })
        | (Some(Change::AppendOutput { text: earlier, .. }), Change::AppendOutput { text, .. }) => {
            earlier.push_str(&text);
            None
        }
        (Some(Change::UpdateCall { update: earlier, .. }), Change::UpdateCall { update, .. }) => {
            merge_call(earlier, *update);
            None
        }
        (Some(Change::UpdateMessage { update: earlier, .. }), Change::UpdateMessage { update, .. }) => {
            merge_message(earlier, update);
            None
        }
        // The same call in another turn is another plan.
        (Some(Change::UpsertPlan(earlier)), Change::UpsertPlan(snapshot)) if earlier.turn == snapshot.turn => {
            earlier.content = snapshot.content;
            None
        }
        (_, change) => Some(change),
    }
}

fn later<T>(field: &mut Option<T>, later: Option<T>) {
    if later.is_some() {
        *field = later;
    }
}

pub(super) fn merge_call(earlier: &mut CallUpdate, update: CallUpdate) {
    later(&mut earlier.name, update.name);
    later(&mut earlier.server, update.server);
    later(&mut earlier.kind_word, update.kind_word);
    later(&mut earlier.title, update.title);
    later(&mut earlier.state, update.state);
    later(&mut earlier.input, update.input);
    later(&mut earlier.output, update.output);
    later(&mut earlier.locations, update.locations);
    later(&mut earlier.parent, update.parent);
    later(&mut earlier.ended_at, update.ended_at);
    later(&mut earlier.waited_ms, update.waited_ms);
    later(&mut earlier.feedback, update.feedback);
    later(&mut earlier.lines, update.lines);
    later(&mut earlier.permission, update.permission);
    later(&mut earlier.announced, update.announced);
    later(&mut earlier.closed_by_host, update.closed_by_host);
}

fn merge_message(earlier: &mut MessageUpdate, update: MessageUpdate) {
    later(&mut earlier.state, update.state);
    later(&mut earlier.error, update.error);
    later(&mut earlier.parent, update.parent);
    later(&mut earlier.plan, update.plan);
    if let Some(text) = update.append_text {
        earlier.append_text.get_or_insert_default().push_str(&text);
    }
    earlier.append_attachments.extend(update.append_attachments);
}

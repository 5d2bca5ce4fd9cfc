//! What a call asks for, and which of its words say it: its input, or where an agent sends none, its title.

use pleat_transcript::call::{Call, ToolKind};
use pleat_transcript::fold::label::label;
use pleat_transcript::request::{Edit, command_of, edit_of_block, edits_of_request, is_command};
use serde_json::Value;

/// The input, unless it says nothing.
pub(super) fn input(call: &Call) -> Option<&Value> {
    call.input.as_ref().filter(|input| match input {
        Value::Null => false,
        Value::Object(members) => !members.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::String(text) => !text.trim().is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    })
}

/// Longer titles may say what the input does not.
const LONG_TITLE_CHARACTERS: usize = 100;

/// The title, where neither the input nor the label says it in full. Some agents send no input: then what a person
/// decides on, such as the command to run, stands in the title alone, and a label cuts it.
pub(super) fn title(call: &Call) -> Option<&str> {
    let title = call.title.as_deref().filter(|title| !title.trim().is_empty())?;
    let is_in_label = || {
        let line = title.split_whitespace().collect::<Vec<_>>().join(" ");
        label(call, None).text.contains(&line)
    };
    let is_needed = match (&call.input, input(call)) {
        (None | Some(Value::Null), _) => true,
        // No arguments, which says that the name is all there is.
        (Some(_), None) => is_title_the_command(call) || !is_in_label(),
        (Some(_), Some(_)) => {
            let may_be_the_command = call.kind() == ToolKind::Execute && !has_command(call);
            (may_be_the_command || title.chars().count() > LONG_TITLE_CHARACTERS) && !is_in_label()
        }
    };
    is_needed.then_some(title)
}

/// Whether the title is all that tells which command runs.
pub(super) fn is_title_the_command(call: &Call) -> bool {
    call.kind() == ToolKind::Execute && input(call).is_none()
}

/// The differences, or where there are none yet, what the input says of them.
pub(super) fn edits(call: &Call) -> Vec<Edit<'_>> {
    let told: Vec<_> = call.output.iter().filter_map(edit_of_block).collect();
    if told.is_empty() { edits_of_request(call) } else { told }
}

/// Whether the request shows a command or a difference, and so all that a label says after its first part.
pub(super) fn tells_target(call: &Call) -> bool {
    has_command(call) || (is_title_the_command(call) && title(call).is_some()) || !edits(call).is_empty()
}

fn has_command(call: &Call) -> bool {
    let members = input(call).and_then(Value::as_object);
    members.is_some_and(|members| members.iter().any(|(name, value)| is_command(name) && command_of(value).is_some()))
}

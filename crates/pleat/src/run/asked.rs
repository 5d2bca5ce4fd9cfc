//! What a person decides on, in full: the title, the command, the changes and the rest of the request.

use super::style::{Style, Tone};
use super::told::Told;
use crate::plain_text::{block, line, visible};
use pleat_transcript::call::Call;
use pleat_transcript::fold::label::label;
use pleat_transcript::request::{Edit, Fate, command_of, edit_of_block, is_command};
use serde_json::Value;
use similar::{ChangeTag, TextDiff};
use std::time::Duration;

/// Lines around a change.
const CONTEXT_LINES: usize = 3;

/// A longer search for the shortest difference is not worth waiting for.
const LONGEST_SEARCH: Duration = Duration::from_secs(1);

/// What a call asks for, in lines: all that its agent told, each thing once.
pub(super) fn request(call: &Call, style: Style) -> String {
    let mut text = String::new();
    let edits: Vec<Edit<'_>> = call.output.iter().filter_map(edit_of_block).collect();
    let others = || call.output.iter().filter(|block| edit_of_block(block).is_none());
    let told = Told {
        paths: edits.iter().map(|edit| edit.path).collect(),
        changed: edits.iter().flat_map(|edit| [edit.old, edit.new]).collect(),
        texts: others().filter_map(text_of_block).collect(),
    };
    let mut rest = call.input.clone().unwrap_or_default();
    let command = take_command(&mut rest);
    // Some agents tell the command in the title alone, and a label cuts it.
    block("  ", title_beyond_label(call, command.as_deref()).unwrap_or_default(), &mut text);
    if let Some(command) = &command {
        block("  $", command, &mut text);
    }
    for edit in &edits {
        draw_edit(edit, style, &mut text);
    }
    draw_json(&told.rest(rest), &mut text);
    for other in others() {
        draw_block(other, &mut text);
    }
    text
}

/// Takes the command out of a request: it is shown as one.
fn take_command(request: &mut Value) -> Option<String> {
    let members = request.as_object_mut()?;
    let told = members.iter().filter(|(name, _)| is_command(name));
    let (name, command) = told.into_iter().find_map(|(name, value)| Some((name.clone(), command_of(value)?)))?;
    members.shift_remove(&name);
    Some(command)
}

/// The title, where neither the label nor the command holds all of it.
fn title_beyond_label<'c>(call: &'c Call, command: Option<&str>) -> Option<&'c str> {
    let title = call.title.as_deref()?;
    let is_in = |text: &str| one_line(text).contains(&one_line(title));
    (!is_in(&label(call, None).text) && !command.is_some_and(is_in)).then_some(title)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A value, unless it says nothing.
fn draw_json(value: &Value, text: &mut String) {
    let says_nothing = match value {
        Value::Null => true,
        Value::Object(members) => members.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    };
    if !says_nothing {
        block("  ", &serde_json::to_string_pretty(value).unwrap_or_default(), text);
    }
}

/// A block that is no change: its text, what kind of image or sound it is, or all of it.
fn draw_block(content: &Value, text: &mut String) {
    let text_at = |pointer: &str| content.pointer(pointer).and_then(Value::as_str);
    if let Some(said) = text_of_block(content) {
        block("  ", said, text);
        return;
    }
    match (text_at("/type"), text_at("/content/type")) {
        // What a terminal has shown; where it has shown nothing yet, it says nothing.
        (Some("terminal"), _) => block("  ", text_at("/output").unwrap_or_default(), text),
        // Their data says nothing to a reader.
        (Some("content"), Some(kind @ ("image" | "audio"))) => {
            line("  ", &format!("[{kind} {}]", text_at("/content/mimeType").unwrap_or_default()), text);
        }
        (_, _) => draw_json(content, text),
    }
}

/// The text of a block that has nothing else.
fn text_of_block(block: &Value) -> Option<&str> {
    let content = block.get("content").filter(|content| content.get("type").is_some_and(|kind| kind == "text"))?;
    content.get("text")?.as_str()
}

/// A file before and after, line by line.
fn draw_edit(edit: &Edit<'_>, style: Style, text: &mut String) {
    line("  ", &format!("{} ({})", edit.path, edit.fate.word()), text);
    // The protocol wants a new text even of a deletion.
    let new = if edit.fate == Fate::Deleted { "" } else { edit.new };
    let difference = TextDiff::configure().timeout(LONGEST_SEARCH).diff_lines(edit.old, new);
    for (place, hunk) in difference.grouped_ops(CONTEXT_LINES).iter().enumerate() {
        if place > 0 {
            text.push_str("  ⋮\n");
        }
        for change in hunk.iter().flat_map(|operation| difference.iter_changes(operation)) {
            let (mark, tone) = match change.tag() {
                ChangeTag::Insert => ('+', Tone::Good),
                ChangeTag::Delete => ('-', Tone::Bad),
                ChangeTag::Equal => (' ', Tone::Plain),
            };
            let words = visible(change.value().trim_end_matches(['\n', '\r']));
            text.push_str("  ");
            text.push_str(&style.paint(tone, &format!("{mark}{words}")));
            text.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleat_transcript::document::call_from_json;
    use serde_json::json;

    fn shown(mut call: Value) -> String {
        call["id"] = json!("c");
        request(&call_from_json(call).unwrap(), Style::Plain)
    }

    #[test]
    fn a_command_is_shown_as_one_and_the_rest_beside_it() {
        let input = json!({"command": ["bash", "-c", "make\nrm \u{1b}x"], "cwd": "/w"});
        assert_eq!(shown(json!({"input": input})), "  $ bash -c make\n  rm ␛x\n  {\n    \"cwd\": \"/w\"\n  }\n");
        assert_eq!(shown(json!({"input": {"cmd": "ls"}, "title": "List"})), "  $ ls\n");
    }

    #[test]
    fn without_a_command_it_is_the_request_or_what_only_the_title_says() {
        assert_eq!(shown(json!({"input": {"url": "http://x"}})), "  {\n    \"url\": \"http://x\"\n  }\n");
        assert_eq!(shown(json!({"input": [1]})), "  [\n    1\n  ]\n");
        let long = format!("run {}", "x".repeat(300));
        assert_eq!(shown(json!({"title": long, "kind": "execute"})), format!("  {long}\n"));
        assert_eq!(shown(json!({"title": long, "kind": "execute", "input": {}})), format!("  {long}\n"));
        assert_eq!(shown(json!({"title": "short", "kind": "execute"})), "");
    }

    #[test]
    fn a_change_is_shown_line_by_line() {
        let numbers = |to: u32| (1..=to).map(|number| number.to_string()).collect::<Vec<_>>().join("\n");
        let old = numbers(20);
        let new = old.replace("2\n3\n", "two\n3\n").replace("19\n", "");
        let changed = json!({"type": "diff", "path": "a", "oldText": old, "newText": new});
        let made = json!({"type": "diff", "path": "b", "newText": "x\r\n"});
        let gone = json!({"type": "diff", "path": "c", "oldText": "y", "newText": "y", "_meta": {"kind": "delete"}});
        let output = json!([changed, made, gone]);
        let differences = shown(json!({"output": output}));
        let with = |input: Value| shown(json!({"output": output, "input": input}));
        assert_eq!(with(json!({"command": "none"})), format!("  $ none\n{differences}"));
        assert_eq!(with(json!({"path": "b", "content": "x\r\n"})), differences);
        insta::assert_snapshot!(differences);
    }

    #[test]
    fn a_change_hides_nothing_else_that_is_asked_for() {
        let changed = json!({"type": "diff", "path": "/w/a", "oldText": "x", "newText": "y"});
        let why = json!({"type": "content", "content": {"type": "text", "text": "Because of\n\u{1b}[2Jthis."}});
        let image = json!({"type": "content", "content": {"type": "image", "mimeType": "image/png", "data": "AAAA"}});
        let link = json!({"type": "content", "content": {"type": "resource_link", "uri": "http://x"}});
        let input = json!({"file_path": "/w/a", "old_string": "x", "new_string": "y", "replace_all": true});
        let title = format!("Edit {} and more", "y".repeat(300));
        let call = json!({"kind": "edit", "title": title, "input": input, "output": [why, changed, image, link]});
        assert_eq!(
            shown(call),
            format!(
                "  {title}\n  /w/a (changed)\n  -x\n  +y\n  {{\n    \"replace_all\": true\n  }}\n  Because of\n  ␛[2Jthis.\n  \
                 [image image/png]\n  {{\n    \"type\": \"content\",\n    \"content\": {{\n      \"type\": \"resource_link\",\n      \
                 \"uri\": \"http://x\"\n    }}\n  }}\n"
            )
        );
    }

    #[test]
    fn a_title_is_shown_where_neither_the_label_nor_the_command_says_it() {
        let long = format!("make {}", "x".repeat(300));
        let call = |command: &str| json!({"kind": "execute", "title": long, "input": {"command": command}});
        assert_eq!(shown(call(&long)), format!("  $ {long}\n"));
        assert_eq!(shown(call("make")), format!("  {long}\n  $ make\n"));
        let plan = json!({"type": "content", "content": {"type": "text", "text": "1. Look\n2. Leap"}});
        assert_eq!(shown(json!({"input": {"plan": "1. Look\n2. Leap"}, "output": [plan]})), "  1. Look\n  2. Leap\n");
    }
}

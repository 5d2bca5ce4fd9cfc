//! What a call changes in files: its differences, or where it has none, what its request says.

use crate::text::difference::{Edit, Fate};
use pleat_transcript::call::{Call, ToolKind};
use serde_json::{Map, Value};

/// How agents name the file of an edit.
const PATHS: [&str; 7] = ["file_path", "filePath", "path", "filepath", "fileName", "absolute_path", "target_file"];
/// How they name a text and what takes its place.
const TEXTS: [(&str, &str); 5] = [
    ("old_string", "new_string"),
    ("old_str", "new_str"),
    ("oldString", "newString"),
    ("old_text", "new_text"),
    ("oldText", "newText"),
];
/// How they name a list of such pairs.
const LISTS: [&str; 2] = ["edits", "changes"];
/// How they name the whole text of a file.
const CONTENTS: [&str; 2] = ["content", "file_text"];

/// A difference in a call's output.
pub(super) fn of_block(block: &Value) -> Option<Edit<'_>> {
    let text_at = |name: &str| block.get(name).and_then(Value::as_str);
    if text_at("type") != Some("diff") {
        return None;
    }
    let kind = block.pointer("/_meta/kind").and_then(Value::as_str).unwrap_or("");
    let (old, new) = (text_at("oldText").unwrap_or(""), text_at("newText"));
    let is_deleted = kind.starts_with("delete") || (new.is_none() && !old.is_empty());
    let new = new.unwrap_or("");
    let fate = if is_deleted { Fate::Deleted } else { Fate::of_texts(old, new) };
    Some(Edit { path: text_at("path").unwrap_or("a file"), old, new, fate })
}

/// What the request of an editing call says, in the words of the agents that we know.
pub(super) fn of_request(call: &Call) -> Vec<Edit<'_>> {
    let Some(Value::Object(input)) = &call.input else { return Vec::new() };
    if call.kind() != ToolKind::Edit {
        return Vec::new();
    }
    let Some(path) = first(input, &PATHS) else { return Vec::new() };
    let edit = |texts| part_of_file(path, texts);
    let listed = LISTS.iter().filter_map(|name| input.get(*name)?.as_array()).flatten();
    let listed = listed.filter_map(Value::as_object).filter_map(pair);
    let edits: Vec<_> = pair(input).into_iter().chain(listed).map(edit).collect();
    if edits.is_empty() {
        return first(input, &CONTENTS).map(|content| edit(("", content))).into_iter().collect();
    }
    edits
}

/// A text that goes is a part of its file; only one that takes no other's place makes the file.
fn part_of_file<'a>(path: &'a str, (old, new): (&'a str, &'a str)) -> Edit<'a> {
    let fate = if old.is_empty() { Fate::New } else { Fate::Changed };
    Edit { path, old, new, fate }
}

/// What a request says beside these edits: texts that none of them shows, flags that are set, and what we do not know.
pub(super) fn rest_of_request(call: &Call, edits: &[Edit<'_>]) -> Map<String, Value> {
    let Some(Value::Object(input)) = &call.input else { return Map::new() };
    let rest = input.iter().filter(|(name, value)| !is_told(name, value, edits));
    rest.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Whether the edits tell this member, or it says nothing.
fn is_told(name: &str, value: &Value, edits: &[Edit<'_>]) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        // The agent's own form of the difference.
        Value::String(_) if name == "diff" => true,
        Value::String(text) => edits.iter().any(|edit| shows(edit, text)),
        Value::Array(items) => items.iter().all(|item| is_told("", item, edits)),
        Value::Object(members) => members.iter().all(|(name, value)| is_told(name, value, edits)),
        Value::Bool(true) | Value::Number(_) => false,
    }
}

fn shows(edit: &Edit<'_>, text: &str) -> bool {
    edit.path.ends_with(text) || edit.old.contains(text) || edit.new.contains(text)
}

fn first<'a>(input: &'a Map<String, Value>, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| input.get(*name)?.as_str())
}

fn pair(edit: &Map<String, Value>) -> Option<(&str, &str)> {
    TEXTS.iter().find_map(|(old, new)| Some((edit.get(*old)?.as_str()?, edit.get(*new)?.as_str()?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleat_transcript::ids::CallId;
    use serde_json::json;

    fn editing(input: Value) -> Call {
        let kind_word = Some("edit".to_owned());
        Call { kind_word, input: Some(input), ..Call::new(CallId::new("c").unwrap()) }
    }

    fn told(input: Value) -> Vec<String> {
        let call = editing(input);
        of_request(&call).iter().map(|it| format!("{} {}: {} > {}", it.path, it.fate.word(), it.old, it.new)).collect()
    }

    #[test]
    fn requests_of_known_agents_are_edits() {
        for (path, old, new) in [
            ("file_path", "old_string", "new_string"),
            ("path", "old_str", "new_str"),
            ("filePath", "oldString", "newString"),
        ] {
            assert_eq!(told(json!({path: "a.rs", old: "x", new: "y", "replace_all": false})), ["a.rs changed: x > y"]);
        }
        let changes =
            json!([{"oldString": "x", "newString": "y", "replaceAll": false}, {"oldString": "u", "newString": ""}]);
        assert_eq!(
            told(json!({"filePath": "a.rs", "changes": changes})),
            ["a.rs changed: x > y", "a.rs changed: u > "]
        );
        assert_eq!(told(json!({"path": "a.md", "content": "text"})), ["a.md new file:  > text"]);
        assert_eq!(told(json!({"path": "a.md", "content_length": 4})), [""; 0]);
    }

    #[test]
    fn only_editing_calls_are_read_so() {
        let mut call = editing(json!({"path": "a", "content": "x"}));
        call.kind_word = Some("other".into());
        assert!(of_request(&call).is_empty());
    }

    #[test]
    fn what_the_edits_do_not_tell_is_left() {
        let rest = |input: Value| {
            let call = editing(input);
            Value::Object(rest_of_request(&call, &of_request(&call)))
        };
        let input = json!({"file_path": "a", "old_string": "x", "new_string": "y", "replace_all": true, "dry": false, "then": "rm z"});
        assert_eq!(rest(input), json!({"replace_all": true, "then": "rm z"}));
        let changes = |all: bool| json!([{"oldString": "x", "newString": "y", "replaceAll": all}]);
        assert_eq!(rest(json!({"filePath": "a", "changes": changes(false)})), json!({}));
        assert_eq!(rest(json!({"filePath": "a", "changes": changes(true)})), json!({"changes": changes(true)}));
        // Only one of them is the edit; the other may not be hidden.
        let both = json!({"path": "a", "old_str": "x", "new_str": "y", "content": "all else"});
        assert_eq!(rest(both), json!({"content": "all else"}));
    }
}

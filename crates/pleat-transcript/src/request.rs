//! A call's request in the words of the agents that we know: which member is the command, and what it changes in files.
//! Faces show a person what is asked for by these words, so that all of them show the same.

use crate::call::{Call, ToolKind};
use serde_json::{Map, Value};

/// How agents name the file of an edit.
pub const FILE_NAMES: [&str; 7] =
    ["file_path", "filePath", "path", "filepath", "fileName", "absolute_path", "target_file"];
/// How they name a text and what takes its place.
pub const REPLACED_TEXTS: [(&str, &str); 5] = [
    ("old_string", "new_string"),
    ("old_str", "new_str"),
    ("oldString", "newString"),
    ("old_text", "new_text"),
    ("oldText", "newText"),
];
/// How they name the whole text of a file.
pub const WHOLE_TEXTS: [&str; 2] = ["content", "file_text"];
/// How they name their own form of a difference.
pub const PATCH: &str = "diff";
/// How they name a list of replaced texts.
const LISTS: [&str; 2] = ["edits", "changes"];

/// A file before and after.
#[derive(Debug, Clone, Copy)]
pub struct Edit<'a> {
    /// As the agent names it.
    pub path: &'a str,
    /// Its text before.
    pub old: &'a str,
    /// Its text after.
    pub new: &'a str,
    /// What happens to the file.
    pub fate: Fate,
}

/// What happens to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It comes.
    New,
    /// It stays, with another text.
    Changed,
    /// It stays, with no text (case B52).
    Emptied,
    /// It goes.
    Deleted,
}

impl Fate {
    /// By its texts before and after. Agents that must send a text before send an empty one for a new file.
    pub fn of_texts(old: &str, new: &str) -> Self {
        match (old, new) {
            ("", _) => Self::New,
            (_, "") => Self::Emptied,
            _ => Self::Changed,
        }
    }

    /// In words.
    pub fn word(self) -> &'static str {
        match self {
            Self::New => "new file",
            Self::Changed => "changed",
            Self::Emptied => "emptied",
            Self::Deleted => "deleted file",
        }
    }
}

/// The edit that a block of a call's content shows (ACP's `diff`).
pub fn edit_of_block(block: &Value) -> Option<Edit<'_>> {
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

/// The edits that the request of an editing call tells, in the words of the agents that we know.
pub fn edits_of_request(call: &Call) -> Vec<Edit<'_>> {
    let Some(Value::Object(input)) = &call.input else { return Vec::new() };
    if call.kind() != ToolKind::Edit {
        return Vec::new();
    }
    let Some(path) = first(input, &FILE_NAMES) else { return Vec::new() };
    let edit = |texts| part_of_file(path, texts);
    let listed = LISTS.iter().filter_map(|name| input.get(*name)?.as_array()).flatten();
    let listed = listed.filter_map(Value::as_object).filter_map(pair);
    let edits: Vec<_> = pair(input).into_iter().chain(listed).map(edit).collect();
    if edits.is_empty() {
        return first(input, &WHOLE_TEXTS).map(|content| edit(("", content))).into_iter().collect();
    }
    edits
}

/// A text that goes is a part of its file; only one that takes no other's place makes the file.
fn part_of_file<'a>(path: &'a str, (old, new): (&'a str, &'a str)) -> Edit<'a> {
    let fate = if old.is_empty() { Fate::New } else { Fate::Changed };
    Edit { path, old, new, fate }
}

fn first<'a>(input: &'a Map<String, Value>, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| input.get(*name)?.as_str())
}

fn pair(edit: &Map<String, Value>) -> Option<(&str, &str)> {
    REPLACED_TEXTS.iter().find_map(|(old, new)| Some((edit.get(*old)?.as_str()?, edit.get(*new)?.as_str()?)))
}

/// Whether a member of a request is the command to run.
pub fn is_command(member: &str) -> bool {
    matches!(member, "command" | "cmd")
}

/// A command, told as a string or as its words.
pub fn command_of(value: &Value) -> Option<String> {
    if let Some(words) = value.as_array() {
        let words: Option<Vec<_>> = words.iter().map(Value::as_str).collect();
        return words.map(|words| words.join(" "));
    }
    value.as_str().map(ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::CallId;
    use serde_json::json;

    fn editing(input: Value) -> Call {
        let kind_word = Some("edit".to_owned());
        Call { kind_word, input: Some(input), ..Call::new(CallId::new("c").unwrap()) }
    }

    fn told(input: Value) -> Vec<String> {
        let call = editing(input);
        edits_of_request(&call)
            .iter()
            .map(|it| format!("{} {}: {} > {}", it.path, it.fate.word(), it.old, it.new))
            .collect()
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
        assert!(edits_of_request(&call).is_empty());
    }
}

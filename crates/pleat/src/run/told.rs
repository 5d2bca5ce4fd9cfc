//! What a request says beside the changes and texts that are shown with it.

use pleat_transcript::request::{FILE_NAMES, PATCH, REPLACED_TEXTS, WHOLE_TEXTS};
use serde_json::Value;

/// What is shown already.
#[derive(Default)]
pub(super) struct Told<'c> {
    pub(super) paths: Vec<&'c str>,
    /// The texts of the changes, before and after.
    pub(super) changed: Vec<&'c str>,
    /// Texts that are shown as they are.
    pub(super) texts: Vec<&'c str>,
}

impl Told<'_> {
    /// What is left of a request. A member that is told in part is left as a whole.
    pub(super) fn rest(&self, request: Value) -> Value {
        match request {
            Value::Object(mut members) => {
                members.retain(|name, value| !self.tells(name, value));
                Value::Object(members)
            }
            other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
                if self.tells("", &other) { Value::Null } else { other }
            }
        }
    }

    /// Only under a name that we know is a part of something shown the same as it: another member may mean anything.
    fn tells(&self, name: &str, value: &Value) -> bool {
        match value {
            Value::Null => true,
            Value::String(text) if FILE_NAMES.contains(&name) => self.paths.iter().any(|path| is_path(path, text)),
            Value::String(text) if is_text_of_a_file(name) => self.changed.iter().any(|changed| changed.contains(text)),
            Value::String(text) if name == PATCH && !self.changed.is_empty() => self.tells_patch(text),
            Value::String(text) => self.texts.iter().any(|shown| shown.trim() == text.trim()),
            Value::Array(items) => items.iter().all(|item| self.tells("", item)),
            Value::Object(members) => members.iter().all(|(name, value)| self.tells(name, value)),
            Value::Bool(_) | Value::Number(_) => false,
        }
    }

    /// Whether the changes have every line that a patch adds or removes.
    fn tells_patch(&self, patch: &str) -> bool {
        let is_heading = |line: &&str| line.starts_with("+++ ") || line.starts_with("--- ");
        let changed = patch.lines().filter(|line| !is_heading(line)).filter_map(|line| line.strip_prefix(['+', '-']));
        let has = |line: &str| self.changed.iter().any(|text| text.lines().any(|each| each == line));
        changed.into_iter().all(has)
    }
}

/// Whether a member of this name is a text of a file, old or new.
fn is_text_of_a_file(name: &str) -> bool {
    WHOLE_TEXTS.contains(&name) || REPLACED_TEXTS.iter().any(|(old, new)| name == *old || name == *new)
}

/// Whether a path is named, whole or by its end.
fn is_path(path: &str, named: &str) -> bool {
    path.strip_suffix(named).is_some_and(|before| before.is_empty() || before.ends_with(['/', '\\']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rest(request: Value) -> Value {
        Told { paths: vec!["/w/a.rs"], changed: vec!["one\ntwo\n", "one\n2\n"], texts: vec!["A plan.\n"] }.rest(request)
    }

    #[test]
    fn what_the_changes_hold_whole_is_not_said_again() {
        for told in [
            json!({"file_path": "/w/a.rs", "old_string": "two", "new_string": "2"}),
            json!({"path": "a.rs", "content": "one\n2\n", "backup": null}),
            json!({"edits": [{"oldText": "two", "newText": "2"}]}),
            json!({"diff": "--- a.rs\n+++ a.rs\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"}),
            json!({"plan": "A plan."}),
        ] {
            assert_eq!(rest(told), json!({}));
        }
        assert_eq!(rest(json!("A plan.")), Value::Null);
        assert_eq!(rest(json!([])), Value::Null);
    }

    #[test]
    fn everything_else_is_left() {
        for left in [
            json!({"replace_all": true}),
            json!({"sandbox": false}),
            json!({"then": "two"}),
            json!({"path": "s"}),
            json!({"path": "/w/b.rs"}),
            json!({"new_string": "three"}),
            json!({"edits": [{"oldText": "two", "newText": "2", "replaceAll": true}]}),
            json!({"diff": "-two\n+2\n+rm x\n"}),
            json!({"plan": "A plan. Or none."}),
            json!([1]),
        ] {
            assert_eq!(rest(left.clone()), left);
        }
    }
}

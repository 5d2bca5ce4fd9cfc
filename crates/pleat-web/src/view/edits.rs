//! What a request says beside the differences that are shown.

use pleat_transcript::call::Call;
use pleat_transcript::request::{Edit, PATCH};
use serde_json::{Map, Value};

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
        Value::String(_) if name == PATCH => true,
        Value::String(text) => edits.iter().any(|edit| shows(edit, text)),
        Value::Array(items) => items.iter().all(|item| is_told("", item, edits)),
        Value::Object(members) => members.iter().all(|(name, value)| is_told(name, value, edits)),
        Value::Bool(true) | Value::Number(_) => false,
    }
}

fn shows(edit: &Edit<'_>, text: &str) -> bool {
    edit.path.ends_with(text) || edit.old.contains(text) || edit.new.contains(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleat_transcript::ids::CallId;
    use pleat_transcript::request::edits_of_request;
    use serde_json::json;

    fn editing(input: Value) -> Call {
        let kind_word = Some("edit".to_owned());
        Call { kind_word, input: Some(input), ..Call::new(CallId::new("c").unwrap()) }
    }

    #[test]
    fn what_the_edits_do_not_tell_is_left() {
        let rest = |input: Value| {
            let call = editing(input);
            Value::Object(rest_of_request(&call, &edits_of_request(&call)))
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

//! How a vector's partial document is compared: listed keys must match, arrays item by item, and an absent key is the
//! same as null, an empty list or false.

use serde_json::Value;

pub(crate) fn assert_matches(expected: &Value, found: &Value, path: &str) {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            for (key, value) in expected {
                assert_matches(value, found.get(key).unwrap_or(&Value::Null), &format!("{path}.{key}"));
            }
        }
        (Value::Array(expected), Value::Array(found)) => {
            assert_eq!(
                expected.len(),
                found.len(),
                "{path}: length; found {}",
                serde_json::to_string_pretty(found).unwrap()
            );
            for (place, (expected, found)) in expected.iter().zip(found).enumerate() {
                assert_matches(expected, found, &format!("{path}[{place}]"));
            }
        }
        (expected, Value::Null) if is_absent(expected) => {}
        (expected, found) => assert_eq!(expected, found, "{path}"),
    }
}

fn is_absent(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        Value::Bool(true) | Value::Number(_) | Value::String(_) | Value::Object(_) => false,
    }
}

/// `{"agent_id": [TEXT, …]}`: each text stands exactly once in the strings of that call's output.
pub(crate) fn assert_shows(shows: Option<&Value>, documents: &[Value], name: &str) {
    for (agent_id, texts) in shows.and_then(Value::as_object).into_iter().flatten() {
        let mut found = Vec::new();
        for call in documents.iter().flat_map(calls).filter(|call| call["agent_id"] == agent_id.as_str()) {
            collect_strings(&call["output"], &mut found);
        }
        for text in texts.as_array().unwrap() {
            let text = text.as_str().unwrap();
            let times: usize = found.iter().map(|each| each.matches(text).count()).sum();
            assert_eq!(times, 1, "{name}: `{text}` in the output of {agent_id}: {found:?}");
        }
    }
}

fn calls(document: &Value) -> Vec<Value> {
    let messages = document["messages"].as_array().into_iter().flatten();
    let parts = messages.flat_map(|message| message["parts"].as_array().into_iter().flatten());
    parts.filter_map(|part| part.get("call").cloned()).collect()
}

fn collect_strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect_strings(item, found)),
        Value::Object(object) => object.values().for_each(|item| collect_strings(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

//! The answer to `session/prompt`.

use super::{Adapter, text_at};
use pleat_transcript::event::PromptAnswer;
use serde_json::Value;

impl Adapter {
    /// Reads the answer to a prompt: a `result`, or the `error` of JSON-RPC.
    pub fn prompt_answer(&self, answer: Result<&Value, &Value>) -> PromptAnswer {
        match answer {
            Ok(result) => PromptAnswer::Stopped {
                reason: text_at(result, "stopReason"),
                usage: result.get("usage").filter(|usage| !usage.is_null()).cloned(),
            },
            Err(error) => PromptAnswer::Error {
                code: error.get("code").and_then(Value::as_i64).unwrap_or_default(),
                message: self.error_text(error),
            },
        }
    }

    /// What an `error` of JSON-RPC says, in words for a person.
    pub fn error_text(&self, error: &Value) -> String {
        self.dialect.error_text(error_text(error))
    }
}

/// An error's message, with what its `data` adds in words.
fn error_text(error: &Value) -> String {
    let message = text_at(error, "message").filter(|message| !message.trim().is_empty());
    let data = error.get("data");
    let details = data.and_then(|data| match data {
        Value::String(text) => Some(text.clone()),
        Value::Object(_) => text_at(data, "details").or_else(|| text_at(data, "message")),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    });
    match (message, details) {
        (Some(message), Some(details)) if !message.contains(details.trim()) => format!("{message}: {}", details.trim()),
        (Some(message), _) => message,
        (None, Some(details)) => details,
        (None, None) => "The agent answered with an error that says nothing.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn details_are_added_once() {
        let text = |error: Value| error_text(&error);
        assert_eq!(
            text(json!({"code": 1, "message": "Internal error", "data": {"details": "line cut"}})),
            "Internal error: line cut"
        );
        assert_eq!(
            text(json!({"code": 1, "message": "Internal error: line cut", "data": "line cut"})),
            "Internal error: line cut"
        );
        assert_eq!(text(json!({"code": 1})), "The agent answered with an error that says nothing.");
    }
}

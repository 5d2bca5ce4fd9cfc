//! Gemini CLI.

use super::Dialect;
use serde_json::Value;

pub(super) struct Gemini;

impl Dialect for Gemini {
    /// It replays the context that it puts before a conversation, and the model's view of results, as user messages.
    fn drops_replayed(&self, update: &Value) -> bool {
        let user = update.get("sessionUpdate").and_then(Value::as_str) == Some("user_message_chunk");
        let text = update.pointer("/content/text").and_then(Value::as_str).unwrap_or_default();
        user && (text.starts_with("<session_context>") || text.starts_with("[Function Response"))
    }

    /// It answers `session/load` first and replays after it.
    fn replays_after_answer(&self) -> bool {
        true
    }
}

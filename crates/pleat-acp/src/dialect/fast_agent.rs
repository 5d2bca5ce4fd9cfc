//! fast-agent.

use super::streamed_input::StreamedInput;
use super::{Dialect, TextEnds};
use pleat_transcript::event::CallReport;
use serde_json::Value;

#[derive(Default)]
pub(super) struct FastAgent {
    inputs: StreamedInput,
}

impl Dialect for FastAgent {
    /// While the model writes an input, its last 4,000 characters come as content, under a title that counts them.
    fn correct(&mut self, report: &mut CallReport, _call: &Value) {
        let streaming = report.title.as_deref().and_then(without_count).map(str::to_owned);
        if streaming.is_some() {
            report.title = streaming;
            report.content = None;
        }
        self.inputs.correct(report);
    }

    /// Text, announcements and the empty chunk that ends a reply overtake each other. But a call ends only after the
    /// reply that asked for it, so its end is the mark. In a replay each chunk is a reply.
    fn text_ends(&self, update: &Value, replaying: bool) -> TextEnds {
        let called = update.get("status").and_then(Value::as_str);
        let is_chunk = update.get("sessionUpdate").and_then(Value::as_str) == Some("agent_message_chunk");
        TextEnds { before: matches!(called, Some("completed" | "failed")), after: replaying && is_chunk }
    }
}

/// The tool's name in a title such as `write_text_file (streaming: 8864)`.
fn without_count(title: &str) -> Option<&str> {
    title.strip_suffix(')')?.rsplit_once(" (streaming: ").map(|(name, _)| name)
}

//! Claude Code through `claude-agent-acp`.

use super::{Dialect, TextEnds};
use pleat_transcript::event::CallReport;
use pleat_transcript::ids::AgentCallId;
use serde_json::Value;

/// What the adapter's own warnings begin with. They have no `messageId`, as all text of the model has.
const WARNING: &str = "**Warning:** ";

/// What its SDK puts before the words of any error, which it also sends as a text, there without this.
const ERROR: &str = "Internal error: ";

pub(super) struct Claude;

impl Dialect for Claude {
    /// Sub-agents' updates come inline and name the call they belong to.
    fn parent(&mut self, update: &Value) -> Option<AgentCallId> {
        let parent = update.pointer("/_meta/claudeCode/parentToolUseId")?.as_str()?;
        Some(AgentCallId(parent.to_owned()))
    }

    fn error_text(&self, message: String) -> String {
        message.strip_prefix(ERROR).map_or_else(|| message.clone(), str::to_owned)
    }

    /// A call that Stop kept from running, or ended, says so beside its status.
    fn correct(&mut self, report: &mut CallReport, call: &Value) {
        report.aborted = call.pointer("/_meta/claudeCode/nonExecutionKind").is_some();
    }

    fn text_ends(&self, update: &Value, _replaying: bool) -> TextEnds {
        let text = update.pointer("/content/text").and_then(Value::as_str).unwrap_or_default();
        let warns = update.get("messageId").is_none() && text.starts_with(WARNING);
        TextEnds { before: warns, after: warns }
    }
}

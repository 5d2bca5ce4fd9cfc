//! Gemini CLI.

use super::{Dialect, is_request};
use pleat_transcript::event::{CallReport, CallStatus};
use pleat_transcript::ids::AgentCallId;
use serde_json::Value;
use std::collections::HashSet;

/// What the question about a command begins with; the command itself is the title.
const COMMAND_QUESTION: &str = "[current working directory ";

/// What the output of a command begins with that Stop ended.
const COMMAND_CANCELLED: &str = "Command cancelled by user.";

#[derive(Default)]
pub(super) struct Gemini {
    titled: HashSet<AgentCallId>,
}

impl Dialect for Gemini {
    fn correct(&mut self, report: &mut CallReport, call: &Value) {
        let text = report.content.as_ref().and_then(|content| content.first()?.pointer("/content/text")?.as_str());
        let text = text.unwrap_or_default();
        // It says `completed` of a command that was stopped.
        report.aborted = report.status == Some(CallStatus::Completed) && text.starts_with(COMMAND_CANCELLED);
        if is_request(call) && text.starts_with(COMMAND_QUESTION) {
            // No output, and where the command says nothing, nothing would ever replace it.
            report.content = None;
        }
        self.name_the_untitled(report);
    }

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

impl Gemini {
    /// A call that fails before it begins is mentioned once, without a title; its id begins with the tool's name.
    fn name_the_untitled(&mut self, report: &mut CallReport) {
        let untitled = report.title.is_none() && !self.titled.contains(&report.agent_id);
        if untitled && let Some((tool, _)) = report.agent_id.0.split_once("__call_") {
            report.title = Some(tool.to_owned());
        }
        self.titled.insert(report.agent_id.clone());
    }
}

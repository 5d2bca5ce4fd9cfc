//! Kimi Code CLI.

use super::kept_diffs::KeptDiffs;
use super::streamed_input::StreamedInput;
use super::{Dialect, is_request};
use pleat_transcript::event::{CallReport, CallStatus};
use pleat_transcript::ids::AgentCallId;
use serde_json::Value;
use std::collections::HashSet;

/// What the text of a permission request begins with.
const QUESTION: &str = "Requesting approval to ";

/// The name of the tool that runs a sub-agent, which is its call's first title.
const SUB_AGENT: &str = "Agent";

/// Its to-do list's word for ACP's `completed`.
const DONE: &str = "done";

#[derive(Default)]
pub(super) struct Kimi {
    inputs: StreamedInput,
    diffs: KeptDiffs,
    announced: HashSet<AgentCallId>,
    /// Sub-agents' calls that are open, newest last.
    sub_agents: Vec<AgentCallId>,
}

impl Dialect for Kimi {
    /// Of a sub-agent's calls only those are seen that need permission, and they are never announced.
    fn parent(&mut self, update: &Value) -> Option<AgentCallId> {
        let id = AgentCallId(update.get("toolCallId")?.as_str()?.to_owned());
        (is_request(update) && !self.announced.contains(&id)).then(|| self.sub_agents.last().cloned()).flatten()
    }

    fn correct(&mut self, report: &mut CallReport, call: &Value) {
        if is_request(call) {
            state_the_question(report);
        }
        if report.announced {
            self.announced.insert(report.agent_id.clone());
            if report.title.as_deref() == Some(SUB_AGENT) {
                self.sub_agents.push(report.agent_id.clone());
            }
        }
        if matches!(report.status, Some(CallStatus::Completed | CallStatus::Failed)) {
            self.sub_agents.retain(|open| *open != report.agent_id);
        }
        for item in report.todos.iter_mut().flatten() {
            if item.status_word.as_deref() == Some(DONE) {
                item.status_word = Some("completed".to_owned());
            }
        }
        self.inputs.correct(report);
        self.diffs.complete(report);
    }

    /// It replays the reminders that it puts behind a prompt, as user messages.
    fn drops_replayed(&self, update: &Value) -> bool {
        let user = update.get("sessionUpdate").and_then(Value::as_str) == Some("user_message_chunk");
        let text = update.pointer("/content/text").and_then(Value::as_str).unwrap_or_default();
        user && text.starts_with("<system-reminder>")
    }
}

/// A request's content is its question, no output; it says better than the title, a bare tool name, what is to be done.
fn state_the_question(report: &mut CallReport) {
    let text = report.content.as_ref().and_then(|content| content.first()?.pointer("/content/text")?.as_str());
    let Some(question) = text.and_then(|text| text.strip_prefix(QUESTION)) else { return };
    if !question.starts_with("Approve ") {
        report.title = Some(question.to_owned());
    }
    report.content = None;
}

//! Copilot CLI.

use super::kept_diffs::KeptDiffs;
use super::{Dialect, TextEnds};
use pleat_transcript::event::{CallReport, CallStatus};
use pleat_transcript::ids::AgentCallId;
use serde_json::{Value, json};
use std::collections::HashMap;

/// What its own remarks begin with: each is one chunk among the model's, without any other mark.
const REMARKS: [&str; 3] = ["Info: ", "Warning: ", "Error: "];

#[derive(Default)]
pub(super) struct Copilot {
    /// Sub-agents' calls that are open, newest last.
    open: Vec<AgentCallId>,
    /// The call that each of its agent ids belongs to.
    agents: HashMap<String, AgentCallId>,
    diffs: KeptDiffs,
}

impl Dialect for Copilot {
    /// A sub-agent's calls carry its id, which no call names: it belongs to the newest sub-agent call that was open when
    /// the id first appeared (docs/spec/record.md, Calls 8).
    fn parent(&mut self, update: &Value) -> Option<AgentCallId> {
        let agent = agent_id(update)?;
        if !self.agents.contains_key(agent) {
            self.agents.insert(agent.to_owned(), self.open.last()?.clone());
        }
        self.agents.get(agent).cloned()
    }

    fn correct(&mut self, report: &mut CallReport, call: &Value) {
        if call.pointer("/rawInput/agent_type").is_some() && !self.open.contains(&report.agent_id) {
            self.open.push(report.agent_id.clone());
        }
        if report.status == Some(CallStatus::Completed) && exited_with_error(call) {
            report.status = Some(CallStatus::Failed);
        }
        if matches!(report.status, Some(CallStatus::Completed | CallStatus::Failed)) {
            self.open.retain(|open| *open != report.agent_id);
        }
        self.tell_why_an_edit_failed(report, call);
    }

    fn text_ends(&self, update: &Value, _replaying: bool) -> TextEnds {
        let text = update.pointer("/content/text").and_then(Value::as_str).unwrap_or_default();
        // The model's own words come singly.
        let remarks = REMARKS.iter().any(|mark| text.starts_with(mark)) && text.trim().split(' ').nth(1).is_some();
        // A sub-agent's text carries no id: its calls, and the end of its own, are the only marks between its replies.
        let sub_agent = agent_id(update).is_some() || self.ends_sub_agent(update);
        TextEnds { before: remarks || sub_agent, after: remarks }
    }
}

impl Copilot {
    fn ends_sub_agent(&self, update: &Value) -> bool {
        let ends = matches!(update.get("status").and_then(Value::as_str), Some("completed" | "failed"));
        let id = update.get("toolCallId").and_then(Value::as_str);
        ends && id.is_some_and(|id| self.open.iter().any(|open| open.0 == id))
    }

    /// The reason stands in `rawOutput` alone, and a call that showed a diff has content already.
    fn tell_why_an_edit_failed(&mut self, report: &mut CallReport, call: &Value) {
        let mut content = self.diffs.take(report);
        let reason = call.pointer("/rawOutput/message").and_then(Value::as_str);
        if report.status == Some(CallStatus::Failed)
            && !content.is_empty()
            && let Some(reason) = reason
        {
            content.push(json!({"type": "content", "content": {"type": "text", "text": reason}}));
            report.content = Some(content);
        }
    }
}

fn agent_id(update: &Value) -> Option<&str> {
    update.pointer("/_meta/github.com~1copilot/agentId")?.as_str()
}

/// It says `completed` of commands that failed; how they ended stands beside it.
fn exited_with_error(call: &Value) -> bool {
    let contents = call.pointer("/rawOutput/contents").and_then(Value::as_array);
    let mut codes = contents.into_iter().flatten().filter_map(|content| content.get("exitCode")?.as_i64());
    codes.next_back().is_some_and(|code| code != 0)
}

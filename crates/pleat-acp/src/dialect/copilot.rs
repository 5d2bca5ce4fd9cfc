//! Copilot CLI.

use super::{Dialect, TextEnds};
use pleat_transcript::event::{CallReport, CallStatus};
use pleat_transcript::ids::AgentCallId;
use serde_json::Value;
use std::collections::HashMap;

/// What it says after a load of calls whose results it lost.
const LOST_RESULTS: &str = "tool call(s) had no recorded";

#[derive(Default)]
pub(super) struct Copilot {
    /// Sub-agents' calls that are open, newest last.
    open: Vec<AgentCallId>,
    /// The call that each of its agent ids belongs to.
    agents: HashMap<String, AgentCallId>,
}

impl Dialect for Copilot {
    /// A sub-agent's calls carry its id, which no call names: it belongs to the newest sub-agent call that was open when
    /// the id first appeared (spec/record.md, Calls 8).
    fn parent(&mut self, update: &Value) -> Option<AgentCallId> {
        let agent = update.pointer("/_meta/github.com~1copilot/agentId")?.as_str()?;
        if !self.agents.contains_key(agent) {
            self.agents.insert(agent.to_owned(), self.open.last()?.clone());
        }
        self.agents.get(agent).cloned()
    }

    fn correct(&mut self, report: &mut CallReport, call: &Value) {
        if call.pointer("/rawInput/agent_type").is_some() && !self.open.contains(&report.agent_id) {
            self.open.push(report.agent_id.clone());
        }
        if matches!(report.status, Some(CallStatus::Completed | CallStatus::Failed)) {
            self.open.retain(|open| *open != report.agent_id);
        }
    }

    fn text_ends(&self, _update: &Value, text: &str) -> TextEnds {
        let warns = text.starts_with("Warning: ") && text.contains(LOST_RESULTS);
        TextEnds { before: warns, after: warns }
    }
}

//! Claude Code through `claude-agent-acp`.

use super::Dialect;
use pleat_transcript::event::CallReport;
use pleat_transcript::ids::AgentCallId;
use serde_json::Value;

pub(super) struct Claude;

impl Dialect for Claude {
    /// Sub-agents' updates come inline and name the call they belong to.
    fn parent(&mut self, update: &Value) -> Option<AgentCallId> {
        let parent = update.pointer("/_meta/claudeCode/parentToolUseId")?.as_str()?;
        Some(AgentCallId(parent.to_owned()))
    }

    /// A call that Stop kept from running, or ended, says so beside its status.
    fn correct(&mut self, report: &mut CallReport, call: &Value) {
        report.aborted = call.pointer("/_meta/claudeCode/nonExecutionKind").is_some();
    }
}

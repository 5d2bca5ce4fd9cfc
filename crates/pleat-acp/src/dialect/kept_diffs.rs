//! Diffs that an agent shows first and leaves out of its last word: what Kimi, `OpenCode` and Copilot share.
//!
//! They give a diff with the announcement or with the permission request, and end the call with a sentence instead.
//! That sentence does not take the diff back, though content is replaced whole (docs/spec/record.md, Calls 3).

use pleat_transcript::event::{CallReport, CallStatus};
use pleat_transcript::ids::AgentCallId;
use serde_json::Value;
use std::collections::VecDeque;

/// How many calls' diffs are kept: as many as may be open at once, for an end may be told twice.
const CALLS_KEPT: usize = 32;

#[derive(Default)]
pub(super) struct KeptDiffs {
    /// Newest last.
    of_calls: VecDeque<(AgentCallId, Vec<Value>)>,
}

impl KeptDiffs {
    /// Remembers the diffs of an open call, and gives those of a call that ends without any.
    pub(super) fn take(&mut self, report: &CallReport) -> Vec<Value> {
        let said: Vec<Value> = report.content.iter().flatten().filter(|block| is_diff(block)).cloned().collect();
        let ends = matches!(report.status, Some(CallStatus::Completed | CallStatus::Failed));
        match (ends, said.is_empty()) {
            (true, true) => self.of(&report.agent_id),
            (false, false) => {
                self.keep(report.agent_id.clone(), said);
                Vec::new()
            }
            (true, false) | (false, true) => Vec::new(),
        }
    }

    /// Puts the diffs of a call that completes before the words that it ends with.
    pub(super) fn complete(&mut self, report: &mut CallReport) {
        let kept = self.take(report);
        if report.status == Some(CallStatus::Completed)
            && let Some(content) = report.content.as_mut().filter(|content| !content.is_empty())
        {
            content.splice(0..0, kept);
        }
    }

    fn of(&self, call: &AgentCallId) -> Vec<Value> {
        self.of_calls.iter().find(|(id, _)| id == call).map(|(_, diffs)| diffs.clone()).unwrap_or_default()
    }

    fn keep(&mut self, call: AgentCallId, diffs: Vec<Value>) {
        self.of_calls.retain(|(id, _)| *id != call);
        self.of_calls.push_back((call, diffs));
        if self.of_calls.len() > CALLS_KEPT {
            self.of_calls.pop_front();
        }
    }
}

fn is_diff(block: &Value) -> bool {
    block.get("type").and_then(Value::as_str) == Some("diff")
}

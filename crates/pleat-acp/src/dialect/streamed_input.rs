//! Inputs that are streamed as content: what Kimi and fast-agent share.
//!
//! While the model writes a call's arguments, both send the raw JSON as far as it goes as the call's `content`, whole
//! again with each token. It is no output, and the input comes whole in `rawInput` afterwards.

use pleat_transcript::event::CallReport;
use pleat_transcript::ids::AgentCallId;
use serde_json::Value;
use std::collections::HashSet;

#[derive(Default)]
pub(super) struct StreamedInput {
    /// Calls whose input is whole: what they send now is output.
    whole: HashSet<AgentCallId>,
}

impl StreamedInput {
    pub(super) fn correct(&mut self, report: &mut CallReport) {
        let brings_input = report.input.is_some();
        let is_input = report.content.as_ref().is_some_and(|content| match content.as_slice() {
            [block] => block.pointer("/content/text").and_then(Value::as_str).is_some_and(|text| match &report.input {
                Some(input) => serde_json::from_str::<Value>(text).is_ok_and(|said| said == *input),
                None => !self.whole.contains(&report.agent_id) && (text.is_empty() || text.starts_with('{')),
            }),
            _ => false,
        });
        if is_input {
            report.content = None;
        }
        if brings_input {
            self.whole.insert(report.agent_id.clone());
        }
    }
}

//! Inputs that are streamed as content: what Kimi and fast-agent share.
//!
//! While the model writes a call's arguments, both send the raw JSON as far as it goes as the call's `content`, whole
//! again with each token, and Kimi once more beside the whole `rawInput`. It is no output.

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
        let growing = report.input.is_none() && !self.whole.contains(&report.agent_id);
        if let Some(content) = &mut report.content {
            content.retain(|block| match (text_of(block), &report.input) {
                (Some(text), Some(input)) => !is_json_of(text, input),
                (Some(text), None) => !(growing && (text.is_empty() || text.starts_with('{'))),
                (None, _) => true,
            });
        }
        if report.input.is_some() {
            self.whole.insert(report.agent_id.clone());
        }
    }
}

fn text_of(block: &Value) -> Option<&str> {
    block.pointer("/content/text")?.as_str()
}

fn is_json_of(text: &str, input: &Value) -> bool {
    text.starts_with('{') && serde_json::from_str::<Value>(text).is_ok_and(|said| said == *input)
}

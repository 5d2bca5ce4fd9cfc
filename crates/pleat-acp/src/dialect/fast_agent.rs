//! fast-agent.

use super::Dialect;
use super::streamed_input::StreamedInput;
use pleat_transcript::event::CallReport;
use serde_json::Value;

#[derive(Default)]
pub(super) struct FastAgent {
    inputs: StreamedInput,
}

impl Dialect for FastAgent {
    fn correct(&mut self, report: &mut CallReport, _call: &Value) {
        self.inputs.correct(report);
    }
}

//! Kimi Code CLI.

use super::Dialect;
use super::streamed_input::StreamedInput;
use pleat_transcript::event::CallReport;
use serde_json::Value;

#[derive(Default)]
pub(super) struct Kimi {
    inputs: StreamedInput,
}

impl Dialect for Kimi {
    fn correct(&mut self, report: &mut CallReport, _call: &Value) {
        self.inputs.correct(report);
    }
}

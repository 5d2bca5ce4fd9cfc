//! Mistral Vibe.

use super::Dialect;
use pleat_transcript::event::CallReport;
use serde_json::Value;

pub(super) struct Vibe;

impl Dialect for Vibe {
    /// The tool's name stands in `_meta`.
    fn correct(&mut self, report: &mut CallReport, call: &Value) {
        if report.name.is_none() {
            report.name = call.pointer("/_meta/tool_name").and_then(Value::as_str).map(str::to_owned);
        }
    }
}

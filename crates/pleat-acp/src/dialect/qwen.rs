//! Qwen Code.

use super::{Dialect, TextEnds};
use pleat_transcript::event::CallReport;
use serde_json::Value;

pub(super) struct Qwen;

impl Dialect for Qwen {
    /// The tool's name stands in `_meta`.
    fn correct(&mut self, report: &mut CallReport, call: &Value) {
        if report.name.is_none() {
            report.name = call.pointer("/_meta/toolName").and_then(Value::as_str).map(str::to_owned);
        }
    }

    /// After each reply of the model it sends an empty chunk with the usage.
    fn text_ends(&self, update: &Value, _replaying: bool) -> TextEnds {
        let empty = update.pointer("/content/text").and_then(Value::as_str) == Some("");
        TextEnds { before: false, after: empty && update.pointer("/_meta/usage").is_some() }
    }
}

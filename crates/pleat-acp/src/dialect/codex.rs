//! Codex through `codex-acp`.

use super::Dialect;
use pleat_transcript::event::{CallReport, CallStatus};
use serde_json::Value;

pub(super) struct Codex;

impl Dialect for Codex {
    /// A command that reports a non-zero exit has failed, whatever the status says.
    fn correct(&mut self, report: &mut CallReport, call: &Value) {
        let exit = call.pointer("/rawOutput/exit_code").and_then(Value::as_i64);
        if report.status == Some(CallStatus::Completed) && exit.is_some_and(|code| code != 0) {
            report.status = Some(CallStatus::Failed);
        }
    }
}

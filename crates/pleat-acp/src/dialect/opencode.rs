//! `OpenCode`.

use super::Dialect;
use pleat_transcript::event::{CallReport, CallStatus};
use serde_json::Value;

pub(super) struct OpenCode;

impl Dialect for OpenCode {
    /// It says `completed` of commands that failed, of tools that do not exist and of commands that were stopped.
    fn correct(&mut self, report: &mut CallReport, call: &Value) {
        if report.status != Some(CallStatus::Completed) {
            return;
        }
        let metadata = call.pointer("/rawOutput/metadata");
        let exit = metadata.and_then(|metadata| metadata.get("exit"));
        report.aborted = exit.is_some_and(Value::is_null);
        if exit.and_then(Value::as_i64).is_some_and(|code| code != 0) || report.title.as_deref() == Some("Invalid Tool")
        {
            report.status = Some(CallStatus::Failed);
        }
    }
}

//! `OpenCode`.

use super::Dialect;
use super::kept_diffs::KeptDiffs;
use pleat_transcript::event::{CallReport, CallStatus};
use serde_json::Value;

#[derive(Default)]
pub(super) struct OpenCode {
    diffs: KeptDiffs,
}

impl Dialect for OpenCode {
    /// It says `completed` of commands that failed, of tools that do not exist and of commands that were stopped. The
    /// diff of a new file stands in the permission request only.
    fn correct(&mut self, report: &mut CallReport, call: &Value) {
        if report.status == Some(CallStatus::Completed) {
            let metadata = call.pointer("/rawOutput/metadata");
            let exit = metadata.and_then(|metadata| metadata.get("exit"));
            report.aborted = exit.is_some_and(Value::is_null);
            let failed = exit.and_then(Value::as_i64).is_some_and(|code| code != 0);
            if failed || report.title.as_deref() == Some("Invalid Tool") {
                report.status = Some(CallStatus::Failed);
            }
        }
        self.diffs.complete(report);
    }
}

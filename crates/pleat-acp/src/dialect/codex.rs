//! Codex through `codex-acp`.

use super::Dialect;
use pleat_transcript::event::{CallReport, CallStatus};
use serde_json::Value;

/// The tool that starts a sub-agent: its name stands in the title only.
const SPAWN_AGENT: &str = "spawnAgent";

/// What a warning about its configuration begins with.
const CONFIGURATION_WARNING: &str = "Config warning: ";

pub(super) struct Codex;

impl Dialect for Codex {
    /// A command that reports a non-zero exit has failed, whatever the status says.
    fn correct(&mut self, report: &mut CallReport, call: &Value) {
        let exit = call.pointer("/rawOutput/exit_code").and_then(Value::as_i64);
        if report.status == Some(CallStatus::Completed) && exit.is_some_and(|code| code != 0) {
            report.status = Some(CallStatus::Failed);
        }
        if report.name.is_none() && report.title.as_deref() == Some(SPAWN_AGENT) {
            report.name.clone_from(&report.title);
        }
    }

    /// A load brings its warnings about the configuration as text, between the history's.
    fn drops_replayed(&self, update: &Value) -> bool {
        let text = update.pointer("/content/text").and_then(Value::as_str).unwrap_or_default();
        update.get("messageId").is_none() && text.starts_with(CONFIGURATION_WARNING)
    }
}

//! Codex through Zed's older `codex-acp`.

use super::Dialect;
use pleat_transcript::event::CallReport;
use serde_json::Value;

pub(super) struct CodexZed;

impl Dialect for CodexZed {
    /// In a replay a call has no kind, and its title is the tool's name.
    fn correct(&mut self, report: &mut CallReport, _call: &Value) {
        let is_name = |title: &String| title.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        if report.announced && report.name.is_none() && report.kind.is_none() {
            report.name = report.title.clone().filter(is_name);
        }
    }
}

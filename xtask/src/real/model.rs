//! The model server, which plays `xtask/real/scenarios.py`.

use super::stage::{self, Stage};
use crate::command::Failure;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

/// A running model server. It ends with its stdin, whatever ends us.
pub(super) struct Model {
    child: Child,
    port: u16,
}

impl Model {
    pub(super) fn start(stage: &Stage) -> Result<Self, Failure> {
        let failed = |why: &str| Failure::new(format!("the model server could not be started: {why}."));
        let mut command = stage::python("fake_model.py");
        command.arg("--log").arg(stage.folder().join("requests.jsonl"));
        command.env("PLEAT_REAL_WORKSPACE", stage.workspace());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| failed(&format!("python3: {error}")))?;
        let mut line = String::new();
        let read = child.stdout.take().map(|output| BufReader::new(output).read_line(&mut line));
        let mut model = Self { child, port: 0 };
        model.port = match (read, line.trim().parse()) {
            (Some(Ok(_)), Ok(port)) => port,
            (Some(Ok(_) | Err(_)) | None, _) => return Err(failed("it printed no port")),
        };
        Ok(model)
    }

    /// Without a `/` at its end.
    pub(super) fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

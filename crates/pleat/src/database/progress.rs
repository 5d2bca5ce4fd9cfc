//! Progress on stderr, where that is a terminal.

use pleat_store::maintenance::{Progress, Step};
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// How often the line is written again.
const PAUSE: Duration = Duration::from_millis(100);

/// A line that says how far something is, and goes with it.
pub(super) struct ProgressLine {
    is_shown: bool,
    written: Option<Instant>,
}

impl ProgressLine {
    pub(super) fn new() -> Self {
        Self { is_shown: std::io::stderr().is_terminal(), written: None }
    }

    pub(super) fn show(&mut self, progress: Progress) {
        if self.is_shown && self.written.is_none_or(|written| written.elapsed() >= PAUSE) {
            write(&words(progress));
            self.written = Some(Instant::now());
        }
    }
}

fn write(line: &str) {
    let mut stderr = std::io::stderr();
    // A terminal that is gone needs no progress.
    let _ = write!(stderr, "\r\u{1b}[K{line}").and_then(|()| stderr.flush());
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        if self.written.is_some() {
            write("");
        }
    }
}

fn words(Progress { step, done, total }: Progress) -> String {
    match step {
        Step::Copying(table) => format!("copying {table}: {done} of {total}"),
        Step::Comparing(table) => format!("comparing {table}: {done} of {total}"),
        Step::Indexing => format!("indexing sessions: {done} of {total}"),
        Step::Checking => format!("checking sessions: {done} of {total}"),
    }
}

//! How a process ended, in words.

use pleat_acp::connection::{CloseCause, CloseReason};
use std::collections::VecDeque;
use std::process::ExitStatus;

/// How many lines that are no messages are remembered while the agent opens.
const KEPT_NOISE: usize = 5;

/// How much of what an agent printed is shown: lines, and characters of each.
const MAX_LAST_LINES: usize = 5;
const MAX_LAST_LINE: usize = 400;

/// How a process ended.
#[derive(Debug, Clone)]
pub(crate) struct Ending {
    /// Why or how, as the end of a sentence: `, with exit code 1`; empty where nothing is known.
    pub(crate) how: String,
    /// The last lines that it printed and that are no messages; empty where there are none.
    pub(crate) last_words: String,
}

impl Ending {
    pub(crate) fn of(reason: &CloseReason, last_words: String) -> Self {
        let how = match &reason.cause {
            CloseCause::EndlessLine { bytes } => {
                format!(": it sent a line of more than {bytes} bytes without an end, and was cut off")
            }
            CloseCause::ReadFailed(error) => format!(": its output could not be read ({error})"),
            CloseCause::WriteFailed(_) | CloseCause::AgentEnded | CloseCause::ShutDown | CloseCause::Dropped => {
                reason.exit.map_or_else(String::new, exit_words)
            }
        };
        Self { how, last_words }
    }

    /// The last words as the end of a notice.
    pub(crate) fn it_wrote(&self) -> String {
        it_wrote(&self.last_words)
    }
}

/// The last lines that an agent printed, as the end of a notice; empty where there are none.
pub(crate) fn it_wrote(last_words: &str) -> String {
    if last_words.is_empty() { String::new() } else { format!(" It wrote last:\n{last_words}") }
}

/// How a process ended, as a part of a sentence.
fn exit_words(exit: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&exit) {
        return format!(", killed by signal {signal}");
    }
    exit.code().map_or_else(String::new, |code| format!(", with exit code {code}"))
}

/// What an agent prints that is no message.
#[derive(Default)]
pub(super) struct Noise(VecDeque<String>);

impl Noise {
    pub(super) fn keep(&mut self, line: &str) {
        self.0.push_back(line.chars().take(MAX_LAST_LINE).collect());
        if self.0.len() > KEPT_NOISE {
            self.0.pop_front();
        }
    }

    pub(super) fn forget(&mut self) {
        self.0.clear();
    }

    /// The last lines of it and of what came on stderr.
    pub(super) fn last_words(&self, stderr: &str) -> String {
        let lines: Vec<String> = self
            .0
            .iter()
            .map(String::as_str)
            .chain(stderr.lines())
            .map(str::trim_end)
            .filter(|line| !line.is_empty())
            .map(|line| line.chars().take(MAX_LAST_LINE).collect())
            .collect();
        lines[lines.len().saturating_sub(MAX_LAST_LINES)..].join("\n")
    }
}

//! The process that the agent is.

use super::end::Ending;
use super::notes::Notes;
use super::wire::Wire;
use std::fs::File;
use std::io::{self, BufReader};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What everything that the agent does at the same time shares.
pub(crate) struct Process {
    pub(crate) wire: Wire,
    pub(crate) notes: Notes,
    /// The script's file, for whoever is told what is wrong with it.
    pub(crate) script: PathBuf,
    pub(crate) pid: u32,
    /// How many sessions it has opened.
    sessions: AtomicUsize,
}

impl Process {
    /// This process, in its working directory.
    pub(crate) fn this(script: &Path) -> io::Result<Self> {
        // Handles of its own, so that no line is gathered or held back.
        let stdin = BufReader::new(File::from(io::stdin().as_fd().try_clone_to_owned()?));
        let stdout = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        let wire = Wire::new(Box::new(stdin), Box::new(stdout), Notes::of_process());
        Ok(Self::over(wire, Notes::of_process(), script))
    }

    pub(crate) fn over(wire: Wire, notes: Notes, script: &Path) -> Self {
        let sessions = AtomicUsize::new(0);
        Self { wire, notes, script: script.to_owned(), pid: std::process::id(), sessions }
    }

    /// The id of the next session that it opens.
    pub(crate) fn next_session(&self) -> String {
        self.session(self.sessions.fetch_add(1, Ordering::Relaxed))
    }

    /// The id of a session that it opens, by its number from 0.
    pub(crate) fn session(&self, number: usize) -> String {
        match number {
            0 => format!("agent-session-{}", self.pid),
            number => format!("agent-session-{}-{}", self.pid, number + 1),
        }
    }

    /// Starts a command that nobody waits for, with the agent's own stdout and stderr.
    pub(crate) fn spawn(&self, command: &str) -> Result<(), Ending> {
        let child = Command::new("sh").args(["-c", command]).stdin(Stdio::null()).spawn();
        let noted = child.and_then(|child| self.notes.child(child.id()));
        noted.map_err(|error| Ending::trouble(format!("`{command}` cannot be started: {error}")))
    }
}

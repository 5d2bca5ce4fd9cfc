//! The shell that holds the server, and what it says.
//!
//! The server is not this process's child but that of a small shell script, which reads its orders from a pipe. The
//! pipe ends with this process, however that ends, and then the script stops the server and removes its folder.

use crate::error::ClusterError;
use crate::programs::Programs;
use crate::user::User;
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const SCRIPT: &str = include_str!("watcher.sh");

/// What the script says when the last process of the server has ended.
const ENDED: &str = "watcher: ended";

/// What the server says when a client can connect.
const READY: &str = "database system is ready to accept connections";

/// As many lines of the server's log are kept for an error.
const KEPT_LINES: usize = 20;

/// How long anything may take on a machine that is very busy.
const PATIENCE: Duration = Duration::from_mins(2);

/// Where the server is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    Starting,
    Ready,
    Ended,
}

/// The running script.
#[derive(Debug)]
pub(crate) struct Watcher {
    shell: Child,
    orders: Option<ChildStdin>,
    heard: Arc<Heard>,
}

impl Watcher {
    /// Starts it as that user or else the process's own; it makes the cluster and waits for the first order.
    pub(crate) fn start(
        programs: &Programs,
        folder: &Path,
        settings: impl Iterator<Item = &'static str>,
        user: Option<User>,
    ) -> Result<Self, ClusterError> {
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT, "sh"]).arg(&programs.initdb).arg(&programs.postgres).arg(folder);
        for setting in settings {
            command.args(["-c", setting]);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // English, so that its lines are understood; in a group of its own, so that Ctrl-C reaches the owner alone.
        command.env("LC_ALL", "C").current_dir("/").process_group(0);
        if let Some(user) = user {
            command.uid(user.id).gid(user.group);
        }
        let mut shell = command.spawn().map_err(ClusterError::NoShell)?;
        let heard = Arc::new(Heard::default());
        if let Some(output) = shell.stdout.take() {
            let heard = Arc::clone(&heard);
            std::thread::spawn(move || heard.listen(output));
        }
        Ok(Self { orders: shell.stdin.take(), shell, heard })
    }

    /// Has the server started, unless it is running, and waits until a client can connect.
    pub(crate) fn start_server(&mut self) -> Result<(), ClusterError> {
        if self.heard.state().phase == Phase::Ready {
            return Ok(());
        }
        self.heard.state().phase = Phase::Starting;
        if self.order("start").is_err() {
            // The script has ended, and with it whatever it had started.
            self.heard.state().phase = Phase::Ended;
        }
        match self.heard.wait_while(|phase| phase == Phase::Starting) {
            Phase::Ready => Ok(()),
            Phase::Ended => Err(ClusterError::NotStarted { log: self.heard.log() }),
            Phase::Starting => Err(ClusterError::TooSlow { awaited: "start", log: self.heard.log() }),
        }
    }

    /// Has the server stopped in the way that the order names, and waits until its last process has ended.
    pub(crate) fn stop_server(&mut self, order: &str) -> Result<(), ClusterError> {
        // Where the script cannot be told any more, it has ended, and that is heard as the server's end.
        self.order(order).ok();
        match self.heard.wait_while(|phase| phase != Phase::Ended) {
            Phase::Ended => Ok(()),
            Phase::Ready | Phase::Starting => Err(ClusterError::TooSlow { awaited: "stop", log: self.heard.log() }),
        }
    }

    fn order(&mut self, order: &str) -> std::io::Result<()> {
        // One write, so that the script never reads half of it.
        self.orders.as_mut().map_or(Ok(()), |orders| orders.write_all(format!("{order}\n").as_bytes()))
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        drop(self.orders.take());
        self.shell.wait().ok();
    }
}

/// What the script and the server have said.
#[derive(Debug, Default)]
struct Heard {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    phase: Phase,
    log: VecDeque<String>,
}

impl Default for State {
    fn default() -> Self {
        Self { phase: Phase::Ended, log: VecDeque::new() }
    }
}

impl Heard {
    /// Reads all that comes, so that nobody who writes ever waits.
    fn listen(&self, output: impl Read) {
        for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
            self.hear(&String::from_utf8_lossy(&line));
        }
        self.hear(ENDED);
    }

    fn hear(&self, line: &str) {
        let mut state = self.state();
        if line == ENDED {
            state.phase = Phase::Ended;
        } else {
            if state.phase == Phase::Starting && line.ends_with(READY) {
                state.phase = Phase::Ready;
            }
            if state.log.len() == KEPT_LINES {
                state.log.pop_front();
            }
            state.log.push_back(line.to_owned());
        }
        self.changed.notify_all();
    }

    fn log(&self) -> String {
        self.state().log.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }

    /// The first phase for which the condition does not hold, or the present one where none came in time.
    fn wait_while(&self, condition: impl Fn(Phase) -> bool) -> Phase {
        let waited = self.changed.wait_timeout_while(self.state(), PATIENCE, |state| condition(state.phase));
        waited.unwrap_or_else(PoisonError::into_inner).0.phase
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_of_what_is_said() {
        let heard = Heard::default();
        let ready = format!("2026-01-01 00:00:00.000 UTC [1] LOG:  {READY}");
        let check = |line: &str, expected| {
            heard.hear(line);
            assert_eq!(heard.state().phase, expected, "after {line}");
        };
        // Late words of a server that was stopped.
        check(&ready, Phase::Ended);
        heard.state().phase = Phase::Starting;
        check("LOG:  starting PostgreSQL", Phase::Starting);
        check(&ready, Phase::Ready);
        check("FATAL:  the database system is shutting down", Phase::Ready);
        check(ENDED, Phase::Ended);
    }

    #[test]
    fn the_last_lines_are_kept() {
        let heard = Heard::default();
        let lines: Vec<String> = (0..=KEPT_LINES).map(|number| format!("line {number}")).collect();
        heard.listen(lines.join("\n").as_bytes());
        assert_eq!(heard.log().lines().count(), KEPT_LINES);
        assert!(heard.log().starts_with("line 1\n"));
    }
}

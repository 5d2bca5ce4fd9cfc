//! An agent's process: started as the leader of its own process group, ended by a ladder of firmer
//! and firmer requests that reach the whole group.
//!
//! Launchers (`npx`, a shell) start the real agent as a child; a signal to the launcher alone would
//! leave it running for days (docs/cases.md, B21). So every signal goes to the group, and the group is
//! cleared also after its leader has gone by itself.

use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

pub(crate) use self::group_leader::{GroupLeader, SIGKILL, SIGTERM};
pub use self::left::end_left_group;
pub use self::stderr_tail::{STDERR_TAIL_BYTES, StderrTail};

mod group;
mod group_leader;
mod left;
mod stat;
mod stderr_tail;

/// How long the rest of stderr is waited for once the group is gone; only a process that left the
/// group can still hold it open.
const STDERR_GRACE: Duration = Duration::from_millis(300);

/// What to start, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentCommand {
    /// The program: a path, or a name to find in `PATH`.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Environment variables set in addition to our own.
    pub env: Vec<(String, String)>,
    /// Names of environment variables of ours that it does not inherit, beside `PLEAT_STORE`. One that is set in `env` is set.
    pub hidden: Vec<String>,
    /// The working directory.
    pub cwd: PathBuf,
}

impl AgentCommand {
    /// A command with nothing but a program and its working directory.
    pub fn new(program: impl Into<PathBuf>, cwd: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), args: Vec::new(), env: Vec::new(), hidden: Vec::new(), cwd: cwd.into() }
    }
}

/// Why an agent could not be started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// There is no such program.
    #[error("the agent's program {} was not found", program.display())]
    ProgramNotFound {
        /// As the command names it.
        program: PathBuf,
    },
    /// The file is there, but may not be executed.
    #[error("the agent's program {} is not executable", program.display())]
    NotExecutable {
        /// As the command names it.
        program: PathBuf,
    },
    /// The working directory is missing or no directory.
    #[error("the agent's working directory {} is not a directory", cwd.display())]
    CwdNotADirectory {
        /// As the command names it.
        cwd: PathBuf,
    },
    /// Anything else that the system said.
    #[error("the agent's program {} could not be started: {source}", program.display())]
    Other {
        /// As the command names it.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// How long each rung of the exit ladder waits: stdin closed, then SIGTERM, then SIGKILL, the
/// signals to the whole group. A rung of no time is left out, but SIGKILL never is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExitLadder {
    /// After stdin was closed, before SIGTERM.
    pub after_stdin_closed: Duration,
    /// After SIGTERM, before SIGKILL.
    pub after_sigterm: Duration,
    /// After SIGKILL, before the process is given up as stuck in the kernel.
    pub after_sigkill: Duration,
}

impl Default for ExitLadder {
    fn default() -> Self {
        Self {
            after_stdin_closed: Duration::from_secs(2),
            after_sigterm: Duration::from_secs(3),
            after_sigkill: Duration::from_secs(2),
        }
    }
}

impl ExitLadder {
    /// Straight to SIGKILL.
    pub const KILL: Self = Self {
        after_stdin_closed: Duration::ZERO,
        after_sigterm: Duration::ZERO,
        after_sigkill: Duration::from_secs(2),
    };
}

/// An agent's process with its group. Dropping it kills the group.
#[derive(Debug)]
pub struct AgentProcess {
    leader: GroupLeader,
    stderr: StderrTail,
    stderr_drain: Option<JoinHandle<()>>,
}

/// A started agent: its process and our ends of its pipes.
#[derive(Debug)]
pub struct Spawned {
    /// The process.
    pub process: AgentProcess,
    /// What we say to it.
    pub stdin: ChildStdin,
    /// What it says.
    pub stdout: ChildStdout,
}

/// Starts an agent. Must be called inside a tokio runtime.
pub fn spawn(command: &AgentCommand) -> Result<Spawned, SpawnError> {
    if !command.cwd.is_dir() {
        return Err(SpawnError::CwdNotADirectory { cwd: command.cwd.clone() });
    }
    let mut leader = GroupLeader::spawn(tokio_command(command)).map_err(|source| spawn_error(command, source))?;
    let (Some(stdin), Some(stdout), Some(stderr)) = leader.take_pipes() else {
        // All three were asked for, so this is not reached.
        return Err(other_error(command, io::Error::other("the agent's pipes are missing")));
    };
    let tail = StderrTail::default();
    let stderr_drain = Some(tokio::spawn(stderr_tail::drain(stderr, tail.clone())));
    let process = AgentProcess { leader, stderr: tail, stderr_drain };
    Ok(Spawned { process, stdin, stdout })
}

/// What the environment tells of Pleat's own store: it may hold a password, which is no agent's business.
const OF_THE_STORE: [&str; 1] = ["PLEAT_STORE"];

/// A command with our environment, but for what is our own business and what is `hidden` beside it.
pub(crate) fn command_without_store(program: impl AsRef<OsStr>, hidden: &[String]) -> Command {
    let mut command = Command::new(program);
    for name in OF_THE_STORE.into_iter().chain(hidden.iter().map(String::as_str)) {
        command.env_remove(name);
    }
    command.envs(left::started_by_us());
    command
}

fn tokio_command(command: &AgentCommand) -> Command {
    let mut tokio_command = command_without_store(&command.program, &command.hidden);
    tokio_command
        .args(&command.args)
        .envs(command.env.iter().map(|(name, value)| (name, value)))
        .current_dir(&command.cwd)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    tokio_command
}

fn spawn_error(command: &AgentCommand, source: io::Error) -> SpawnError {
    let program = command.program.clone();
    // ENOENT also means that the interpreter of a script that does exist is missing.
    let is_there = program.components().count() > 1 && command.cwd.join(&program).exists();
    if source.kind() == io::ErrorKind::NotFound && !is_there {
        SpawnError::ProgramNotFound { program }
    } else if source.kind() == io::ErrorKind::PermissionDenied {
        SpawnError::NotExecutable { program }
    } else {
        SpawnError::Other { program, source }
    }
}

fn other_error(command: &AgentCommand, source: io::Error) -> SpawnError {
    SpawnError::Other { program: command.program.clone(), source }
}

impl AgentProcess {
    /// The process id, which is also its group's.
    pub fn pid(&self) -> u32 {
        self.leader.pid()
    }

    /// When it started: clock ticks since the machine did (field 22 of `/proc/PID/stat`); `None` where there is no `/proc`.
    /// It was read before anybody could have waited for the process, so it is there however soon that exited.
    pub fn start(&self) -> Option<u64> {
        self.leader.start()
    }

    /// What the agent wrote to stderr last.
    pub fn stderr_tail(&self) -> StderrTail {
        self.stderr.clone()
    }

    /// Waits for the group's leader to exit by itself. May be dropped and called again.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.leader.wait().await
    }

    /// Takes the group down the ladder until nothing of it is left, and gives the leader's exit
    /// status if it could be had. The caller has closed, or is about to close, the agent's stdin.
    pub async fn end(&mut self, ladder: ExitLadder) -> Option<ExitStatus> {
        // The group itself is not waited for here: what outlives its leader does not read our stdin.
        let _ = timeout(ladder.after_stdin_closed, self.wait()).await;
        if !ladder.after_sigterm.is_zero() {
            self.signal_and_wait(SIGTERM, ladder.after_sigterm).await;
        }
        self.signal_and_wait(SIGKILL, ladder.after_sigkill).await;
        self.leader.give_up();
        self.finish_stderr().await;
        self.leader.exit()
    }

    /// Signals what is left of the group and waits until nothing is, at most `patience`.
    async fn signal_and_wait(&mut self, signal: i32, patience: Duration) {
        self.leader.signal_group(signal);
        let _ = timeout(patience, self.leader.wait_until_group_gone()).await;
    }

    async fn finish_stderr(&mut self) {
        let Some(mut drain) = self.stderr_drain.take() else { return };
        if timeout(STDERR_GRACE, &mut drain).await.is_err() {
            drain.abort();
        }
    }
}

impl Drop for AgentProcess {
    fn drop(&mut self) {
        if let Some(drain) = self.stderr_drain.take() {
            drain.abort();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(program: &str, cwd: &str) -> AgentCommand {
        AgentCommand::new(program, cwd)
    }

    fn check_refused(command: &AgentCommand, expect: &str) {
        let Err(error) = spawn(command) else { panic!("{command:?} was started") };
        assert_eq!(error.to_string(), expect);
    }

    #[tokio::test]
    async fn what_cannot_be_started_is_named() {
        check_refused(&command("pleat-no-such-agent", "/"), "the agent's program pleat-no-such-agent was not found");
        check_refused(&command("/no/such/agent", "/"), "the agent's program /no/such/agent was not found");
        check_refused(
            &command("sh", "/no/such/place"),
            "the agent's working directory /no/such/place is not a directory",
        );
        check_refused(&command("sh", "/etc/passwd"), "the agent's working directory /etc/passwd is not a directory");
        check_refused(&command("/etc/passwd", "/"), "the agent's program /etc/passwd is not executable");
    }

    #[test]
    fn an_agent_is_not_told_of_the_store() {
        let hidden = vec!["PGPASSWORD".to_owned(), "SET".to_owned()];
        let env = vec![("SET".to_owned(), "by the configuration".to_owned())];
        let command = tokio_command(&AgentCommand { env, hidden, ..command("agent", "/") });
        let kept_from_it: Vec<_> = command.as_std().get_envs().filter(|(_, value)| value.is_none()).collect();
        assert_eq!(kept_from_it, [("PGPASSWORD".as_ref(), None), ("PLEAT_STORE".as_ref(), None)]);
    }
}

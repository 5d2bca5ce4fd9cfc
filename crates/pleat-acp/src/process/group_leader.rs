//! A child that leads a process group of its own.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessGroup};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::signal::unix::SignalKind;

use super::group;
use super::stat::ProcessStat;

/// How often an orphaned process group is asked whether it still has members. There is no event for
/// that: its members are not our children.
const GROUP_POLL: Duration = Duration::from_millis(25);

/// POSIX's number, the same on every system; tokio has no name for it because it cannot be listened for.
pub(crate) const SIGKILL: i32 = 9;

/// POSIX's number.
pub(crate) const SIGTERM: i32 = 15;

/// A child and the group that it leads. Dropping it kills the group.
#[derive(Debug)]
pub(crate) struct GroupLeader {
    child: Box<dyn ChildWrapper>,
    pid: u32,
    start: Option<u64>,
    exit: Option<ExitStatus>,
    /// Whether it exited, though it may not be known how.
    has_exited: bool,
    /// Once nothing of the group is left its number may be given to strangers, and is not signalled again.
    group_gone: bool,
    /// Whether it was asked by a signal if anything of it is left.
    was_asked: bool,
}

impl GroupLeader {
    /// Starts it. Must be called inside a tokio runtime. Nothing that was given to the command is kept open.
    pub(crate) fn spawn(command: Command) -> io::Result<Self> {
        let mut wrapped = CommandWrap::from(command);
        wrapped.wrap(ProcessGroup::leader());
        let mut child = wrapped.spawn()?;
        let Some(pid) = child.id() else {
            // It was not waited for yet, so this is not reached.
            let _ = child.start_kill();
            return Err(io::Error::other("the process has no id"));
        };
        // Now: it may have exited, but what was not waited for is still there.
        let start = ProcessStat::read(pid).map(|process| process.start);
        Ok(Self { child, pid, start, exit: None, has_exited: false, group_gone: false, was_asked: false })
    }

    /// Our ends of those of its pipes that were asked for, once.
    pub(crate) fn take_pipes(&mut self) -> (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>) {
        (self.child.stdin().take(), self.child.stdout().take(), self.child.stderr().take())
    }

    /// The process id, which is also its group's.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// When it started: clock ticks since the machine did (field 22 of `/proc/PID/stat`); `None` where there is no `/proc`.
    pub(crate) fn start(&self) -> Option<u64> {
        self.start
    }

    /// How it exited, as far as that is known.
    pub(crate) fn exit(&self) -> Option<ExitStatus> {
        self.exit
    }

    /// Waits for the leader alone to exit. May be dropped and called again.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        if let Some(exit) = self.exit {
            return Ok(exit);
        }
        // The wrapper would also wait for those of the group that we, as the first process of a container, adopt.
        let exit = self.child.inner_mut().wait().await;
        self.has_exited = true;
        self.exit = exit.as_ref().ok().copied();
        exit
    }

    /// Waits until nothing of the group is left, the leader first. May be dropped and called again.
    pub(crate) async fn wait_until_group_gone(&mut self) {
        let _ = self.wait().await;
        while !self.is_group_gone().await {
            tokio::time::sleep(GROUP_POLL).await;
        }
    }

    /// Whether nothing of the group is left, once its leader has exited; until then that is not asked.
    pub(crate) async fn is_group_gone(&mut self) -> bool {
        if self.group_gone || !self.has_exited {
            return self.group_gone;
        }
        // One system call tells of most groups; what was left running need not be woken more often than that.
        if !std::mem::replace(&mut self.was_asked, true) {
            self.ask_by_signal();
            if self.group_gone {
                return true;
            }
        }
        match group::has_running_member(self.pid) {
            Some(true) => {}
            Some(false) => {
                self.group_gone = true;
                // What ended and was left to us has nobody else to reap it; nothing runs, so this does not wait.
                let _ = self.child.wait().await;
            }
            None => self.ask_by_signal(),
        }
        self.group_gone
    }

    /// A signal that is ignored by default serves as the question.
    fn ask_by_signal(&mut self) {
        self.signal_group(SignalKind::window_change().as_raw_value());
    }

    /// Signals what is left of the group.
    pub(crate) fn signal_group(&mut self, signal: i32) {
        if !self.group_gone && self.child.signal(signal).is_err() {
            self.group_gone = true;
        }
    }

    /// Takes what does not die for gone: it is stuck in the kernel.
    pub(crate) fn give_up(&mut self) {
        self.group_gone = true;
    }
}

impl Drop for GroupLeader {
    fn drop(&mut self) {
        self.signal_group(SIGKILL);
    }
}

//! Processes that a Pleat left running when it was killed: recognised by pid and start time alone, and ended
//! (docs/cases.md, B21).

use super::stat::ProcessStat;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Names, in the environment of what a Pleat starts, that Pleat: `PID:START`, both of `/proc/PID/stat`.
const STARTED_BY: &str = "PLEAT_PROCESS";

/// How long SIGTERM is given before SIGKILL, and that before it is given up.
const PATIENCE: Duration = Duration::from_secs(3);

/// How often the processes are looked for. There is no event for their end: they are not our children.
const POLL: Duration = Duration::from_millis(25);

/// The variable that tells a child who started it; `None` where there is no `/proc`.
pub(super) fn started_by_us() -> Option<(&'static str, String)> {
    let pid = std::process::id();
    Some((STARTED_BY, format!("{pid}:{}", ProcessStat::read(pid)?.start)))
}

/// Ends what is left of a process group whose leader, `pid`, a Pleat started that is gone. `leader_runs`: the caller has
/// seen by its start time that this leader still runs, so the whole group is its own. Else only members are ended that
/// inherited from a Pleat which runs no more.
pub async fn end_left_group(pid: u32, leader_runs: bool) {
    for signal in [Signal::TERM, Signal::KILL] {
        let until = Instant::now() + PATIENCE;
        let mut left = members(pid, leader_runs);
        for member in &left {
            // One that is gone meanwhile needs no signal.
            let _ = kernel_pid(member.pid).map(|pid| kill_process(pid, signal));
        }
        while !left.is_empty() && Instant::now() < until {
            sleep(POLL).await;
            left.retain(|member| is_running(member.pid, member.start));
        }
        if left.is_empty() && members(pid, false).is_empty() {
            return;
        }
    }
}

fn members(group: u32, all: bool) -> Vec<ProcessStat> {
    let members = ProcessStat::all().into_iter().flatten().filter(|process| process.group == group && process.runs);
    members.filter(|process| all || is_orphan(process.pid)).collect()
}

/// Whether a Pleat began the process, or one that it comes from, and runs no more.
fn is_orphan(pid: u32) -> bool {
    let Ok(environment) = fs::read(format!("/proc/{pid}/environ")) else { return false };
    let prefix = format!("{STARTED_BY}=");
    let value = environment.split(|byte| *byte == 0).find_map(|entry| entry.strip_prefix(prefix.as_bytes()));
    let Some((pid, start)) = value.and_then(|value| std::str::from_utf8(value).ok()?.split_once(':')) else {
        return false;
    };
    let (Ok(pid), Ok(start)) = (pid.parse(), start.parse::<u64>()) else { return false };
    !is_running(pid, start)
}

fn is_running(pid: u32, start: u64) -> bool {
    ProcessStat::read(pid).is_some_and(|process| process.runs && process.start == start)
}

fn kernel_pid(pid: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(pid).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt as _;
    use std::process::{Child, Command};

    const DEAD_PLEAT: &str = "1:1";

    fn leader_with_a_child(started_by: Option<&str>) -> Child {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 1000 & wait"]).process_group(0);
        if let Some(started_by) = started_by {
            command.env(STARTED_BY, started_by);
        }
        command.spawn().expect("a shell")
    }

    /// Until the shell has its child.
    async fn until_members(group: u32, count: usize) {
        while members(group, true).len() != count {
            sleep(POLL).await;
        }
    }

    #[tokio::test]
    async fn a_group_whose_leader_runs_is_ended_whole() {
        let mut leader = leader_with_a_child(None);
        until_members(leader.id(), 2).await;
        end_left_group(leader.id(), true).await;
        assert!(members(leader.id(), true).is_empty());
        leader.wait().expect("its end");
    }

    #[tokio::test]
    async fn of_a_group_without_its_leader_only_orphans_of_a_pleat_are_ended() {
        for (started_by, is_ended) in
            [(Some(DEAD_PLEAT), true), (None, false), (started_by_us().map(|by| by.1).as_deref(), false)]
        {
            let mut leader = leader_with_a_child(started_by);
            let group = leader.id();
            until_members(group, 2).await;
            leader.kill().expect("it is killed");
            leader.wait().expect("its end");
            end_left_group(group, false).await;
            assert_eq!(members(group, true).is_empty(), is_ended, "{started_by:?}");
            end_left_group(group, true).await;
        }
    }
}

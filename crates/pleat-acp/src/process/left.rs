//! Processes that a Pleat left running when it was killed: recognised by pid and start time alone, and ended
//! (docs/cases.md, B21).

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
    Some((STARTED_BY, format!("{pid}:{}", Running::read(pid)?.start)))
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
            let _ = member.to_pid().map(|pid| kill_process(pid, signal));
        }
        while !left.is_empty() && Instant::now() < until {
            sleep(POLL).await;
            left.retain(|member| Running::read(member.pid).as_ref() == Some(member));
        }
        if left.is_empty() && members(pid, false).is_empty() {
            return;
        }
    }
}

fn members(group: u32, all: bool) -> Vec<Running> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let running = pids.filter_map(Running::read).filter(|process| process.group == group);
    running.filter(|process| all || is_orphan(process.pid)).collect()
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
    Running::read(pid).is_none_or(|pleat| pleat.start != start)
}

/// A process that runs, by `/proc/PID/stat` (proc(5)).
#[derive(Debug, PartialEq, Eq)]
struct Running {
    pid: u32,
    group: u32,
    /// Clock ticks since the machine was started.
    start: u64,
}

impl Running {
    /// `None`: there is none of this number, or it only waits for its parent.
    fn read(pid: u32) -> Option<Self> {
        Self::parse(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    fn parse(pid: u32, stat: &str) -> Option<Self> {
        // The name may hold anything, parentheses too.
        let (_, fields) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
        let runs = !matches!(*fields.first()?, "Z" | "X" | "x");
        let process = Self { pid, group: fields.get(2)?.parse().ok()?, start: fields.get(19)?.parse().ok()? };
        runs.then_some(process)
    }

    fn to_pid(&self) -> Option<Pid> {
        Pid::from_raw(i32::try_from(self.pid).ok()?)
    }
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

    #[test]
    fn a_stat_line_is_read_whatever_the_name_holds() {
        let stat = "7 (a) Z (b) S 1 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 9";
        assert_eq!(Running::parse(7, stat), Some(Running { pid: 7, group: 42, start: 4711 }));
        assert_eq!(Running::parse(7, "7 (sh) Z 1 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 9"), None);
    }
}

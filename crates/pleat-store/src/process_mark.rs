//! Processes by what tells them apart for good: a pid alone names another process later.

use std::fs;
use std::path::Path;

/// A process of one machine. No other process has the same mark, also where its pid is used again.
///
/// It is read from `/proc`, as Linux has it. Other systems have no marks: there, nothing that was left running is found.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ProcessMark {
    /// The machine since it was started, and the namespace that the pid is of.
    pub machine: String,
    /// Its process id.
    pub pid: u32,
    /// When it started: clock ticks since the machine did.
    pub start: u64,
}

impl ProcessMark {
    /// The mark of a process of this machine; `None` where there is no such process, or no way to tell.
    pub fn of(pid: u32) -> Option<Self> {
        Some(Self { machine: machine()?, pid, start: Found::read(pid)?.start })
    }

    /// The mark of a process of this machine that was seen to start then ([`ProcessMark::start`]), also where it has
    /// ended; `None` where there is no way to tell the machine.
    pub fn started(pid: u32, start: u64) -> Option<Self> {
        Some(Self { machine: machine()?, pid, start })
    }

    /// The mark of this process.
    pub(crate) fn of_ourselves() -> Option<Self> {
        Self::of(std::process::id())
    }

    /// Whether the process runs, on this machine. One that has ended and was not waited for does not.
    pub fn is_running(&self) -> bool {
        let found = Found::read(self.pid).filter(|found| found.start == self.start);
        found.is_some_and(|found| found.runs) && self.is_of_this_machine()
    }

    /// Whether it is a process of this machine since that was started, so that [`ProcessMark::is_running`] knows of it.
    pub fn is_of_this_machine(&self) -> bool {
        machine().is_some_and(|machine| machine == self.machine)
    }
}

/// This machine; `None` where `/proc` does not tell, or tells of the processes of another namespace.
fn machine() -> Option<String> {
    let shown = fs::read_link("/proc/self").ok()?;
    if shown != Path::new(&std::process::id().to_string()) {
        return None;
    }
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{} {}", boot.trim(), namespace.display()))
}

/// What `/proc/PID/stat` tells of a process.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    runs: bool,
    start: u64,
}

impl Found {
    fn read(pid: u32) -> Option<Self> {
        Self::parse(&fs::read(format!("/proc/{pid}/stat")).ok()?)
    }

    /// Reads `PID (NAME) STATE …`, where the name may hold anything, and the start is the 22nd field.
    fn parse(stat: &[u8]) -> Option<Self> {
        let name_end = stat.iter().rposition(|byte| *byte == b')')?;
        let mut fields = std::str::from_utf8(stat.get(name_end + 1..)?).ok()?.split_ascii_whitespace();
        let state = fields.next()?;
        // A zombie, or dead.
        let runs = !matches!(state, "Z" | "X" | "x");
        Some(Self { runs, start: fields.nth(18)?.parse().ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    const REST: &str = "1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0";

    #[test]
    fn a_name_may_hold_anything() {
        for name in ["sleep", "a) Z 1 (b", "", "))", "\n 7"] {
            let stat = format!("17 ({name}) S {REST} 4711 9 9\n");
            assert_eq!(Found::parse(stat.as_bytes()), Some(Found { runs: true, start: 4711 }), "{name:?}");
        }
        let not_unicode = [b"17 (\xff) S ", REST.as_bytes(), b" 4711 9\n"].concat();
        assert_eq!(Found::parse(&not_unicode), Some(Found { runs: true, start: 4711 }));
    }

    #[test]
    fn one_that_ended_does_not_run() {
        for (state, runs) in [("R", true), ("D", true), ("T", true), ("Z", false), ("X", false)] {
            let stat = format!("17 (sleep) {state} {REST} 4711 9 9\n");
            assert_eq!(Found::parse(stat.as_bytes()).map(|found| found.runs), Some(runs), "{state}");
        }
        for cut in
            ["", "17 (sleep", "17 (sleep)", "17 (sleep) S 1 1", "17 (sleep) S 1 1 1 0 -1 4 1 2 3 4 5 6 7 8 20 0 1 0 x"]
        {
            assert_eq!(Found::parse(cut.as_bytes()), None, "{cut}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_child_runs_until_it_is_killed() {
        let mut child = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().unwrap();
        let mark = ProcessMark::of(child.id()).unwrap();
        let (ours, other_start) =
            (ProcessMark::of_ourselves().unwrap(), ProcessMark { start: mark.start + 1, ..mark.clone() });
        let elsewhere = ProcessMark { machine: "another".to_owned(), ..mark.clone() };
        let before = [&mark, &ours, &other_start, &elsewhere].map(ProcessMark::is_running);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(before, [true, true, false, false]);
        assert_eq!(
            (mark.is_running(), mark.is_of_this_machine(), elsewhere.is_of_this_machine()),
            (false, true, false)
        );
        assert_eq!(ProcessMark::of(child.id()), None);
        assert_eq!(ProcessMark::started(child.id(), mark.start), Some(mark));
    }
}

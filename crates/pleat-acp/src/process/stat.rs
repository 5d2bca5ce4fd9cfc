//! What `/proc/PID/stat` (proc(5)) tells of a process.

use std::fs;

/// A process that is there: it runs, or has ended and waits for its parent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProcessStat {
    pub(super) pid: u32,
    /// The process group that it belongs to.
    pub(super) group: u32,
    /// When it started: clock ticks since the machine did.
    pub(super) start: u64,
    /// Whether it runs. One that has ended and was not waited for does not.
    pub(super) runs: bool,
}

impl ProcessStat {
    /// `None` where there is none of this number, or no `/proc`.
    pub(super) fn read(pid: u32) -> Option<Self> {
        Self::parse(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?)
    }

    /// All processes that there are; `None` where there is no `/proc`.
    pub(super) fn all() -> Option<impl Iterator<Item = Self>> {
        let entries = fs::read_dir("/proc").ok()?;
        let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let mut processes = pids.filter_map(Self::read).peekable();
        // At least we are there, if it is what it seems to be.
        processes.peek()?;
        Some(processes)
    }

    /// Reads `PID (NAME) STATE PARENT GROUP …`, where the name may hold anything, and the start is the 22nd field.
    fn parse(pid: u32, stat: &[u8]) -> Option<Self> {
        let name_end = stat.iter().rposition(|byte| *byte == b')')?;
        let mut fields = str::from_utf8(stat.get(name_end + 1..)?).ok()?.split_ascii_whitespace();
        // A zombie, or dead.
        let runs = !matches!(fields.next()?, "Z" | "X" | "x");
        Some(Self { pid, group: fields.nth(1)?.parse().ok()?, start: fields.nth(16)?.parse().ok()?, runs })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REST: &str = "1 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 9";

    #[test]
    fn a_stat_line_is_read_whatever_the_name_holds() {
        for name in [&b"sleep"[..], b"a) Z (b", b"", b"))", b"\n 7", b"\xff"] {
            let stat = [b"7 (", name, b") S ", REST.as_bytes()].concat();
            let expect = ProcessStat { pid: 7, group: 42, start: 4711, runs: true };
            assert_eq!(ProcessStat::parse(7, &stat), Some(expect), "{name:?}");
        }
        for cut in ["", "garbage", "7 (sh)", "7 (sh) S 1", "7 (sh) S 1 42 42 0 -1", "7 (sh) S 1 x 42 0"] {
            assert_eq!(ProcessStat::parse(7, cut.as_bytes()), None, "{cut}");
        }
    }

    #[test]
    fn one_that_has_ended_does_not_run() {
        for (state, runs) in [("R", true), ("D", true), ("T", true), ("Z", false), ("X", false), ("x", false)] {
            let stat = format!("7 (sh) {state} {REST}");
            assert_eq!(ProcessStat::parse(7, stat.as_bytes()).map(|stat| stat.runs), Some(runs), "{state}");
        }
    }
}

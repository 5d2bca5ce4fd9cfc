//! Whether anything of a process group still runs.

use std::fs;

/// Whether a process of the group runs, by `/proc`; unknown where there is none.
///
/// A signal cannot tell: it also reaches processes that have ended and only wait for their parent,
/// and in a container the init that adopted them may take its time.
pub(super) fn has_running_member(pgid: u32) -> Option<bool> {
    let processes = fs::read_dir("/proc").ok()?;
    let mut stats =
        processes.flatten().filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok()).peekable();
    stats.peek()?;
    Some(stats.any(|stat| is_running_member(&stat, pgid)))
}

/// Reads a `/proc/PID/stat` line (proc(5)): pid, command in parentheses, state, parent, group.
fn is_running_member(stat: &str, pgid: u32) -> bool {
    // The command may hold anything, parentheses too.
    let Some((_, fields)) = stat.rsplit_once(')') else { return false };
    let mut fields = fields.split_ascii_whitespace();
    let state = fields.next();
    let group = fields.nth(1).and_then(|group| group.parse().ok());
    group == Some(pgid) && !matches!(state, Some("Z" | "X"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stat_line_says_who_runs() {
        assert!(is_running_member("12 (a) b (c) S 1 77 77 0", 77));
        assert!(!is_running_member("12 (sh) S 1 78 77 0", 77));
        assert!(!is_running_member("12 (sh) Z 1 77 77 0", 77));
        assert!(!is_running_member("garbage", 77));
    }
}

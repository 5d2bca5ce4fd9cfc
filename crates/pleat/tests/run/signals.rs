//! The signals that ask a program to end, as far as the children of these tests hear them.

/// Without SIGHUP under `nohup`: there it is ignored, by our children too.
pub(crate) fn stop_signals() -> impl Iterator<Item = &'static str> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // SIGHUP is the first.
    let is_ignored =
        ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1);
    ["INT", "TERM"].into_iter().chain((!is_ignored).then_some("HUP"))
}

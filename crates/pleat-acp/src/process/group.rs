//! Whether anything of a process group still runs.

use super::stat::ProcessStat;

/// Whether a process of the group runs, by `/proc`; unknown where there is none.
///
/// A signal cannot tell: it also reaches processes that have ended and only wait for their parent,
/// and in a container the init that adopted them may take its time.
pub(super) fn has_running_member(pgid: u32) -> Option<bool> {
    Some(ProcessStat::all()?.any(|process| process.group == pgid && process.runs))
}

//! Which top-level messages a window holds (docs/spec/fold.md, section 1).

use super::FoldError;
use crate::document::Window;
use crate::ids::MessageId;
use std::ops::Range;

/// The most top-level messages of a window.
pub const MOST_IN_WINDOW: usize = 40;

/// The most top-level messages of a window that names its first and last.
pub const MOST_IN_RANGE: usize = 200;

/// How many messages stand before the one that a window is made around, and by how many two pages overlap.
const HALF: usize = MOST_IN_WINDOW / 2;

/// By how many messages the lower bound of a live view moves at once, so that a growing run keeps its first message.
const LIVE_STEP: usize = 20;

/// The positions that a window holds, among the `count` top-level messages of a session that has a live turn or has not.
///
/// All that is asked of the session is the position of a message: of one that is not top-level, the position of the
/// top-level message that shows it; `None` where the session has none of this id. To look for it may fail otherwise too.
pub fn span<E: From<FoldError>>(
    window: &Window,
    count: usize,
    live: bool,
    mut position_of: impl FnMut(&MessageId) -> Result<Option<usize>, E>,
) -> Result<Range<usize>, E> {
    let mut position = |id: &MessageId| -> Result<usize, E> {
        Ok(position_of(id)?.ok_or_else(|| FoldError::UnknownMessage(id.clone()))?)
    };
    match window {
        Window::Latest => Ok(latest(count, live)),
        Window::At(id) => Ok(around(position(id)?, count)),
        Window::Earlier(id) => Ok(earlier(position(id)?, count)),
        Window::Later(id) => Ok(later(position(id)?, count)),
        Window::Range { from, to } => {
            let (first, last) = (position(from)?, position(to)?);
            if last < first {
                return Err(FoldError::BackwardRange { from: from.clone(), to: to.clone() }.into());
            }
            let held = last - first + 1;
            if held > MOST_IN_RANGE {
                return Err(FoldError::RangeTooLong { from: from.clone(), to: to.clone(), count: held }.into());
            }
            Ok(first..last + 1)
        }
    }
}

fn latest(count: usize, live: bool) -> Range<usize> {
    let hidden = count.saturating_sub(MOST_IN_WINDOW);
    let start = if live { hidden.next_multiple_of(LIVE_STEP) } else { hidden };
    start..count
}

/// 20 before, 19 after, moved only as far as the ends of the session demand.
fn around(position: usize, count: usize) -> Range<usize> {
    let start = position.saturating_sub(HALF).min(count.saturating_sub(MOST_IN_WINDOW));
    start..count.min(start + MOST_IN_WINDOW)
}

/// Ends 20 after `position`, which so stays inside.
fn earlier(position: usize, count: usize) -> Range<usize> {
    let end = count.min(position + HALF + 1);
    end.saturating_sub(MOST_IN_WINDOW)..end
}

/// Begins 20 before `position`, which so stays inside.
fn later(position: usize, count: usize) -> Range<usize> {
    let start = position.saturating_sub(HALF);
    start..count.min(start + MOST_IN_WINDOW)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rule: fold 1.10
    #[test]
    fn a_live_view_moves_in_steps_and_holds_21_to_40() {
        assert_eq!(latest(40, true), 0..40);
        assert_eq!(latest(41, true), 20..41);
        assert_eq!(latest(60, true), 20..60);
        assert_eq!(latest(61, true), 40..61);
        assert_eq!(latest(61, false), 21..61);
    }

    /// Rule: fold 1.3
    #[test]
    fn the_middle_gives_way_at_the_ends() {
        assert_eq!(around(50, 100), 30..70);
        assert_eq!(around(3, 100), 0..40);
        assert_eq!(around(99, 100), 60..100);
        assert_eq!(around(5, 10), 0..10);
    }

    /// Rule: fold 1.4, fold 1.5
    #[test]
    fn pages_overlap_and_stop_at_the_ends() {
        assert_eq!(earlier(60, 100), 41..81);
        assert_eq!(earlier(0, 100), 0..21);
        assert_eq!(earlier(95, 100), 60..100);
        assert_eq!(later(39, 100), 19..59);
        assert_eq!(later(99, 100), 79..100);
        assert_eq!(later(5, 100), 0..40);
    }

    /// Rule: fold 1.6
    #[test]
    fn paging_always_makes_progress() {
        for count in 1..150 {
            for position in 1..count {
                assert!(earlier(position, count).start < position);
                assert!(earlier(position, count).contains(&position));
            }
            for position in 0..count - 1 {
                assert!(later(position, count).end > position + 1);
                assert!(later(position, count).contains(&position));
            }
        }
    }
}

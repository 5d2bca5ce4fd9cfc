//! States in words and marks: never by colour alone.

use maud::{Markup, html};
use pleat_transcript::call::{Call, CallState, Lines, Permission, PermissionState};
use pleat_transcript::session::{Millis, Session};

use crate::text::dates::{iso, plain};

/// A word with a mark that differs in shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StateWord {
    /// A mark beside the word.
    pub(crate) mark: &'static str,
    /// What a person reads.
    pub(crate) word: &'static str,
    /// The class that colours it.
    pub(crate) class: &'static str,
}

impl StateWord {
    const fn new(mark: &'static str, word: &'static str, class: &'static str) -> Self {
        Self { mark, word, class }
    }

    /// Mark and word as HTML.
    pub(crate) fn markup(self) -> Markup {
        html! {
            span class={ "state " (self.class) } { span.mark aria-hidden="true" { (self.mark) } " " (self.word) }
        }
    }
}

/// A call's state. In a turn that is over, what has no end has no result.
pub(crate) fn call_state(state: CallState, turn_is_live: bool) -> StateWord {
    if state.is_unresolved() && !turn_is_live {
        return StateWord::new("?", "without a result", "warn");
    }
    match state {
        CallState::Pending => StateWord::new("○", "waiting", "quiet"),
        CallState::AwaitingPermission => StateWord::new("▲", "needs your answer", "ask"),
        CallState::Running => StateWord::new("◐", "running", "busy"),
        CallState::Completed => StateWord::new("✓", "done", "quiet"),
        CallState::Failed => StateWord::new("✕", "failed", "bad"),
        // A person's doing, so nothing to be alarmed by.
        CallState::Denied => StateWord::new("⊘", "denied", "quiet"),
        CallState::Cancelled => StateWord::new("■", "stopped", "quiet"),
        CallState::Superseded => StateWord::new("■", "not run", "quiet"),
        CallState::Interrupted => StateWord::new("⌁", "interrupted", "bad"),
    }
}

/// Whether a person can answer a question about this call: with no turn running, nobody waits for the answer.
pub(crate) fn is_asking(session: &Session, call: &Call) -> bool {
    let is_open = |it: &Permission| it.state == Some(PermissionState::Open) && it.request.is_some();
    session.live_turn.is_some() && call.permission.as_ref().is_some_and(is_open)
}

/// `2 failed · 1 denied` as the fold says it, with what went wrong apart from what a person refused or stopped.
pub(super) fn issues(issues: &str) -> Markup {
    let is_a_persons_doing = |issue: &str| issue.ends_with(" denied") || issue.ends_with(" stopped");
    html! {
        @for issue in issues.split(" · ").filter(|issue| !issue.is_empty()) {
            span.issue.bad[!is_a_persons_doing(issue)] { (issue) }
        }
    }
}

/// `+12 −3`
pub(super) fn lines(lines: Lines) -> Markup {
    let spoken = format!("{} lines added, {} removed", lines.added, lines.removed);
    html! {
        span.lines title=(spoken) { span.added { "+" (lines.added) } " " span.removed { "−" (lines.removed) } }
    }
}

/// A moment, which the page's script shows in the reader's own time.
pub(super) fn time(millis: Millis) -> Markup {
    html! { time datetime=(iso(millis)) { (plain(millis)) } }
}

/// `(since …)`, which the page's script shows as the time that has gone by, going on: `(12 s)`.
pub(super) fn elapsed_since(millis: Millis) -> Markup {
    html! { span.elapsed data-since=(millis) { "(since " (plain(millis)) ")" } }
}

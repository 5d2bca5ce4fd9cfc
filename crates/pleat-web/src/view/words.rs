//! States in words and marks: never by colour alone.

use maud::{Markup, html};
use pleat_store::SessionListing;
use pleat_transcript::call::{Call, CallState, Lines, Permission, PermissionState};
use pleat_transcript::session::{Session, TurnState};

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

/// Where a session stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionState {
    /// A permission request is open.
    NeedsYou,
    /// A turn is running.
    Running,
    /// The newest turn failed.
    Failed,
    /// The newest turn was interrupted.
    Interrupted,
    /// The newest turn was stopped.
    Stopped,
    /// Nothing is going on.
    Idle,
}

impl SessionState {
    /// Of a session in the list.
    pub(crate) fn of_listing(listing: &SessionListing) -> Self {
        Self::new(listing.needs_person, listing.live, listing.last_turn)
    }

    /// Of a session, of which its newest turn is known, and whether a person is asked something.
    pub(crate) fn of_session(session: &Session, is_asking: bool) -> Self {
        let last_turn = session.turns.last().map(|turn| turn.state);
        Self::new(is_asking, session.live_turn.is_some(), last_turn)
    }

    fn new(needs_person: bool, live: bool, last_turn: Option<TurnState>) -> Self {
        match (needs_person, live, last_turn) {
            (true, _, _) => Self::NeedsYou,
            (false, true, _) => Self::Running,
            (false, false, Some(TurnState::Failed)) => Self::Failed,
            (false, false, Some(TurnState::Interrupted)) => Self::Interrupted,
            (false, false, Some(TurnState::Cancelled)) => Self::Stopped,
            (false, false, None | Some(TurnState::Queued | TurnState::Running | TurnState::Completed)) => Self::Idle,
        }
    }

    /// In words.
    pub(crate) fn word(self) -> StateWord {
        match self {
            Self::NeedsYou => StateWord::new("▲", "needs you", "ask"),
            Self::Running => StateWord::new("◐", "running", "busy"),
            Self::Failed => StateWord::new("✕", "failed", "bad"),
            Self::Interrupted => StateWord::new("⌁", "interrupted", "bad"),
            Self::Stopped => StateWord::new("■", "stopped", "quiet"),
            Self::Idle => StateWord::new("○", "idle", "quiet"),
        }
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
pub(super) fn time(millis: i64) -> Markup {
    html! { time datetime=(iso(millis)) { (plain(millis)) } }
}

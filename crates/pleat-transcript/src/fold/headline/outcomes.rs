//! What did not end well, what waits for a person and what is at work.

use super::Phrase;
use super::target::{bare, doing};
use crate::call::{Call, CallState};
use crate::fold::label::{Deed, Weight};
use crate::fold::summary::ShownCall;

/// Calls with one outcome, and the one of them that is named.
#[derive(Debug, Clone, Copy, Default)]
struct Outcome<'d> {
    count: usize,
    named: Option<&'d Call>,
}

impl<'d> Outcome<'d> {
    /// One more, which is newer and so is named.
    fn add_newer(&mut self, call: &'d Call) {
        self.count += 1;
        self.named = Some(call);
    }

    /// Some more, of which the first is named where none is yet.
    fn add_later(&mut self, count: usize, first: Option<&'d Call>) {
        self.count += count;
        self.named = self.named.or(first);
    }
}

/// The calls that did not end well, by outcome, and those that have not ended.
#[derive(Debug, Default)]
struct Outcomes<'d> {
    failed: Outcome<'d>,
    denied: Outcome<'d>,
    stopped: Outcome<'d>,
    interrupted: Outcome<'d>,
    missing: Outcome<'d>,
    waiting: Outcome<'d>,
    running: Outcome<'d>,
    /// Announced, and perhaps at work: agents seldom say when a call starts.
    pending: Outcome<'d>,
}

impl<'d> Outcomes<'d> {
    fn of(calls: &[ShownCall<'_, 'd>], turn_live: bool) -> Self {
        let mut outcomes = Self::default();
        for shown in calls {
            outcomes.add(shown.node.call, turn_live);
            if turn_live {
                let inside = shown.node.waiting_inside;
                outcomes.waiting.add_later(inside.count, inside.first);
            }
        }
        outcomes
    }

    fn add(&mut self, call: &'d Call, turn_live: bool) {
        match call.state {
            CallState::Completed => {}
            CallState::Failed => self.failed.add_newer(call),
            CallState::Denied => self.denied.add_newer(call),
            CallState::Cancelled | CallState::Superseded => self.stopped.add_newer(call),
            CallState::Interrupted => self.interrupted.add_newer(call),
            CallState::Pending | CallState::AwaitingPermission | CallState::Running if !turn_live => {
                self.missing.add_newer(call);
            }
            CallState::AwaitingPermission => self.waiting.add_later(1, Some(call)),
            CallState::Running => self.running.add_later(1, Some(call)),
            CallState::Pending => self.pending.add_later(1, Some(call)),
        }
    }

    /// What is at work, of which a call that says so is named before one that was only announced.
    fn at_work(&self) -> Outcome<'d> {
        Outcome { count: self.running.count + self.pending.count, named: self.running.named.or(self.pending.named) }
    }
}

/// A phrase for each outcome that there is.
pub(super) fn phrases(calls: &[ShownCall], root: Option<&str>, turn_live: bool) -> Vec<Phrase> {
    let outcomes = Outcomes::of(calls, turn_live);
    let waiting = if outcomes.waiting.count == 1 { "waits for permission" } else { "wait for permission" };
    let phrases = [
        told(outcomes.failed, "failed", "last", root),
        told(outcomes.denied, "denied", "last", root),
        told(outcomes.stopped, "stopped", "last", root),
        told(outcomes.interrupted, "interrupted", "last", root),
        told(outcomes.missing, "without a result", "last", root),
        told(outcomes.waiting, waiting, "first", root),
        at_work(outcomes.at_work(), root),
    ];
    phrases.into_iter().flatten().collect()
}

/// `1 failed: run cargo test`, `3 failed, last: run cargo test`
fn told(outcome: Outcome, words: &str, which: &str, root: Option<&str>) -> Option<Phrase> {
    let (count, named) = (outcome.count, bare(&Deed::of(outcome.named?, root)));
    let short = format!("{count} {words}");
    let full = if count == 1 { format!("{short}: {named}") } else { format!("{short}, {which}: {named}") };
    Some(Phrase { full, short, calls: count, weight: Weight::Does })
}

/// `Running cargo test and 2 more`
fn at_work(outcome: Outcome, root: Option<&str>) -> Option<Phrase> {
    let (count, named) = (outcome.count, doing(&Deed::of(outcome.named?, root)));
    let full = if count == 1 { named } else { format!("{named} and {} more", count - 1) };
    Some(Phrase { full, short: format!("{count} at work"), calls: count, weight: Weight::Does })
}

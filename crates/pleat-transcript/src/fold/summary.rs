//! The summary of a group, or of what stands inside a call (docs/spec/fold.md, section 5).

use super::headline::headline;
use super::index::{CallNode, Index, ShownRound};
use super::label::Deed;
use super::text::{cut, is_blank, is_line_break};
use crate::call::{Call, CallState, Lines, ToolKind};
use crate::message::Part;
use crate::rows::{CurrentCall, Summary};
use std::collections::BTreeMap;

/// The longest narration, in characters.
const LONGEST_NARRATION: usize = 160;

/// How what is summarised stands to the work that goes on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Standing {
    /// The turn of the row is the live one.
    pub(super) turn_live: bool,
    /// It is at work itself.
    pub(super) live: bool,
    /// Its last round is shown too, so that the current call can be told.
    pub(super) has_active_round: bool,
}

/// A call of the rounds that are summarised, and what it does.
#[derive(Debug)]
pub(super) struct ShownCall<'s, 'd> {
    pub(super) node: &'s CallNode<'d>,
    pub(super) deed: Deed<'d>,
}

impl<'s, 'd> ShownCall<'s, 'd> {
    /// The calls of rounds that are shown together, in order.
    pub(super) fn of(index: &'s Index<'d>, root: Option<&'d str>, rounds: &[&ShownRound<'d>]) -> Vec<Self> {
        let nodes = rounds.iter().flat_map(|round| &round.calls).map(|number| index.call(*number));
        nodes.map(|node| Self { node, deed: Deed::of(node.call, root) }).collect()
    }

    pub(super) fn state(&self) -> CallState {
        self.node.call.state
    }
}

/// Summarises rounds that are shown together, with their calls.
pub(super) fn summarise(
    rounds: &[&ShownRound],
    shown: &[ShownCall],
    root: Option<&str>,
    standing: Standing,
) -> Summary {
    let calls: Vec<&Call> = shown.iter().map(|shown| shown.node.call).collect();
    let counts = Counts::of(&calls);
    let missing = if standing.turn_live { 0 } else { counts.unresolved };
    let current = if standing.live && standing.has_active_round { current(rounds, shown) } else { None };
    Summary {
        title: title(calls.len(), standing.live),
        headline: headline(shown, root, standing),
        actions: calls.len(),
        completed: counts.completed,
        failed: counts.failed,
        denied: counts.denied,
        stopped: counts.stopped,
        interrupted: counts.interrupted,
        unresolved: counts.unresolved,
        missing,
        issues: counts.issues(missing),
        live: standing.live,
        current: current.map(|shown| CurrentCall {
            id: shown.node.call.id.clone(),
            label: shown.deed.label().text,
            state: shown.state(),
        }),
        narration: narration(rounds),
        kinds: kinds(&calls),
        lines: lines(&calls),
        elapsed_ms: elapsed(&calls),
    }
}

/// The first unresolved call of the last round with calls; where that has none, of the rounds before.
fn current<'c, 's, 'd>(rounds: &[&ShownRound], shown: &'c [ShownCall<'s, 'd>]) -> Option<&'c ShownCall<'s, 'd>> {
    let active = rounds.iter().rev().map(|round| round.calls.len()).find(|calls| *calls > 0)?;
    let (before, last) = shown.split_at(shown.len().checked_sub(active)?);
    last.iter().chain(before).find(|shown| shown.state().is_unresolved())
}

/// Each call counted in exactly one (docs/spec/fold.md, "state").
#[derive(Default)]
struct Counts {
    completed: usize,
    failed: usize,
    denied: usize,
    stopped: usize,
    interrupted: usize,
    unresolved: usize,
}

impl Counts {
    fn of(calls: &[&Call]) -> Self {
        let mut counts = Self::default();
        for call in calls {
            *counts.of_state(call.state) += 1;
        }
        counts
    }

    fn of_state(&mut self, state: CallState) -> &mut usize {
        match state {
            CallState::Pending | CallState::AwaitingPermission | CallState::Running => &mut self.unresolved,
            CallState::Completed => &mut self.completed,
            CallState::Failed => &mut self.failed,
            CallState::Denied => &mut self.denied,
            CallState::Cancelled | CallState::Superseded => &mut self.stopped,
            CallState::Interrupted => &mut self.interrupted,
        }
    }

    fn issues(&self, missing: usize) -> String {
        let words = [
            (self.failed, "failed"),
            (self.denied, "denied"),
            (self.stopped, "stopped"),
            (self.interrupted, "interrupted"),
            (missing, "without a result"),
        ];
        let issues: Vec<_> =
            words.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
        issues.join(" · ")
    }
}

fn title(actions: usize, live: bool) -> String {
    let noun = if actions == 1 { "action" } else { "actions" };
    if live { format!("Working · {actions} {noun}") } else { format!("{actions} {noun}") }
}

/// Of the last text that is not blank, the first line that is not.
fn narration(rounds: &[&ShownRound]) -> Option<String> {
    let texts = rounds.iter().rev().filter(|round| round.whole).flat_map(|round| round.assistant.parts.iter().rev());
    let text = texts.filter_map(said).find(|text| !is_blank(text))?;
    let line = text.split(is_line_break).find(|line| !is_blank(line))?;
    Some(cut(line, LONGEST_NARRATION))
}

fn said(part: &Part) -> Option<&str> {
    match part {
        Part::Text(part) => Some(&part.text),
        Part::Thinking(_) | Part::Call(_) | Part::Media(_) => None,
    }
}

fn kinds(calls: &[&Call]) -> BTreeMap<ToolKind, usize> {
    let mut kinds = BTreeMap::new();
    for call in calls {
        *kinds.entry(call.kind()).or_insert(0) += 1;
    }
    kinds
}

/// The sums over the completed calls that have some.
fn lines(calls: &[&Call]) -> Option<Lines> {
    let completed = calls.iter().filter(|call| call.state == CallState::Completed);
    completed.fold(None, |sum, call| add_lines(sum, call.lines))
}

/// The sum, where one of them is there.
pub(super) fn add_lines(one: Option<Lines>, other: Option<Lines>) -> Option<Lines> {
    match (one, other) {
        (Some(one), Some(other)) => Some(Lines {
            added: one.added.saturating_add(other.added),
            removed: one.removed.saturating_add(other.removed),
        }),
        (lines, None) | (None, lines) => lines,
    }
}

/// From the first start to the last end, where every call has both.
fn elapsed(calls: &[&Call]) -> Option<i64> {
    let starts: Option<Vec<_>> = calls.iter().map(|call| call.started_at).collect();
    let ends: Option<Vec<_>> = calls.iter().map(|call| call.ended_at).collect();
    let (start, end) = (starts?.into_iter().min()?, ends?.into_iter().max()?);
    Some(end.saturating_sub(start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::CallId;

    fn call(started_at: Option<i64>, ended_at: Option<i64>) -> Call {
        Call { started_at, ended_at, ..Call::new(CallId::new("c").unwrap()) }
    }

    /// Rule: fold 5.elapsed
    #[test]
    fn elapsed_needs_every_time_and_never_overflows() {
        let (early, late) = (call(Some(i64::MIN), Some(1)), call(Some(2), Some(i64::MAX)));
        assert_eq!(elapsed(&[&early, &late]), Some(i64::MAX));
        assert_eq!(elapsed(&[&late, &call(Some(1), None)]), None);
        assert_eq!(elapsed(&[]), None);
    }

    /// Rule: fold 5.lines
    #[test]
    fn lines_are_of_completed_calls_and_never_overflow() {
        let edit = |state| Call { state, lines: Some(Lines { added: u64::MAX, removed: 1 }), ..call(None, None) };
        let (done, failed) = (edit(CallState::Completed), edit(CallState::Failed));
        assert_eq!(lines(&[&done, &done, &failed]), Some(Lines { added: u64::MAX, removed: 2 }));
        assert_eq!(lines(&[&failed, &call(None, None)]), None);
    }

    /// Rule: fold 5.title
    #[test]
    fn one_action_is_singular() {
        assert_eq!(title(1, true), "Working · 1 action");
        assert_eq!(title(0, false), "0 actions");
    }
}

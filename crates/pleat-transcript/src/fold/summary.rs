//! The summary of a group, or of what stands inside a call (spec/fold.md, section 5).

use super::index::{Index, ShownRound};
use super::label::label;
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

/// Summarises rounds that are shown together.
pub(super) fn summarise(index: &Index, root: Option<&str>, rounds: &[&ShownRound], standing: Standing) -> Summary {
    let calls: Vec<&Call> = calls_of(index, rounds).collect();
    let counts = Counts::of(&calls);
    let missing = if standing.turn_live { 0 } else { counts.unresolved };
    let current = if standing.live && standing.has_active_round { current(index, rounds) } else { None };
    Summary {
        title: title(calls.len(), standing.live),
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
        current: current.map(|call| CurrentCall {
            id: call.id.clone(),
            label: label(call, root).text,
            state: call.state,
        }),
        narration: narration(rounds),
        kinds: kinds(&calls),
        lines: lines(&calls),
        elapsed_ms: elapsed(&calls),
    }
}

fn calls_of<'d>(index: &Index<'d>, rounds: &[&ShownRound<'d>]) -> impl Iterator<Item = &'d Call> {
    rounds.iter().flat_map(|round| &round.calls).map(|number| index.call(*number).call)
}

/// The first unresolved call of the last round with calls; where that has none, of the rounds before.
fn current<'d>(index: &Index<'d>, rounds: &[&ShownRound<'d>]) -> Option<&'d Call> {
    let active = rounds.iter().rposition(|round| !round.calls.is_empty())?;
    let (before, last) = (&rounds[..active], &rounds[active..=active]);
    calls_of(index, last).chain(calls_of(index, before)).find(|call| call.state.is_unresolved())
}

/// Each call counted in exactly one (spec/fold.md, "state").
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
    completed.filter_map(|call| call.lines).reduce(|sum, lines| Lines {
        added: sum.added.saturating_add(lines.added),
        removed: sum.removed.saturating_add(lines.removed),
    })
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

    #[test]
    fn elapsed_needs_every_time_and_never_overflows() {
        let (early, late) = (call(Some(i64::MIN), Some(1)), call(Some(2), Some(i64::MAX)));
        assert_eq!(elapsed(&[&early, &late]), Some(i64::MAX));
        assert_eq!(elapsed(&[&late, &call(Some(1), None)]), None);
        assert_eq!(elapsed(&[]), None);
    }

    #[test]
    fn lines_are_of_completed_calls_and_never_overflow() {
        let edit = |state| Call { state, lines: Some(Lines { added: u64::MAX, removed: 1 }), ..call(None, None) };
        let (done, failed) = (edit(CallState::Completed), edit(CallState::Failed));
        assert_eq!(lines(&[&done, &done, &failed]), Some(Lines { added: u64::MAX, removed: 2 }));
        assert_eq!(lines(&[&failed, &call(None, None)]), None);
    }

    #[test]
    fn one_action_is_singular() {
        assert_eq!(title(1, true), "Working · 1 action");
        assert_eq!(title(0, false), "0 actions");
    }
}

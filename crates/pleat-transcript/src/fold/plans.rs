//! Which plan is shown, and where (docs/spec/fold.md, section 3). Over the whole session, so windows change nothing.

use super::index::Index;
use super::places::makes_row_of_its_own;
use crate::ids::{CallId, TurnId};
use crate::message::{Body, Message, Plan, PlanContent};
use std::collections::HashMap;

/// What becomes of a plan message, by its top-level position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PlanPlace {
    /// A row stands here, with the content of the message at this position.
    Shown {
        /// Where the content stands.
        content: usize,
    },
    /// A stream or list that is empty now had its row here.
    Emptied,
    /// Another message shows what this one said.
    Superseded,
}

/// What snapshots of one plan have in common.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Identity<'d> {
    /// The same call in the same turn.
    Stream(Option<&'d TurnId>, &'d CallId),
    /// The one list of a turn (ACP replaces the whole list).
    List(&'d TurnId),
}

impl<'d> Identity<'d> {
    fn of(message: &'d Message, plan: &'d Plan) -> Option<Self> {
        match (&plan.stream, &plan.content, &message.turn) {
            (Some(stream), _, turn) => Some(Self::Stream(turn.as_ref(), stream)),
            (None, PlanContent::Entries(_), Some(turn)) => Some(Self::List(turn)),
            (None, PlanContent::Entries(_), None) | (None, PlanContent::Text(_), _) => None,
        }
    }
}

/// The plans of a session by position, in the order of the top-level messages.
pub(super) fn places(index: &Index) -> Vec<Option<PlanPlace>> {
    let mut places = identified(index);
    supersede_prefixes(index, &mut places);
    places
}

/// Rules 1 and 2: the newest snapshot at the place of the first. A message without identity stands for itself.
fn identified(index: &Index) -> Vec<Option<PlanPlace>> {
    let mut firsts = HashMap::new();
    let mut places = vec![None; index.top_level_count()];
    for (position, message) in index.all_top_level().enumerate() {
        let Body::Plan(plan) = &message.body else { continue };
        let place = match Identity::of(message, plan) {
            None => position,
            Some(identity) => *firsts.entry(identity).or_insert(position),
        };
        places[position] = Some(PlanPlace::Superseded);
        let is_empty = plan.content == PlanContent::Entries(Vec::new());
        places[place] = Some(if is_empty { PlanPlace::Emptied } else { PlanPlace::Shown { content: position } });
    }
    places
}

/// Rule 3: of a run of growing copies without identity only the last is shown.
fn supersede_prefixes(index: &Index, places: &mut [Option<PlanPlace>]) {
    let mut before: Option<(usize, &TurnId, &str)> = None;
    for (position, message) in index.all_top_level().enumerate() {
        if let Some((turn, text)) = uncorrelated_text(message) {
            if let Some((earlier, turn_before, text_before)) = before
                && turn == Some(turn_before)
                && text.len() > text_before.len()
                && text.starts_with(text_before)
            {
                places[earlier] = Some(PlanPlace::Superseded);
            }
            before = turn.map(|turn| (position, turn, text));
        } else if stands_between(message, places[position]) {
            before = None;
        }
    }
}

fn uncorrelated_text(message: &Message) -> Option<(Option<&TurnId>, &str)> {
    match &message.body {
        Body::Plan(Plan { stream: None, content: PlanContent::Text(text) }) => Some((message.turn.as_ref(), text)),
        Body::User(_) | Body::Assistant(_) | Body::Tool(_) | Body::Plan(_) | Body::Notice(_) => None,
    }
}

/// Whether a row, or the place of one, stands at a message.
fn stands_between(message: &Message, plan: Option<PlanPlace>) -> bool {
    match plan {
        Some(PlanPlace::Shown { .. } | PlanPlace::Emptied) => true,
        Some(PlanPlace::Superseded) => false,
        None => makes_row_of_its_own(message),
    }
}

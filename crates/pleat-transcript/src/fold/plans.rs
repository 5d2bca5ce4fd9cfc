//! Which plan is shown, and where (docs/spec/fold.md, section 3). Over the whole session, so windows change nothing.

use super::index::Index;
use super::places::makes_row_of_its_own;
use crate::ids::{CallId, MessageId, TurnId};
use crate::message::{Body, Message, Plan, PlanContent};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What becomes of a plan message, by its top-level position.
#[derive(Debug, Clone, Copy)]
pub(super) enum PlanPlace<'d> {
    /// A row stands here, with the content of this message.
    Shown {
        /// The newest of its plan.
        content: &'d Message,
    },
    /// A stream or list that is empty now had its row here.
    Emptied,
    /// Another message shows what this one said.
    Superseded,
}

impl<'d> PlanPlace<'d> {
    /// The place of a plan that says this now.
    fn of_content(content: &'d Message, plan: &Plan) -> Self {
        match &plan.content {
            PlanContent::Entries(entries) if entries.is_empty() => Self::Emptied,
            PlanContent::Entries(_) | PlanContent::Text(_) => Self::Shown { content },
        }
    }
}

/// What the snapshots of one plan have in common: its newest is shown, at the place of its first (docs/spec/fold.md,
/// fold 3.1 and 3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PlanIdentity<'d> {
    /// The plan of a call in a turn; no turn counts as one.
    Stream {
        /// The turn.
        turn: Option<&'d TurnId>,
        /// The call that produced it.
        call: &'d CallId,
    },
    /// The one list of a turn (ACP replaces the whole list).
    List {
        /// The turn.
        turn: &'d TurnId,
    },
}

impl<'d> PlanIdentity<'d> {
    /// The plan that a message is a snapshot of; `None` where it is no plan, or one that stands for itself.
    pub fn of(message: &'d Message) -> Option<Self> {
        let Body::Plan(plan) = &message.body else { return None };
        match (&plan.stream, &plan.content, &message.turn) {
            (Some(call), _, turn) => Some(Self::Stream { turn: turn.as_ref(), call }),
            (None, PlanContent::Entries(_), Some(turn)) => Some(Self::List { turn }),
            (None, PlanContent::Entries(_), None) | (None, PlanContent::Text(_), _) => None,
        }
    }
}

/// Whether a text plan without identity takes the place of an earlier one (docs/spec/fold.md, fold 3.3), where nothing
/// that makes a row, nor the place of a row, stands between them: same turn, and the earlier text is a strict prefix.
pub fn supersedes(later: &Message, earlier: &Message) -> bool {
    match (uncorrelated_text(earlier), uncorrelated_text(later)) {
        (Some((Some(turn), text)), Some((turn_later, longer))) => {
            turn_later == Some(turn) && longer.len() > text.len() && longer.starts_with(text)
        }
        (Some(_) | None, Some(_) | None) => false,
    }
}

/// The plans of a session by position, in the order of the top-level messages.
pub(super) fn places<'d>(index: &Index<'d>) -> Vec<Option<PlanPlace<'d>>> {
    let mut places = identified(index);
    supersede_prefixes(index, &mut places);
    places
}

/// The plans of an excerpt by position, of which is known which ones are superseded, and what those say now whose
/// newest snapshot lies outside.
pub(super) fn places_in_excerpt<'d>(
    index: &Index<'d>,
    superseded: &BTreeSet<MessageId>,
    contents: &'d BTreeMap<MessageId, Message>,
) -> Vec<Option<PlanPlace<'d>>> {
    let identified = index.all_top_level().filter_map(|message| Some((PlanIdentity::of(message)?, message)));
    let newest: HashMap<_, _> = identified.collect();
    let place = |message: &'d Message| {
        if !matches!(message.body, Body::Plan(_)) {
            return None;
        }
        if superseded.contains(&message.id) {
            return Some(PlanPlace::Superseded);
        }
        let inside = || PlanIdentity::of(message).and_then(|identity| newest.get(&identity).copied());
        let content = contents.get(&message.id).or_else(inside).unwrap_or(message);
        match &content.body {
            Body::Plan(plan) => Some(PlanPlace::of_content(content, plan)),
            Body::User(_) | Body::Assistant(_) | Body::Tool(_) | Body::Notice(_) => None,
        }
    };
    index.all_top_level().map(place).collect()
}

/// Rules 1 and 2: the newest snapshot at the place of the first. A message without identity stands for itself.
fn identified<'d>(index: &Index<'d>) -> Vec<Option<PlanPlace<'d>>> {
    let mut firsts = HashMap::new();
    let mut places = vec![None; index.top_level_count()];
    for (position, message) in index.all_top_level().enumerate() {
        let Body::Plan(plan) = &message.body else { continue };
        let place = match PlanIdentity::of(message) {
            None => position,
            Some(identity) => *firsts.entry(identity).or_insert(position),
        };
        places[position] = Some(PlanPlace::Superseded);
        places[place] = Some(PlanPlace::of_content(message, plan));
    }
    places
}

/// Rule 3: of a run of growing copies without identity only the last is shown.
fn supersede_prefixes(index: &Index, places: &mut [Option<PlanPlace>]) {
    let mut before: Option<(usize, &Message)> = None;
    for (position, message) in index.all_top_level().enumerate() {
        if uncorrelated_text(message).is_some() {
            if let Some((earlier, _)) = before.filter(|(_, earlier)| supersedes(message, earlier)) {
                places[earlier] = Some(PlanPlace::Superseded);
            }
            before = Some((position, message));
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

//! What a window's rows need to know of the rest of the session, message by message: small, so that it can be kept
//! beside what is stored, and a window be read without the session.

use super::excerpt::Around;
use super::groups::Runs;
use super::index::Index;
use super::places::{self, Place};
use super::plans::{self, PlanIdentity};
use crate::document::Document;
use crate::ids::CallId;
use std::collections::HashMap;

/// Where everything of a session is shown. Messages are named by their place in [`Document::messages`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline<'d> {
    /// One for each message, in order.
    pub messages: Vec<MessageOutline>,
    /// One for each call, in order.
    pub calls: Vec<CallOutline<'d>>,
    /// The plans that have snapshots, in the order of their first ones.
    pub plans: Vec<PlanOutline<'d>>,
}

/// Where a message is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageOutline {
    /// The top-level message that shows it: itself, or the one that it travels with.
    pub shown_by: usize,
    /// What it is at the top level, where it is there.
    pub top_level: Option<TopLevel>,
}

/// A message at the top level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TopLevel {
    /// Its position among the top-level messages, from 0: what windows count.
    pub ordinal: usize,
    /// What it makes.
    pub makes: Makes,
}

/// What a top-level message makes, as far as what stands before and after it depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Makes {
    /// No row, and it ends no run of rounds: nothing to show, or a plan that another message shows.
    Nothing,
    /// A part of an activity row: a round with a call that is shown at the top level.
    Round {
        /// It is the first of its run (docs/spec/fold.md, section 4).
        starts_run: bool,
    },
    /// What stands between rounds: a reply, a user message, a notice, a result without its call, and the place of a
    /// plan, also of one that is emptied. A *finished reply* is an assistant message of these that is not streaming.
    Row,
}

/// Where a call is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallOutline<'d> {
    /// The call.
    pub call: &'d CallId,
    /// The top-level message that shows it, at any depth; the message that holds it may be shown by another.
    pub shown_by: usize,
}

/// A plan that has one row however often it was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanOutline<'d> {
    /// Which plan.
    pub identity: PlanIdentity<'d>,
    /// The first message: its place.
    pub first: usize,
    /// The newest message: its content.
    pub newest: usize,
}

/// The outline of a whole session.
pub fn outline(document: &Document) -> Outline<'_> {
    let index = Index::of(document);
    let places = places::of(&index, plans::places(&index));
    let around = Around::default();
    let runs = Runs::of(&index, &places, document.session.live_turn.as_ref(), &around);
    let message = |number| {
        let (shown_by, ordinal) = index.shown_by(number);
        let top_level = || TopLevel { ordinal, makes: makes(places[ordinal], &runs, ordinal) };
        MessageOutline { shown_by, top_level: (shown_by == number).then(top_level) }
    };
    Outline {
        messages: (0..document.messages.len()).map(message).collect(),
        calls: index.calls().map(|(call, shown_by)| CallOutline { call: &call.id, shown_by }).collect(),
        plans: plans(document),
    }
}

fn makes(place: Place, runs: &Runs, position: usize) -> Makes {
    match place {
        Place::Nothing => Makes::Nothing,
        Place::Round => {
            let starts_run = runs.number_at(position).is_some_and(|run| runs.run(run).first == position);
            Makes::Round { starts_run }
        }
        Place::Emptied | Place::Reply { .. } | Place::Message(_) | Place::Plan { .. } | Place::Notice => Makes::Row,
    }
}

fn plans(document: &Document) -> Vec<PlanOutline<'_>> {
    let mut plans: Vec<PlanOutline> = Vec::new();
    let mut places = HashMap::new();
    for (number, message) in document.messages.iter().enumerate() {
        let Some(identity) = PlanIdentity::of(message) else { continue };
        let place = *places.entry(identity).or_insert(plans.len());
        match plans.get_mut(place) {
            Some(plan) => plan.newest = number,
            None => plans.push(PlanOutline { identity, first: number, newest: number }),
        }
    }
    plans
}

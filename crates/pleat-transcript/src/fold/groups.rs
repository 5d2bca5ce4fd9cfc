//! Which rounds form one activity row (docs/spec/fold.md, section 4).

use super::excerpt::Around;
use super::index::Index;
use super::places::Place;
use crate::ids::{MessageId, TurnId};
use crate::rows::Continues;

/// A run of rounds: the group as it stands in the session, whatever a window shows of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Run<'d> {
    /// Its first message in the session.
    pub(super) start: &'d MessageId,
    /// The position of its first round that is known.
    pub(super) first: usize,
    /// The position of its last round that is known.
    pub(super) last: usize,
    /// On which sides it goes on beyond what is known.
    pub(super) continues: Continues,
    /// Its turn is at work in it (section 5, `live`).
    pub(super) live: bool,
}

/// The runs of a session.
#[derive(Debug)]
pub(super) struct Runs<'d> {
    runs: Vec<Run<'d>>,
    /// By top-level position: the run of a round.
    of: Vec<Option<usize>>,
}

impl<'d> Runs<'d> {
    /// The runs of a session, or of a part of it that something stands around.
    pub(super) fn of(index: &Index<'d>, places: &[Place], live_turn: Option<&TurnId>, around: &'d Around) -> Self {
        let mut found = Self { runs: Vec::new(), of: vec![None; places.len()] };
        let mut open: Option<Option<&TurnId>> = None;
        for (position, (message, place)) in index.all_top_level().zip(places).enumerate() {
            match place {
                Place::Nothing => {}
                Place::Round => {
                    // No turn counts as one.
                    found.add(position, &message.id, open == Some(message.turn.as_ref()));
                    open = Some(message.turn.as_ref());
                }
                Place::Emptied | Place::Reply { .. } | Place::Message(_) | Place::Plan { .. } | Place::Notice => {
                    open = None;
                }
            }
        }
        found.go_on_outside(around);
        found.mark_live(index, places, live_turn, around);
        found
    }

    fn add(&mut self, position: usize, start: &'d MessageId, goes_on: bool) {
        match self.runs.last_mut() {
            Some(run) if goes_on => run.last = position,
            Some(_) | None => {
                let continues = Continues::default();
                self.runs.push(Run { start, first: position, last: position, continues, live: false });
            }
        }
        self.of[position] = Some(self.runs.len() - 1);
    }

    /// Only the first run can have begun before, and only the last can go on behind.
    fn go_on_outside(&mut self, around: &'d Around) {
        if let (Some(first), Some(start)) = (self.runs.first_mut(), &around.run_start) {
            first.start = start;
            first.continues.earlier = true;
        }
        if let Some(last) = self.runs.last_mut() {
            last.continues.later = around.run_goes_on;
        }
    }

    /// The last run is live where its turn is and no finished reply follows it.
    fn mark_live(&mut self, index: &Index, places: &[Place], live_turn: Option<&TurnId>, around: &Around) {
        let Some(run) = self.runs.last_mut() else { return };
        let turn = index.top_level(run.last).and_then(|message| message.turn.as_ref());
        let answered = places[run.last..].iter().any(|place| matches!(place, Place::Reply { streaming: false }));
        run.live = turn.is_some() && turn == live_turn && !answered && !around.followed;
    }

    /// The number of the run that the round at a position belongs to.
    pub(super) fn number_at(&self, position: usize) -> Option<usize> {
        self.of.get(position).copied().flatten()
    }

    /// The run of a number.
    pub(super) fn run(&self, number: usize) -> &Run<'d> {
        &self.runs[number]
    }
}

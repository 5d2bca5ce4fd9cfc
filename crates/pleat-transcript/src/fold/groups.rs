//! Which rounds form one activity row (docs/spec/fold.md, section 4), over the whole session.

use super::index::Index;
use super::places::Place;
use crate::ids::TurnId;

/// A run of rounds: the group as it stands in the session, whatever a window shows of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Run {
    /// The position of its first round.
    pub(super) first: usize,
    /// The position of its last round.
    pub(super) last: usize,
    /// Its turn is at work in it (section 5, `live`).
    pub(super) live: bool,
}

/// The runs of a session.
#[derive(Debug)]
pub(super) struct Runs {
    runs: Vec<Run>,
    /// By top-level position: the run of a round.
    of: Vec<Option<usize>>,
}

impl Runs {
    pub(super) fn of(index: &Index, places: &[Place], live_turn: Option<&TurnId>) -> Self {
        let mut found = Self { runs: Vec::new(), of: vec![None; places.len()] };
        let mut open: Option<Option<&TurnId>> = None;
        for (position, (message, place)) in index.all_top_level().zip(places).enumerate() {
            match place {
                Place::Nothing => {}
                Place::Round => {
                    // No turn counts as one.
                    found.add(position, open == Some(message.turn.as_ref()));
                    open = Some(message.turn.as_ref());
                }
                Place::Emptied | Place::Reply { .. } | Place::Message(_) | Place::Plan { .. } | Place::Notice => {
                    open = None;
                }
            }
        }
        found.mark_live(index, places, live_turn);
        found
    }

    fn add(&mut self, position: usize, goes_on: bool) {
        match self.runs.last_mut() {
            Some(run) if goes_on => run.last = position,
            Some(_) | None => self.runs.push(Run { first: position, last: position, live: false }),
        }
        self.of[position] = Some(self.runs.len() - 1);
    }

    /// The last run is live where its turn is and no finished reply follows it.
    fn mark_live(&mut self, index: &Index, places: &[Place], live_turn: Option<&TurnId>) {
        let Some(run) = self.runs.last_mut() else { return };
        let turn = index.top_level(run.last).and_then(|message| message.turn.as_ref());
        let answered = places[run.last..].contains(&Place::Reply { streaming: false });
        run.live = turn.is_some() && turn == live_turn && !answered;
    }

    /// The number of the run that the round at a position belongs to.
    pub(super) fn number_at(&self, position: usize) -> Option<usize> {
        self.of.get(position).copied().flatten()
    }

    /// The run of a number.
    pub(super) fn run(&self, number: usize) -> &Run {
        &self.runs[number]
    }
}

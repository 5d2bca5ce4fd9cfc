//! Lines whose session is not known yet.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use super::line::LogLine;
use crate::connection::Token;

/// How much is held.
const MAX_HELD_BYTES: usize = 4 * 1024 * 1024;

/// What a line waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HeldFor {
    /// That somebody says whose session of the agent this is.
    Session(Arc<str>),
    /// That a request for a new session is answered.
    Opening(Token),
}

/// Lines in their order, up to a bound.
#[derive(Debug, Default)]
pub(super) struct Held {
    lines: VecDeque<(HeldFor, LogLine)>,
    bytes: usize,
}

impl Held {
    /// Holds a line; gives the oldest ones, for which there is no room any more.
    pub(super) fn push(&mut self, held_for: HeldFor, line: LogLine) -> Vec<(HeldFor, LogLine)> {
        self.bytes += line.text.len();
        self.lines.push_back((held_for, line));
        let mut oldest = Vec::new();
        while self.bytes > MAX_HELD_BYTES {
            oldest.extend(self.pop());
        }
        oldest
    }

    /// What waits for this.
    pub(super) fn take(&mut self, held_for: &HeldFor) -> Vec<LogLine> {
        let all = std::mem::take(&mut self.lines);
        let (taken, left): (Vec<_>, _) = all.into_iter().partition(|(waits_for, _)| waits_for == held_for);
        self.lines = left.into();
        self.bytes -= taken.iter().map(|(_, line)| line.text.len()).sum::<usize>();
        taken.into_iter().map(|(_, line)| line).collect()
    }

    /// Everything.
    pub(super) fn take_all(&mut self) -> Vec<(HeldFor, LogLine)> {
        self.bytes = 0;
        std::mem::take(&mut self.lines).into()
    }

    /// A request was answered with this session of the agent: what waited for the answer waits for its name.
    pub(super) fn rename(&mut self, opening: Token, session: &Arc<str>) {
        for (held_for, _) in self.lines.iter_mut().filter(|(held_for, _)| *held_for == HeldFor::Opening(opening)) {
            *held_for = HeldFor::Session(Arc::clone(session));
        }
    }

    /// The sessions of the agent that lines are about.
    pub(super) fn sessions(&self) -> HashSet<Arc<str>> {
        let sessions = self.lines.iter().filter_map(|(held_for, _)| match held_for {
            HeldFor::Session(id) => Some(Arc::clone(id)),
            HeldFor::Opening(_) => None,
        });
        sessions.collect()
    }

    fn pop(&mut self) -> Option<(HeldFor, LogLine)> {
        let (held_for, line) = self.lines.pop_front()?;
        self.bytes -= line.text.len();
        Some((held_for, line))
    }
}

//! What ended well, one phrase for each action, the newest last.

use super::Phrase;
use super::target::{Target, named};
use crate::call::{CallState, Lines};
use crate::fold::label::{Counted, Deed, Nouns, Weight};
use crate::fold::summary::{ShownCall, add_lines};
use std::collections::{HashMap, HashSet};

/// How many different targets a phrase names at most.
const MOST_NAMED: usize = 2;

/// What calls have in common that are told in one phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Sort<'c> {
    /// An action of the agent's own tools.
    Action(&'static str),
    /// A server.
    Server(&'c str),
    /// Memories.
    Memory,
    /// Tools of no known action.
    Other,
}

impl<'c> Sort<'c> {
    fn of(deed: &'c Deed<'c>) -> Self {
        match deed {
            Deed::Own { action, .. } => Self::Action(action.name),
            Deed::OfServer { server, .. } => Self::Server(server),
            Deed::Memory { .. } => Self::Memory,
            Deed::Titled(_) | Deed::Named { .. } => Self::Other,
        }
    }
}

/// The calls of one phrase, newest first.
#[derive(Debug)]
struct Work<'c> {
    newest: &'c Deed<'c>,
    deeds: Vec<&'c Deed<'c>>,
    lines: Option<Lines>,
}

/// A phrase for each action, in the order of their newest calls.
pub(super) fn phrases(calls: &[ShownCall]) -> Vec<Phrase> {
    let mut works: Vec<Work> = Vec::new();
    let mut places = HashMap::new();
    // From the newest on: the first call that is met of an action says where its phrase stands.
    for shown in calls.iter().rev().filter(|shown| shown.state() == CallState::Completed) {
        let place = *places.entry(Sort::of(&shown.deed)).or_insert(works.len());
        if place == works.len() {
            works.push(Work { newest: &shown.deed, deeds: Vec::new(), lines: None });
        }
        works[place].deeds.push(&shown.deed);
        works[place].lines = add_lines(works[place].lines, shown.node.call.lines);
    }
    works.iter().rev().map(Work::phrase).collect()
}

impl Work<'_> {
    fn phrase(&self) -> Phrase {
        let lines = self.lines.map(changed).unwrap_or_default();
        let targets = Targets::of(&self.deeds);
        let short = format!("{}{lines}", self.counted(&targets));
        let full = self.naming(&targets).map_or_else(|| short.clone(), |named| format!("{named}{lines}"));
        Phrase { full, short, calls: self.deeds.len(), weight: self.weight() }
    }

    fn weight(&self) -> Weight {
        match self.newest {
            Deed::Own { action, .. } => action.words.weight,
            Deed::OfServer { .. } | Deed::Memory { .. } | Deed::Titled(_) | Deed::Named { .. } => Weight::Does,
        }
    }

    /// The phrase with its targets, where each call has one and they are few.
    fn naming(&self, targets: &Targets) -> Option<String> {
        let calls = self.deeds.len();
        let all_count = calls == targets.different.len() || self.counts_targets();
        let text = match targets.different.as_slice() {
            _ if targets.without > 0 => return None,
            [only] if calls == 1 => only.shown().into_owned(),
            [only] => format!("{} {calls} times", only.shown()),
            [newer, older] if all_count => format!("{}, {}", older.shown(), newer.shown()),
            [] | [_, _, ..] => return None,
        };
        Some(match self.newest {
            Deed::Own { action, .. } => format!("{} {text}", action.words.done),
            Deed::OfServer { server, .. } => format!("Used {}: {text}", named(server)),
            Deed::Memory { .. } => format!("Used memory: {text}"),
            Deed::Titled(_) | Deed::Named { .. } => text,
        })
    }

    fn counts_targets(&self) -> bool {
        match self.newest {
            Deed::Own { action, .. } => match action.words.counted {
                Counted::Targets(_) => true,
                Counted::Calls(_) | Counted::Times(_) => false,
            },
            Deed::OfServer { .. } | Deed::Memory { .. } | Deed::Titled(_) | Deed::Named { .. } => false,
        }
    }

    fn counted(&self, targets: &Targets) -> String {
        let calls = self.deeds.len();
        match self.newest {
            Deed::Own { action, .. } => match action.words.counted {
                Counted::Targets(nouns) => number_of(nouns, targets.count()),
                Counted::Calls(nouns) => number_of(nouns, calls),
                Counted::Times(alone) => times(alone, calls),
            },
            Deed::OfServer { server, .. } => times(&format!("Used {}", named(server)), calls),
            Deed::Memory { .. } => times("Used memory", calls),
            Deed::Titled(_) | Deed::Named { .. } => {
                format!("{calls} other {}", if calls == 1 { "action" } else { "actions" })
            }
        }
    }
}

/// What the calls of a phrase were done to.
struct Targets<'c> {
    /// Newest first; no more than show that they are too many to be named.
    different: Vec<Target<'c>>,
    /// How many different ones there are in all.
    all: usize,
    /// How many calls have none.
    without: usize,
}

impl<'c> Targets<'c> {
    fn of(deeds: &[&'c Deed<'c>]) -> Self {
        let mut seen = HashSet::new();
        let mut targets = Self { different: Vec::new(), all: 0, without: 0 };
        for deed in deeds {
            match Target::of(deed) {
                None => targets.without += 1,
                Some(target) if seen.insert(target.clone()) => {
                    targets.all += 1;
                    if targets.different.len() <= MOST_NAMED {
                        targets.different.push(target);
                    }
                }
                Some(_) => {}
            }
        }
        targets
    }

    /// Different ones, where those that are not known count as different.
    fn count(&self) -> usize {
        self.all + self.without
    }
}

fn number_of(nouns: Nouns, count: usize) -> String {
    let noun = if count == 1 { nouns.one } else { nouns.many };
    format!("{} {count} {noun}", nouns.before)
}

fn times(words: &str, count: usize) -> String {
    if count == 1 { words.to_owned() } else { format!("{words} {count} times") }
}

/// ` +12 −3`; of none, nothing.
fn changed(lines: Lines) -> String {
    let part = |sign, count| if count == 0 { String::new() } else { format!(" {sign}{count}") };
    format!("{}{}", part('+', lines.added), part('−', lines.removed))
}

//! Finds what rows name.

use pleat_transcript::call::Call;
use pleat_transcript::fold::Excerpt;
use pleat_transcript::ids::{CallId, MessageId};
use pleat_transcript::message::{Assistant, Body, Message};
use std::collections::HashMap;

/// The messages and calls of an excerpt by id.
pub(super) struct Index<'a> {
    messages: HashMap<&'a MessageId, (usize, &'a Message)>,
    calls: HashMap<&'a CallId, (usize, &'a Call)>,
}

impl<'a> Index<'a> {
    pub(super) fn new(excerpt: &'a Excerpt) -> Self {
        let numbered = || excerpt.messages().enumerate();
        let messages = numbered().map(|(place, message)| (&message.id, (place, message))).collect();
        let calls = numbered()
            .flat_map(|(place, message)| calls_of(message).map(move |call| (&call.id, (place, call))))
            .collect();
        Self { messages, calls }
    }

    pub(super) fn message(&self, id: &MessageId) -> Option<&'a Message> {
        self.messages.get(id).map(|(_, message)| *message)
    }

    pub(super) fn round(&self, id: &MessageId) -> Option<&'a Assistant> {
        self.message(id).and_then(round_of)
    }

    pub(super) fn call(&self, id: &CallId) -> Option<&'a Call> {
        self.calls.get(id).map(|(_, call)| *call)
    }

    /// The call that shows a round's text: the round's parent, or where it has none the one that all its calls have
    /// (docs/spec/fold.md, "Input"). `None`: the round is top-level.
    pub(super) fn parent_of_round(&self, id: &MessageId) -> Option<&'a CallId> {
        let (place, message) = self.messages.get(id)?;
        let round = round_of(message)?;
        let before = |parent: &&CallId| self.calls.get(*parent).is_some_and(|(at, _)| at < place);
        if let Some(parent) = round.parent.as_ref().filter(before) {
            return Some(parent);
        }
        let mut parents = round.calls().map(|call| call.parent.as_ref().filter(before));
        let first = parents.next()??;
        parents.all(|parent| parent.is_some()).then_some(first)
    }
}

/// A message's calls; none unless it is a round.
pub(crate) fn calls_of(message: &Message) -> impl Iterator<Item = &Call> {
    round_of(message).into_iter().flat_map(Assistant::calls)
}

fn round_of(message: &Message) -> Option<&Assistant> {
    if let Body::Assistant(round) = &message.body { Some(round) } else { None }
}

//! Which message stands inside which call, and which messages are top-level (docs/spec/fold.md, "CALL" and section 1).

use crate::call::{Call, CallState};
use crate::document::Document;
use crate::ids::{CallId, MessageId};
use crate::message::{Assistant, Body, Message};
use std::collections::{BTreeSet, HashMap};

/// How deep calls are nested at most; what is deeper is shown at this depth. Real agents nest a few levels; a document
/// that goes on must not run a face, a serialiser or a reader of its JSON out of stack.
const DEEPEST: usize = 64;

/// A call's number, in the order of the session.
pub(super) type CallNumber = usize;

/// A message, by its place in the document.
pub(super) type MessageNumber = usize;

/// A round as it is shown in one place: at the top level, or inside a call.
#[derive(Debug)]
pub(super) struct ShownRound<'d> {
    pub(super) message: &'d Message,
    pub(super) assistant: &'d Assistant,
    /// Those of its calls that are shown in this place.
    pub(super) calls: Vec<CallNumber>,
    /// Whether the message itself is shown here, so that its text and error count, and not only calls of it.
    pub(super) whole: bool,
}

/// A call and what stands directly inside it.
#[derive(Debug)]
pub(super) struct CallNode<'d> {
    pub(super) call: &'d Call,
    pub(super) inside: Vec<ShownRound<'d>>,
    /// The calls inside, at any depth, that a person must answer.
    pub(super) waiting_inside: Waiting<'d>,
    parent: Option<CallNumber>,
    depth: usize,
    /// The top-level message that shows it.
    shown_by: MessageNumber,
}

/// Calls that a person must answer.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Waiting<'d> {
    pub(super) count: usize,
    pub(super) first: Option<&'d Call>,
}

impl<'d> Waiting<'d> {
    pub(super) fn add(&mut self, count: usize, first: Option<&'d Call>) {
        self.count += count;
        self.first = self.first.or(first);
    }
}

/// The order and nesting of a session, or of an excerpt of one.
#[derive(Debug)]
pub(super) struct Index<'d> {
    messages: &'d [Message],
    calls: Vec<CallNode<'d>>,
    /// Of each message, its round at the top level, where it has calls there.
    top_rounds: Vec<Option<ShownRound<'d>>>,
    /// The top-level messages, in order.
    top: Vec<MessageNumber>,
    /// Of each message, the position in `top` of the one that shows it.
    positions: Vec<usize>,
    by_id: HashMap<&'d MessageId, MessageNumber>,
}

impl<'d> Index<'d> {
    pub(super) fn of(document: &'d Document) -> Self {
        Self::of_excerpt(document, &BTreeSet::new())
    }

    /// The index of a document from whose messages calls were taken, since they are shown elsewhere.
    pub(super) fn of_excerpt(document: &'d Document, lost_calls: &BTreeSet<MessageId>) -> Self {
        let mut nesting = Nesting::default();
        for (number, message) in document.messages.iter().enumerate() {
            nesting.add(number, message, lost_calls.contains(&message.id));
        }
        let shown_by: Vec<_> =
            document.messages.iter().enumerate().map(|(number, message)| nesting.shown_by(number, message)).collect();
        let mut top = Vec::new();
        let mut own_positions = vec![0; shown_by.len()];
        for (number, _) in shown_by.iter().enumerate().filter(|(number, by)| number == *by) {
            own_positions[number] = top.len();
            top.push(number);
        }
        let positions = shown_by.iter().map(|by| own_positions[*by]).collect();
        let by_id = document.messages.iter().enumerate().map(|(number, message)| (&message.id, number)).collect();
        let Nesting { calls, top_rounds, .. } = nesting;
        Self { messages: &document.messages, calls, top_rounds, top, positions, by_id }
    }

    pub(super) fn top_level_count(&self) -> usize {
        self.top.len()
    }

    /// The top-level message at a position.
    pub(super) fn top_level(&self, position: usize) -> Option<&'d Message> {
        self.top.get(position).map(|number| &self.messages[*number])
    }

    pub(super) fn all_top_level(&self) -> impl Iterator<Item = &'d Message> {
        self.top.iter().map(|number| &self.messages[*number])
    }

    /// The top-level message that shows this one, and its position.
    pub(super) fn shown_by(&self, number: MessageNumber) -> (MessageNumber, usize) {
        let position = self.positions[number];
        (self.top[position], position)
    }

    /// All calls in order, each with the top-level message that shows it.
    pub(super) fn calls(&self) -> impl Iterator<Item = (&'d Call, MessageNumber)> {
        self.calls.iter().map(|node| (node.call, node.shown_by))
    }

    /// The position of the top-level message that shows the one of this id.
    pub(super) fn position_of(&self, id: &MessageId) -> Option<usize> {
        self.by_id.get(id).map(|number| self.positions[*number])
    }

    /// The round of the top-level message at a position, where it has calls that are shown there.
    pub(super) fn round_at(&self, position: usize) -> Option<&ShownRound<'d>> {
        self.top.get(position).and_then(|number| self.top_rounds[*number].as_ref())
    }

    pub(super) fn call(&self, number: CallNumber) -> &CallNode<'d> {
        &self.calls[number]
    }
}

/// The nesting while it is found, message by message.
#[derive(Default)]
struct Nesting<'d> {
    calls: Vec<CallNode<'d>>,
    numbers: HashMap<&'d CallId, CallNumber>,
    top_rounds: Vec<Option<ShownRound<'d>>>,
    /// Of each message, the call that it is inside of.
    parents: Vec<Option<CallNumber>>,
}

impl<'d> Nesting<'d> {
    fn add(&mut self, number: MessageNumber, message: &'d Message, lost_calls: bool) {
        self.top_rounds.push(None);
        let parent = match &message.body {
            Body::Assistant(assistant) => self.add_round(number, message, assistant, lost_calls),
            Body::User(_) | Body::Tool(_) | Body::Plan(_) | Body::Notice(_) => None,
        };
        self.parents.push(parent);
    }

    /// Adds a round with its calls and returns the call that the message is inside of.
    fn add_round(
        &mut self,
        number: MessageNumber,
        message: &'d Message,
        assistant: &'d Assistant,
        lost_calls: bool,
    ) -> Option<CallNumber> {
        // Only calls that stand before the child are known here, so a parent that is found exists.
        let named = self.parent(assistant.parent.as_ref());
        let first = self.calls.len();
        for call in assistant.calls() {
            let parent = self.parent(call.parent.as_ref()).or(named);
            self.add_call(number, call, parent);
            let call = self.calls.len() - 1;
            self.round_in(parent, number, message, assistant).calls.push(call);
        }
        let own = &self.calls[first..];
        let all_inside = own.iter().all(|node| node.parent.is_some());
        let of_first_call = own.first().filter(|_| all_inside).and_then(|node| node.parent);
        let parent = named.or(of_first_call)?;
        let shows_calls = self.calls[parent].inside.last().is_some_and(|round| std::ptr::eq(round.message, message));
        // A call is something, also where it is shown in another place.
        if shows_calls || lost_calls || shows_something(assistant) {
            self.round_in(Some(parent), number, message, assistant).whole = true;
        }
        Some(parent)
    }

    fn add_call(&mut self, number: MessageNumber, call: &'d Call, parent: Option<CallNumber>) {
        let (depth, shown_by) = match parent {
            Some(parent) => (self.calls[parent].depth + 1, self.calls[parent].shown_by),
            None => (0, number),
        };
        self.numbers.entry(&call.id).or_insert(self.calls.len());
        let waiting_inside = Waiting::default();
        self.calls.push(CallNode { call, inside: Vec::new(), waiting_inside, parent, depth, shown_by });
        if call.state == CallState::AwaitingPermission {
            self.tell_those_around(call, parent);
        }
    }

    /// A call waits for a person: those that it stands inside of know.
    fn tell_those_around(&mut self, call: &'d Call, parent: Option<CallNumber>) {
        let mut around = parent;
        while let Some(number) = around {
            self.calls[number].waiting_inside.add(1, Some(call));
            around = self.calls[number].parent;
        }
    }

    /// The call that shows the children of `id`, where that call is known.
    fn parent(&self, id: Option<&CallId>) -> Option<CallNumber> {
        let number = *self.numbers.get(id?)?;
        let node = &self.calls[number];
        if node.depth < DEEPEST { Some(number) } else { node.parent }
    }

    /// The round of `message` in a place; a new one where it is not there yet.
    fn round_in(
        &mut self,
        parent: Option<CallNumber>,
        number: MessageNumber,
        message: &'d Message,
        assistant: &'d Assistant,
    ) -> &mut ShownRound<'d> {
        let new = |whole| ShownRound { message, assistant, calls: Vec::new(), whole };
        let Some(parent) = parent else {
            return self.top_rounds[number].get_or_insert_with(|| new(true));
        };
        let rounds = &mut self.calls[parent].inside;
        if rounds.last().is_none_or(|round| !std::ptr::eq(round.message, message)) {
            rounds.push(new(false));
        }
        let last = rounds.len() - 1;
        &mut rounds[last]
    }

    /// The top-level message that shows this one: itself, or the one it travels with.
    fn shown_by(&self, number: MessageNumber, message: &Message) -> MessageNumber {
        let inside_of = match &message.body {
            Body::Tool(result) => result.call.as_ref().and_then(|id| self.numbers.get(id).copied()),
            Body::Assistant(_) => self.parents[number],
            Body::User(_) | Body::Plan(_) | Body::Notice(_) => None,
        };
        inside_of.map_or(number, |call| self.calls[call].shown_by)
    }
}

/// Whether a round shows something: an error, or any part but blank text and thinking (docs/spec/fold.md, section 2).
pub fn shows_something(assistant: &Assistant) -> bool {
    use crate::message::Part;
    assistant.error.is_some()
        || assistant.parts.iter().any(|part| match part {
            Part::Thinking(part) | Part::Text(part) => !super::text::is_blank(&part.text),
            Part::Call(_) | Part::Media(_) => true,
        })
}

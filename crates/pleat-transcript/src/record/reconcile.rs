//! A replayed history beside the stored one: what is new in it (spec/record.md, "the rest" 5).

use crate::call::{Call, CallState};
use crate::change::{CallUpdate, Change};
use crate::document::Document;
use crate::ids::{CallId, MessageId, TurnId};
use crate::message::{Assistant, Body, Message, Origin, Part};
use crate::session::{Turn, TurnState};
use std::collections::{HashMap, HashSet};

/// What is to be added to `stored` because of `replayed`. Doing it again after that adds nothing.
pub(super) fn reconcile(stored: &Document, replayed: &Document) -> Vec<Change> {
    if stored.session.turns.is_empty() && stored.messages.is_empty() {
        return adopt_all(replayed);
    }
    let (ours, theirs) = (prompts(stored), prompts(replayed));
    let mut changes = Vec::new();
    let mut extra_turns = Vec::new();
    for (their, ours_at) in theirs.iter().zip(align_prompts(&ours, &theirs)) {
        match ours_at {
            Some(place) => {
                let is_last = place + 1 == ours.len();
                let aligned = AlignedTurn::new(stored, ours[place].turn, replayed, their.turn);
                changes.extend(aligned.stated_ends());
                if is_last && was_interrupted(stored, ours[place].turn) {
                    changes.extend(aligned.tail());
                }
            }
            None => extra_turns.push(their.turn),
        }
    }
    for turn in extra_turns {
        changes.extend(adopt_turn(replayed, turn));
    }
    changes
}

/// A prompt and its turn.
struct PromptOf<'a> {
    turn: &'a TurnId,
    text: &'a str,
}

fn prompts(document: &Document) -> Vec<PromptOf<'_>> {
    let mut seen = HashSet::new();
    let typed = document.messages.iter().filter_map(|message| match (&message.body, &message.turn) {
        (Body::User(user), Some(turn)) if !user.lead && user.origin != Some(Origin::Agent) => {
            seen.insert(turn).then_some(PromptOf { turn, text: &user.text })
        }
        _ => None,
    });
    typed.collect()
}

/// The place among our prompts of each of theirs, in order; `None` for those that follow all of ours.
fn align_prompts(ours: &[PromptOf<'_>], theirs: &[PromptOf<'_>]) -> Vec<Option<usize>> {
    let mut next = 0;
    let mut places = Vec::with_capacity(theirs.len());
    for their in theirs {
        let equal = (next..ours.len()).find(|place| ours[*place].text.trim() == their.text.trim());
        // A prompt that the agent words otherwise stands for the next of ours.
        let place = equal.or((next < ours.len()).then_some(next));
        next = place.map_or(next, |place| place + 1);
        places.push(place);
    }
    places
}

fn was_interrupted(document: &Document, id: &TurnId) -> bool {
    document.session.turns.iter().any(|turn| turn.id == *id && turn.state == TurnState::Interrupted)
}

/// Something of a turn that can be aligned: a text or a call, in order. Thinking and plans are not.
enum Item<'a> {
    Text(&'a Message, usize, &'a str),
    Call(&'a Call),
}

fn items<'a>(document: &'a Document, turn: &TurnId) -> Vec<(&'a MessageId, usize, Item<'a>)> {
    let mut items = Vec::new();
    for (message, assistant) in rounds(document, turn) {
        for (place, part) in assistant.parts.iter().enumerate() {
            match part {
                Part::Text(text) => items.push((&message.id, place, Item::Text(message, place, &text.text))),
                Part::Call(call) => items.push((&message.id, place, Item::Call(call))),
                Part::Thinking(_) | Part::Media(_) => {}
            }
        }
    }
    items
}

fn rounds<'a>(document: &'a Document, turn: &TurnId) -> impl Iterator<Item = (&'a Message, &'a Assistant)> {
    document.messages.iter().filter_map(move |message| match &message.body {
        Body::Assistant(assistant) if message.turn.as_ref() == Some(turn) => Some((message, assistant)),
        Body::Assistant(_) | Body::User(_) | Body::Tool(_) | Body::Plan(_) | Body::Notice(_) => None,
    })
}

/// A stored turn and its replay, item by item.
struct AlignedTurn<'a> {
    stored_turn: &'a TurnId,
    replayed: &'a Document,
    replayed_turn: &'a TurnId,
    /// Calls of both, stored first.
    calls: Vec<(&'a Call, &'a Call)>,
    /// The place in the replay (message, part) up to which everything is known.
    known_to: Option<(&'a MessageId, usize)>,
    /// The rest of the stored last text.
    rest: Option<Change>,
}

impl<'a> AlignedTurn<'a> {
    fn new(stored: &'a Document, stored_turn: &'a TurnId, replayed: &'a Document, replayed_turn: &'a TurnId) -> Self {
        let (ours, theirs) = (items(stored, stored_turn), items(replayed, replayed_turn));
        let mut this = Self { stored_turn, replayed, replayed_turn, calls: Vec::new(), known_to: None, rest: None };
        let mut taken = vec![false; ours.len()];
        let mut last = None;
        for (place, (message, part, item)) in theirs.iter().enumerate() {
            if let Some(found) = counterpart(item, &ours, &taken) {
                taken[found] = true;
                if let (Item::Call(our), Item::Call(their)) = (&ours[found].2, item) {
                    this.calls.push((our, their));
                }
                this.known_to = Some((message, *part));
                last = Some(place);
            }
        }
        let next = last.map_or(0, |place| place + 1);
        if let (Some((_, _, Item::Text(our, our_part, known))), Some(false)) = (ours.last(), taken.last())
            && let Some((message, part, Item::Text(_, _, text))) = theirs.get(next)
            && let Some(rest) = text.strip_prefix(known)
        {
            this.known_to = Some((message, *part));
            this.rest = Some(Change::AppendText { message: our.id.clone(), part: *our_part, text: rest.to_owned() });
        }
        this
    }

    /// An end that the agent states, and its output, replace our own `interrupted`.
    fn stated_ends(&self) -> Vec<Change> {
        let ours_open = self.calls.iter().filter(|(our, their)| {
            our.state == CallState::Interrupted
                && our.closed_by_host
                && matches!(their.state, CallState::Completed | CallState::Failed)
        });
        let updates = ours_open.map(|(our, their)| {
            let update = CallUpdate {
                state: Some(their.state),
                output: Some(their.output.clone()).filter(|output| !output.is_empty()),
                lines: their.lines,
                closed_by_host: Some(false),
                ..CallUpdate::default()
            };
            Change::UpdateCall { call: our.id.clone(), update: Box::new(update) }
        });
        updates.collect()
    }

    /// What follows the last known item, in new rounds of the stored turn.
    fn tail(mut self) -> Vec<Change> {
        let mut changes: Vec<Change> = self.rest.take().into_iter().collect();
        let known_calls: HashMap<&CallId, &CallId> =
            self.calls.iter().map(|(our, their)| (&their.id, &our.id)).collect();
        let mut news = self.known_to.is_none();
        for (message, assistant) in rounds(self.replayed, self.replayed_turn) {
            let first_new = match self.known_to {
                Some((last, part)) if *last == message.id => {
                    news = true;
                    part + 1
                }
                Some(_) | None => 0,
            };
            let parts = assistant.parts.get(first_new..).unwrap_or_default();
            if !news || parts.is_empty() {
                continue;
            }
            changes.push(self.new_round(message, assistant, parts, &known_calls));
        }
        changes
    }

    fn new_round(
        &self,
        message: &Message,
        assistant: &Assistant,
        parts: &[Part],
        known_calls: &HashMap<&CallId, &CallId>,
    ) -> Change {
        let stored_parent = |parent: &Option<CallId>| {
            parent.as_ref().map(|parent| known_calls.get(parent).map_or_else(|| parent.clone(), |ours| (*ours).clone()))
        };
        let mut parts = parts.to_vec();
        for part in &mut parts {
            if let Part::Call(call) = part {
                call.parent = stored_parent(&call.parent);
            }
        }
        let round = Assistant { parts, parent: stored_parent(&assistant.parent), ..assistant.clone() };
        let message = Message { turn: Some(self.stored_turn.clone()), body: Body::Assistant(round), ..message.clone() };
        Change::InsertMessage(Box::new(message))
    }
}

/// The first of our items, not taken yet, that is the same as theirs: texts by whole equality, calls by the agent's
/// id, else by kind and title where the ids changed.
fn counterpart(item: &Item<'_>, ours: &[(&MessageId, usize, Item<'_>)], taken: &[bool]) -> Option<usize> {
    let find = |same: &dyn Fn(&Item<'_>) -> bool| (0..ours.len()).find(|place| !taken[*place] && same(&ours[*place].2));
    match item {
        Item::Text(_, _, text) => find(&|ours| matches!(ours, Item::Text(_, _, our) if our == text)),
        Item::Call(call) => {
            find(&|ours| matches!(ours, Item::Call(our) if our.agent_id == call.agent_id)).or_else(|| {
                let changed = |our: &Call| our.kind() == call.kind() && our.title == call.title;
                find(&|ours| matches!(ours, Item::Call(our) if changed(our)))
            })
        }
    }
}

fn adopt_all(replayed: &Document) -> Vec<Change> {
    let turns = replayed.session.turns.iter().map(|turn| Change::InsertTurn(turn.clone()));
    let messages = replayed.messages.iter().map(|message| Change::InsertMessage(Box::new(message.clone())));
    turns.chain(messages).collect()
}

fn adopt_turn(replayed: &Document, id: &TurnId) -> Vec<Change> {
    let turns: Vec<&Turn> = replayed.session.turns.iter().filter(|turn| turn.id == *id).collect();
    let messages = replayed.messages.iter().filter(|message| message.turn.as_ref() == Some(id));
    let turns = turns.into_iter().map(|turn| Change::InsertTurn(turn.clone()));
    turns.chain(messages.map(|message| Change::InsertMessage(Box::new(message.clone())))).collect()
}

//! A replayed history beside the stored one: what is new in it (docs/spec/record.md, "the rest" 5).

use super::align::{Alignment, align, rounds};
use super::turns::title_from;
use crate::call::CallState;
use crate::change::{CallUpdate, Change, SessionUpdate};
use crate::document::Document;
use crate::ids::{CallId, TurnId};
use crate::message::{Assistant, Body, Message, Origin, Part};
use crate::session::{Turn, TurnState};
use std::collections::{HashMap, HashSet};

/// What is to be added to `stored` because of `replayed`. Doing it again after that adds nothing.
pub(super) fn reconcile(stored: &Document, replayed: &Document) -> Vec<Change> {
    if stored.session.turns.is_empty() && stored.messages.is_empty() {
        return adopt_all(stored, replayed);
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

/// A stored turn and its replay.
struct AlignedTurn<'a> {
    stored_turn: &'a TurnId,
    replayed: &'a Document,
    replayed_turn: &'a TurnId,
    alignment: Alignment<'a>,
}

impl<'a> AlignedTurn<'a> {
    fn new(stored: &'a Document, stored_turn: &'a TurnId, replayed: &'a Document, replayed_turn: &'a TurnId) -> Self {
        let alignment = align((stored, stored_turn), (replayed, replayed_turn));
        Self { stored_turn, replayed, replayed_turn, alignment }
    }

    /// An end that the agent states, and its output, replace our own `interrupted`.
    fn stated_ends(&self) -> Vec<Change> {
        let ours_open = self.alignment.calls.iter().filter(|(our, their)| {
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
    fn tail(self) -> Vec<Change> {
        let rest = self.alignment.rest.filter(|(_, rest)| !rest.is_empty());
        let rest = rest.map(|((message, part), rest)| Change::AppendText {
            message: message.clone(),
            part,
            text: rest.to_owned(),
        });
        let mut changes: Vec<Change> = rest.into_iter().collect();
        let known_calls: HashMap<&CallId, &CallId> =
            self.alignment.calls.iter().map(|(our, their)| (&their.id, &our.id)).collect();
        let known_to = self.alignment.known_to;
        let mut news = known_to.is_none();
        for (message, assistant) in rounds(self.replayed, self.replayed_turn) {
            let first_new = match known_to {
                Some((last, part)) if *last == message.id => {
                    news = true;
                    part + 1
                }
                Some(_) | None => 0,
            };
            let parts = assistant.parts.get(first_new..).unwrap_or_default();
            if news && !parts.is_empty() {
                changes.push(self.new_round(message, assistant, parts, &known_calls));
            }
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

fn adopt_all(stored: &Document, replayed: &Document) -> Vec<Change> {
    let first_prompt = prompts(replayed).into_iter().next();
    let title = first_prompt.filter(|_| stored.session.title.is_none()).and_then(|prompt| title_from(prompt.text));
    let title =
        title.map(|title| Change::UpdateSession(SessionUpdate { title: Some(title), ..SessionUpdate::default() }));
    let turns = replayed.session.turns.iter().map(|turn| Change::InsertTurn(turn.clone()));
    let messages = replayed.messages.iter().map(|message| Change::InsertMessage(Box::new(message.clone())));
    title.into_iter().chain(turns).chain(messages).collect()
}

fn adopt_turn(replayed: &Document, id: &TurnId) -> Vec<Change> {
    let turns: Vec<&Turn> = replayed.session.turns.iter().filter(|turn| turn.id == *id).collect();
    let messages = replayed.messages.iter().filter(|message| message.turn.as_ref() == Some(id));
    let turns = turns.into_iter().map(|turn| Change::InsertTurn(turn.clone()));
    turns.chain(messages.map(|message| Change::InsertMessage(Box::new(message.clone())))).collect()
}

//! The record's state, rebuilt from what is stored (ARCHITECTURE.md).

use super::SessionRecord;
use super::calls::{TrackedCall, UnstoredCall};
use super::permissions::OpenRequest;
use super::plans::{EntryList, ListSource};
use super::rounds::Lane;
use super::turns::{TurnTrack, Turns};
use super::user_text::UserText;
use crate::call::{Call, PermissionState};
use crate::change::Change;
use crate::document::Document;
use crate::event::RequestKey;
use crate::ids::{CallId, TurnId};
use crate::message::{Assistant, Body, Message, Part, Plan, PlanContent, RoundState};
use std::collections::{BTreeMap, HashMap};

/// What a record knows beside the stored transcript, while something is open: the keys of prompts and requests, what is
/// being gathered, and where a text or an output goes on. It is small, and nothing in it outlives the agent's process.
#[derive(Debug, Clone)]
pub struct Unstored {
    turns: Turns,
    lanes: BTreeMap<Option<CallId>, Lane>,
    requests: BTreeMap<RequestKey, OpenRequest>,
    user_text: UserText,
    calls: Vec<UnstoredCall>,
}

impl SessionRecord {
    /// The record of a stored session. Its prompts and requests have no keys any more, so only
    /// [`Event::AgentGone`](crate::event::Event::AgentGone) can end what is open.
    pub fn from_document(document: &Document) -> Self {
        let mut record = Self::of_stored_turns(document, turns(document));
        for message in &document.messages {
            record.take_stored(message);
        }
        record
    }

    /// With the calls of a stored session, and none of its rounds.
    fn of_stored_turns(document: &Document, turns: Turns) -> Self {
        let mut record = Self::new(document.session.id.clone());
        record.titled = document.session.title.is_some();
        record.turns = turns;
        record.take_stored_calls(document);
        record.forget_earlier_turns();
        record
    }

    /// What the record knows and the stored transcript does not tell. A replay under way is no part of it: that is to be
    /// begun anew.
    pub fn unstored(&self) -> Unstored {
        Unstored {
            turns: self.turns.clone(),
            lanes: self.lanes.clone(),
            requests: self.requests.clone(),
            user_text: self.user_text.clone(),
            calls: self.calls.unstored(),
        }
    }

    /// The record as it was, of a stored session and what was not stored of it.
    pub fn rebuilt(document: &Document, unstored: Unstored) -> Self {
        let mut record = Self::of_stored_turns(document, unstored.turns);
        record.calls.take_up(unstored.calls);
        record.lanes = unstored.lanes;
        record.requests = unstored.requests;
        record.user_text = unstored.user_text;
        record
    }

    /// In the order in which they were made, which is not that of rounds that were open side by side.
    fn take_stored_calls(&mut self, document: &Document) {
        let plan_texts = plan_texts(document);
        let mut calls: Vec<(&Option<TurnId>, &Call)> = Vec::new();
        for message in &document.messages {
            if let Body::Assistant(assistant) = &message.body {
                calls.extend(assistant.calls().map(|call| (&message.turn, call)));
            }
        }
        calls.sort_by_key(|(_, call)| call.started_at);
        for (turn, call) in calls {
            let plan_text = plan_texts.get(&call.id).map(|text| (*text).clone());
            self.calls.insert(TrackedCall::of_stored(call.clone(), turn.clone(), plan_text));
        }
    }

    fn take_stored(&mut self, message: &Message) {
        let in_active_turn = message.turn == self.turns.active().id;
        match &message.body {
            Body::Assistant(assistant) => self.take_stored_round(message, assistant, in_active_turn),
            Body::Plan(Plan { stream: None, content: PlanContent::Entries(entries) }) if in_active_turn => {
                let (message, entries) = (message.id.clone(), entries.clone());
                self.turns.active_mut().entry_list =
                    Some(EntryList { message, entries, source: ListSource::PlanUpdate });
            }
            Body::User(_) | Body::Tool(_) | Body::Plan(_) | Body::Notice(_) => {}
        }
    }

    fn take_stored_round(&mut self, message: &Message, assistant: &Assistant, in_active_turn: bool) {
        for call in assistant.calls() {
            if let Some(permission) = &call.permission
                && permission.state == Some(PermissionState::Open)
                && let Some(request) = &permission.request
            {
                let open = OpenRequest { permission: request.clone(), call: call.id.clone() };
                self.requests.insert(RequestKey(request.as_str().to_owned()), open);
            }
        }
        if assistant.state == Some(RoundState::Streaming) {
            self.reopen_round(assistant.parent.clone(), message.id.clone());
        }
        if in_active_turn {
            let turn = self.turns.active_mut();
            let has_calls = assistant.calls().next().is_some();
            if assistant.parent.is_none() {
                turn.last_round = Some((message.id.clone(), has_calls));
            }
            turn.said |= has_calls || assistant.parts.iter().any(|part| matches!(part, Part::Text(_) | Part::Media(_)));
        }
    }

    /// Takes up what a replay added to the stored transcript, so that later events find it.
    pub(super) fn adopt(&mut self, added: &[Change]) {
        let mut turn: Option<TurnId> = None;
        for change in added {
            match change {
                Change::InsertTurn(inserted) => turn = Some(inserted.id.clone()),
                Change::InsertMessage(message) => {
                    if let Body::Assistant(assistant) = &message.body {
                        for call in assistant.calls() {
                            self.calls.insert(TrackedCall::of_stored(call.clone(), message.turn.clone(), None));
                        }
                    }
                }
                Change::UpdateCall { call, update } => {
                    if let Some(tracked) = self.calls.get_mut(call) {
                        update.apply_to(&mut tracked.call);
                    }
                }
                Change::UpdateSession(update) => self.titled |= update.title.is_some(),
                Change::UpdateTurn { .. }
                | Change::UpsertPlan(_)
                | Change::UpdateMessage { .. }
                | Change::InsertPart { .. }
                | Change::AppendText { .. }
                | Change::SetPartMessageId { .. }
                | Change::AppendOutput { .. }
                | Change::QueuePrompt(_)
                | Change::UpdatePrompt { .. }
                | Change::RemovePrompt { .. } => {}
            }
        }
        if let Some(turn) = turn {
            self.turns.enter(TurnTrack::new(turn, None, false));
        }
        self.forget_earlier_turns();
    }

    fn forget_earlier_turns(&mut self) {
        let turn = self.turns.active().id.clone();
        self.calls.forget_contents(|call| call.turn == turn);
    }
}

/// The oldest open turn, with the other open ones behind it; else the one that ended last, which late updates belong to.
fn turns(document: &Document) -> Turns {
    let all = &document.session.turns;
    let mut turns = Turns::default();
    if let Some(last) = all.iter().max_by_key(|turn| turn.ended_at) {
        turns.enter(TurnTrack::new(last.id.clone(), None, false));
    }
    for open in all.iter().filter(|turn| turn.state.is_open()) {
        turns.enter(TurnTrack::new(open.id.clone(), None, true));
    }
    turns
}

/// The text of each plan stream.
fn plan_texts(document: &Document) -> HashMap<&CallId, &String> {
    let plans = document.messages.iter().filter_map(|message| match &message.body {
        Body::Plan(Plan { stream: Some(call), content: PlanContent::Text(text) }) => Some((call, text)),
        Body::Plan(_) | Body::User(_) | Body::Assistant(_) | Body::Tool(_) | Body::Notice(_) => None,
    });
    plans.collect()
}

//! The record's state, rebuilt from what is stored (DESIGN.md, "Recording").

use super::SessionRecord;
use super::calls::TrackedCall;
use super::permissions::OpenRequest;
use super::plans::{EntryList, ListSource};
use super::turns::TurnTrack;
use crate::call::PermissionState;
use crate::change::Change;
use crate::document::Document;
use crate::event::RequestKey;
use crate::ids::{CallId, TurnId};
use crate::message::{Assistant, Body, Message, Part, Plan, PlanContent, RoundState};
use std::collections::HashMap;

impl SessionRecord {
    /// The record of a stored session. Its prompts and requests have no keys any more, so only
    /// [`Event::AgentGone`](crate::event::Event::AgentGone) can end what is open.
    pub fn from_document(document: &Document) -> Self {
        let mut record = Self::new(document.session.id.clone());
        record.titled = document.session.title.is_some();
        for turn in &document.session.turns {
            record.turns.enter(TurnTrack::new(turn.id.clone(), None, turn.state.is_open()));
        }
        let plan_texts = plan_texts(document);
        for message in &document.messages {
            record.take_stored(message, &plan_texts);
        }
        record.calls.forget_contents();
        record
    }

    fn take_stored(&mut self, message: &Message, plan_texts: &HashMap<&CallId, &String>) {
        let in_active_turn = message.turn == self.turns.active().id;
        match &message.body {
            Body::Assistant(assistant) => self.take_stored_round(message, assistant, in_active_turn, plan_texts),
            Body::Plan(Plan { stream: None, content: PlanContent::Entries(entries) }) if in_active_turn => {
                let (message, entries) = (message.id.clone(), entries.clone());
                self.turns.active_mut().entry_list =
                    Some(EntryList { message, entries, source: ListSource::PlanUpdate });
            }
            Body::User(_) | Body::Tool(_) | Body::Plan(_) | Body::Notice(_) => {}
        }
    }

    fn take_stored_round(
        &mut self,
        message: &Message,
        assistant: &Assistant,
        in_active_turn: bool,
        plan_texts: &HashMap<&CallId, &String>,
    ) {
        for call in assistant.calls() {
            if let Some(permission) = &call.permission
                && permission.state == Some(PermissionState::Open)
                && let Some(request) = &permission.request
            {
                let open = OpenRequest { permission: request.clone(), call: call.id.clone() };
                self.requests.insert(RequestKey(request.as_str().to_owned()), open);
            }
            let plan_text = plan_texts.get(&call.id).map(|text| (*text).clone());
            self.calls.insert(TrackedCall::of_stored(call.clone(), message.turn.clone(), plan_text));
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
                | Change::UpdateMessage { .. }
                | Change::InsertPart { .. }
                | Change::AppendText { .. }
                | Change::SetPartMessageId { .. }
                | Change::AppendOutput { .. } => {}
            }
        }
        if let Some(turn) = turn {
            self.turns.enter(TurnTrack::new(turn, None, false));
        }
        self.calls.forget_contents();
    }
}

/// The text of each plan stream.
fn plan_texts(document: &Document) -> HashMap<&CallId, &String> {
    let plans = document.messages.iter().filter_map(|message| match &message.body {
        Body::Plan(Plan { stream: Some(call), content: PlanContent::Text(text) }) => Some((call, text)),
        Body::Plan(_) | Body::User(_) | Body::Assistant(_) | Body::Tool(_) | Body::Notice(_) => None,
    });
    plans.collect()
}

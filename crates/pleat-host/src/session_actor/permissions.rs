//! Permission requests: stored before they are shown, answered once, and moot when what they were about is over.

use super::SessionActor;
use super::agent::Link;
use crate::agent_process::Order;
use crate::error::HostError;
use crate::permission_rules::{BY_PERSON, BY_RULE, allowed_option};
use pleat_acp::client::Workspace;
use pleat_acp::connection::RequestId;
use pleat_store::Durability;
use pleat_transcript::call::PermissionState;
use pleat_transcript::event::{Event, PermissionOutcome, RequestKey};
use pleat_transcript::ids::PermissionId;

impl SessionActor {
    pub(super) fn asked(&mut self, events: Vec<Event>, request: &RequestKey, id: RequestId) {
        let Some(link) = &mut self.link else { return };
        link.permissions.insert(request.clone(), id);
        if self.record.live_turn().is_none() {
            // Nobody is there to be asked; it is answered as a moot one.
            return;
        }
        for event in events {
            self.apply(event);
        }
        if self.stop_by.is_some() {
            // It crossed Stop on its way (docs/cases.md, B10).
            self.cancel_open_requests();
        } else if let Some(option) = self.allowed_by_rule(request) {
            self.answer_open(request, option, BY_RULE);
        }
    }

    /// The option that the configuration chooses, where it does.
    fn allowed_by_rule(&self, request: &RequestKey) -> Option<String> {
        let rules = self.agent.as_ref().ok().map(|agent| agent.allow.as_slice()).filter(|rules| !rules.is_empty())?;
        let call = self.record.asked_about(request)?;
        let workspace = Workspace::open(&self.root, &self.directories).ok()?;
        allowed_option(&call, rules, &self.root, &workspace)
    }

    /// A person's answer, once.
    pub(super) async fn answer(&mut self, request: &PermissionId, option: String) -> Result<(), HostError> {
        let Some(key) = self.record.open_request(request) else {
            return Err(match self.record.request_state(request) {
                Some(PermissionState::Answered) => HostError::AlreadyAnswered,
                Some(PermissionState::Open | PermissionState::Expired) | None => HostError::NotOpen,
            });
        };
        if !self.record.has_option(&key, &option) {
            return Err(HostError::UnknownOption(option));
        }
        self.answer_open(&key, option, BY_PERSON);
        Ok(self.commit(Durability::Person).await?)
    }

    fn answer_open(&mut self, request: &RequestKey, option: String, by: &str) {
        let outcome = PermissionOutcome::Selected { option: option.clone() };
        self.apply(Event::PermissionAnswered { request: request.clone(), outcome, by: Some(by.to_owned()) });
        if let Some(id) = self.link.as_mut().and_then(|link| link.permissions.remove(request)) {
            self.outbox.push(Order::AnswerPermission { id, option: Some(option) });
        }
    }

    /// Answers what the agent still asks and nobody is asked any more: after Stop, at the end of a turn, or because
    /// another request about the same call took its place.
    pub(super) fn cancel_moot_requests(&mut self) {
        let Some(Link { permissions, .. }) = self.link.as_mut().filter(|link| !link.permissions.is_empty()) else {
            return;
        };
        let open = self.record.open_requests();
        let moot = permissions.extract_if(|request, _| !open.contains(request));
        self.outbox.extend(moot.map(|(_, id)| Order::AnswerPermission { id, option: None }));
    }
}

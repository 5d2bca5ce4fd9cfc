//! Permission requests: a question about a call, answered once (docs/spec/record.md, Calls 4 and "the rest" 1).

use super::calls::{CallPlace, TrackedCall};
use super::{SessionRecord, Step};
use crate::call::{Call, CallState, Permission, PermissionState};
use crate::change::CallUpdate;
use crate::event::{CallReport, PermissionOutcome, RequestKey};
use crate::ids::{CallId, PermissionId};
use crate::message::JsonObject;
use serde_json::Value;

/// A request that nobody answered yet.
#[derive(Debug, Clone)]
pub(super) struct OpenRequest {
    pub(super) permission: PermissionId,
    pub(super) call: CallId,
}

impl SessionRecord {
    pub(super) fn permission_asked(
        &mut self,
        request: RequestKey,
        report: CallReport,
        options: Vec<Value>,
        step: &mut Step<'_>,
    ) {
        let agent_id = report.agent_id.clone();
        // A request of the same key was lost sight of.
        self.expire_request(&request, step);
        self.call(report, CallPlace::Request, step);
        let Some(tracked) = self.calls.newest_mut(&agent_id) else { return };
        let permission = PermissionId::from_source(step.ids);
        let mut update = CallUpdate::default();
        tracked.await_permission(
            Permission {
                request: Some(permission.clone()),
                options,
                chosen: None,
                by: None,
                at: None,
                state: Some(PermissionState::Open),
                extra: JsonObject::new(),
            },
            step.at,
            &mut update,
        );
        let call = tracked.call.id.clone();
        // A call asks one question at a time: a second one makes the first moot.
        self.requests.retain(|_, open| open.call != call);
        self.requests.insert(request, OpenRequest { permission, call: call.clone() });
        push_update(call, update, step);
    }

    pub(super) fn permission_answered(
        &mut self,
        request: &RequestKey,
        outcome: &PermissionOutcome,
        by: Option<String>,
        step: &mut Step<'_>,
    ) {
        // A request that is not open was expired: the answer came too late.
        let Some(open) = self.requests.remove(request) else { return };
        let cancelled = self.turns.active().cancel_sent;
        let Some(tracked) = self.calls.get_mut(&open.call) else { return };
        let mut update = CallUpdate::default();
        let (chosen, call_state, permission_state) = match outcome {
            PermissionOutcome::Selected { option } => {
                let state = if tracked.refuses(option) { CallState::Denied } else { CallState::Running };
                (Some(option.clone()), state, PermissionState::Answered)
            }
            PermissionOutcome::Cancelled if cancelled => (None, CallState::Cancelled, PermissionState::Expired),
            PermissionOutcome::Cancelled => (None, CallState::Denied, PermissionState::Answered),
        };
        tracked.close_permission(permission_state, chosen, by, step.at, &mut update);
        tracked.set_state(call_state, step.at, &mut update);
        push_update(open.call, update, step);
    }

    /// Whatever made the requests moot: their calls return to the state before (Calls 4).
    pub(super) fn expire_requests(&mut self, step: &mut Step<'_>) {
        let open: Vec<RequestKey> = self.requests.keys().cloned().collect();
        for request in open {
            self.expire_request(&request, step);
        }
    }

    fn expire_request(&mut self, request: &RequestKey, step: &mut Step<'_>) {
        let Some(open) = self.requests.remove(request) else { return };
        let Some(tracked) = self.calls.get_mut(&open.call) else { return };
        let mut update = CallUpdate::default();
        tracked.expire_permission(step.at, &mut update);
        push_update(open.call, update, step);
    }

    /// The key of the request that we know by this id, where it is open.
    pub fn open_request(&self, permission: &PermissionId) -> Option<RequestKey> {
        self.requests.iter().find(|(_, open)| open.permission == *permission).map(|(key, _)| key.clone())
    }

    /// The keys of all open requests.
    pub fn open_requests(&self) -> Vec<RequestKey> {
        self.requests.keys().cloned().collect()
    }

    /// The call that an open request is about, with what it shows.
    pub fn asked_about(&self, request: &RequestKey) -> Option<Call> {
        let open = self.requests.get(request)?;
        self.calls.get(&open.call).map(TrackedCall::whole)
    }

    /// What became of a request, unless its call was asked about again since.
    pub fn request_state(&self, permission: &PermissionId) -> Option<PermissionState> {
        let asked = self.calls.all().filter_map(|call| call.permission.as_ref());
        asked.filter(|asked| asked.request.as_ref() == Some(permission)).find_map(|asked| asked.state)
    }

    /// Whether an open request has an option of this id.
    pub fn has_option(&self, request: &RequestKey, option: &str) -> bool {
        let call = self.requests.get(request).and_then(|open| self.calls.get(&open.call));
        call.and_then(|tracked| tracked.call.permission.as_ref())
            .is_some_and(|permission| permission.options.iter().any(|each| option_id(each) == Some(option)))
    }
}

/// ACP's `optionId`.
pub(super) fn option_id(option: &Value) -> Option<&str> {
    option.get("optionId")?.as_str()
}

pub(super) fn push_update(call: CallId, update: CallUpdate, step: &mut Step<'_>) {
    if update != CallUpdate::default() {
        step.push(crate::change::Change::UpdateCall { call, update: Box::new(update) });
    }
}

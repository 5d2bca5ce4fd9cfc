//! Calls: every mention is an upsert, states never lie (docs/spec/record.md, Calls).

use super::call_output::{OutputChange, OutputPieces, count_lines};
use super::call_state::{self, Said};
use super::permissions::{option_id, push_update};
use super::{SessionRecord, Step};
use crate::call::{Call, CallState, Permission, PermissionState};
use crate::change::{CallUpdate, Change};
use crate::event::CallReport;
use crate::ids::{AgentCallId, CallId, TurnId};
use crate::session::Millis;
use serde_json::Value;
use std::collections::HashMap;

/// All calls of a session, by our id and by the agent's.
#[derive(Debug, Clone, Default)]
pub(super) struct Calls {
    by_id: HashMap<CallId, TrackedCall>,
    /// The newest call of each of the agent's ids.
    newest: HashMap<AgentCallId, CallId>,
    /// Those that may still change with their content known; see [`Calls::forget_contents`].
    recent: Vec<CallId>,
}

/// Where a mention stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallPlace {
    /// In an announcement or an update.
    Mention,
    /// In a permission request, whose `status` says nothing once the call exists (Calls 4).
    Request,
}

/// A call, and what is needed to take its next mention.
#[derive(Debug, Clone)]
pub(super) struct TrackedCall {
    /// As stored, but without its output, which is in `output`.
    pub(super) call: Call,
    pub(super) turn: Option<TurnId>,
    output: OutputPieces,
    /// The state to return to when a request expires, and when the request was made.
    asked: Option<(CallState, Millis)>,
    plan_text: Option<String>,
    has_input: bool,
    has_output: bool,
}

/// Of a call: the state before an open request and the time of that, and an output that shows less than is known of it.
#[derive(Debug, Clone)]
pub(super) struct UnstoredCall {
    call: CallId,
    asked: Option<(CallState, Millis)>,
    output: Option<OutputPieces>,
}

impl Calls {
    pub(super) fn newest(&self, agent_id: &AgentCallId) -> Option<&TrackedCall> {
        self.by_id.get(self.newest.get(agent_id)?)
    }

    pub(super) fn newest_mut(&mut self, agent_id: &AgentCallId) -> Option<&mut TrackedCall> {
        self.by_id.get_mut(self.newest.get(agent_id)?)
    }

    /// All calls, in no order.
    pub(super) fn all(&self) -> impl Iterator<Item = &Call> {
        self.by_id.values().map(|tracked| &tracked.call)
    }

    pub(super) fn get(&self, id: &CallId) -> Option<&TrackedCall> {
        self.by_id.get(id)
    }

    pub(super) fn get_mut(&mut self, id: &CallId) -> Option<&mut TrackedCall> {
        self.by_id.get_mut(id)
    }

    pub(super) fn insert(&mut self, tracked: TrackedCall) {
        let id = tracked.call.id.clone();
        if let Some(agent_id) = &tracked.call.agent_id {
            self.newest.insert(agent_id.clone(), id.clone());
        }
        self.recent.push(id.clone());
        self.by_id.insert(id, tracked);
    }

    pub(super) fn plan_text_mut(&mut self, id: &CallId) -> &mut Option<String> {
        // A plan stream's call is made or updated before its snapshot (Plans 1).
        &mut self.by_id.entry(id.clone()).or_insert_with(|| TrackedCall::new(Call::new(id.clone()), None)).plan_text
    }

    /// Drops inputs and outputs of calls that the agent has ended, except those that are `kept`: memory follows what is
    /// open, not the session's length. What we closed may still be added to.
    pub(super) fn forget_contents(&mut self, kept: impl Fn(&TrackedCall) -> bool) {
        for id in std::mem::take(&mut self.recent) {
            let Some(tracked) = self.by_id.get_mut(&id) else { continue };
            let may_change = tracked.call.state.is_unresolved() || tracked.call.closed_by_host;
            if may_change || kept(tracked) {
                self.recent.push(id);
            } else {
                tracked.forget_contents();
            }
        }
    }

    /// What is known of the recent calls and not stored with them.
    pub(super) fn unstored(&self) -> Vec<UnstoredCall> {
        let recent = self.recent.iter().filter_map(|id| self.by_id.get(id));
        let unstored = recent.map(|tracked| UnstoredCall {
            call: tracked.call.id.clone(),
            asked: tracked.asked,
            output: tracked.output.unless_as_stored(),
        });
        unstored.filter(|each| each.asked.is_some() || each.output.is_some()).collect()
    }

    pub(super) fn take_up(&mut self, unstored: Vec<UnstoredCall>) {
        for each in unstored {
            if let Some(tracked) = self.by_id.get_mut(&each.call) {
                tracked.asked = each.asked;
                tracked.output = each.output.unwrap_or_else(|| std::mem::take(&mut tracked.output));
            }
        }
    }

    fn unresolved_in(&self, turn: &TurnId) -> Vec<CallId> {
        let open = self.recent.iter().filter(|id| {
            self.by_id.get(*id).is_some_and(|call| call.turn.as_ref() == Some(turn) && call.call.state.is_unresolved())
        });
        open.cloned().collect()
    }
}

impl SessionRecord {
    /// A mention of a call (Calls 1 and 2), and the plan that its input may hold (Plans 1 and 2).
    pub(super) fn call(&mut self, mut report: CallReport, place: CallPlace, step: &mut Step<'_>) {
        let plan_text = report.plan_text.take();
        let todos = report.todos.take();
        let known = self.target(&report).filter(|id| {
            // A request about a call that ended is about a new one: it would have to reopen it.
            place == CallPlace::Mention || self.calls.get(id).is_some_and(|call| call.call.state.is_unresolved())
        });
        let id = match known {
            Some(id) => {
                self.update_call(id.clone(), report, place, step);
                id
            }
            None => self.insert_call(report, step),
        };
        if let Some(text) = plan_text {
            let turn = self.calls.get(&id).and_then(|call| call.turn.clone());
            self.plan_text(turn, &id, text, step);
        }
        if let Some(entries) = todos {
            self.set_to_do_list(entries, step);
        }
    }

    /// The call that a mention is about; `None`: a new one (Calls 2).
    fn target(&self, report: &CallReport) -> Option<CallId> {
        let newest = self.calls.newest(&report.agent_id)?;
        let this_turn = newest.turn == self.turns.active().id;
        let ended = !newest.call.state.is_unresolved();
        let is_target = if report.announced {
            this_turn && !(newest.call.announced && ended)
        } else {
            this_turn || !ended || newest.call.closed_by_host
        };
        is_target.then(|| newest.call.id.clone())
    }

    fn insert_call(&mut self, report: CallReport, step: &mut Step<'_>) -> CallId {
        let id = CallId::from_source(step.ids);
        let mut call = Call::new(id.clone());
        call.agent_id = Some(report.agent_id.clone());
        call.started_at = Some(step.at);
        call.parent = self.resolve(report.parent.as_ref()).filter(|parent| *parent != id);
        let mut tracked = TrackedCall::new(call, self.turns.active().id.clone());
        let cancelling = self.turns.active().open && self.turns.active().cancel_sent;
        let mut update = CallUpdate::default();
        tracked.take(report, CallPlace::Mention, cancelling, step.at, &mut update);
        if tracked.call.title.is_none() && tracked.call.kind_word.is_none() {
            tracked.call.title = Some(tracked.call.name.clone().unwrap_or_else(|| "Tool".to_owned()));
        }
        let mut stored = tracked.call.clone();
        stored.output = tracked.output.blocks();
        self.push_call(stored, step);
        self.calls.insert(tracked);
        id
    }

    fn update_call(&mut self, id: CallId, report: CallReport, place: CallPlace, step: &mut Step<'_>) {
        let cancelling = self.turns.active().open && self.turns.active().cancel_sent;
        let parent = self.resolve(report.parent.as_ref()).filter(|parent| *parent != id);
        let Some(tracked) = self.calls.get_mut(&id) else { return };
        let mut update = CallUpdate::default();
        if report.announced && tracked.call.parent.is_none() && parent.is_some() {
            tracked.call.parent.clone_from(&parent);
            update.parent = parent;
        }
        let was_open = tracked.asked.is_some();
        let output = tracked.take(report, place, cancelling, step.at, &mut update);
        if was_open && tracked.asked.is_none() {
            // The call's end made its request moot.
            self.requests.retain(|_, open| open.call != id);
        }
        if let OutputChange::Appended(text) = output {
            step.push(Change::AppendOutput { call: id.clone(), text });
        }
        push_update(id, update, step);
    }

    /// Closes what the agent left open at the end of a turn (Calls 5).
    pub(super) fn close_open_calls(&mut self, turn: &TurnId, state: CallState, step: &mut Step<'_>) {
        for id in self.calls.unresolved_in(turn) {
            let Some(tracked) = self.calls.get_mut(&id) else { continue };
            let mut update = CallUpdate::default();
            tracked.set_state(state, step.at, &mut update);
            tracked.call.closed_by_host = true;
            update.closed_by_host = Some(true);
            push_update(id, update, step);
        }
    }
}

/// Sets a field and its update where the value is new.
fn set<T: PartialEq + Clone>(field: &mut Option<T>, update: &mut Option<T>, value: Option<T>) {
    if value.is_some() && *field != value {
        field.clone_from(&value);
        *update = value;
    }
}

impl TrackedCall {
    pub(super) fn new(call: Call, turn: Option<TurnId>) -> Self {
        Self {
            call,
            turn,
            output: OutputPieces::default(),
            asked: None,
            plan_text: None,
            has_input: false,
            has_output: false,
        }
    }

    /// A stored call.
    pub(super) fn of_stored(mut call: Call, turn: Option<TurnId>, plan_text: Option<String>) -> Self {
        let output = OutputPieces::of_stored(&std::mem::take(&mut call.output));
        let has_input = call.input.as_ref().is_some_and(|input| !is_empty(input));
        let asked = match call.permission.as_ref().and_then(|permission| permission.state) {
            Some(PermissionState::Open) => Some((CallState::Pending, call.started_at.unwrap_or_default())),
            Some(PermissionState::Answered | PermissionState::Expired) | None => None,
        };
        let has_output = !output.is_empty();
        Self { call, turn, output, asked, plan_text, has_input, has_output }
    }

    /// With its output.
    pub(super) fn whole(&self) -> Call {
        Call { output: self.output.blocks(), ..self.call.clone() }
    }

    fn forget_contents(&mut self) {
        self.call.input = None;
        self.call.locations = Vec::new();
        self.output = OutputPieces::default();
        self.plan_text = self.plan_text.take().filter(|_| self.call.state.is_unresolved());
    }

    /// Takes a mention: fields that are present replace, absent ones stay (Calls 3).
    fn take(
        &mut self,
        report: CallReport,
        place: CallPlace,
        cancelling: bool,
        at: Millis,
        update: &mut CallUpdate,
    ) -> OutputChange {
        let call = &mut self.call;
        set(&mut call.name, &mut update.name, report.name);
        set(&mut call.server, &mut update.server, report.server);
        set(&mut call.kind_word, &mut update.kind_word, report.kind);
        set(&mut call.title, &mut update.title, report.title);
        if let Some(input) = report.input
            && !(self.has_input && is_empty(&input))
        {
            self.has_input |= !is_empty(&input);
            set(&mut call.input, &mut update.input, Some(input));
        }
        if let Some(locations) = report.locations.filter(|locations| !locations.is_empty())
            && locations != call.locations
        {
            call.locations.clone_from(&locations);
            update.locations = Some(locations);
        }
        if report.announced && !call.announced {
            call.announced = true;
            update.announced = Some(true);
        }
        // What was forgotten may have been fuller than raw output that comes late.
        let raw_output = report.raw_output.filter(|_| !(self.has_output && self.output.is_empty()));
        let mut output = self.output.take(report.content, report.terminal, raw_output);
        if matches!(output, OutputChange::Appended(_)) && !self.output.shows_terminal() {
            output = OutputChange::Replaced;
        }
        if output == OutputChange::Replaced {
            update.output = Some(self.output.blocks());
        }
        let brings_output = output != OutputChange::None && !self.output.is_empty();
        self.has_output |= brings_output;
        let status = report.status.filter(|_| place == CallPlace::Mention);
        let said = Said::of(status, report.aborted, cancelling);
        self.take_said(said, brings_output, at, update);
        if output != OutputChange::None && !self.call.state.is_unresolved() {
            self.count_lines(update);
        }
        output
    }

    fn take_said(&mut self, said: Said, brings_output: bool, at: Millis, update: &mut CallUpdate) {
        let state = call_state::after(self.call.state, said, brings_output, self.has_output);
        if state == self.call.state {
            return;
        }
        if self.call.state == CallState::AwaitingPermission {
            self.close_permission(PermissionState::Expired, None, None, at, update);
        }
        if self.call.closed_by_host {
            self.call.closed_by_host = false;
            update.closed_by_host = Some(false);
        }
        self.set_state(state, at, update);
    }

    pub(super) fn set_state(&mut self, state: CallState, at: Millis, update: &mut CallUpdate) {
        if self.call.state == state {
            return;
        }
        self.call.state = state;
        update.state = Some(state);
        if !state.is_unresolved() {
            if self.call.ended_at.is_none() {
                self.call.ended_at = Some(at);
                update.ended_at = Some(at);
            }
            self.count_lines(update);
        }
    }

    /// Lines are counted when the call ends (Calls 5).
    fn count_lines(&mut self, update: &mut CallUpdate) {
        if !self.output.is_empty() {
            set(&mut self.call.lines, &mut update.lines, count_lines(&self.output.blocks()));
        }
    }

    pub(super) fn await_permission(&mut self, permission: Permission, at: Millis, update: &mut CallUpdate) {
        let before = self.asked.map_or(self.call.state, |(before, _)| before);
        self.asked = Some((before, at));
        set(&mut self.call.permission, &mut update.permission, Some(permission));
        self.set_state(CallState::AwaitingPermission, at, update);
    }

    pub(super) fn refuses(&self, option: &str) -> bool {
        let options = self.call.permission.iter().flat_map(|permission| &permission.options);
        let mut kinds = options.filter(|each| option_id(each) == Some(option)).filter_map(|each| each.get("kind"));
        kinds.any(|kind| kind.as_str().is_some_and(|kind| kind.starts_with("reject")))
    }

    /// The request is over: what was waited is counted.
    pub(super) fn close_permission(
        &mut self,
        state: PermissionState,
        chosen: Option<String>,
        by: Option<String>,
        at: Millis,
        update: &mut CallUpdate,
    ) {
        if let Some((_, since)) = self.asked.take() {
            let waited = self.call.waited_ms.unwrap_or_default() + (at - since).max(0);
            set(&mut self.call.waited_ms, &mut update.waited_ms, Some(waited));
        }
        let permission = self.call.permission.clone().map(|permission| Permission {
            state: Some(state),
            chosen,
            by,
            at: (state == PermissionState::Answered).then_some(at),
            ..permission
        });
        set(&mut self.call.permission, &mut update.permission, permission);
    }

    pub(super) fn expire_permission(&mut self, at: Millis, update: &mut CallUpdate) {
        let before = self.asked.map(|(before, _)| before);
        self.close_permission(PermissionState::Expired, None, None, at, update);
        if let Some(before) = before
            && self.call.state == CallState::AwaitingPermission
        {
            self.set_state(before, at, update);
        }
    }
}

/// An input that says nothing.
fn is_empty(input: &Value) -> bool {
    match input {
        Value::Null => true,
        Value::Object(object) => object.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => false,
    }
}

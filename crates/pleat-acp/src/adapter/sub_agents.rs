//! Sub-agents with sessions of their own: their updates belong to the session that started them
//! (docs/spec/record.md, Calls 8; ACP `subagent_update`, `session_message`).

use super::{SessionEvent, session_id, text_at};
use pleat_transcript::event::{CallReport, CallStatus, Event};
use pleat_transcript::ids::{AgentCallId, AgentSessionId};
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};

/// All sub-agents' sessions of one agent process.
#[derive(Default)]
pub(super) struct SubAgents {
    by_session: HashMap<AgentSessionId, SubAgent>,
    /// The calls that were mentioned: a sub-agent whose call is known makes none of its own.
    calls: HashSet<AgentCallId>,
}

struct SubAgent {
    /// The session that is recorded, and the call in it that this one's own call stands below.
    root: AgentSessionId,
    above: Option<AgentCallId>,
    title: Option<String>,
    prompt: Option<String>,
    call: Option<AgentCallId>,
}

impl SubAgents {
    pub(super) fn mentioned(&mut self, call: &AgentCallId) {
        self.calls.insert(call.clone());
    }

    /// Takes what is said about sub-agents, not by them; `None`: it is something else.
    pub(super) fn take(&mut self, session: &AgentSessionId, kind: &str, update: &Value) -> Option<Vec<SessionEvent>> {
        match kind {
            "subagent_update" => Some(self.announced(session, update)),
            "session_message" => Some(self.message(update)),
            _ => None,
        }
    }

    fn announced(&mut self, session: &AgentSessionId, update: &Value) -> Vec<SessionEvent> {
        let Some(child) = session_id(update) else { return Vec::new() };
        if !self.by_session.contains_key(&child) {
            let (root, above) = match self.by_session.get(session) {
                Some(parent) => (parent.root.clone(), parent.call.clone()),
                None => (session.clone(), None),
            };
            let sub_agent = SubAgent { root, above, title: None, prompt: None, call: None };
            self.by_session.insert(child.clone(), sub_agent);
        }
        if let Some(sub_agent) = self.by_session.get_mut(&child)
            && let Some(title) = text_at(update, "title")
        {
            sub_agent.title = Some(title);
        }
        match update.pointer("/state/state").and_then(Value::as_str) {
            None | Some("running") => Vec::new(),
            Some(_) => self.ended(&child, update),
        }
    }

    fn ended(&mut self, child: &AgentSessionId, update: &Value) -> Vec<SessionEvent> {
        let mut events = self.ensure_call(child, None);
        let failed = matches!(
            update.pointer("/state/stopReason").and_then(Value::as_str),
            Some("error" | "cancelled" | "refusal")
        );
        let status = if failed { CallStatus::Failed } else { CallStatus::Completed };
        events.extend(self.say_of_call(child, |report| report.status = Some(status)));
        events
    }

    /// What goes between a session and its sub-agent: the task, or the answer.
    fn message(&mut self, update: &Value) -> Vec<SessionEvent> {
        let session = |key| text_at(update, key).map(AgentSessionId);
        let text = message_text(update);
        if let Some(child) = session("recipientSessionId").filter(|id| self.by_session.contains_key(id)) {
            if let Some(sub_agent) = self.by_session.get_mut(&child) {
                sub_agent.prompt.get_or_insert(text);
            }
            return Vec::new();
        }
        let Some(child) = session("senderSessionId").filter(|id| self.by_session.contains_key(id)) else {
            return Vec::new();
        };
        let content = vec![json!({"type": "content", "content": {"type": "text", "text": text}})];
        self.say_of_call(&child, |report| report.content = Some(content))
    }

    /// The session and the parent that an update is recorded under, and the call that has to be made for it first.
    pub(super) fn place(
        &mut self,
        session: AgentSessionId,
        parent: Option<AgentCallId>,
    ) -> (AgentSessionId, Option<AgentCallId>, Vec<SessionEvent>) {
        if !self.by_session.contains_key(&session) {
            return (session, parent, Vec::new());
        }
        let events = self.ensure_call(&session, parent);
        match self.by_session.get(&session) {
            Some(sub_agent) => (sub_agent.root.clone(), sub_agent.call.clone(), events),
            None => (session, None, events),
        }
    }

    /// Makes the sub-agent's call where no call has the id that `named` names.
    fn ensure_call(&mut self, child: &AgentSessionId, named: Option<AgentCallId>) -> Vec<SessionEvent> {
        let Some(sub_agent) = self.by_session.get_mut(child).filter(|sub_agent| sub_agent.call.is_none()) else {
            return Vec::new();
        };
        let call = named.unwrap_or_else(|| AgentCallId(child.0.clone()));
        sub_agent.call = Some(call.clone());
        if !self.calls.insert(call.clone()) {
            return Vec::new();
        }
        let mut report = CallReport::new(call);
        report.announced = true;
        report.name = Some("Agent".to_owned());
        report.title.clone_from(&sub_agent.title);
        report.status = Some(CallStatus::InProgress);
        report.parent.clone_from(&sub_agent.above);
        report.input = sub_agent.input();
        vec![(sub_agent.root.clone(), Event::Call(Box::new(report)))]
    }

    fn say_of_call(&mut self, child: &AgentSessionId, say: impl FnOnce(&mut CallReport)) -> Vec<SessionEvent> {
        let Some(sub_agent) = self.by_session.get(child) else { return Vec::new() };
        let Some(call) = sub_agent.call.clone() else { return Vec::new() };
        let mut report = CallReport::new(call);
        say(&mut report);
        vec![(sub_agent.root.clone(), Event::Call(Box::new(report)))]
    }
}

impl SubAgent {
    fn input(&self) -> Option<Value> {
        let fields = [("description", &self.title), ("prompt", &self.prompt)];
        let known = fields.into_iter().filter_map(|(key, text)| Some((key.to_owned(), Value::from(text.clone()?))));
        let input: Map<String, Value> = known.collect();
        (!input.is_empty()).then_some(Value::Object(input))
    }
}

fn message_text(update: &Value) -> String {
    let blocks = update.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    blocks.iter().filter_map(|block| text_at(block, "text")).collect()
}

impl super::Adapter {
    /// Whether this is the session of a sub-agent, which is recorded in its parent's.
    pub fn is_sub_agent(&self, session: &AgentSessionId) -> bool {
        self.sub_agents.by_session.contains_key(session)
    }

    /// The session that is recorded: a sub-agent's first parent, else the session itself.
    pub fn recorded_session(&self, session: &AgentSessionId) -> AgentSessionId {
        self.sub_agents.by_session.get(session).map_or(session, |sub_agent| &sub_agent.root).clone()
    }
}

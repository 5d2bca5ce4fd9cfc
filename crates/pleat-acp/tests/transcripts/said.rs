//! What an agent said in a raw trace, read without the adapter: the yardstick of the transcripts.

use crate::traces::Trace;
use pleat_acp::trace::TraceItem;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Channel {
    Message,
    Thinking,
}

/// What was said in one session outside replays.
#[derive(Default)]
pub(crate) struct Said {
    session: String,
    deltas: Vec<(Channel, String)>,
    /// The agent's ids of its calls, those of replays apart.
    pub(crate) calls: BTreeSet<String>,
    replayed_calls: BTreeSet<String>,
    sub_agents: BTreeSet<String>,
    replaying: bool,
}

impl Said {
    /// The sessions of a trace in the order of their first appearance.
    pub(crate) fn by_session(trace: &Trace) -> Vec<Self> {
        let mut reader = Reader::default();
        for line in trace.lines() {
            match line.what {
                TraceItem::ClientToAgent(message) => reader.client(&message),
                TraceItem::AgentToClient(message) => reader.agent(&message),
                TraceItem::AgentRaw(_) | TraceItem::AgentStderr(_) | TraceItem::Note(_) => {}
            }
        }
        reader.sessions
    }

    pub(crate) fn text(&self, channel: Channel) -> String {
        self.deltas.iter().filter(|(of, _)| *of == channel).map(|(_, text)| text.as_str()).collect()
    }

    /// Whether there are deltas of white space alone.
    pub(crate) fn holds_blank_deltas(&self, channel: Channel) -> bool {
        self.deltas.iter().any(|(of, text)| *of == channel && !text.is_empty() && text.trim().is_empty())
    }

    /// Whether somebody mentioned a call of this id, or it is a sub-agent's.
    pub(crate) fn names_call(&self, id: &str) -> bool {
        self.calls.contains(id) || self.replayed_calls.contains(id) || self.sub_agents.contains(id)
    }
}

#[derive(Default)]
struct Reader {
    sessions: Vec<Said>,
    /// Sessions of sub-agents, and the one that each belongs to.
    parents: HashMap<String, String>,
    opening: HashMap<String, Option<String>>,
    answers_load_first: bool,
}

impl Reader {
    fn session(&mut self, id: &str) -> Option<&mut Said> {
        let id = self.parents.get(id).map_or(id, String::as_str).to_owned();
        self.sessions.iter_mut().find(|said| said.session == id)
    }

    fn open(&mut self, session: &str) {
        if self.session(session).is_none() {
            self.sessions.push(Said { session: session.to_owned(), ..Said::default() });
        }
    }

    fn client(&mut self, message: &Value) {
        let session = message.pointer("/params/sessionId").and_then(Value::as_str).map(str::to_owned);
        let id = message["id"].to_string();
        match (message["method"].as_str(), session) {
            (Some("session/new"), _) => {
                self.opening.insert(id, None);
            }
            (Some("session/load"), Some(session)) => {
                self.open(&session);
                self.session(&session).unwrap().replaying = true;
                self.opening.insert(id, Some(session));
            }
            (Some("session/prompt"), Some(session)) => self.session(&session).unwrap().replaying = false,
            _ => {}
        }
    }

    fn agent(&mut self, message: &Value) {
        match (message["method"].as_str(), &message["params"]) {
            (Some("session/update"), params) => self.update(params["sessionId"].as_str().unwrap(), &params["update"]),
            (Some("session/request_permission"), params) => {
                self.mention(params["sessionId"].as_str().unwrap(), &params["toolCall"]);
            }
            (Some(_), _) => {}
            (None, _) => self.answer(message),
        }
    }

    fn answer(&mut self, message: &Value) {
        if let Some(name) = message.pointer("/result/agentInfo/name") {
            self.answers_load_first = name == "gemini-cli";
        }
        match self.opening.remove(&message["id"].to_string()) {
            Some(Some(loaded)) if !self.answers_load_first => self.session(&loaded).unwrap().replaying = false,
            Some(None) => {
                if let Some(session) = message.pointer("/result/sessionId").and_then(Value::as_str) {
                    self.open(session);
                }
            }
            Some(Some(_)) | None => {}
        }
    }

    fn update(&mut self, session: &str, update: &Value) {
        let channel = match update["sessionUpdate"].as_str().unwrap() {
            "agent_message_chunk" => Channel::Message,
            "agent_thought_chunk" => Channel::Thinking,
            "tool_call" | "tool_call_update" => return self.mention(session, update),
            "subagent_update" => return self.sub_agent(session, update),
            _ => return,
        };
        let text = update.pointer("/content/text").and_then(Value::as_str).unwrap_or_default().to_owned();
        if let Some(said) = self.session(session).filter(|said| !said.replaying) {
            said.deltas.push((channel, text));
        }
    }

    fn mention(&mut self, session: &str, call: &Value) {
        let id = call["toolCallId"].as_str().unwrap().to_owned();
        if let Some(said) = self.session(session) {
            let calls = if said.replaying { &mut said.replayed_calls } else { &mut said.calls };
            calls.insert(id);
        }
    }

    fn sub_agent(&mut self, session: &str, update: &Value) {
        let child = update["sessionId"].as_str().unwrap();
        self.parents.insert(child.to_owned(), session.to_owned());
        self.session(session).unwrap().sub_agents.insert(child.to_owned());
    }
}

//! The adapter: what one agent process says, turned into [`Event`]s (ARCHITECTURE.md, "One way through the house").
//!
//! It reads ACP leniently: what it does not know it leaves out, and nothing that it cannot read ends a turn. What only
//! one agent does stands in that agent's file of `crate::dialect`; this module is what all agents share. One adapter
//! serves one agent process, for all its sessions.

mod call_report;
mod client_terminals;
mod content;
mod prompt_answer;
mod sub_agents;

pub(crate) use call_report::exit_value;

use crate::dialect::{Dialect, dialect_of};
use client_terminals::ClientTerminals;
use content::{Content, read_content};
use pleat_transcript::event::{Channel, Event, RequestKey, TerminalOutput, TextChunk};
use pleat_transcript::ids::{AgentCallId, AgentSessionId};
use pleat_transcript::message::{JsonObject, PlanEntry};
use pleat_transcript::session::ContextGauge;
use serde_json::Value;
use sub_agents::SubAgents;

/// Turns what one agent process says into events of its sessions.
pub struct Adapter {
    dialect: Box<dyn Dialect>,
    sub_agents: SubAgents,
    terminals: ClientTerminals,
}

/// A dialect's mark ends the agent's own text; sub-agents' texts have none.
const TEXT_ENDED: Event = Event::TextEnded { parent: None };

/// An event, and the session it happened in.
pub type SessionEvent = (AgentSessionId, Event);

impl Adapter {
    /// An adapter for an agent of which nothing is known yet.
    pub fn new() -> Self {
        Self { dialect: dialect_of(None), sub_agents: SubAgents::default(), terminals: ClientTerminals::default() }
    }

    /// Takes the agent's answer to `initialize`: its name decides the dialect.
    pub fn initialized(&mut self, result: &Value) {
        self.dialect = dialect_of(result.pointer("/agentInfo/name").and_then(Value::as_str));
    }

    /// Whether the replay of `session/load` goes on after its answer, until the next prompt.
    pub fn replays_after_answer(&self) -> bool {
        self.dialect.replays_after_answer()
    }

    /// What a prompt (`session/prompt`) says: its text, and its other blocks.
    pub fn prompt(params: &Value) -> (String, Vec<pleat_transcript::message::Media>) {
        content::read_prompt(params.get("prompt").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default())
    }

    /// Takes a `session/update` notification. `replaying`: it is part of a replay.
    pub fn update(&mut self, params: &Value, replaying: bool) -> Vec<SessionEvent> {
        let (Some(session), Some(update)) = (session_id(params), params.get("update")) else { return Vec::new() };
        if replaying && self.dialect.drops_replayed(update) {
            // It stood between two texts all the same.
            return vec![(session, TEXT_ENDED)];
        }
        let Some(kind) = update.get("sessionUpdate").and_then(Value::as_str) else { return Vec::new() };
        if let Some(events) = self.sub_agents.take(&session, kind, update) {
            return events;
        }
        let ends = self.dialect.text_ends(update, replaying);
        let parent = self.dialect.parent(update);
        let (session, parent, mut events) = self.sub_agents.place(session, parent);
        let said = match kind {
            "agent_message_chunk" => chunk(Channel::Message, update, parent),
            "agent_thought_chunk" => chunk(Channel::Thinking, update, parent),
            "user_message_chunk" if parent.is_none() => user_chunk(update),
            "tool_call" => self.call(&session, update, true, parent),
            "tool_call_update" => self.call(&session, update, false, parent),
            "plan" if parent.is_none() => plan(update),
            "usage_update" if parent.is_none() => context(update),
            "session_info_update" if parent.is_none() => title(update),
            // Modes, commands and configuration make no message; kinds that we do not know are kept in the wire log.
            _ => Vec::new(),
        };
        let before = ends.before.then_some(TEXT_ENDED);
        let after = ends.after.then_some(TEXT_ENDED);
        events.extend(before.into_iter().chain(said).chain(after).map(|event| (session.clone(), event)));
        events
    }

    /// Takes a `session/request_permission` request.
    pub fn permission(&mut self, request: RequestKey, params: &Value) -> Vec<SessionEvent> {
        let (Some(session), Some(call)) = (session_id(params), params.get("toolCall")) else { return Vec::new() };
        let parent = self.dialect.parent(call);
        let (session, parent, mut events) = self.sub_agents.place(session, parent);
        let Some(report) = self.report(&session, call, false, parent) else { return events };
        let options = params.get("options").and_then(Value::as_array).cloned().unwrap_or_default();
        events.push((session, Event::PermissionAsked { request, report: Box::new(report), options }));
        events
    }

    /// Takes what a terminal that the client runs has said, and how it ended (an exit code, or a signal's name). It is
    /// told at the first call that shows the terminal, what came before that whole; until then it waits here, at most
    /// 64 MiB of all terminals together.
    pub fn terminal(&mut self, id: &str, output: Option<TerminalOutput>, exit: Option<Value>) -> Vec<SessionEvent> {
        self.terminals.says(id, output, exit)
    }

    fn call(
        &mut self,
        session: &AgentSessionId,
        update: &Value,
        announced: bool,
        parent: Option<AgentCallId>,
    ) -> Vec<Event> {
        let report = self.report(session, update, announced, parent);
        report.map(|report| Event::Call(Box::new(report))).into_iter().collect()
    }

    /// What one mention of a call says, corrected by the dialect.
    fn report(
        &mut self,
        session: &AgentSessionId,
        call: &Value,
        announced: bool,
        parent: Option<AgentCallId>,
    ) -> Option<pleat_transcript::event::CallReport> {
        let mut report = call_report::read(call, announced)?;
        report.parent = parent;
        self.terminals.shown(session, &mut report);
        self.dialect.correct(&mut report, call);
        self.sub_agents.mentioned(&report.agent_id);
        Some(report)
    }
}

impl Default for Adapter {
    fn default() -> Self {
        Self::new()
    }
}

/// The session that a message is about.
pub fn session_id(params: &Value) -> Option<AgentSessionId> {
    text_at(params, "sessionId").map(AgentSessionId)
}

pub(crate) fn text_at(value: &Value, key: &str) -> Option<String> {
    value.get(key)?.as_str().map(str::to_owned)
}

fn chunk(channel: Channel, update: &Value, parent: Option<AgentCallId>) -> Vec<Event> {
    let message_id = text_at(update, "messageId");
    let content = update.get("content").and_then(|content| read_content(content, message_id.clone()));
    let event = content.map(|content| match content {
        Content::Text(text) => Event::Text(TextChunk { channel, text, message_id, parent }),
        Content::Media(media) => Event::Media { media, parent },
    });
    event.into_iter().collect()
}

fn user_chunk(update: &Value) -> Vec<Event> {
    let message_id = text_at(update, "messageId");
    let content = update.get("content").and_then(|content| read_content(content, None));
    let event = content.map(|content| match content {
        Content::Text(text) => Event::UserText { text, message_id },
        Content::Media(media) => Event::UserMedia { media, message_id },
    });
    event.into_iter().collect()
}

fn plan(update: &Value) -> Vec<Event> {
    let Some(entries) = update.get("entries").and_then(Value::as_array) else { return Vec::new() };
    vec![Event::Plan { entries: entries.iter().filter_map(plan_entry).collect() }]
}

/// ACP's `PlanEntry`; to-do tools name the text `content`, some `title`.
pub(crate) fn plan_entry(entry: &Value) -> Option<PlanEntry> {
    let content = text_at(entry, "content").or_else(|| text_at(entry, "title"))?;
    Some(PlanEntry {
        content,
        status_word: text_at(entry, "status"),
        priority: text_at(entry, "priority"),
        extra: JsonObject::new(),
    })
}

fn context(update: &Value) -> Vec<Event> {
    let number = |key| update.get(key).and_then(Value::as_u64);
    let gauge = number("used").zip(number("size")).map(|(used, size)| Event::Context(ContextGauge { used, size }));
    gauge.into_iter().collect()
}

fn title(update: &Value) -> Vec<Event> {
    text_at(update, "title").map(Event::Title).into_iter().collect()
}

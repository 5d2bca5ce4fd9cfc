//! What an agent writes → events → messages: nothing it says makes the adapter, the record or the fold panic, and what
//! is stored is a document.
//!
//! The input is lines as an agent writes them, or lines of a trace, which hold them in `msg`. The first byte chooses
//! the dialect.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pleat_acp::adapter::{Adapter, SessionEvent, session_id};
use pleat_transcript::change::Change;
use pleat_transcript::document::{Document, Window};
use pleat_transcript::event::{Event, PermissionOutcome, PromptKey, RequestKey};
use pleat_transcript::fold::fold;
use pleat_transcript::ids::{AgentSessionId, CountedIds, SessionId};
use pleat_transcript::record::SessionRecord;
use pleat_transcript::session::Session;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const AGENTS: [&str; 10] = [
    "unknown",
    "@agentclientprotocol/claude-agent-acp",
    "@agentclientprotocol/codex-acp",
    "Copilot",
    "fast-agent-acp",
    "gemini-cli",
    "Kimi Code CLI",
    "OpenCode",
    "qwen-code",
    "@mistralai/mistral-vibe",
];

/// Sessions beyond so many are left out: they only cost time.
const MOST_SESSIONS: usize = 4;

fuzz_target!(|input: &[u8]| {
    let Some((first, lines)) = input.split_first() else { return };
    let mut host = Host::new(AGENTS[usize::from(*first) % AGENTS.len()]);
    for line in lines.split(|byte| *byte == b'\n') {
        if let Ok(line) = serde_json::from_slice::<Value>(line) {
            host.hear(line.get("msg").unwrap_or(&line));
        }
    }
    host.finish();
});

struct Host {
    adapter: Adapter,
    sessions: BTreeMap<AgentSessionId, Recorded>,
    prompts: usize,
    at: i64,
}

struct Recorded {
    document: Document,
    record: SessionRecord,
    ids: CountedIds,
}

impl Recorded {
    fn new() -> Self {
        let id = SessionId::new("s1").expect("an id");
        Self {
            document: Document::new(Session::new(id.clone())),
            record: SessionRecord::new(id),
            ids: CountedIds::default(),
        }
    }

    fn happened(&mut self, event: Event, at: i64) {
        let changes = self.record.apply(event, at, &mut self.ids);
        self.keep(&changes);
    }

    fn keep(&mut self, changes: &[Change]) {
        for change in changes {
            self.document.apply(change).expect("a change fits the document that it was made for");
        }
    }
}

impl Host {
    fn new(agent: &str) -> Self {
        let mut adapter = Adapter::new();
        adapter.initialized(&json!({"agentInfo": {"name": agent}}));
        Self { adapter, sessions: BTreeMap::new(), prompts: 0, at: 0 }
    }

    fn hear(&mut self, message: &Value) {
        self.at += 1;
        let params = message.get("params").unwrap_or(message);
        match message.get("method").and_then(Value::as_str) {
            Some("session/request_permission") => self.ask(params),
            Some("session/prompt") => self.prompt(params),
            Some("session/cancel") => self.everywhere(&Event::CancelSent),
            Some("session/load") => self.everywhere(&Event::ReplayBegins),
            Some("session/update") => self.update(params),
            Some(_) => {}
            None if message.get("result").is_some() || message.get("error").is_some() => self.answer(message),
            None if params.get("toolCall").is_some() => self.ask(params),
            None => self.update(params),
        }
    }

    fn update(&mut self, params: &Value) {
        let replaying = self.sessions.values().any(|session| session.record.is_replaying());
        let events = self.adapter.update(params, replaying);
        self.happened(events);
    }

    fn ask(&mut self, params: &Value) {
        let request = RequestKey(self.at.to_string());
        let events = self.adapter.permission(request.clone(), params);
        self.happened(events);
        // Every other question is answered, with what its first option says.
        if self.at % 2 == 0 {
            let option = params.pointer("/options/0/optionId").and_then(Value::as_str);
            let outcome = option.map_or(PermissionOutcome::Cancelled, |option| PermissionOutcome::Selected {
                option: option.to_owned(),
            });
            self.everywhere(&Event::PermissionAnswered { request, outcome, by: None });
        }
    }

    fn prompt(&mut self, params: &Value) {
        self.prompts += 1;
        if let Some(session) = session_id(params) {
            self.open(session);
        }
        let (text, attachments) = Adapter::prompt(params);
        self.finish_replays();
        self.everywhere(&Event::Prompt { prompt: PromptKey(self.prompts.to_string()), text, attachments });
    }

    fn answer(&mut self, message: &Value) {
        let result = message.get("result").unwrap_or(&Value::Null);
        let answer = self.adapter.prompt_answer(message.get("error").map_or(Ok(result), Err));
        self.everywhere(&Event::PromptAnswered { prompt: PromptKey(self.prompts.to_string()), answer });
    }

    fn happened(&mut self, events: Vec<SessionEvent>) {
        for (session, event) in events {
            let at = self.at;
            if let Some(recorded) = self.open(session) {
                recorded.happened(event, at);
            }
        }
    }

    fn open(&mut self, session: AgentSessionId) -> Option<&mut Recorded> {
        let has_room = self.sessions.len() < MOST_SESSIONS || self.sessions.contains_key(&session);
        has_room.then(|| self.sessions.entry(session).or_insert_with(Recorded::new))
    }

    fn everywhere(&mut self, event: &Event) {
        for session in self.sessions.values_mut() {
            session.happened(event.clone(), self.at);
        }
    }

    fn finish_replays(&mut self) {
        for session in self.sessions.values_mut() {
            let changes = session.record.finish_replay(&session.document, self.at, &mut session.ids);
            session.keep(&changes);
        }
    }

    fn finish(mut self) {
        self.finish_replays();
        self.everywhere(&Event::AgentGone { reason: None, last_words: String::new() });
        for session in self.sessions.values() {
            let text = session.document.to_json().to_string();
            let again = Document::from_json(&text).expect("what is stored is a document");
            assert_eq!(again, session.document);
            fold(&again, &Window::Latest).expect("the latest window always folds");
        }
    }
}

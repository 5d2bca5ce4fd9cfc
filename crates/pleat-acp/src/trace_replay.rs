//! A recorded trace through adapter and record, in memory (docs/spec/record.md, beginning).
//!
//! The trace's times stand in for the clock and ids count up, so the same trace gives the same documents on every run.
//! Where the trace holds a kill, this does what the host would: it closes what was open, and compares what the next
//! process replays with what is there.

use crate::adapter::{Adapter, SessionEvent, session_id};
use crate::connection::messages::method;
use crate::trace::{TraceError, TraceItem, TraceLine};
use pleat_transcript::document::Document;
use pleat_transcript::event::{Event, PermissionOutcome, PromptKey, RequestKey, TerminalOutput};
use pleat_transcript::ids::{AgentSessionId, CountedIds, SessionId};
use pleat_transcript::record::SessionRecord;
use pleat_transcript::session::{Millis, Session};
use serde_json::Value;
use std::collections::HashMap;

/// What a trace came to.
#[derive(Debug)]
pub struct Replayed {
    /// The sessions' transcripts, in the order of their first appearance.
    pub documents: Vec<Document>,
    /// What was left out, a sentence each: lines that are no trace lines, a torn end.
    pub remarks: Vec<String>,
    /// The last error that the agent answered with, which says why where there is no session at all.
    pub last_error: Option<String>,
}

/// What is done to a session's record before each event.
pub type Between = fn(&mut SessionRecord, &Document);

/// Replays the lines of a trace. Only an error of reading the file ends it early.
pub fn replay(lines: impl Iterator<Item = Result<TraceLine, TraceError>>) -> Result<Replayed, TraceError> {
    replay_with(lines, |_, _| {})
}

/// Replays the lines of a trace, and does something to the record between any two events. So it can be shown that a
/// record may be put away and rebuilt at any moment.
pub fn replay_with(
    lines: impl Iterator<Item = Result<TraceLine, TraceError>>,
    between: Between,
) -> Result<Replayed, TraceError> {
    let mut replay = TraceReplay::new(between);
    let mut remarks = Vec::new();
    for line in lines {
        match line {
            Ok(line) => replay.line(line),
            Err(error @ TraceError::Torn { .. }) => remarks.push(error.to_string()),
            Err(error @ (TraceError::Open { .. } | TraceError::Read { .. } | TraceError::Malformed { .. })) => {
                return Err(error);
            }
        }
    }
    replay.end();
    remarks.extend(replay.remarks);
    let documents = replay.sessions.into_iter().map(|session| session.document).collect();
    Ok(Replayed { documents, remarks, last_error: replay.last_error })
}

struct TraceReplay {
    between: Between,
    sessions: Vec<ReplayedSession>,
    process: AgentProcess,
    /// How many processes there were: ids of requests start anew with each.
    processes: usize,
    at: Millis,
    remarks: Vec<String>,
    last_error: Option<String>,
}

/// What is known of the agent process that is running.
#[derive(Default)]
struct AgentProcess {
    adapter: Adapter,
    agent: Option<String>,
    /// Our requests that it did not answer.
    asked: HashMap<String, Asked>,
    /// Its requests that we did not answer.
    serves: HashMap<String, Serves>,
}

/// A request of the client.
enum Asked {
    Initialize,
    NewSession { cwd: Option<String> },
    LoadSession { session: AgentSessionId },
    Prompt { session: AgentSessionId, prompt: PromptKey },
    Other,
}

/// A request of the agent.
enum Serves {
    Permission { session: AgentSessionId, request: RequestKey },
    Terminal(TerminalAsk),
}

/// What an agent asks about a terminal of the client.
enum TerminalAsk {
    Create,
    Output { id: String },
    Exit { id: String },
}

struct ReplayedSession {
    agent_session: AgentSessionId,
    document: Document,
    record: SessionRecord,
    ids: CountedIds,
}

impl ReplayedSession {
    fn apply(&mut self, event: Event, at: Millis) {
        let changes = self.record.apply(event, at, &mut self.ids);
        self.keep(&changes);
    }

    fn finish_replay(&mut self, at: Millis) {
        let changes = self.record.finish_replay(&self.document, at, &mut self.ids);
        self.keep(&changes);
    }

    fn keep(&mut self, changes: &[pleat_transcript::change::Change]) {
        for change in changes {
            // They were made for this very document.
            let fits = self.document.apply(change);
            debug_assert!(fits.is_ok(), "{fits:?}");
        }
    }
}

impl TraceReplay {
    fn new(between: Between) -> Self {
        Self {
            between,
            sessions: Vec::new(),
            process: AgentProcess::default(),
            processes: 0,
            at: 0,
            remarks: Vec::new(),
            last_error: None,
        }
    }

    fn line(&mut self, line: TraceLine) {
        self.at = line.at_ms;
        match line.what {
            TraceItem::ClientToAgent(message) => self.client(&message),
            TraceItem::AgentToClient(message) => self.agent(&message),
            TraceItem::AgentRaw(raw) => {
                self.remarks.push(format!("line {}: {} bytes of the agent's output are no JSON", line.line, raw.len()));
            }
            TraceItem::AgentStderr(_) => {}
            TraceItem::Note(note) => self.note(&note),
        }
    }

    fn note(&mut self, note: &Value) {
        if tells_of_an_end(note) {
            self.process_gone();
        }
    }

    fn end(&mut self) {
        self.process_gone();
    }

    /// What a process leaves open is closed; the next one starts anew.
    fn process_gone(&mut self) {
        for session in &mut self.sessions {
            session.finish_replay(self.at);
            session.apply(Event::AgentGone { reason: None, last_words: String::new() }, self.at);
        }
        self.process = AgentProcess::default();
        self.processes += 1;
    }

    fn client(&mut self, message: &Value) {
        let params = message.get("params").unwrap_or(&Value::Null);
        match (message.get("method").and_then(Value::as_str), message.get("id")) {
            (Some(method::SESSION_CANCEL), None) => self.happened_in(session_id(params).as_ref(), Event::CancelSent),
            (Some(method), Some(id)) => self.client_asks(method, id.to_string(), params),
            (None, Some(id)) => self.client_answers(&id.to_string(), message),
            (_, None) => {}
        }
    }

    fn client_asks(&mut self, method: &str, id: String, params: &Value) {
        let asked = match (method, session_id(params)) {
            (method::INITIALIZE, _) => {
                if !self.process.asked.is_empty() || self.process.agent.is_some() {
                    // Each process is greeted once: this is the next one.
                    self.process_gone();
                }
                Asked::Initialize
            }
            (method::SESSION_NEW, _) => {
                Asked::NewSession { cwd: params.get("cwd").and_then(Value::as_str).map(str::to_owned) }
            }
            (method::SESSION_LOAD, Some(session)) => {
                let cwd = params.get("cwd").and_then(Value::as_str).map(str::to_owned);
                self.open(session.clone(), cwd);
                self.happened_in(Some(&session), Event::ReplayBegins);
                Asked::LoadSession { session }
            }
            (method::SESSION_RESUME, Some(session)) => {
                let cwd = params.get("cwd").and_then(Value::as_str).map(str::to_owned);
                self.open(session, cwd);
                Asked::Other
            }
            (method::SESSION_PROMPT, Some(session)) => {
                self.finish_replay(&session);
                let prompt = PromptKey(format!("{}:{id}", self.processes));
                let (text, attachments) = Adapter::prompt(params);
                let event = Event::Prompt { prompt: prompt.clone(), text, attachments };
                self.happened_in(Some(&session), event);
                Asked::Prompt { session, prompt }
            }
            _ => Asked::Other,
        };
        self.process.asked.insert(id, asked);
    }

    fn client_answers(&mut self, id: &str, message: &Value) {
        let result = message.get("result").unwrap_or(&Value::Null);
        match self.process.serves.remove(id) {
            Some(Serves::Permission { session, request }) => {
                let outcome = match result.pointer("/outcome/optionId").and_then(Value::as_str) {
                    Some(option) => PermissionOutcome::Selected { option: option.to_owned() },
                    None => PermissionOutcome::Cancelled,
                };
                self.happened_in(Some(&session), Event::PermissionAnswered { request, outcome, by: None });
            }
            Some(Serves::Terminal(ask)) => self.terminal_answered(ask, result),
            None => {}
        }
    }

    fn terminal_answered(&mut self, ask: TerminalAsk, result: &Value) {
        let exit = |value: Option<&Value>| value.and_then(crate::adapter::exit_value);
        let whole = |text: Option<&Value>| text?.as_str().map(|text| TerminalOutput::Whole(text.to_owned()));
        let (id, output, exit) = match ask {
            TerminalAsk::Create => match result.get("terminalId").and_then(Value::as_str) {
                Some(id) => (id.to_owned(), None, None),
                None => return,
            },
            TerminalAsk::Output { id } => (id, whole(result.get("output")), exit(result.get("exitStatus"))),
            TerminalAsk::Exit { id } => (id, None, exit(Some(result))),
        };
        let events = self.process.adapter.terminal(&id, output, exit);
        self.apply(events);
    }

    fn agent(&mut self, message: &Value) {
        let params = message.get("params").unwrap_or(&Value::Null);
        match (message.get("method").and_then(Value::as_str), message.get("id")) {
            (Some(method::SESSION_UPDATE), None) => {
                let replaying = session_id(params).is_some_and(|id| self.is_replaying(&id));
                let events = self.process.adapter.update(params, replaying);
                self.apply(events);
            }
            (Some(method), Some(id)) => self.agent_asks(method, id.to_string(), params),
            (None, Some(id)) => self.agent_answers(&id.to_string(), message),
            (_, None) => {}
        }
    }

    fn agent_asks(&mut self, method: &str, id: String, params: &Value) {
        let terminal = || params.get("terminalId").and_then(Value::as_str).map(str::to_owned);
        let serves = match (method, terminal()) {
            (method::SESSION_REQUEST_PERMISSION, _) => {
                let request = RequestKey(format!("{}:{id}", self.processes));
                let events = self.process.adapter.permission(request.clone(), params);
                let session = events.last().map(|(session, _)| session.clone());
                self.apply(events);
                session.map(|session| Serves::Permission { session, request })
            }
            (method::TERMINAL_CREATE, _) => Some(Serves::Terminal(TerminalAsk::Create)),
            (method::TERMINAL_OUTPUT, Some(id)) => Some(Serves::Terminal(TerminalAsk::Output { id })),
            (method::TERMINAL_WAIT_FOR_EXIT, Some(id)) => Some(Serves::Terminal(TerminalAsk::Exit { id })),
            _ => None,
        };
        if let Some(serves) = serves {
            self.process.serves.insert(id, serves);
        }
    }

    fn agent_answers(&mut self, id: &str, message: &Value) {
        let result = message.get("result").unwrap_or(&Value::Null);
        if let Some(error) = message.get("error") {
            self.last_error = error.get("message").and_then(Value::as_str).map(str::to_owned);
        }
        match self.process.asked.remove(id) {
            Some(Asked::Initialize) => {
                self.process.adapter.initialized(result);
                self.process.agent = result.pointer("/agentInfo/name").and_then(Value::as_str).map(str::to_owned);
            }
            Some(Asked::NewSession { cwd }) => {
                if let Some(session) = session_id(result) {
                    self.open(session, cwd);
                }
            }
            Some(Asked::LoadSession { session }) => {
                if !self.process.adapter.replays_after_answer() {
                    self.finish_replay(&session);
                }
            }
            Some(Asked::Prompt { session, prompt }) => {
                let answer = self.process.adapter.prompt_answer(message.get("error").map_or(Ok(result), Err));
                self.happened_in(Some(&session), Event::PromptAnswered { prompt, answer });
            }
            Some(Asked::Other) | None => {}
        }
    }

    fn open(&mut self, agent_session: AgentSessionId, cwd: Option<String>) {
        if self.sessions.iter().any(|session| session.agent_session == agent_session) {
            return;
        }
        let Ok(id) = SessionId::new(format!("s{}", self.sessions.len() + 1)) else { return };
        let mut session = Session::new(id.clone());
        session.root = cwd;
        session.agent.clone_from(&self.process.agent);
        session.created_at = Some(self.at);
        self.sessions.push(ReplayedSession {
            agent_session,
            document: Document::new(session),
            record: SessionRecord::new(id),
            ids: CountedIds::default(),
        });
    }

    fn is_replaying(&self, id: &AgentSessionId) -> bool {
        self.sessions.iter().any(|session| session.agent_session == *id && session.record.is_replaying())
    }

    fn finish_replay(&mut self, id: &AgentSessionId) {
        let at = self.at;
        if let Some(session) = self.sessions.iter_mut().find(|session| session.agent_session == *id) {
            session.finish_replay(at);
        }
    }

    fn apply(&mut self, events: Vec<SessionEvent>) {
        for (session, event) in events {
            self.happened_in(Some(&session), event);
        }
    }

    /// An event for a session that nobody knows makes no document (docs/spec/record.md, Plans 4).
    fn happened_in(&mut self, id: Option<&AgentSessionId>, event: Event) {
        let at = self.at;
        if let Some(session) = self.sessions.iter_mut().find(|session| Some(&session.agent_session) == id) {
            (self.between)(&mut session.record, &session.document);
            session.apply(event, at);
        }
    }
}

/// Whether a recorder's note says that the agent's process is gone. It notes other things too.
fn tells_of_an_end(note: &Value) -> bool {
    let event = note.get("event").and_then(Value::as_str).unwrap_or_default();
    note.get("agent_exit").is_some() || event.starts_with("SIGKILL") || event.contains("a new one is started")
}

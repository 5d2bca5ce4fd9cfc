//! A recording as the steps of a play.

use std::io::BufRead;

use serde_json::Value;

use super::ReplayError;
use super::ids::RecordedIds;
use crate::connection::messages::method;
use crate::trace::{self, TraceError, TraceItem, TraceLine};

/// One part of a recording.
#[derive(Debug, Default)]
pub(super) struct Script {
    pub(super) steps: Vec<Step>,
    pub(super) ending: Ending,
    /// When it ended, on the recording's clock.
    pub(super) ends_at_ms: i64,
    pub(super) ids: RecordedIds,
    stdout_ended_at_ms: Option<i64>,
}

/// How a part ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Ending {
    /// The recording just stops, or the client ended the agent in order.
    #[default]
    Open,
    /// The agent was killed.
    Killed,
    /// The agent went while its client had more to say.
    Exited,
}

/// A message and when it was recorded.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) at_ms: i64,
    pub(super) what: StepKind,
}

#[derive(Debug)]
pub(super) enum StepKind {
    Hear(Heard),
    Say(Said),
}

/// What the recorded client said.
#[derive(Debug)]
pub(super) enum Heard {
    Request { id: Value, method: String, session: Option<String> },
    Notification { method: String },
    Answer { to: Value, result: Value },
}

/// What the recorded agent said.
#[derive(Debug)]
pub(super) enum Said {
    Raw(String),
    Notification(Value),
    Request { id: Value, message: Value },
    Answer { to: Value, message: Value },
}

impl Script {
    /// Whether a step is half a line, which the agent could not finish because it was killed.
    pub(super) fn is_torn(&self, index: usize) -> bool {
        self.ending == Ending::Killed && index + 1 == self.steps.len()
    }

    /// Reads the recording as far as that part needs.
    pub(super) fn read(trace: impl BufRead, part: usize) -> Result<Self, ReplayError> {
        let mut script = Self::default();
        let mut reading_part = 1;
        let mut agent_ends = false;
        for line in trace::read(trace) {
            let line = match line {
                Ok(line) => line,
                Err(torn @ TraceError::Torn { .. }) => {
                    tracing::warn!("{torn}; it is left out");
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            if let Some(ending) = part_ending(&line.what) {
                agent_ends = true;
                if reading_part == part {
                    script.ending = ending;
                    script.ends_at_ms = line.at_ms;
                }
                continue;
            }
            // What the old agent had in its pipe still follows the note; a request is for the new one.
            if agent_ends && is_client_request(&line.what) {
                agent_ends = false;
                reading_part += 1;
            }
            if reading_part > part {
                return Ok(script);
            }
            if reading_part == part && !(agent_ends && matches!(line.what, TraceItem::ClientToAgent(_))) {
                script.take(line);
            }
        }
        if reading_part == part { Ok(script) } else { Err(ReplayError::NoSuchPart { part, parts: reading_part }) }
    }

    fn take(&mut self, line: TraceLine) {
        if is_end_of_stdout(&line.what) {
            self.stdout_ended_at_ms = Some(line.at_ms);
        }
        if let (Some(ended_at_ms), TraceItem::ClientToAgent(_)) = (self.stdout_ended_at_ms, &line.what) {
            self.ending = Ending::Exited;
            self.ends_at_ms = ended_at_ms;
            return;
        }
        self.ids.collect(&line.what);
        let what = match line.what {
            TraceItem::ClientToAgent(message) => Heard::read(&message).map(StepKind::Hear),
            TraceItem::AgentToClient(message) => Some(StepKind::Say(Said::read(message))),
            TraceItem::AgentRaw(raw) => Some(StepKind::Say(Said::Raw(raw))),
            TraceItem::AgentStderr(_) | TraceItem::Note(_) => None,
        };
        self.steps.extend(what.map(|what| Step { at_ms: line.at_ms, what }));
    }

    /// The first step from `start` on at which the client sent a request of that method.
    pub(super) fn request_from(&self, start: usize, wanted: &str) -> Option<usize> {
        self.find_from(start, |what| matches!(what, StepKind::Hear(Heard::Request { method, .. }) if method == wanted))
    }

    /// The first step of all at which the client prompted.
    pub(super) fn first_prompt(&self) -> Option<usize> {
        self.request_from(0, method::SESSION_PROMPT)
    }

    /// The first step from `start` on at which the client stopped a turn.
    pub(super) fn cancel_from(&self, start: usize) -> Option<usize> {
        self.find_from(
            start,
            |what| matches!(what, StepKind::Hear(Heard::Notification { method }) if method == method::SESSION_CANCEL),
        )
    }

    /// The step at which the agent answered the client's request of that recorded id.
    pub(super) fn answer_step(&self, id: &Value) -> Option<usize> {
        self.find_from(0, |what| matches!(what, StepKind::Say(Said::Answer { to, .. }) if to == id))
    }

    /// What the agent answered to the client's request of that recorded id.
    pub(super) fn answer(&self, id: &Value) -> Option<&Value> {
        match &self.steps[self.answer_step(id)?].what {
            StepKind::Say(Said::Answer { message, .. }) => Some(message),
            StepKind::Say(_) | StepKind::Hear(_) => None,
        }
    }

    /// The recorded id of the client's last request of that method.
    pub(super) fn last_request(&self, wanted: &str) -> Option<&Value> {
        self.steps.iter().rev().find_map(|step| match &step.what {
            StepKind::Hear(Heard::Request { id, method, .. }) if method == wanted => Some(id),
            StepKind::Hear(_) | StepKind::Say(_) => None,
        })
    }

    fn find_from(&self, start: usize, wanted: impl Fn(&StepKind) -> bool) -> Option<usize> {
        let steps = self.steps.get(start..)?;
        steps.iter().position(|step| wanted(&step.what)).map(|offset| start + offset)
    }
}

impl Heard {
    /// `None` for what is no JSON-RPC message; no recording holds one.
    fn read(message: &Value) -> Option<Self> {
        let session = message["params"]["sessionId"].as_str().map(str::to_owned);
        match (message.get("method").and_then(Value::as_str), message.get("id")) {
            (Some(method), Some(id)) => Some(Self::Request { id: id.clone(), method: method.to_owned(), session }),
            (Some(method), None) => Some(Self::Notification { method: method.to_owned() }),
            (None, Some(to)) => Some(Self::Answer { to: to.clone(), result: message["result"].clone() }),
            (None, None) => None,
        }
    }
}

impl Said {
    fn read(message: Value) -> Self {
        match (message.get("method"), message.get("id").cloned()) {
            (Some(_), Some(id)) => Self::Request { id, message },
            (None, Some(to)) => Self::Answer { to, message },
            (_, None) => Self::Notification(message),
        }
    }
}

/// The recorder's notes where an agent was killed or replaced; the JSON-RPC ids start anew there
/// (docs/agents.md). Its other events are remarks.
fn part_ending(item: &TraceItem) -> Option<Ending> {
    let TraceItem::Note(note) = item else { return None };
    let event = note["event"].as_str()?;
    if event.contains("SIGKILL") {
        Some(Ending::Killed)
    } else if event.contains("a new one is started") {
        Some(Ending::Open)
    } else {
        None
    }
}

fn is_client_request(item: &TraceItem) -> bool {
    matches!(item, TraceItem::ClientToAgent(message) if message.get("method").is_some() && message.get("id").is_some())
}

fn is_end_of_stdout(item: &TraceItem) -> bool {
    matches!(item, TraceItem::Note(note) if note["agent_stdout"] == "eof")
}

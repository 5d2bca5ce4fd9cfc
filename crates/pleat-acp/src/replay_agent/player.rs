//! Walks through a script, hearing and saying.

use std::collections::HashMap;
use std::io::{self, Write};
use std::time::Instant;

use serde_json::{Value, json};

use super::client::{ClientMessage, Closed, Mailbox};
use super::ids::IdMap;
use super::pace::Pace;
use super::script::{Ending, Heard, Said, Script, StepKind};
use super::{ReplayEnd, ReplayError};
use crate::connection::RpcError;
use crate::connection::messages::method;

/// Why the walk is over.
pub(super) enum Stop {
    Ended(ReplayEnd),
    Failed(io::Error),
}

impl From<Closed> for Stop {
    fn from(Closed: Closed) -> Self {
        Self::Ended(ReplayEnd::InputClosed)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

/// A request of the client's that waits for its recorded answer.
struct OpenRequest {
    /// The client's id for it.
    actual: Value,
    is_prompt: bool,
}

/// The agent.
pub(super) struct Player<W> {
    script: Script,
    mailbox: Mailbox,
    output: W,
    pace: Pace,
    ids: IdMap,
    /// The step that comes next.
    cursor: usize,
    /// Steps before this one that wait for the client are passed over: it is further on already.
    client_is_at: usize,
    /// Steps before this one are not paused for: the client has stopped the turn, as it did there.
    hurry_to: usize,
    /// When the last step was recorded.
    last_ms: i64,
    /// By recorded id.
    open: HashMap<Value, OpenRequest>,
    /// Our requests, from recorded id to the one said.
    asked: HashMap<Value, Value>,
    /// The client's answers, by the id said.
    answers: HashMap<Value, Value>,
    /// The turn that ends the recording was stopped before it came to that.
    end_averted: bool,
}

impl<W: Write> Player<W> {
    pub(super) fn new(script: Script, mailbox: Mailbox, output: W, pace: Pace) -> Self {
        let ids = IdMap::new(script.ids.clone());
        Self {
            script,
            mailbox,
            output,
            pace,
            ids,
            cursor: 0,
            client_is_at: 0,
            hurry_to: 0,
            last_ms: 0,
            open: HashMap::new(),
            asked: HashMap::new(),
            answers: HashMap::new(),
            end_averted: false,
        }
    }

    pub(super) fn play(mut self) -> Result<ReplayEnd, ReplayError> {
        loop {
            match self.step() {
                Ok(()) => {}
                Err(Stop::Ended(end)) => return Ok(end),
                Err(Stop::Failed(error)) => return Err(error.into()),
            }
        }
    }

    fn step(&mut self) -> Result<(), Stop> {
        match self.script.steps.get(self.cursor).map(|step| &step.what) {
            Some(StepKind::Say(_)) => self.say(),
            Some(StepKind::Hear(_)) if self.cursor < self.client_is_at => {
                self.cursor += 1;
                Ok(())
            }
            Some(StepKind::Hear(Heard::Answer { .. })) => self.hear_answer(),
            Some(StepKind::Hear(Heard::Request { .. } | Heard::Notification { .. })) => self.hear_message(),
            None => self.end(),
        }
    }

    // --- saying ---

    fn say(&mut self) -> Result<(), Stop> {
        let step = &self.script.steps[self.cursor];
        if let StepKind::Say(Said::Answer { to, .. }) = &step.what
            && !self.open.contains_key(to)
        {
            // The answer to a request that the client left out, or that was stopped.
            self.cursor += 1;
            return Ok(());
        }
        let here = self.cursor;
        self.pause_until(step.at_ms)?;
        if self.cursor == here {
            self.cursor += 1;
            self.say_step(here)?;
        }
        Ok(())
    }

    fn say_step(&mut self, index: usize) -> Result<(), Stop> {
        let StepKind::Say(said) = &self.script.steps[index].what else { return Ok(()) };
        match said {
            Said::Raw(raw) => {
                let line_end = if self.script.is_torn(index) { "" } else { "\n" };
                write!(self.output, "{raw}{line_end}")?;
                self.output.flush()?;
                Ok(())
            }
            Said::Notification(message) => {
                let message = message.clone();
                self.say_message(message)
            }
            Said::Request { id, message } => {
                let (recorded, mut message) = (id.clone(), message.clone());
                let said = self.ids.request_id(&recorded);
                message["id"] = said.clone();
                self.asked.insert(recorded, said);
                self.say_message(message)
            }
            Said::Answer { to, message } => {
                let mut message = message.clone();
                let Some(request) = self.open.remove(to) else { return Ok(()) };
                message["id"] = request.actual;
                self.say_message(message)
            }
        }
    }

    fn say_message(&mut self, mut message: Value) -> Result<(), Stop> {
        for part in ["params", "result", "error"] {
            if let Some(part) = message.get_mut(part) {
                self.ids.replace_in(part);
            }
        }
        writeln!(self.output, "{message}")?;
        self.output.flush()?;
        Ok(())
    }

    /// Lets the recorded time pass, and takes in what the client says meanwhile. Returns early where
    /// that has moved the cursor.
    fn pause_until(&mut self, at_ms: i64) -> Result<(), Stop> {
        let here = self.cursor;
        let due = Instant::now() + self.pace.pause(self.last_ms, at_ms);
        self.last_ms = at_ms;
        loop {
            let deadline = if here < self.hurry_to || self.next_prompt_waits() { Instant::now() } else { due };
            let Some(message) = self.mailbox.wait_until(deadline)? else { return Ok(()) };
            self.take_in(message)?;
            if self.cursor != here {
                return Ok(());
            }
        }
    }

    /// What trails behind an answered prompt does not keep the next one waiting.
    fn next_prompt_waits(&self) -> bool {
        !self.a_prompt_is_open() && self.mailbox.keeps_request(method::SESSION_PROMPT)
    }

    fn a_prompt_is_open(&self) -> bool {
        self.open.values().any(|request| request.is_prompt)
    }

    // --- hearing ---

    /// What the client says goes to where it is waited for; Stop, and what the rest of the recording
    /// does not know, are seen to at once.
    fn take_in(&mut self, message: ClientMessage) -> Result<(), Stop> {
        match message {
            ClientMessage::Answer { to, result } => {
                self.answers.insert(to, result);
                Ok(())
            }
            ClientMessage::Notification { method, params } if method == method::SESSION_CANCEL => self.stop(&params),
            ClientMessage::Request { id, method, .. } if !self.comes(&method) => self.answer_out_of_turn(&id, &method),
            later @ (ClientMessage::Request { .. } | ClientMessage::Notification { .. }) => {
                self.mailbox.keep(later);
                Ok(())
            }
        }
    }

    /// Whether a request of that method is played at its time. Prompts always are.
    fn comes(&self, method: &str) -> bool {
        method == method::SESSION_PROMPT && self.script.first_prompt().is_some()
            || self.script.request_from(self.cursor, method).is_some()
    }

    /// Waits for the answer to a request that we said; one that we did not say has none.
    fn hear_answer(&mut self) -> Result<(), Stop> {
        let here = self.cursor;
        let StepKind::Hear(Heard::Answer { to, result }) = &self.script.steps[here].what else { return Ok(()) };
        let Some(said) = self.asked.get(to) else {
            self.cursor += 1;
            return Ok(());
        };
        if let Some(actual) = self.answers.remove(said) {
            self.ids.bind_client_ids(result, &actual);
            self.pass_hearing();
            return Ok(());
        }
        let message = self.mailbox.wait()?;
        self.take_in(message)
    }

    /// Waits for a request or notification of the step's method.
    fn hear_message(&mut self) -> Result<(), Stop> {
        let Some(message) = self.mailbox.take_kept() else {
            let message = self.mailbox.wait()?;
            return self.take_in(message);
        };
        match (&self.script.steps[self.cursor].what, message) {
            (
                StepKind::Hear(Heard::Request { id: recorded, method: wanted, session }),
                ClientMessage::Request { id, method, params },
            ) if *wanted == method => {
                let (recorded, session) = (recorded.clone(), session.clone());
                self.hear_request(recorded, session.as_deref(), id, &method, &params);
                Ok(())
            }
            (StepKind::Hear(Heard::Notification { method: wanted }), ClientMessage::Notification { method, .. })
                if *wanted == method =>
            {
                self.pass_hearing();
                Ok(())
            }
            (_, ClientMessage::Request { id, method, params }) => {
                // The client left this step out. Its prompt may even be one that begins anew.
                self.client_is_at = match self.script.request_from(self.cursor, &method) {
                    Some(later) => later,
                    None if method == method::SESSION_PROMPT => self.script.steps.len(),
                    None => return self.answer_out_of_turn(&id, &method),
                };
                self.mailbox.put_back(ClientMessage::Request { id, method, params });
                Ok(())
            }
            // A notification that nobody waits for; answers are never kept.
            (_, ClientMessage::Notification { .. } | ClientMessage::Answer { .. }) => Ok(()),
        }
    }

    fn hear_request(&mut self, recorded: Value, session: Option<&str>, id: Value, method: &str, params: &Value) {
        if let (Some(recorded), Some(actual)) = (session, params["sessionId"].as_str()) {
            self.ids.bind_session(recorded, actual);
        }
        if let Some(made) = self.session_made_by(&recorded, session) {
            self.ids.bind_fresh_session(&made);
        }
        self.open.insert(recorded, OpenRequest { actual: id, is_prompt: method == method::SESSION_PROMPT });
        self.pass_hearing();
    }

    /// The session that the recorded answer names and the request does not.
    fn session_made_by(&self, recorded: &Value, session: Option<&str>) -> Option<String> {
        let made = self.script.answer(recorded)?["result"]["sessionId"].as_str()?;
        (session != Some(made)).then(|| made.to_owned())
    }

    fn pass_hearing(&mut self) {
        self.last_ms = self.script.steps[self.cursor].at_ms;
        self.cursor += 1;
    }

    /// A request at a time when the recording has none of its method: what was answered to the last
    /// such one, or that there is none.
    fn answer_out_of_turn(&mut self, id: &Value, method: &str) -> Result<(), Stop> {
        let recorded = self.script.last_request(method).filter(|_| method != method::SESSION_PROMPT).cloned();
        let answer = recorded.as_ref().and_then(|recorded| self.script.answer(recorded)).cloned();
        let (Some(recorded), Some(mut answer)) = (recorded, answer) else {
            let error = RpcError::method_not_found(method);
            return self.say_message(json!({"jsonrpc": "2.0", "id": id, "error": error}));
        };
        answer["id"] = id.clone();
        // A running turn keeps its own session.
        let running = self.ids.clone();
        if method == method::SESSION_NEW
            && let Some(made) = self.session_made_by(&recorded, None)
        {
            self.ids.bind_fresh_session(&made);
        }
        self.say_message(answer)?;
        self.ids.keep_bindings_of(running);
        Ok(())
    }

    // --- Stop ---

    fn stop(&mut self, params: &Value) -> Result<(), Stop> {
        self.cancel_prompts_not_begun(params)?;
        if !self.a_prompt_is_open() {
            return Ok(());
        }
        let turn_ends = self.turn_end();
        match self.script.cancel_from(self.cursor).filter(|cancel| turn_ends.is_none_or(|end| *cancel < end)) {
            Some(recorded) => self.stop_as_recorded(recorded),
            None => self.stop_now(turn_ends)?,
        }
        Ok(())
    }

    /// A prompt that waits behind the running turn is not begun any more.
    fn cancel_prompts_not_begun(&mut self, cancel: &Value) -> Result<(), Stop> {
        let waiting = self.mailbox.take_kept_where(|message| match message {
            ClientMessage::Request { method, params, .. } => {
                method == method::SESSION_PROMPT && params["sessionId"] == cancel["sessionId"]
            }
            ClientMessage::Notification { .. } | ClientMessage::Answer { .. } => false,
        });
        for message in waiting {
            if let ClientMessage::Request { id, .. } = message {
                self.say_message(cancelled(&id))?;
            }
        }
        Ok(())
    }

    /// The step that answers the last of the open prompts; `None` where the recording ends before.
    fn turn_end(&self) -> Option<usize> {
        let prompts = self.open.iter().filter(|(_, request)| request.is_prompt);
        let ends: Option<Vec<usize>> = prompts.map(|(recorded, _)| self.script.answer_step(recorded)).collect();
        ends?.into_iter().max()
    }

    /// The recorded client stopped this turn too: what came before that is said at once, and what
    /// came of it is played.
    fn stop_as_recorded(&mut self, recorded: usize) {
        self.hurry_to = recorded;
        self.client_is_at = self.client_is_at.max(recorded + 1);
    }

    /// The turn is over, and the rest of it is not played.
    fn stop_now(&mut self, turn_ends: Option<usize>) -> Result<(), Stop> {
        let prompts: Vec<Value> =
            self.open.iter().filter(|(_, request)| request.is_prompt).map(|(recorded, _)| recorded.clone()).collect();
        for recorded in prompts {
            if let Some(request) = self.open.remove(&recorded) {
                self.say_message(cancelled(&request.actual))?;
            }
        }
        if let Some(end) = turn_ends {
            self.last_ms = self.script.steps[end].at_ms;
            self.cursor = end + 1;
        } else {
            self.end_averted = true;
            self.cursor = self.script.steps.len();
        }
        Ok(())
    }

    // --- the end, and from the beginning ---

    fn end(&mut self) -> Result<(), Stop> {
        if !self.end_averted {
            match self.script.ending {
                Ending::Open => {}
                Ending::Killed => return self.end_with(ReplayEnd::Killed),
                Ending::Exited => return self.end_with(ReplayEnd::Exited),
            }
        }
        match self.mailbox.take_kept() {
            Some(ClientMessage::Request { id, method, .. }) if method != method::SESSION_PROMPT => {
                self.answer_out_of_turn(&id, &method)
            }
            Some(prompt @ ClientMessage::Request { .. }) => {
                self.begin_again();
                self.mailbox.put_back(prompt);
                Ok(())
            }
            Some(ClientMessage::Notification { .. } | ClientMessage::Answer { .. }) => Ok(()),
            None => {
                let message = self.mailbox.wait()?;
                self.take_in(message)
            }
        }
    }

    fn end_with(&mut self, end: ReplayEnd) -> Result<(), Stop> {
        self.pause_until(self.script.ends_at_ms)?;
        // Stop may have come during the pause.
        if self.end_averted { Ok(()) } else { Err(Stop::Ended(end)) }
    }

    /// A further prompt: the recorded ones again, from the first.
    fn begin_again(&mut self) {
        self.ids.begin_round();
        // A prompt is kept only where the recording has one.
        self.cursor = self.script.first_prompt().unwrap_or(0);
        self.client_is_at = 0;
        self.hurry_to = 0;
        self.open.clear();
        self.asked.clear();
        self.answers.clear();
        self.end_averted = false;
    }
}

fn cancelled(id: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {"stopReason": "cancelled"}})
}

//! What the process makes of each line of the agent: news for the session that it is about.

use super::opening::AUTHENTICATION_REQUIRED;
use super::task::{Asked, Stage, Task};
use super::{Ending, News};
use pleat_acp::adapter::{SessionEvent, session_id};
use pleat_acp::connection::messages::method::SESSION_UPDATE;
use pleat_acp::connection::{CloseReason, Incoming, Received, RpcError, Token, Weight};
use pleat_transcript::event::{Event, PromptKey};
use pleat_transcript::ids::{AgentSessionId, SessionId};
use serde_json::{Value, json};
use std::sync::Arc;

/// So many updates of sessions that are not known yet are kept.
const MAX_EARLY: usize = 10_000;

impl Task {
    pub(super) fn incoming(&mut self, received: Received) {
        let Received { what, weight } = received;
        match what {
            Incoming::Notification { method, params } if method == SESSION_UPDATE => self.update(params, weight),
            Incoming::Notification { method, .. } => {
                tracing::debug!(agent = self.agent.name.0, method, "a notification that Pleat does not know");
            }
            Incoming::Request { id, method, params } => self.request(id, &method, params, weight),
            Incoming::Answer { to, result } => self.answered(to, result),
            Incoming::Noise(line) => {
                tracing::debug!(agent = self.agent.name.0, bytes = line.len(), "a line that is no message");
                self.noise.keep(&line);
            }
            Incoming::SkippedLine { bytes } => {
                for session in self.sessions.keys() {
                    self.tell(session, News::SkippedLine { bytes });
                }
            }
            Incoming::Closed(reason) => self.closed(&reason),
        }
    }

    /// What comes while the process is being ended: only what it still says of its calls matters.
    pub(super) fn late(&mut self, received: Received) {
        if let Incoming::Notification { method, params } = received.what
            && method == SESSION_UPDATE
        {
            self.update(params, received.weight);
        }
    }

    /// An update of a session; one of a session that is not known yet waits until it is.
    pub(super) fn update(&mut self, params: Value, weight: Weight) {
        let Some(id) = session_id(&params) else { return };
        if self.opening.is_some() && !self.by_agent_session.contains_key(&id) && !self.adapter.is_sub_agent(&id) {
            if self.early.len() < MAX_EARLY {
                self.early.push((params, weight));
            }
            return;
        }
        let weight = Arc::new(weight);
        if let Some(session) = self.by_agent_session.get(&id)
            && let Some(update) = params.get("update").filter(|update| is_offer(update))
        {
            self.tell(session, News::Offered { update: update.clone(), weight: weight.clone() });
        }
        let events = self.adapter.update(&params, false);
        self.happened(events, &weight);
    }

    /// Tells sessions what happened in them, events that follow each other together.
    pub(super) fn happened(&self, events: Vec<SessionEvent>, weight: &Arc<Weight>) {
        let mut gathered: Option<(AgentSessionId, Vec<Event>)> = None;
        for (id, event) in events {
            match &mut gathered {
                Some((last, events)) if *last == id => events.push(event),
                Some(_) | None => {
                    self.tell_happened(gathered.replace((id, vec![event])), weight);
                }
            }
        }
        self.tell_happened(gathered, weight);
    }

    fn tell_happened(&self, gathered: Option<(AgentSessionId, Vec<Event>)>, weight: &Arc<Weight>) {
        let Some((id, events)) = gathered else { return };
        if let Some(session) = self.by_agent_session.get(&id) {
            self.tell(session, News::Happened { events, weight: weight.clone() });
        } else {
            // docs/spec/record.md, Plans 4.
            tracing::debug!(agent = self.agent.name.0, "an update for a session that nobody knows");
        }
    }

    fn answered(&mut self, to: Token, result: Result<Value, RpcError>) {
        match self.asked.remove(&to) {
            Some(Asked::Initialize) => self.initialized(result),
            Some(Asked::LogIn { session }) => self.logged_in(session, result),
            Some(Asked::NewSession { session, tenancy }) => self.opened(&session, tenancy, result),
            Some(Asked::Prompt { session, prompt }) => self.prompt_answered(&session, prompt, result),
            Some(Asked::Set { session, setting }) => self.tell(&session, News::Set { setting, result }),
            Some(Asked::List { root, so_far, reply }) => self.listed(root, so_far, reply, result),
            Some(Asked::Close) | None => {}
        }
    }

    fn prompt_answered(&self, session: &SessionId, prompt: PromptKey, result: Result<Value, RpcError>) {
        let login = result.as_ref().err().filter(|error| error.code == AUTHENTICATION_REQUIRED);
        let login = login.map(|error| self.login(self.sentence(error)));
        let answer = match result {
            Ok(result) => self.adapter.prompt_answer(Ok(&result)),
            Err(error) => self.adapter.prompt_answer(Err(&json!(error))),
        };
        self.tell(session, News::Answered { prompt, answer, login });
    }

    fn closed(&mut self, reason: &CloseReason) {
        let ending = Ending::of(reason, self.last_words());
        for session in self.sessions.keys() {
            self.tell(session, News::Ended(ending.clone()));
        }
        for (_, reply) in self.to_list.drain(..) {
            let _ = reply.send(Err(format!("it ended as soon as it was started{}.{}", ending.how, ending.it_wrote())));
        }
        self.stage = Stage::Over;
    }
}

/// Whether an update is about what the agent offers: modes, options, commands.
fn is_offer(update: &Value) -> bool {
    matches!(
        update.get("sessionUpdate").and_then(Value::as_str),
        Some("current_mode_update" | "config_option_update" | "available_commands_update")
    )
}

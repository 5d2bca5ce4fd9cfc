//! One session at work: a task that owns its record and its agent, and does one thing after the other.
//!
//! Commands of people and lines of the agent come in by two queues. Each becomes an event, the record says what is to
//! be stored, and only when that is committed is anyone told, or answered, or is anything sent to the agent because
//! of it.

mod agent_lines;

use crate::agent_link::AgentLink;
use crate::agents::Agent;
use crate::clock::{TimeOrderedIds, now};
use crate::error::HostError;
use crate::pending::Pending;
use crate::settings::HostSettings;
use pleat_acp::connection::Incoming;
use pleat_acp::process::ExitLadder;
use pleat_store::{Durability, Store, StoreError};
use pleat_transcript::document::Document;
use pleat_transcript::event::{Event, PermissionOutcome, PromptAnswer, PromptKey};
use pleat_transcript::ids::{PermissionId, SessionId};
use pleat_transcript::record::SessionRecord;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

/// How many lines of the agent are taken in one go, so that a commit holds many and a command never waits long.
const LINES_AT_ONCE: usize = 512;

/// How many keys of prompts are remembered, to know a repeated one.
const REMEMBERED_KEYS: usize = 64;

type Reply = oneshot::Sender<Result<(), HostError>>;

/// What a person asks of a session.
pub(crate) enum Command {
    Prompt { text: String, key: Option<String>, reply: Reply },
    Stop { reply: Reply },
    Answer { request: PermissionId, option: String, reply: Reply },
    ShutDown { done: oneshot::Sender<()> },
}

impl Command {
    /// Says that it is not done because the store failed. Who waits for the end goes on waiting.
    fn refuse(self, error: &StoreError) -> Option<oneshot::Sender<()>> {
        match self {
            Self::Prompt { reply, .. } | Self::Stop { reply } | Self::Answer { reply, .. } => {
                let _ = reply.send(Err(HostError::Store(error.clone())));
                None
            }
            Self::ShutDown { done } => Some(done),
        }
    }
}

pub(crate) struct SessionActor {
    session: SessionId,
    store: Arc<dyn Store>,
    /// The agent of this session, or the name that nobody knows any more.
    agent: Result<Agent, String>,
    root: PathBuf,
    settings: HostSettings,
    record: SessionRecord,
    link: Option<AgentLink>,
    pending: Pending,
    prompt_keys: VecDeque<String>,
    prompts: u64,
    /// When the running turn is ended without the agent's answer.
    stop_by: Option<Instant>,
}

impl SessionActor {
    pub(crate) fn new(
        document: &Document,
        agent: Result<Agent, String>,
        store: Arc<dyn Store>,
        settings: HostSettings,
    ) -> Self {
        Self {
            session: document.session.id.clone(),
            store,
            agent,
            root: document.session.root.as_deref().map_or_else(|| PathBuf::from("."), PathBuf::from),
            settings,
            record: SessionRecord::from_document(document),
            link: None,
            pending: Pending::new(),
            prompt_keys: VecDeque::new(),
            prompts: 0,
            stop_by: None,
        }
    }

    /// Works until it is shut down, nobody can command it any more, or the store fails.
    pub(crate) async fn run(mut self, mut commands: mpsc::UnboundedReceiver<Command>) {
        match self.work(&mut commands).await {
            Ok(done) => {
                self.end_agent().await;
                if let Some(done) = done {
                    // Nobody has to wait for it.
                    let _ = done.send(());
                }
            }
            Err(error) => {
                // What is stored stands; the next command reads it again.
                tracing::error!(session = %self.session, %error, "the session could not be stored and is let go");
                // From now on commands go to a successor; they need not wait until the agent has ended.
                commands.close();
                let mut waiting = Vec::new();
                while let Ok(command) = commands.try_recv() {
                    waiting.extend(command.refuse(&error));
                }
                self.end_agent().await;
                for done in waiting {
                    let _ = done.send(());
                }
            }
        }
    }

    async fn work(
        &mut self,
        commands: &mut mpsc::UnboundedReceiver<Command>,
    ) -> Result<Option<oneshot::Sender<()>>, StoreError> {
        let mut lines = Vec::new();
        loop {
            let commit_at = self.pending.commit_at(now());
            let stop_by = self.stop_by;
            let open_by = self
                .link
                .as_ref()
                .and_then(AgentLink::opening_since)
                .map(|since| since + self.settings.opening_patience);
            tokio::select! {
                command = commands.recv() => match command {
                    None => return Ok(None),
                    Some(Command::ShutDown { done }) => {
                        self.agent_gone("Pleat was stopped while the agent was at work.", String::new());
                        self.pending.hurry();
                        self.commit(Durability::Person).await?;
                        return Ok(Some(done));
                    }
                    Some(command) => self.command(command).await?,
                },
                taken = next_lines(self.link.as_mut(), &mut lines) => {
                    if taken == 0 {
                        self.link = None;
                    }
                    for line in lines.drain(..) {
                        self.incoming(line).await?;
                    }
                }
                () = sleep_until(commit_at) => self.commit(Durability::Agent).await?,
                () = sleep_until(stop_by) => self.stop_by_force().await?,
                () = sleep_until(open_by) => self.opening_took_too_long().await?,
            }
            if self.pending.is_urgent() {
                self.commit(Durability::Agent).await?;
            }
            self.cancel_moot_requests();
        }
    }

    async fn command(&mut self, command: Command) -> Result<(), StoreError> {
        let (reply, result) = match command {
            Command::Prompt { text, key, reply } => (reply, self.prompt(text, key).await),
            Command::Stop { reply } => (reply, self.stop().await),
            Command::Answer { request, option, reply } => (reply, self.answer(&request, option).await),
            Command::ShutDown { .. } => return Ok(()),
        };
        let failed = match &result {
            Err(HostError::Store(error)) => Some(error.clone()),
            Err(_) | Ok(()) => None,
        };
        // Who asked may have gone; what was asked is done all the same.
        let _ = reply.send(result);
        failed.map_or(Ok(()), Err)
    }

    async fn prompt(&mut self, text: String, key: Option<String>) -> Result<(), HostError> {
        if key.as_ref().is_some_and(|key| self.prompt_keys.contains(key)) {
            return Ok(());
        }
        if text.trim().is_empty() {
            return Err(HostError::EmptyPrompt);
        }
        if self.record.live_turn().is_some() {
            return Err(HostError::TurnRunning);
        }
        self.prompts += 1;
        let prompt = PromptKey(self.prompts.to_string());
        self.apply(Event::Prompt { prompt: prompt.clone(), text: text.clone(), attachments: Vec::new() });
        self.commit(Durability::Person).await?;
        if let Some(key) = key {
            self.prompt_keys.push_back(key);
            if self.prompt_keys.len() > REMEMBERED_KEYS {
                self.prompt_keys.pop_front();
            }
        }
        match self.linked() {
            Ok(link) => link.prompt(prompt, text),
            Err(reason) => self.fail(&prompt, &reason),
        }
        Ok(())
    }

    /// The running agent, started where there is none.
    fn linked(&mut self) -> Result<&mut AgentLink, String> {
        if self.link.is_none() {
            let agent = self.agent.as_ref().map_err(|name| {
                format!(
                    "This session belongs to the agent `{name}`, which is not known any more. Add it to pleat.toml."
                )
            })?;
            let link = AgentLink::start(agent, self.root.clone())
                .map_err(|error| format!("{} could not be started: {error}.{}", agent.title, advice(agent)))?;
            self.link = Some(link);
        }
        self.link.as_mut().ok_or_else(String::new)
    }

    async fn stop(&mut self) -> Result<(), HostError> {
        if self.record.live_turn().is_none() || self.stop_by.is_some() {
            return Ok(());
        }
        self.apply(Event::CancelSent);
        self.cancel_open_requests();
        if self.link.as_ref().is_some_and(AgentLink::is_open) {
            self.stop_by = Some(Instant::now() + self.settings.stop_grace);
        } else {
            self.end_turn_cancelled();
        }
        self.commit(Durability::Person).await?;
        if let Some(link) = &mut self.link {
            link.cancel();
        }
        self.cancel_moot_requests();
        Ok(())
    }

    fn cancel_open_requests(&mut self) {
        for request in self.record.open_requests() {
            self.apply(Event::PermissionAnswered { request, outcome: PermissionOutcome::Cancelled, by: None });
        }
    }

    /// Answers what the agent still asks and nobody is asked any more: after Stop, at the end of a turn, or because
    /// another request about the same call took its place.
    fn cancel_moot_requests(&mut self) {
        if let Some(link) = self.link.as_mut().filter(|link| link.asks_permission()) {
            link.cancel_permissions_but(&self.record.open_requests());
        }
    }

    /// The agent did not answer Stop: its turn ends as cancelled, and its process is replaced with the next prompt.
    async fn stop_by_force(&mut self) -> Result<(), StoreError> {
        self.end_turn_cancelled();
        self.commit(Durability::Person).await?;
        self.end_agent().await;
        Ok(())
    }

    fn end_turn_cancelled(&mut self) {
        self.stop_by = None;
        let prompt = PromptKey(self.prompts.to_string());
        let answer = PromptAnswer::Stopped { reason: Some("cancelled".to_owned()), usage: None };
        self.apply(Event::PromptAnswered { prompt, answer });
    }

    async fn answer(&mut self, request: &PermissionId, option: String) -> Result<(), HostError> {
        let Some(key) = self.record.open_request(request) else { return Err(HostError::NotOpen) };
        if !self.record.has_option(&key, &option) {
            return Err(HostError::UnknownOption(option));
        }
        let outcome = PermissionOutcome::Selected { option: option.clone() };
        self.apply(Event::PermissionAnswered { request: key.clone(), outcome, by: Some("owner".to_owned()) });
        self.commit(Durability::Person).await?;
        if let Some(link) = &mut self.link {
            link.answer_permission(&key, &option);
        }
        Ok(())
    }

    /// Ends the process where there is one; what it still says is not listened to.
    async fn end_agent(&mut self) {
        if let Some(link) = self.link.take() {
            link.connection.shut_down(ExitLadder::default()).await;
        }
    }

    fn apply(&mut self, event: Event) {
        self.pending.add(self.record.apply(event, now(), &mut TimeOrderedIds));
    }

    /// Stores what is pending; the store tells whoever watches.
    async fn commit(&mut self, durability: Durability) -> Result<(), StoreError> {
        let changes = self.pending.take(now());
        if !changes.is_empty() {
            self.store.commit(self.session.clone(), changes, now(), durability).await?;
        }
        Ok(())
    }
}

/// Waits for lines of the agent, for ever where there is none; 0: its connection is over.
async fn next_lines(link: Option<&mut AgentLink>, lines: &mut Vec<Incoming>) -> usize {
    match link {
        Some(link) => link.incoming.recv_many(lines, LINES_AT_ONCE).await,
        None => std::future::pending().await,
    }
}

async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// What a person can do about an agent that could not be started.
fn advice(agent: &Agent) -> String {
    match (agent.program(), &agent.install) {
        (Some(_), _) => String::new(),
        (None, Some(install)) => format!(" Install it with: {install}"),
        (None, None) => format!(" Install it, or set the `command` of [agents.{}] in pleat.toml.", agent.name.0),
    }
}

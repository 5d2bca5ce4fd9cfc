//! One session at work: a task that owns its record, its queue of prompts and its place at an agent, and does one thing
//! after the other.
//!
//! Commands of people and news of the agent come in by two queues. Each becomes events, the record says what is to be
//! stored, and only when that is committed is anyone told, or answered, or is anything sent to the agent because of it.

mod agent;
mod choices;
mod permissions;
mod prompts;
mod stopping;

use crate::agent_process::{News, Order, Setting};
use crate::agents::Agent;
use crate::clock::{TimeOrderedIds, now};
use crate::error::HostError;
use crate::hub::LiveStates;
use crate::new_prompt::NewPrompt;
use crate::pending::Pending;
use crate::processes::Processes;
use crate::session_state::LiveState;
use crate::settings::HostSettings;
use agent::Link;
use choices::Choices;
use pleat_store::{Durability, Store, StoreError};
use pleat_transcript::change::Change;
use pleat_transcript::document::Document;
use pleat_transcript::event::{Event, PromptKey};
use pleat_transcript::ids::{PermissionId, PromptId, SessionId};
use pleat_transcript::record::SessionRecord;
use pleat_transcript::session::{TurnState, WaitingPrompt};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

/// How much news of the agent is taken in one go, so that a commit holds much and a command never waits long.
const NEWS_AT_ONCE: usize = 512;

type Reply = oneshot::Sender<Result<(), HostError>>;

/// What a person asks of a session.
pub(crate) struct Command {
    pub(crate) what: Asked,
    /// Told when it is done; for a choice when the agent has taken it.
    pub(crate) reply: Reply,
}

/// The things that a person can ask for.
pub(crate) enum Asked {
    Prompt(NewPrompt),
    EditPrompt {
        prompt: PromptId,
        text: String,
    },
    RemovePrompt(PromptId),
    /// Sends a prompt that is held, as soon as its turn comes.
    ReleasePrompt(PromptId),
    Stop,
    /// Ends a turn that does not answer Stop, and its process.
    ForceStop,
    Answer {
        request: PermissionId,
        option: String,
    },
    Choose(Setting),
    /// Starts the agent, or starts it anew where it could not be used.
    StartAgent,
    /// Ends the agent's process; the next prompt starts another.
    EndAgent,
    LogIn {
        method: String,
    },
    AddDirectory(PathBuf),
    ShutDown,
}

/// Why an actor works no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ActorEnd {
    /// It was shut down, or nobody can command it any more.
    Finished,
    /// The store failed. What is stored stands.
    NotStored,
}

/// What all sessions of the house share.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) processes: Arc<Processes>,
    pub(crate) live: LiveStates,
    pub(crate) settings: Arc<HostSettings>,
}

pub(crate) struct SessionActor {
    session: SessionId,
    shared: Shared,
    /// The agent of this session, or the name that nobody knows any more.
    agent: Result<Agent, String>,
    root: PathBuf,
    directories: Vec<PathBuf>,
    record: SessionRecord,
    waiting: Vec<WaitingPrompt>,
    choices: Choices,
    link: Option<Link>,
    /// The place at a process that did not answer Stop: what it still says belongs to the turn that ended without it.
    abandoned: Option<Link>,
    /// Ends of processes that were let go and that a shutdown waits for.
    endings: Vec<oneshot::Receiver<()>>,
    pending: Pending,
    /// What the agent is told once what is pending is stored.
    outbox: Vec<Order>,
    prompts: u64,
    /// When the running turn is ended without the agent's answer.
    stop_by: Option<Instant>,
    /// How the last turn ended, until that was looked at.
    ended: Option<TurnState>,
    live: LiveState,
}

impl SessionActor {
    pub(crate) fn new(document: &Document, agent: Result<Agent, String>, shared: Shared) -> Self {
        let session = &document.session;
        Self {
            session: session.id.clone(),
            agent,
            root: session.root.as_deref().map_or_else(|| PathBuf::from("."), PathBuf::from),
            directories: session.directories.iter().map(PathBuf::from).collect(),
            record: SessionRecord::from_document(document),
            waiting: session.waiting.clone(),
            choices: Choices::new(session.chosen.clone()),
            link: None,
            abandoned: None,
            endings: Vec::new(),
            pending: Pending::new(),
            outbox: Vec::new(),
            prompts: 0,
            stop_by: None,
            ended: None,
            live: LiveState::default(),
            shared,
        }
    }

    /// Works until it is shut down, nobody can command it any more, or the store fails.
    pub(crate) async fn run(mut self, mut commands: mpsc::UnboundedReceiver<Command>) -> ActorEnd {
        let ended = self.work(&mut commands).await;
        let end = if ended.is_ok() { ActorEnd::Finished } else { ActorEnd::NotStored };
        // From now on commands go to a successor; they need not wait until the agent has ended.
        commands.close();
        let mut waiting = Vec::new();
        match ended {
            Ok(done) => waiting.extend(done),
            Err(error) => {
                // What is stored stands; the next command reads it again.
                tracing::error!(session = %self.session, %error, "the session could not be stored and is let go");
                while let Ok(Command { what, reply }) = commands.try_recv() {
                    if matches!(what, Asked::ShutDown) {
                        waiting.push(reply);
                    } else {
                        let _ = reply.send(Err(HostError::Store(error.clone())));
                    }
                }
            }
        }
        self.shared.live.forget(&self.session);
        self.let_go_of_agent();
        for ending in self.endings.drain(..) {
            // An error: it ended otherwise.
            let _ = ending.await;
        }
        // After a failure the session is taken up anew, by this same server.
        if end == ActorEnd::Finished {
            // Another server may go on with it at once; without this, when our lease is over.
            if let Err(error) = self.shared.store.release(self.session.clone()).await {
                tracing::debug!(session = %self.session, %error, "the session is not let go");
            }
        }
        for done in waiting {
            // Nobody has to wait for it.
            let _ = done.send(Ok(()));
        }
        end
    }

    /// What a shutdown that ended it waits for, where one did.
    async fn work(&mut self, commands: &mut mpsc::UnboundedReceiver<Command>) -> Result<Option<Reply>, StoreError> {
        let (mut news, mut late) = (Vec::new(), Vec::new());
        self.go_on();
        loop {
            self.commit_if_urgent().await?;
            self.publish();
            let commit_at = self.pending.commit_at(now());
            let stop_by = self.stop_by;
            let open_by = self.opening_deadline();
            let settle_by = self.choices.settle_by();
            tokio::select! {
                command = commands.recv() => match command {
                    None => return Ok(None),
                    Some(Command { what: Asked::ShutDown, reply }) => {
                        self.apply(gone("Pleat was stopped while the agent was at work."));
                        self.pending.hurry();
                        self.commit(Durability::Person).await?;
                        return Ok(Some(reply));
                    }
                    Some(command) => self.command(command).await?,
                },
                taken = next_news(self.link.as_mut(), &mut news) => {
                    if taken == 0 {
                        self.process_lost();
                    }
                    for each in news.drain(..) {
                        self.news(each).await?;
                    }
                }
                taken = next_news(self.abandoned.as_mut(), &mut late) => {
                    if taken == 0 {
                        self.abandoned = None;
                    }
                    for each in late.drain(..) {
                        self.late_news(each);
                    }
                }
                () = sleep_until(commit_at) => self.commit(Durability::Agent).await?,
                () = sleep_until(stop_by) => self.stop_by_force().await?,
                () = sleep_until(open_by) => self.opening_took_too_long(),
                () = sleep_until(settle_by) => self.choices_took_too_long(),
            }
            self.cancel_moot_requests();
            self.go_on();
        }
    }

    async fn command(&mut self, command: Command) -> Result<(), StoreError> {
        let Command { what, reply } = command;
        let result = match what {
            Asked::Prompt(prompt) => self.prompt(prompt).await,
            Asked::EditPrompt { prompt, text } => self.edit_prompt(&prompt, text).await,
            Asked::RemovePrompt(prompt) => self.remove_prompt(&prompt).await,
            Asked::ReleasePrompt(prompt) => self.release_prompt(&prompt).await,
            Asked::Stop => self.stop().await,
            Asked::ForceStop => self.force_stop().await,
            Asked::Answer { request, option } => self.answer(&request, option).await,
            Asked::Choose(setting) => return self.choose(setting, reply).await,
            Asked::StartAgent => self.start_anew().await,
            Asked::EndAgent => self.end_agent().await,
            Asked::LogIn { method } => self.log_in(method),
            Asked::AddDirectory(directory) => self.add_directory(directory).await,
            Asked::ShutDown => Ok(()),
        };
        let failed = match &result {
            Err(HostError::Store(error)) => Some(error.clone()),
            Err(_) | Ok(()) => None,
        };
        // Who asked may have gone; what was asked is done all the same.
        let _ = reply.send(result);
        failed.map_or(Ok(()), Err)
    }

    fn apply(&mut self, event: Event) {
        let changes = self.record.apply(event, now(), &mut TimeOrderedIds);
        for change in &changes {
            if let Change::UpdateTurn { update, .. } = change
                && let Some(state) = update.state.filter(|state| !state.is_open())
            {
                self.ended = Some(state);
            }
        }
        self.pending.add(changes);
    }

    /// Stores what is pending, then tells the agent what was to be told after that; the store tells whoever watches.
    async fn commit(&mut self, durability: Durability) -> Result<(), StoreError> {
        let durability = self.pending.durability(durability);
        let changes = self.pending.take(now());
        if !changes.is_empty() {
            self.shared.store.commit(self.session.clone(), changes, now(), durability).await?;
        }
        self.tell_agent();
        Ok(())
    }

    async fn commit_if_urgent(&mut self) -> Result<(), StoreError> {
        if self.pending.is_urgent() || !self.outbox.is_empty() {
            self.commit(Durability::Agent).await?;
        }
        Ok(())
    }

    fn publish(&mut self) {
        self.shared.live.set(&self.session, &self.live);
    }

    /// The name of the newest prompt.
    fn newest_prompt(&self) -> PromptKey {
        PromptKey(self.prompts.to_string())
    }

    fn agent_title(&self) -> String {
        self.agent.as_ref().map_or_else(Clone::clone, |agent| agent.title.clone())
    }
}

fn gone(reason: &str) -> Event {
    Event::AgentGone { reason: Some(reason.to_owned()), last_words: String::new() }
}

/// Waits for news of the agent, for ever where there is none; 0: its process is over.
async fn next_news(link: Option<&mut Link>, news: &mut Vec<News>) -> usize {
    match link {
        Some(link) => link.news.recv_many(news, NEWS_AT_ONCE).await,
        None => std::future::pending().await,
    }
}

async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

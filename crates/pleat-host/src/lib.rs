//! Sessions at work: which agents there are, whose turn it is, what a person is asked, and who is told of a change.
//!
//! Between the faces, whose commands it carries out, and the agents' connections ([`pleat_acp`]). It commits what
//! [`record`](pleat_transcript::record) makes of an agent's words; what the store then signals is passed on
//! ([`Host::revisions`]), and a face reads the store. No face ever waits for an agent here, and no agent for a face.

mod agent_link;
mod agents;
mod clock;
mod error;
mod hub;
mod pending;
mod recovery;
mod session_actor;
mod settings;

pub use agents::{Agent, AgentListing, AgentName, AgentRegistry, Availability};
pub use error::HostError;
pub use settings::HostSettings;

use hub::Hub;
use pleat_store::{Revision, Store, StoreError};
use pleat_transcript::ids::{PermissionId, SessionId};
use pleat_transcript::session::Session;
use session_actor::{Command, SessionActor};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::{Mutex, mpsc, oneshot, watch};

/// The host. Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct Host {
    house: Arc<House>,
}

struct House {
    store: Arc<dyn Store>,
    agents: AgentRegistry,
    settings: HostSettings,
    hub: Hub,
    /// The sessions that work, or did since the start; `None` once the host is shut down.
    actors: Mutex<Option<HashMap<SessionId, mpsc::UnboundedSender<Command>>>>,
}

impl Host {
    /// Closes what an earlier process left open, then stands ready.
    pub async fn start(store: Arc<dyn Store>, agents: AgentRegistry) -> Result<Self, StoreError> {
        Self::start_with(store, agents, HostSettings::default()).await
    }

    /// [`Host::start`] with settings.
    pub async fn start_with(
        store: Arc<dyn Store>,
        agents: AgentRegistry,
        settings: HostSettings,
    ) -> Result<Self, StoreError> {
        let hub = Hub::of(store.signals());
        recovery::close_what_is_open(&*store).await?;
        let actors = Mutex::new(Some(HashMap::new()));
        let house = House { store, agents, settings, hub, actors };
        Ok(Self { house: Arc::new(house) })
    }

    /// What everything is kept in.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.house.store
    }

    /// All agents with what is on PATH now: those that can be started first.
    pub fn agents(&self) -> Vec<AgentListing> {
        self.house.agents.listings()
    }

    /// An agent's name for people, by its name; `None` where nobody knows it.
    pub fn agent_title(&self, name: &str) -> Option<&str> {
        self.house.agents.title(name)
    }

    /// A new session with an agent in a working directory. The agent is started with the first prompt.
    pub async fn new_session(&self, agent: &AgentName, root: PathBuf) -> Result<SessionId, HostError> {
        if self.house.agents.get(agent).is_none() {
            return Err(HostError::UnknownAgent(agent.0.clone()));
        }
        let root = root.canonicalize().ok().filter(|path| path.is_dir()).ok_or(HostError::NoDirectory(root))?;
        let id = SessionId::from_source(&mut clock::TimeOrderedIds);
        let mut session = Session::new(id.clone());
        session.root = Some(root.to_string_lossy().into_owned());
        session.agent = Some(agent.0.clone());
        session.created_at = Some(clock::now());
        self.house.store.create_session(session).await?;
        Ok(id)
    }

    /// Sends a prompt: returns when it is stored. The same `key` again is the same prompt.
    pub async fn prompt(&self, session: &SessionId, text: String, key: Option<String>) -> Result<(), HostError> {
        self.command(session, |reply| Command::Prompt { text, key, reply }).await
    }

    /// Stops the running turn: returns when that is stored. With no turn running it does nothing.
    pub async fn stop(&self, session: &SessionId) -> Result<(), HostError> {
        self.command(session, |reply| Command::Stop { reply }).await
    }

    /// Answers a permission request with one of its options, once.
    pub async fn answer(&self, session: &SessionId, request: &PermissionId, option: &str) -> Result<(), HostError> {
        let (request, option) = (request.clone(), option.to_owned());
        self.command(session, |reply| Command::Answer { request, option, reply }).await
    }

    /// The session's revision, changing as it is committed, by whomever; where that was missed it changes to itself.
    /// Subscribe first, then read the store.
    pub fn revisions(&self, session: &SessionId) -> watch::Receiver<Revision> {
        self.house.hub.revisions(session)
    }

    /// Changes whenever any session changes.
    pub fn any_change(&self) -> watch::Receiver<u64> {
        self.house.hub.any_change()
    }

    /// Ends all agents in order; what they were at is interrupted. Later commands are refused.
    pub async fn shut_down(&self) {
        let actors = self.house.actors.lock().await.take().unwrap_or_default();
        let mut ends = Vec::new();
        for actor in actors.into_values() {
            let (done, end) = oneshot::channel();
            // An actor that is gone has nothing to end.
            if actor.send(Command::ShutDown { done }).is_ok() {
                ends.push(end);
            }
        }
        for end in ends {
            // An error: it ended otherwise.
            let _ = end.await;
        }
        // What was ours is free for other servers at once; without this, a moment later.
        if let Err(error) = self.house.store.leave().await {
            tracing::warn!(%error, "this server could not take its leave");
        }
    }

    async fn command(
        &self,
        session: &SessionId,
        command: impl FnOnce(oneshot::Sender<Result<(), HostError>>) -> Command,
    ) -> Result<(), HostError> {
        let (reply, answer) = oneshot::channel();
        let actor = self.actor(session).await?;
        actor.send(command(reply)).map_err(|_| HostError::Stopping)?;
        answer.await.map_err(|_| HostError::Stopping)?
    }

    /// The actor of a session, started where none works. Its state is rebuilt from the store.
    async fn actor(&self, session: &SessionId) -> Result<mpsc::UnboundedSender<Command>, HostError> {
        let mut actors = self.house.actors.lock().await;
        let actors = actors.as_mut().ok_or(HostError::Stopping)?;
        if let Some(actor) = actors.get(session).filter(|actor| !actor.is_closed()) {
            return Ok(actor.clone());
        }
        recovery::close_session(&*self.house.store, session).await?;
        let stored = self.house.store.document(session.clone()).await?;
        let name = stored.document.session.agent.clone().unwrap_or_default();
        let agent = self.house.agents.get(&AgentName(name.clone())).cloned().ok_or(name);
        let (sender, commands) = mpsc::unbounded_channel();
        let House { store, settings, .. } = &*self.house;
        let actor = SessionActor::new(&stored.document, agent, store.clone(), *settings);
        tokio::spawn(actor.run(commands));
        actors.insert(session.clone(), sender.clone());
        Ok(sender)
    }
}

//! Sessions at work: which agents there are, whose turn it is, what a person is asked, and who is told of a change.
//!
//! Between the faces, whose commands it carries out, and the agents' connections ([`pleat_acp`]). It commits what
//! [`record`](pleat_transcript::record) makes of an agent's words; what the store then signals is passed on
//! ([`Host::signals`]), and a face reads the store. No face ever waits for an agent here, and no agent for a face.
//!
//! Each session is a task (`session_actor`), each agent process another (`agent_process`), so that one that hangs or
//! dies hurts no other.

mod actors;
mod agent_process;
mod agents;
mod clock;
mod error;
mod hub;
mod new_prompt;
mod pending;
mod permission_rules;
mod process_marks;
mod processes;
mod prompt_parts;
mod recovery;
mod session_actor;
mod session_state;
mod settings;

pub use agent_process::{Login, LoginMethod, Setting};
pub use agents::{Agent, AgentListing, AgentName, AgentRegistry, AllowRule, Availability};
pub use error::HostError;
use error::path_text;
pub use hub::SessionSignal;
pub use new_prompt::NewPrompt;
pub use permission_rules::{BY_PERSON, BY_RULE};
pub use pleat_acp::client::ClientLimits;
pub use pleat_acp::connection::messages::ListedSession;
pub use pleat_acp::offers::{AgentCommand, Choice, ConfigOption, ConfigValue, Selection, SessionOffers};
pub use pleat_acp::wire_log::{WireLogSettings, files as wire_log_files};
pub use session_state::{Activity, AgentState, LiveState, StoredActivity};
pub use settings::HostSettings;

use actors::ActorPlace;
use agent_process::{Order, Surroundings};
use hub::Hub;
use pleat_acp::wire_log::WireLogs;
use pleat_store::{Store, StoreError};
use pleat_transcript::ids::{PermissionId, PromptId, SessionId};
use pleat_transcript::session::Session;
use process_marks::ProcessMarks;
use processes::Processes;
use session_actor::{Asked, Command, Shared};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, mpsc, oneshot, watch};
use tokio::task::JoinHandle;

/// How often this server tells that it lives, as long as sessions work: several times in its lease.
const BEAT: Duration = Duration::from_secs(3);

/// The host. Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct Host {
    house: Arc<House>,
}

struct House {
    agents: AgentRegistry,
    shared: Shared,
    hub: Hub,
    wire_logs: Option<WireLogs>,
    /// The sessions that work, or did since the start; `None` once the host is shut down.
    actors: Mutex<Option<HashMap<SessionId, ActorPlace>>>,
    beating: JoinHandle<()>,
}

impl Drop for House {
    fn drop(&mut self) {
        self.beating.abort();
    }
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
        process_marks::end_left_processes(&*store).await?;
        recovery::close_what_is_open(&*store).await?;
        let wire_logs = settings.wire_log.clone().and_then(|settings| match WireLogs::start(settings) {
            Ok(logs) => Some(logs),
            Err(error) => {
                tracing::warn!(%error, "the raw traffic of sessions cannot be kept");
                None
            }
        });
        let surroundings = Surroundings {
            marks: ProcessMarks::in_store(store.clone()),
            wire_logs: wire_logs.clone(),
            limits: settings.limits.clone(),
            hidden: settings.hidden_variables.clone(),
        };
        let sends_waiting_prompts = settings.sends_waiting_prompts;
        let shared = Shared {
            store: store.clone(),
            processes: Arc::new(Processes::new(surroundings)),
            live: hub.live_states(),
            settings: Arc::new(settings),
        };
        let actors = Mutex::new(Some(HashMap::new()));
        let beating = tokio::spawn(beat(store));
        let host = Self { house: Arc::new(House { agents, shared, hub, wire_logs, actors, beating }) };
        if sends_waiting_prompts {
            host.go_on_with_waiting_prompts().await?;
        }
        Ok(host)
    }

    /// What everything is kept in.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.house.shared.store
    }

    /// All agents with what is on PATH now: those that can be started first.
    pub fn agents(&self) -> Vec<AgentListing> {
        self.house.agents.listings()
    }

    /// An agent's name for people, by its name; `None` where nobody knows it.
    pub fn agent_title(&self, name: &str) -> Option<&str> {
        self.house.agents.title(name)
    }

    /// A new session with an agent in a working directory. The agent is started with the first prompt, or before.
    pub async fn new_session(&self, agent: &AgentName, root: PathBuf) -> Result<SessionId, HostError> {
        if self.house.agents.get(agent).is_none() {
            return Err(HostError::UnknownAgent(agent.0.clone()));
        }
        let root = root.canonicalize().ok().filter(|path| path.is_dir()).ok_or(HostError::NoDirectory(root))?;
        let id = SessionId::from_source(&mut clock::TimeOrderedIds);
        let mut session = Session::new(id.clone());
        session.root = Some(path_text(&root)?);
        session.agent = Some(agent.0.clone());
        session.created_at = Some(clock::now());
        self.store().create_session(session).await?;
        Ok(id)
    }

    /// Adds a directory, beside the session's own, that its agent may work in from its next start on.
    pub async fn add_directory(&self, session: &SessionId, directory: PathBuf) -> Result<(), HostError> {
        self.command(session, Asked::AddDirectory(directory)).await
    }

    /// Starts a session's agent before there is a prompt, or anew where it could not be used.
    pub async fn start_agent(&self, session: &SessionId) -> Result<(), HostError> {
        self.command(session, Asked::StartAgent).await
    }

    /// Ends a session's agent, and what it has us run for it. A running turn is interrupted, what waits is held; the next
    /// prompt starts another process.
    pub async fn end_agent(&self, session: &SessionId) -> Result<(), HostError> {
        self.command(session, Asked::EndAgent).await
    }

    /// Logs in by a method of the agent's that is no command to run in a terminal.
    pub async fn log_in(&self, session: &SessionId, method: String) -> Result<(), HostError> {
        self.command(session, Asked::LogIn { method }).await
    }

    /// The sessions that an agent knows by itself (ACP `session/list`), of one directory or all. It is started for that.
    pub async fn agent_sessions(
        &self,
        agent: &AgentName,
        root: Option<&Path>,
    ) -> Result<Vec<ListedSession>, HostError> {
        let agent = self.house.agents.get(agent).ok_or_else(|| HostError::UnknownAgent(agent.0.clone()))?;
        let place = root.map_or_else(std::env::temp_dir, Path::to_owned);
        let started = self.house.shared.processes.alone(agent, &place);
        let process = started.map_err(|error| HostError::AgentRefused(error.to_string()))?;
        let (reply, listed) = oneshot::channel();
        process.order(Order::List { root: root.map(Path::to_owned), reply });
        let gone = |_| HostError::AgentRefused(format!("{} has ended", agent.title));
        let patience = self.house.shared.settings.opening_patience;
        let late = |_| HostError::AgentRefused(format!("{} did not tell its sessions in time", agent.title));
        let listed = tokio::time::timeout(patience, listed).await.map_err(late).and_then(|listed| listed.map_err(gone));
        let (done, ended) = oneshot::channel();
        process.order(Order::End { done });
        // An error: it had ended already.
        let _ = ended.await;
        listed?.map_err(|said| HostError::AgentRefused(format!("{}: {said}", agent.title)))
    }

    /// Takes a prompt: returns when it is stored. It is sent when its turn comes; the same key again is the same prompt.
    pub async fn prompt(&self, session: &SessionId, prompt: NewPrompt) -> Result<(), HostError> {
        self.command(session, Asked::Prompt(prompt)).await
    }

    /// Changes the text of a prompt that waits.
    pub async fn edit_prompt(&self, session: &SessionId, prompt: &PromptId, text: String) -> Result<(), HostError> {
        self.command(session, Asked::EditPrompt { prompt: prompt.clone(), text }).await
    }

    /// Takes a prompt that waits out of the queue.
    pub async fn remove_prompt(&self, session: &SessionId, prompt: &PromptId) -> Result<(), HostError> {
        self.command(session, Asked::RemovePrompt(prompt.clone())).await
    }

    /// Lets a prompt that is held be sent, when its turn comes.
    pub async fn release_prompt(&self, session: &SessionId, prompt: &PromptId) -> Result<(), HostError> {
        self.command(session, Asked::ReleasePrompt(prompt.clone())).await
    }

    /// Stops the running turn: returns when that is stored. With no turn running, prompts that wait are held.
    pub async fn stop(&self, session: &SessionId) -> Result<(), HostError> {
        self.command(session, Asked::Stop).await
    }

    /// Ends the running turn, and its agent's process, without waiting for the agent.
    pub async fn force_stop(&self, session: &SessionId) -> Result<(), HostError> {
        self.command(session, Asked::ForceStop).await
    }

    /// Answers a permission request with one of its options, once.
    pub async fn answer(&self, session: &SessionId, request: &PermissionId, option: &str) -> Result<(), HostError> {
        let (request, option) = (request.clone(), option.to_owned());
        self.command(session, Asked::Answer { request, option }).await
    }

    /// Chooses a mode, a model or an option of the agent: returns when the agent has taken it, or, where it does not run,
    /// when it is stored for its start.
    pub async fn choose(&self, session: &SessionId, setting: Setting) -> Result<(), HostError> {
        self.command(session, Asked::Choose(setting)).await
    }

    /// What a session is at, changing with what is committed, by whomever, and with its live state; where changes were
    /// missed it changes to itself. Subscribe first, then read.
    pub fn signals(&self, session: &SessionId) -> watch::Receiver<SessionSignal> {
        self.house.hub.signals(session)
    }

    /// What is known of a session at work that is stored nowhere, and how often that has changed.
    pub fn live(&self, session: &SessionId) -> (LiveState, u64) {
        self.house.hub.live(session)
    }

    /// Changes whenever any session changes.
    pub fn any_change(&self) -> watch::Receiver<u64> {
        self.house.hub.any_change()
    }

    /// Ends all agents in order; what they were at is interrupted, and what waits goes on waiting. Later commands are
    /// refused.
    pub async fn shut_down(&self) {
        let actors = self.house.actors.lock().await.take().unwrap_or_default();
        let mut ends = Vec::new();
        for place in actors.into_values() {
            let (reply, end) = oneshot::channel();
            // One that is being started ends itself, and one that is gone has nothing to end.
            if let Some(actor) = place.get()
                && actor.send(Command { what: Asked::ShutDown, reply }).is_ok()
            {
                ends.push(end);
            }
        }
        for end in ends {
            // An error: it ended otherwise.
            let _ = end.await;
        }
        if let Some(logs) = &self.house.wire_logs {
            logs.flush().await;
        }
        // A sign of life after the leave would bring us back.
        self.house.beating.abort();
        // What was ours is free for other servers at once; without this, a moment later.
        if let Err(error) = self.store().leave().await {
            tracing::warn!(%error, "this server could not take its leave");
        }
    }

    /// Goes on with the sessions in which prompts wait that nothing holds.
    async fn go_on_with_waiting_prompts(&self) -> Result<(), StoreError> {
        for session in self.store().sessions_with_prompts().await? {
            match self.actor(&session).await {
                Ok(_) | Err(HostError::Elsewhere) => {}
                Err(error) => tracing::warn!(%session, %error, "the prompts that wait there are not sent"),
            }
        }
        Ok(())
    }

    async fn command(&self, session: &SessionId, what: Asked) -> Result<(), HostError> {
        let (reply, answer) = oneshot::channel();
        let mut command = Command { what, reply };
        // An actor may end between being found and being told; the next one takes it.
        while let Err(mpsc::error::SendError(refused)) = self.actor(session).await?.send(command) {
            command = refused;
        }
        answer.await.map_err(|_| HostError::Stopping)?
    }
}

/// Gives signs of life for as long as it runs, so that what this server works on stays its own.
async fn beat(store: Arc<dyn Store>) {
    loop {
        tokio::time::sleep(BEAT).await;
        if let Err(error) = store.beat().await {
            tracing::warn!(%error, "no sign of life could be given");
        }
    }
}

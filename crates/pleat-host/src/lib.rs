//! Sessions at work: which agents there are, whose turn it is, what a person is asked, and who is told of a change.
//!
//! Between the faces, whose commands it carries out, and the agents' connections ([`pleat_acp`]). It commits what
//! [`record`](pleat_transcript::record) makes of an agent's words before it tells anyone ([`Host::revisions`]), and a
//! face then reads the store. No face ever waits for an agent here, and no agent for a face.

use pleat_store::{Revision, Store, StoreError};
use pleat_transcript::ids::{PermissionId, SessionId};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::watch;

/// Names an agent in the registry and in the configuration (`[agents.NAME]`).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AgentName(pub String);

/// An agent as the first page shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentListing {
    /// Its name.
    pub name: AgentName,
    /// Its name for people, such as `Claude Code`.
    pub title: String,
    /// Whether it can be started.
    pub availability: Availability,
}

/// Whether an agent can be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Availability {
    /// Its program is there.
    Found {
        /// The command line that starts it.
        command: String,
    },
    /// Its program is not on PATH.
    Missing {
        /// The command line that would start it.
        command: String,
        /// The command line that installs it, where one is known.
        install: Option<String>,
    },
}

/// Why the host did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// No agent of this name is known.
    #[error("no agent is called `{0}`; the agents are on the first page, pleat.toml can add others")]
    UnknownAgent(String),
    /// The working directory is not there, or not a directory.
    #[error("`{0}` is not a directory; choose one that exists")]
    NoDirectory(PathBuf),
    /// A prompt has no text.
    #[error("the prompt is empty; write something first")]
    EmptyPrompt,
    /// A turn is running.
    #[error("a turn is running in this session; wait for its end, or stop it")]
    TurnRunning,
    /// The request was answered before, or nobody waits for the answer any more.
    #[error("this request is not open any more; it was answered, or the agent no longer waits for it")]
    NotOpen,
    /// The request has no such option.
    #[error("this request has no option `{0}`")]
    UnknownOption(String),
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The host. Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct Host {
    store: Arc<dyn Store>,
}

impl Host {
    /// What everything is kept in.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// All agents: those that can be started first, then by title.
    pub fn agents(&self) -> Vec<AgentListing> {
        todo!()
    }

    /// A new session with an agent in a working directory. The agent is started with the first prompt.
    pub async fn new_session(&self, _agent: &AgentName, _root: PathBuf) -> Result<SessionId, HostError> {
        todo!()
    }

    /// Sends a prompt: returns when it is stored. The same `key` again is the same prompt.
    pub async fn prompt(&self, _session: &SessionId, _text: String, _key: Option<String>) -> Result<(), HostError> {
        todo!()
    }

    /// Stops the running turn: returns when that is stored. With no turn running it does nothing.
    pub async fn stop(&self, _session: &SessionId) -> Result<(), HostError> {
        todo!()
    }

    /// Answers a permission request with one of its options, once.
    pub async fn answer(&self, _session: &SessionId, _request: &PermissionId, _option: &str) -> Result<(), HostError> {
        todo!()
    }

    /// The session's revision, changing as it is committed. Subscribe first, then read the store.
    pub fn revisions(&self, _session: &SessionId) -> watch::Receiver<Revision> {
        todo!()
    }

    /// Changes whenever any session changes.
    pub fn any_change(&self) -> watch::Receiver<u64> {
        todo!()
    }
}

//! Which process a session gets: one of its own, or one that it shares where its agent can.

use crate::agent_process::{AgentProcess, Surroundings, WeakAgentProcess};
use crate::agents::{Agent, AgentName};
use pleat_acp::process::SpawnError;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The processes of this house.
pub(crate) struct Processes {
    surroundings: Surroundings,
    shared: Mutex<HashMap<AgentName, WeakAgentProcess>>,
}

impl Processes {
    pub(crate) fn new(surroundings: Surroundings) -> Self {
        Self { surroundings, shared: Mutex::default() }
    }

    /// A process for a session: the one that others share, where the configuration says so.
    pub(crate) fn for_session(&self, agent: &Agent, root: &Path) -> Result<AgentProcess, SpawnError> {
        if !agent.shared {
            return self.alone(agent, root);
        }
        let mut shared = self.shared();
        if let Some(process) = shared.get(&agent.name).and_then(WeakAgentProcess::upgrade) {
            return Ok(process);
        }
        let process = self.alone(agent, root)?;
        shared.insert(agent.name.clone(), process.downgrade());
        Ok(process)
    }

    /// A process that nobody else has.
    pub(crate) fn alone(&self, agent: &Agent, root: &Path) -> Result<AgentProcess, SpawnError> {
        AgentProcess::start(agent, root, &self.surroundings)
    }

    /// A process that hangs gets no further sessions.
    pub(crate) fn retire(&self, process: &AgentProcess) {
        self.shared().retain(|_, shared| !process.is(shared));
    }

    fn shared(&self) -> MutexGuard<'_, HashMap<AgentName, WeakAgentProcess>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

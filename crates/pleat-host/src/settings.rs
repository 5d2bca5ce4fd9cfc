//! How patient the host is with its agents.

use std::time::Duration;

/// How patient the host is with its agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostSettings {
    /// How long an agent may take to answer Stop before its turn is ended without it.
    pub stop_grace: Duration,
    /// How long an agent may take from its start to its open session before it is given up. Long, because a launcher
    /// may have to fetch the agent first; Stop does not have to wait for it.
    pub opening_patience: Duration,
}

impl Default for HostSettings {
    fn default() -> Self {
        Self { stop_grace: Duration::from_secs(10), opening_patience: Duration::from_mins(2) }
    }
}

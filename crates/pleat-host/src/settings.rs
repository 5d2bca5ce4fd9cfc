//! How the host treats its agents.

use pleat_acp::client::ClientLimits;
use pleat_acp::wire_log::WireLogSettings;
use std::time::Duration;

/// How the host treats its agents.
#[derive(Debug, Clone)]
pub struct HostSettings {
    /// How long an agent may take to answer Stop before its turn is ended without it and its process replaced.
    pub stop_grace: Duration,
    /// How long an agent may take from its start to its open session before it is given up. Long, because a launcher
    /// may have to fetch the agent first; Stop does not have to wait for it.
    pub opening_patience: Duration,
    /// What the files and terminals that agents use may cost.
    pub limits: ClientLimits,
    /// Variables of the environment that agents do not inherit: what opens Pleat's own store is not their business.
    pub hidden_variables: Vec<String>,
    /// Where the raw traffic of sessions is kept; `None`: nowhere.
    pub wire_log: Option<WireLogSettings>,
    /// Whether prompts that wait since an earlier run are sent at the start.
    pub sends_waiting_prompts: bool,
}

impl Default for HostSettings {
    fn default() -> Self {
        Self {
            stop_grace: Duration::from_secs(10),
            opening_patience: Duration::from_mins(5),
            limits: ClientLimits::default(),
            hidden_variables: Vec::new(),
            wire_log: None,
            sends_waiting_prompts: true,
        }
    }
}

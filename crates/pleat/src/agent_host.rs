//! A host for commands that run agents by themselves. It works beside a Pleat that serves: both have the same store, and
//! a session belongs to whoever works on it.

use crate::command_line::ServeArguments;
use crate::configuration::Configuration;
use crate::data_folder::DataFolder;
use crate::database;
use crate::failure::{Failure, Kind};
use crate::stop_signals::StopSignals;
use pleat_host::{Agent, AgentName, AgentRegistry, Host, HostSettings};
use pleat_store::maintenance::StoreAddress;
use std::path::{Path, PathBuf};

/// Everything that a host begins with, read and found right; nothing runs yet.
pub(crate) struct AgentHost {
    /// The agents that can be run.
    pub(crate) agents: AgentRegistry,
    settings: HostSettings,
    address: StoreAddress,
}

impl AgentHost {
    pub(crate) fn prepare(place: &ServeArguments) -> Result<Self, Failure> {
        let configuration = Configuration::read(place.config.as_deref())?;
        let folder = DataFolder::open(place.data.as_deref())?;
        let address = database::chosen(place)?;
        let settings = HostSettings {
            sends_waiting_prompts: false,
            hidden_variables: database::hidden_variables(&address),
            ..configuration.host_settings(&folder)
        };
        Ok(Self { agents: configuration.agents()?, settings, address })
    }

    /// The agent of this name; the error names those there are.
    pub(crate) fn agent(&self, name: &str) -> Result<Agent, Failure> {
        let agent = self.agents.get(&AgentName(name.to_owned())).cloned();
        agent.ok_or_else(|| {
            let names: Vec<String> = self.agents.listings().into_iter().map(|listing| listing.name.0).collect();
            Failure::user(format!(
                "no agent is called `{name}`; the agents are {}, and pleat.toml can add others",
                names.join(", ")
            ))
        })
    }

    /// Does something with the host, until a signal asks the program to end. Whatever comes of it, no agent runs any more
    /// when this returns.
    pub(crate) fn run<T>(self, work: impl AsyncFnOnce(&Host) -> Result<T, Failure>) -> Result<T, Failure> {
        self.run_unstopped(async move |host: &Host| {
            // No agent runs yet; before this a signal ends the program at once.
            let mut signals = StopSignals::listen().map_err(Failure::internal)?;
            tokio::select! {
                done = work(host) => done,
                () = signals.next() => Err(Failure::new(Kind::Stopped, "stopped")),
            }
        })
    }

    /// The same for work that listens to signals itself.
    pub(crate) fn run_unstopped<T>(self, work: impl AsyncFnOnce(&Host) -> Result<T, Failure>) -> Result<T, Failure> {
        // Several threads: a reader of our output that waits must not keep Stop from its agent.
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime =
            runtime.map_err(|error| Failure::internal(format!("the runtime could not be started: {error}")))?;
        runtime.block_on(async {
            let store = database::open(&self.address).await?.into_shared();
            let host = Host::start_with(store, self.agents, self.settings).await?;
            let done = work(&host).await;
            host.shut_down().await;
            done
        })
    }
}

/// A directory by its whole path.
pub(crate) fn directory(path: &Path) -> Result<PathBuf, Failure> {
    let found = path.canonicalize().ok().filter(|path| path.is_dir());
    found.ok_or_else(|| Failure::user(format!("`{}` is not a directory; choose one that exists", path.display())))
}

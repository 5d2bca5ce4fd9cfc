//! A host over a database in a file, with one agent.

use super::Outcome;
use super::process::{self, MARK, mark};
use super::watched_store::{Commits, WatchedStore};
use pleat_host::{Agent, AgentName, AgentRegistry, Host, HostSettings, NewPrompt, WireLogSettings};
use pleat_store::sqlite::SqliteStore;
use pleat_transcript::document::Document;
use pleat_transcript::ids::SessionId;
use pleat_transcript::session::TurnState;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(crate) struct House {
    pub(crate) host: Host,
    pub(crate) commits: Commits,
    agent: AgentName,
}

impl House {
    pub(crate) async fn open(folder: &Path, mut agent: Agent) -> Outcome<Self> {
        agent.env.insert(MARK.to_owned(), mark());
        let name = agent.name.clone();
        let mut agents = AgentRegistry::default();
        agents.set(agent);
        let store = Arc::new(SqliteStore::open(&folder.join("pleat.db"))?);
        let (store, commits) = WatchedStore::around(store);
        let wire_log = Some(WireLogSettings::new(folder.join("wire")));
        let settings = HostSettings { wire_log, ..HostSettings::default() };
        let host = Host::start_with(store, agents, settings).await?;
        Ok(Self { host, commits, agent: name })
    }

    pub(crate) async fn new_session(&self, root: &Path) -> Outcome<SessionId> {
        Ok(self.host.new_session(&self.agent, root.to_owned()).await?)
    }

    pub(crate) async fn prompt(&self, session: &SessionId) -> Outcome<()> {
        Ok(self.host.prompt(session, NewPrompt::text("Go on.")).await?)
    }

    /// From the prompt until one who is signalled reads that the turn has ended. There is one session.
    pub(crate) async fn turn(&self, session: &SessionId) -> Outcome<Duration> {
        let mut signals = self.host.signals(session);
        let begun = Instant::now();
        self.prompt(session).await?;
        loop {
            signals.borrow_and_update();
            let listings = self.host.store().sessions(None, 1).await?;
            let listing = listings.first().ok_or("the session is not listed")?;
            match listing.last_turn.filter(|_| listing.waiting == 0) {
                Some(TurnState::Completed) => return Ok(begun.elapsed()),
                Some(TurnState::Queued | TurnState::Running) | None => signals.changed().await?,
                Some(ended @ (TurnState::Cancelled | TurnState::Failed | TurnState::Interrupted)) => {
                    return Err(format!("a turn has {}", ended.word()).into());
                }
            }
        }
    }

    pub(crate) async fn document(&self, session: &SessionId) -> Outcome<Document> {
        Ok(self.host.store().document(session.clone()).await?.document)
    }

    /// Ends all agents, and tells how many processes are left.
    pub(crate) async fn close(self) -> Outcome<usize> {
        self.host.shut_down().await;
        process::left_running()
    }
}

//! A host with one agent and one session, and what a test wants to see of them.

use pleat_host::{Agent, AgentRegistry, Host, HostSettings, NewPrompt};
use pleat_store::Store;
use pleat_store::sqlite::SqliteStore;
use pleat_transcript::call::{Call, CallState, PermissionState};
use pleat_transcript::document::Document;
use pleat_transcript::ids::{PermissionId, SessionId};
use pleat_transcript::message::{Assistant, Body, Notice, Part};
use pleat_transcript::session::TurnState;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// Nothing here takes a fraction of it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Stage {
    pub(crate) host: Host,
    pub(crate) session: SessionId,
    /// The session's working directory, which the agent leaves its notes in.
    root: PathBuf,
    folder: Option<TempDir>,
}

impl Stage {
    /// With an agent that plays this script, in the language of `scripted_agent`.
    pub(crate) async fn with(script: &str) -> Self {
        Self::with_settings(script, HostSettings::default()).await
    }

    pub(crate) async fn with_settings(script: &str, settings: HostSettings) -> Self {
        Self::build(|root| scripted(root, script), settings, |store| store).await
    }

    /// With an agent that is any command.
    pub(crate) async fn with_command(command: &str, args: &[&str], settings: HostSettings) -> Self {
        Self::build(|_| agent(command, args), settings, |store| store).await
    }

    /// With another store around the database.
    pub(crate) async fn with_store(script: &str, around: impl FnOnce(Arc<dyn Store>) -> Arc<dyn Store>) -> Self {
        Self::build(|root| scripted(root, script), HostSettings::default(), around).await
    }

    async fn build(
        agent: impl FnOnce(&Path) -> Agent,
        settings: HostSettings,
        around: impl FnOnce(Arc<dyn Store>) -> Arc<dyn Store>,
    ) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let store = around(store_in(folder.path()));
        let mut stage = Self::start(folder.path(), store, agent(folder.path()), settings).await;
        stage.folder = Some(folder);
        stage
    }

    /// A host over a folder that outlives it, with a new session.
    pub(crate) async fn start(folder: &Path, store: Arc<dyn Store>, agent: Agent, settings: HostSettings) -> Self {
        let name = agent.name.clone();
        let host = Host::start_with(store, registry(agent), settings).await.expect("the host starts");
        let session = host.new_session(&name, folder.to_owned()).await.expect("a session");
        Self::over(host, session, folder)
    }

    /// A host that was started elsewhere, and a session of it.
    pub(crate) fn over(host: Host, session: SessionId, root: &Path) -> Self {
        Self { host, session, root: root.to_owned(), folder: None }
    }

    /// The session's working directory.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Drops everything but the folder.
    pub(crate) fn close(mut self) -> Option<TempDir> {
        self.folder.take()
    }

    pub(crate) async fn prompt(&self, text: &str) {
        self.host.prompt(&self.session, NewPrompt::text(text)).await.expect("the prompt is taken");
    }

    pub(crate) async fn stop(&self) {
        self.host.stop(&self.session).await.expect("Stop is taken");
    }

    pub(crate) async fn document(&self) -> Document {
        self.host.store().document(self.session.clone()).await.expect("the session").document
    }

    /// Waits until what is stored fulfils `wanted`.
    pub(crate) async fn until(&self, wanted: impl Fn(&Document) -> bool) -> Document {
        let mut signals = self.host.signals(&self.session);
        let look = async {
            loop {
                self.check_scripts();
                let document = self.document().await;
                if wanted(&document) {
                    return document;
                }
                signals.changed().await.expect("the host lives");
            }
        };
        let Ok(document) = tokio::time::timeout(PATIENCE, look).await else {
            self.check_scripts();
            panic!("it never came to that: {:#?}", self.document().await)
        };
        document
    }

    /// What is wrong with a script is nothing that an agent did.
    fn check_scripts(&self) {
        let error = fs::read_to_string(self.root.join("script_error")).unwrap_or_default();
        assert!(error.is_empty(), "{error}");
    }

    /// Waits until the session's turns are in these states.
    pub(crate) async fn until_turns(&self, states: &[TurnState]) -> Document {
        self.until(|document| turns(document) == states).await
    }

    /// Waits until so many permission requests are open, and tells them in the order of their calls.
    pub(crate) async fn until_asked(&self, count: usize) -> Vec<PermissionId> {
        open_requests(&self.until(|document| open_requests(document).len() == count).await)
    }

    /// What the agents heard, in order.
    pub(crate) fn heard(&self) -> Vec<Value> {
        let lines = fs::read_to_string(self.root.join("heard")).unwrap_or_default();
        lines.lines().map(|line| serde_json::from_str(line).expect("a message")).collect()
    }

    /// The methods of the requests and notifications that the agents heard, in order.
    pub(crate) fn heard_methods(&self) -> Vec<String> {
        self.heard().iter().filter_map(|message| message["method"].as_str().map(str::to_owned)).collect()
    }

    /// What the agents heard as the answer to a request of theirs.
    pub(crate) fn heard_answers(&self, request: &str) -> Vec<Value> {
        self.heard().into_iter().filter(|message| message.get("method").is_none() && message["id"] == request).collect()
    }

    /// The pids of the agents, in the order they were started.
    pub(crate) fn pids(&self) -> Vec<u32> {
        pids_in(&self.root)
    }

    /// A gate that an agent can wait at.
    pub(crate) fn make_gate(&self, name: &str) {
        let made = std::process::Command::new("mkfifo").arg(self.root.join(name)).status().expect("mkfifo");
        assert!(made.success());
    }

    /// Opens a gate as soon as an agent waits at it.
    pub(crate) async fn open_gate(&self, name: &str) {
        let gate = self.root.join(name);
        let opened = tokio::task::spawn_blocking(move || fs::OpenOptions::new().write(true).open(gate));
        let opened = tokio::time::timeout(PATIENCE, opened).await.expect("an agent at the gate");
        opened.expect("no panic").expect("the gate opens");
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.check_scripts();
        }
    }
}

/// The database of a folder.
pub(crate) fn store_in(folder: &Path) -> Arc<dyn Store> {
    Arc::new(SqliteStore::open(&folder.join("pleat.db")).expect("a database"))
}

pub(crate) fn pids_in(root: &Path) -> Vec<u32> {
    let lines = fs::read_to_string(root.join("pids")).unwrap_or_default();
    lines.lines().map(|line| line.parse().expect("a pid")).collect()
}

pub(crate) fn scripted(folder: &Path, script: &str) -> Agent {
    scripted_agent::check(script).expect("a script that can be played");
    let file = folder.join("agent.script");
    fs::write(&file, script).expect("the script is written");
    let program = scripted_agent::program();
    agent(program.to_str().expect("a path in UTF-8"), &[file.to_str().expect("a path in UTF-8")])
}

pub(crate) fn agent(command: &str, args: &[&str]) -> Agent {
    Agent {
        title: "The Player".to_owned(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        ..Agent::new("player", command)
    }
}

pub(crate) fn registry(agent: Agent) -> AgentRegistry {
    let mut agents = AgentRegistry::default();
    agents.set(agent);
    agents
}

/// Whether a process runs; one that only waits to be reaped does not.
pub(crate) fn runs(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z')))
}

/// Waits until a process has ended. It is not our child, or not ours to wait for: nothing tells us of its end.
pub(crate) async fn until_gone(pid: u32) {
    let gone = async {
        while runs(pid) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, gone).await.expect("the agent runs on");
}

pub(crate) fn turns(document: &Document) -> Vec<TurnState> {
    document.session.turns.iter().map(|turn| turn.state).collect()
}

pub(crate) fn calls(document: &Document) -> Vec<&Call> {
    let rounds = document.messages.iter().filter_map(|message| match &message.body {
        Body::Assistant(round) => Some(round),
        Body::User(_) | Body::Tool(_) | Body::Plan(_) | Body::Notice(_) => None,
    });
    rounds.flat_map(Assistant::calls).collect()
}

pub(crate) fn call_states(document: &Document) -> Vec<CallState> {
    calls(document).iter().map(|call| call.state).collect()
}

pub(crate) fn open_requests(document: &Document) -> Vec<PermissionId> {
    let permissions = calls(document).into_iter().filter_map(|call| call.permission.as_ref());
    permissions
        .filter(|permission| permission.state == Some(PermissionState::Open))
        .filter_map(|permission| permission.request.clone())
        .collect()
}

pub(crate) fn notices(document: &Document) -> Vec<&Notice> {
    let notices = document.messages.iter().filter_map(|message| match &message.body {
        Body::Notice(notice) => Some(notice),
        Body::User(_) | Body::Assistant(_) | Body::Tool(_) | Body::Plan(_) => None,
    });
    notices.collect()
}

/// The codes of the notices, in order.
pub(crate) fn notice_codes(document: &Document) -> Vec<&str> {
    notices(document).iter().filter_map(|notice| notice.code.as_deref()).collect()
}

/// What the agent said, its texts one after the other.
pub(crate) fn said(document: &Document) -> String {
    let parts = document.messages.iter().filter_map(|message| match &message.body {
        Body::Assistant(round) => Some(&round.parts),
        Body::User(_) | Body::Tool(_) | Body::Plan(_) | Body::Notice(_) => None,
    });
    let texts = parts.flatten().filter_map(|part| match part {
        Part::Text(text) => Some(text.text.as_str()),
        Part::Thinking(_) | Part::Call(_) | Part::Media(_) => None,
    });
    texts.collect()
}

/// What people said.
pub(crate) fn prompts(document: &Document) -> Vec<&str> {
    let users = document.messages.iter().filter_map(|message| match &message.body {
        Body::User(user) => Some(user.text.as_str()),
        Body::Assistant(_) | Body::Tool(_) | Body::Plan(_) | Body::Notice(_) => None,
    });
    users.collect()
}

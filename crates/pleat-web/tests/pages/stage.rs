//! The web face over a store and a host, as a browser would use it.

use crate::counting_store::CountingStore;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode, request};
use pleat_host::{Agent, AgentRegistry, Host};
use pleat_store::Store as _;
use pleat_transcript::document::Document;
use pleat_transcript::ids::SessionId;
use pleat_web::{Access, AccessToken, router};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tower::ServiceExt as _;

/// Nothing here takes a fraction of it.
const PATIENCE: Duration = Duration::from_secs(20);

const TOKEN: &str = "0123456789abcdef0123456789abcdef";
const HOST: &str = "127.0.0.1:7420";

/// The web face over a new store.
pub(crate) struct Stage {
    pub(crate) store: Arc<CountingStore>,
    host: Host,
    router: Router,
    folder: TempDir,
}

pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("")
    }

    pub(crate) fn html(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

impl Stage {
    /// Without any agent.
    pub(crate) async fn new() -> Self {
        Self::start(tempfile::tempdir().unwrap(), AgentRegistry::default()).await
    }

    /// With an agent `player` that plays this script, in the language of `scripted_agent`.
    pub(crate) async fn with_agent(script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut agents = AgentRegistry::default();
        agents.set(scripted(folder.path(), script));
        Self::start(folder, agents).await
    }

    async fn start(folder: TempDir, agents: AgentRegistry) -> Self {
        let store = Arc::new(CountingStore::new());
        let host = Host::start(store.clone(), agents).await.unwrap();
        let access = Access::new(AccessToken::parse(TOKEN).unwrap(), HOST.parse().unwrap());
        Self { router: router(host.clone(), access), host, store, folder }
    }

    /// Begins a session with the agent, in the stage's folder, and tells the path of its page.
    pub(crate) async fn begin(&self) -> String {
        let root = self.folder.path().to_str().unwrap();
        let answer = self.post("/sessions", &format!("agent=player&root={root}")).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.html());
        answer.header("location").to_owned()
    }

    /// Waits until a page of a session shows what is wanted.
    pub(crate) async fn until(&self, page: &str, wanted: impl Fn(&str) -> bool) -> String {
        let session = SessionId::new(page.trim_start_matches("/s/")).unwrap();
        let mut signals = self.host.signals(&session);
        let look = async {
            loop {
                self.check_script();
                let html = self.page(page).await;
                if wanted(&html) {
                    return html;
                }
                signals.changed().await.expect("the host lives");
            }
        };
        let Ok(html) = tokio::time::timeout(PATIENCE, look).await else {
            panic!("it never came to that: {}", self.page(page).await)
        };
        html
    }

    /// What is wrong with a script is nothing that an agent did.
    fn check_script(&self) {
        let error = std::fs::read_to_string(self.folder.path().join("script_error")).unwrap_or_default();
        assert!(error.is_empty(), "{error}");
    }

    /// A gate that the agent can wait at.
    pub(crate) fn make_gate(&self, name: &str) {
        let made = std::process::Command::new("mkfifo").arg(self.folder.path().join(name)).status().expect("mkfifo");
        assert!(made.success());
    }

    /// Opens a gate as soon as the agent waits at it.
    pub(crate) async fn open_gate(&self, name: &str) {
        let gate = self.folder.path().join(name);
        let opened = tokio::task::spawn_blocking(move || std::fs::OpenOptions::new().write(true).open(gate));
        let opened = tokio::time::timeout(PATIENCE, opened).await.expect("an agent at the gate");
        opened.expect("no panic").expect("the gate opens");
    }

    /// Ends the agents.
    pub(crate) async fn end(self) {
        self.host.shut_down().await;
        self.check_script();
    }

    /// Stores a session as it is, newer than those before.
    pub(crate) async fn import(&self, document: &Value, at: i64) {
        let document = Document::from_json(&document.to_string()).unwrap();
        self.store.import(document, at).await.unwrap();
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.answer(Request::builder().uri(path), Body::empty()).await
    }

    /// Posts a form as a browser without script does.
    pub(crate) async fn post(&self, path: &str, form: &str) -> Answer {
        self.answer(Self::form(path), Body::from(form.to_owned())).await
    }

    /// Posts a form as the page's script does.
    pub(crate) async fn post_by_script(&self, path: &str, form: &str) -> Answer {
        self.answer(Self::form(path).header("x-pleat-script", "1"), Body::from(form.to_owned())).await
    }

    fn form(path: &str) -> request::Builder {
        let form = Request::builder().method("POST").uri(path).header("origin", format!("http://{HOST}"));
        form.header("content-type", "application/x-www-form-urlencoded")
    }

    async fn answer(&self, request: request::Builder, body: Body) -> Answer {
        let request = request.header("host", HOST).header("cookie", format!("pleat-7420={TOKEN}"));
        self.store.take_reads();
        let response = self.router.clone().oneshot(request.body(body).unwrap()).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = to_bytes(body, usize::MAX).await.unwrap().to_vec();
        Answer { status: parts.status, headers: parts.headers, body }
    }

    pub(crate) async fn page(&self, path: &str) -> String {
        let answer = self.get(path).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.html());
        answer.html().to_owned()
    }
}

fn scripted(folder: &Path, script: &str) -> Agent {
    scripted_agent::check(script).expect("a script that can be played");
    let file = folder.join("agent.script");
    std::fs::write(&file, script).expect("the script is written");
    let program = scripted_agent::program();
    Agent {
        title: "The Player".to_owned(),
        args: vec![file.to_str().expect("a path in UTF-8").to_owned()],
        ..Agent::new("player", program.to_str().expect("a path in UTF-8"))
    }
}

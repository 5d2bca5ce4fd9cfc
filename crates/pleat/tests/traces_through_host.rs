//! Recorded conversations played by the replay agent as a child process, through the whole host: what is stored equals
//! what the record makes of the recording itself, answers, Stop and errors included.

#![allow(clippy::expect_used, reason = "a test fails by panicking, in its helpers too")]

use pleat_acp::trace::{self, TraceItem};
use pleat_acp::trace_replay;
use pleat_host::{Agent, AgentRegistry, Host, NewPrompt};
use pleat_store::Store;
use pleat_store::sqlite::SqliteStore;
use pleat_transcript::call::{Call, PermissionState};
use pleat_transcript::document::Document;
use pleat_transcript::ids::SessionId;
use pleat_transcript::message::{Assistant, Body, Part};
use serde_json::Value;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(20);

/// The kinds of conversation that issue a Stop, an answer or an error, and how each agent that was recorded took it.
const SCENARIOS: [&str; 9] =
    ["tools", "fail", "perm-allow", "perm-reject", "cancel", "cancel-text", "drop", "err400", "err500"];

/// Agents that have their client run commands and write files: what that gives here is not what it gave there.
const USE_THE_CLIENT: [&str; 5] = ["fast-agent", "kimi", "gemini", "qwen", "opencode"];

#[tokio::test]
async fn recorded_conversations_go_through_the_host() {
    let mut played = 0;
    for path in traces() {
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name").replace(".jsonl.zst", "");
        let scenario = SCENARIOS.iter().find(|scenario| name.ends_with(&format!("-{scenario}")));
        let Some(agent) = scenario.and_then(|scenario| name.strip_suffix(&format!("-{scenario}"))) else { continue };
        if USE_THE_CLIENT.contains(&agent) {
            continue;
        }
        Conversation::begin(&name, &path).await.play().await;
        played += 1;
    }
    assert!(played >= 15, "only {played} traces were played");
}

fn traces() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../pleat-acp/tests/traces");
    let entries = std::fs::read_dir(folder).expect("the traces").map(|entry| entry.expect("an entry").path());
    let mut traces: Vec<_> = entries.collect();
    traces.sort();
    traces
}

/// One trace on its way.
struct Conversation {
    name: String,
    path: PathBuf,
    host: Host,
    session: SessionId,
    /// The call that each request of the agent is about.
    asked: HashMap<String, String>,
    _folder: tempfile::TempDir,
}

impl Conversation {
    async fn begin(name: &str, path: &Path) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut agent = Agent::new("player", env!("CARGO_BIN_EXE_pleat"));
        let trace = path.to_str().expect("a path in UTF-8");
        agent.args = ["agent", "replay", trace, "--speed", "0"].map(str::to_owned).to_vec();
        let name_of_agent = agent.name.clone();
        let mut agents = AgentRegistry::default();
        agents.set(agent);
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&folder.path().join("pleat.db")).expect("a database"));
        let host = Host::start(store, agents).await.expect("the host starts");
        let session = host.new_session(&name_of_agent, folder.path().to_owned()).await.expect("a session");
        let path = path.to_owned();
        Self { name: name.to_owned(), path, host, session, asked: HashMap::new(), _folder: folder }
    }

    /// Does what the recorded client did, then compares.
    async fn play(mut self) {
        let lines: Vec<_> = trace::open(&self.path).expect("a trace").map(|line| line.expect("a line")).collect();
        for (number, line) in lines.iter().enumerate() {
            match &line.what {
                TraceItem::ClientToAgent(message) => {
                    let recorded = |()| recorded(&self.path, Some(number));
                    self.client(message, recorded).await;
                }
                TraceItem::AgentToClient(message) => self.agent(message),
                TraceItem::AgentRaw(_) | TraceItem::AgentStderr(_) | TraceItem::Note(_) => {}
            }
        }
        let expected = digest(&recorded(&self.path, None));
        // Words that come after the last answer may come later still.
        let came = tokio::time::timeout(PATIENCE, self.until(|document| digest(document) == expected)).await;
        if came.is_err() {
            assert_eq!(digest(&self.document().await), expected, "{}", self.name);
        }
        self.host.shut_down().await;
    }

    fn agent(&mut self, message: &Value) {
        if message["method"] == "session/request_permission" {
            let call = message["params"]["toolCall"]["toolCallId"].as_str().unwrap_or_default();
            self.asked.insert(message["id"].to_string(), call.to_owned());
        }
    }

    async fn client(&self, message: &Value, recorded: impl Fn(()) -> Document) {
        match message["method"].as_str() {
            Some("session/prompt") => {
                self.soon(|document| document.session.live_turn.is_none() && document.session.waiting.is_empty()).await;
                let text = message["params"]["prompt"][0]["text"].as_str().expect("a text");
                self.host.prompt(&self.session, NewPrompt::text(text)).await.expect("the prompt is taken");
            }
            Some("session/cancel") => {
                // The agent waits for it: what it said before is stored first.
                let before = said(&recorded(()));
                self.soon(|document| said(document) == before).await;
                self.host.stop(&self.session).await.expect("Stop is taken");
            }
            Some(_) => {}
            None => {
                let call = self.asked.get(&message["id"].to_string());
                let option = message["result"]["outcome"]["optionId"].as_str();
                if let (Some(call), Some(option)) = (call, option) {
                    self.answer(call, option).await;
                }
            }
        }
    }

    async fn answer(&self, agent_id: &str, option: &str) {
        let is_asked = |call: &&Call| {
            call.agent_id.as_ref().is_some_and(|id| id.0 == agent_id)
                && call.permission.as_ref().and_then(|asked| asked.state) == Some(PermissionState::Open)
        };
        let document = self.soon(|document| calls(document).iter().any(is_asked)).await;
        let call = calls(&document).into_iter().find(is_asked).expect("it was there");
        let request = call.permission.as_ref().and_then(|asked| asked.request.clone()).expect("an id");
        self.host.answer(&self.session, &request, option).await.expect("the answer is taken");
    }

    async fn document(&self) -> Document {
        self.host.store().document(self.session.clone()).await.expect("the session").document
    }

    async fn soon(&self, wanted: impl Fn(&Document) -> bool) -> Document {
        let Ok(document) = tokio::time::timeout(PATIENCE, self.until(wanted)).await else {
            panic!("{}: it never came to that: {:#?}", self.name, digest(&self.document().await))
        };
        document
    }

    async fn until(&self, wanted: impl Fn(&Document) -> bool) -> Document {
        let mut signals = self.host.signals(&self.session);
        let look = async {
            loop {
                let document = self.document().await;
                if wanted(&document) {
                    return document;
                }
                signals.changed().await.expect("the host lives");
            }
        };
        look.await
    }
}

/// What the record makes of a trace, or of its first lines.
fn recorded(path: &Path, lines: Option<usize>) -> Document {
    let trace = trace::open(path).expect("a trace").take(lines.unwrap_or(usize::MAX));
    trace_replay::replay(trace).expect("a trace").documents.remove(0)
}

fn rounds(document: &Document) -> impl Iterator<Item = &Assistant> {
    document.messages.iter().filter_map(|message| match &message.body {
        Body::Assistant(round) => Some(round),
        Body::User(_) | Body::Tool(_) | Body::Plan(_) | Body::Notice(_) => None,
    })
}

fn calls(document: &Document) -> Vec<&Call> {
    rounds(document).flat_map(Assistant::calls).collect()
}

/// All texts, and which calls there are.
fn said(document: &Document) -> Vec<String> {
    let parts = rounds(document).flat_map(|round| &round.parts);
    parts
        .map(|part| match part {
            Part::Text(text) | Part::Thinking(text) => text.text.clone(),
            Part::Call(call) => format!("{:?}", call.agent_id),
            Part::Media(media) => format!("{:?}", media.kind),
        })
        .collect()
}

/// Everything of a transcript but our ids, the times, and who answered.
fn digest(document: &Document) -> Vec<String> {
    let mut lines: Vec<String> = document
        .session
        .turns
        .iter()
        .map(|turn| format!("turn {} {:?} {:?}", turn.state.word(), turn.stop_reason, turn.usage))
        .collect();
    for message in &document.messages {
        match &message.body {
            Body::User(user) => lines.push(format!("user {:?} {}", user.origin, user.text)),
            Body::Assistant(round) => {
                lines.push(format!("round {:?} {:?}", round.error, round.parent.is_some()));
                lines.extend(round.parts.iter().map(part_line));
            }
            Body::Tool(result) => lines.push(format!("result {}", result.text)),
            Body::Plan(plan) => lines.push(format!("plan {:?}", plan.content)),
            Body::Notice(notice) => lines.push(format!("notice {:?}", notice.code)),
        }
    }
    lines
}

fn part_line(part: &Part) -> String {
    match part {
        Part::Thinking(text) => format!("thinking {}", text.text),
        Part::Text(text) => format!("text {}", text.text),
        Part::Media(media) => format!("media {:?}", media.kind),
        Part::Call(call) => {
            let asked = call.permission.as_ref().map(|asked| (asked.state, &asked.chosen));
            let Call { name, server, kind_word, title, state, input, output, .. } = &**call;
            format!("call {name:?} {server:?} {kind_word:?} {title:?} {state:?} {asked:?} {input:?} {output:?}")
        }
    }
}

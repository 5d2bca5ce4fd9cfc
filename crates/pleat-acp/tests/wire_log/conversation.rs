//! A recorded conversation goes over a connection once more, with the log as its tap.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use pleat_acp::connection::{
    Connection, ConnectionOptions, Incoming, IncomingLines, RequestId, RpcError, WireDirection, WireLine, WireTap,
    messages,
};
use pleat_acp::trace::{self, TraceItem, TraceLine};
use pleat_acp::trace_replay::{Replayed, replay};
use pleat_acp::wire_log::{ProcessLog, WireLogSettings, WireLogs, files};
use pleat_transcript::ids::{AgentSessionId, SessionId};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines};

/// Nothing here takes a fraction of it.
const PATIENCE: Duration = Duration::from_secs(20);

/// A folder with wire logs.
pub(crate) struct House {
    pub(crate) folder: TempDir,
    pub(crate) logs: WireLogs,
}

impl House {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(crate) fn with(change: impl FnOnce(&mut WireLogSettings)) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let logs = start(folder.path(), change);
        Self { folder, logs }
    }

    /// The program ends and is started again.
    pub(crate) async fn restart(&mut self) {
        self.logs.flush().await;
        self.logs = start(self.folder.path(), |_| {});
    }

    pub(crate) async fn files(&self, session: &SessionId) -> Vec<PathBuf> {
        self.logs.flush().await;
        files(self.folder.path(), session)
    }

    /// What is in the files of a session.
    pub(crate) async fn replayed(&self, session: &SessionId) -> Replayed {
        replay(trace::open_all(self.files(session).await)).expect("a trace")
    }

    /// The lines in the files of a session, without their times.
    pub(crate) async fn lines(&self, session: &SessionId) -> Vec<TraceItem> {
        let files = self.files(session).await;
        trace::open_all(files).map(|line| line.expect("a trace line").what).collect()
    }
}

fn start(folder: &Path, change: impl FnOnce(&mut WireLogSettings)) -> WireLogs {
    let mut settings = WireLogSettings::new(folder);
    change(&mut settings);
    WireLogs::start(settings).expect("started")
}

pub(crate) fn session(number: usize) -> SessionId {
    SessionId::new(format!("s{number}")).expect("an id")
}

pub(crate) fn recorded(name: &str) -> Vec<TraceLine> {
    let path = format!("{}/tests/traces/{name}.jsonl.zst", env!("CARGO_MANIFEST_DIR"));
    // A torn end was never on the wire.
    trace::open(Path::new(&path)).expect("a trace").filter_map(Result::ok).collect()
}

/// When a session is told to the log.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Told {
    /// Before the agent has said anything.
    First,
    /// When it is asked to open the session.
    #[default]
    Late,
}

/// Says everything that was recorded.
pub(crate) async fn say(recorded: &[TraceLine], logs: &WireLogs, told: Told) {
    say_with(recorded, logs, told, usize::MAX).await;
}

/// Says everything that was recorded, and has it written after so many lines each.
pub(crate) async fn say_with(recorded: &[TraceLine], logs: &WireLogs, told: Told, lines_at_once: usize) {
    let mut sessions = Sessions { told, ..Sessions::default() };
    let mut wire = None;
    let mut is_over = false;
    for (number, line) in (1..).zip(recorded) {
        if is_over && is_request(&line.what) {
            // What an agent had in its pipe came before.
            is_over = false;
            end(wire.take()).await;
        }
        is_over |= matches!(&line.what, TraceItem::Note(note) if tells_of_an_end(note));
        let wire = match &mut wire {
            Some(wire) => wire,
            None => wire.insert(Wire::open(logs, &mut sessions)),
        };
        wire.say(line, &mut sessions).await;
        if number % lines_at_once == 0 {
            logs.flush().await;
        }
    }
    end(wire).await;
}

async fn end(wire: Option<Wire>) {
    if let Some(wire) = wire {
        wire.process.end().await;
    }
}

fn is_request(item: &TraceItem) -> bool {
    matches!(item, TraceItem::ClientToAgent(message) if message.get("method").is_some() && message.get("id").is_some())
}

fn tells_of_an_end(note: &Value) -> bool {
    note["event"].as_str().is_some_and(|event| event.contains("SIGKILL") || event.contains("a new one is started"))
}

/// Our sessions, numbered from 1, and what the agent calls them.
#[derive(Default)]
struct Sessions {
    told: Told,
    by_name: HashMap<String, SessionId>,
    begun: usize,
}

impl Sessions {
    fn begin(&mut self) -> SessionId {
        self.begun += 1;
        session(self.begun)
    }
}

/// An agent process, of which this is both ends.
pub(crate) struct Process {
    pub(crate) connection: Connection,
    pub(crate) log: ProcessLog,
    incoming: IncomingLines,
    stdout: DuplexStream,
    stdin: Lines<BufReader<DuplexStream>>,
    /// Of the log.
    clock: Arc<AtomicI64>,
}

impl Process {
    pub(crate) fn start(logs: &WireLogs) -> Self {
        let (stdout, reader) = tokio::io::duplex(1 << 16);
        let (writer, stdin) = tokio::io::duplex(1 << 16);
        let log = logs.process();
        let clock = Arc::new(AtomicI64::new(0));
        let tap = {
            let (log, clock) = (log.clone(), Arc::clone(&clock));
            move |line: WireLine<'_>| {
                let since = u64::try_from(clock.load(Ordering::SeqCst)).expect("after 1970");
                log.line(WireLine { at: UNIX_EPOCH + Duration::from_millis(since), ..line });
            }
        };
        let options = ConnectionOptions { tap: Some(Arc::new(tap)), ..ConnectionOptions::default() };
        let (connection, incoming) = Connection::over(reader, writer, options);
        Self { connection, log, incoming, stdout, stdin: BufReader::new(stdin).lines(), clock }
    }

    /// Sends a request; gives its id.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.connection.request(method, params);
        serde_json::from_str::<Value>(&self.read().await).expect("JSON")["id"].take()
    }

    /// The agent answers.
    pub(crate) async fn answer(&mut self, id: Value, result: Value) {
        self.write(&json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()).await;
        assert!(matches!(self.hear().await, Incoming::Answer { .. }));
    }

    /// The agent says something in a session.
    pub(crate) async fn update(&mut self, session: &str, text: &str) {
        let update = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}});
        let params = json!({"sessionId": session, "update": update});
        self.write(&json!({"jsonrpc": "2.0", "method": "session/update", "params": params}).to_string()).await;
        self.hear().await;
    }

    /// The agent prints a line that is no message.
    pub(crate) async fn noise(&mut self, text: &str) {
        self.write(text).await;
        self.hear().await;
    }

    /// The agent exits.
    pub(crate) async fn end(mut self) {
        drop(self.stdout);
        while let Some(received) = self.incoming.recv().await {
            assert!(matches!(received.what, Incoming::Closed(_)), "{received:?}");
        }
    }

    async fn write(&mut self, line: &str) {
        self.stdout.write_all(format!("{line}\n").as_bytes()).await.expect("the connection reads");
    }

    /// What the connection made of a line of the agent's.
    async fn hear(&mut self) -> Incoming {
        let received = tokio::time::timeout(PATIENCE, self.incoming.recv()).await.expect("an item in time");
        received.expect("an item").what
    }

    /// What the agent gets.
    async fn read(&mut self) -> String {
        let line = tokio::time::timeout(PATIENCE, self.stdin.next_line()).await.expect("a line in time");
        line.expect("the connection writes").expect("a line")
    }
}

/// A process that says what was recorded.
struct Wire {
    process: Process,
    /// The session that was told before it was asked for.
    first: Option<SessionId>,
    /// Our requests: the recorded ids with those of the connection, and the sessions that they open.
    asked: HashMap<String, (Value, Option<SessionId>)>,
    /// The agent's requests.
    serves: HashMap<String, RequestId>,
}

impl Wire {
    fn open(logs: &WireLogs, sessions: &mut Sessions) -> Self {
        let process = Process::start(logs);
        let first = (sessions.told == Told::First && sessions.begun == 0).then(|| sessions.begin());
        if let Some(first) = &first {
            process.log.add_session(first);
        }
        Self { process, first, asked: HashMap::new(), serves: HashMap::new() }
    }

    async fn say(&mut self, line: &TraceLine, sessions: &mut Sessions) {
        self.process.clock.store(line.at_ms, Ordering::SeqCst);
        match &line.what {
            TraceItem::ClientToAgent(message) => self.client_says(message, sessions).await,
            TraceItem::AgentToClient(message) => self.agent_says(message, sessions).await,
            TraceItem::AgentRaw(raw) => {
                self.process.write(raw).await;
                self.process.hear().await;
            }
            TraceItem::AgentStderr(_) | TraceItem::Note(_) => {}
        }
    }

    async fn client_says(&mut self, message: &Value, sessions: &mut Sessions) {
        let params = message["params"].clone();
        match (message["method"].as_str(), message.get("id")) {
            (Some(method), Some(id)) => {
                let opens = self.opens(method, &params, sessions);
                let sent = self.process.ask(method, params).await;
                self.asked.insert(id.to_string(), (sent, opens));
            }
            (Some(method), None) => {
                self.process.connection.notify(method, params);
                self.process.read().await;
            }
            (None, Some(id)) => {
                let answer = match message.get("error") {
                    Some(error) => Err(rpc_error(error)),
                    None => Ok(message["result"].clone()),
                };
                let to = self.serves.remove(&id.to_string()).expect("an answer to a request");
                self.process.connection.respond(&to, answer);
                self.process.read().await;
            }
            (None, None) => panic!("no message: {message}"),
        }
    }

    /// What a host tells the log about a session before it asks for it.
    fn opens(&mut self, method: &str, params: &Value, sessions: &mut Sessions) -> Option<SessionId> {
        let opens = match method {
            messages::method::SESSION_NEW => {
                let opens = self.first.take().unwrap_or_else(|| sessions.begin());
                self.process.log.add_session(&opens);
                opens
            }
            messages::method::SESSION_LOAD | messages::method::SESSION_RESUME => {
                let name = params["sessionId"].as_str().expect("an id");
                let opens = match sessions.by_name.get(name) {
                    Some(session) => session.clone(),
                    None => self.first.take().unwrap_or_else(|| sessions.begin()),
                };
                self.process.log.add_session(&opens);
                self.name(&opens, name, sessions);
                opens
            }
            _ => return None,
        };
        Some(opens)
    }

    fn name(&self, session: &SessionId, name: &str, sessions: &mut Sessions) {
        self.process.log.name_session(session, &AgentSessionId(name.to_owned()));
        sessions.by_name.insert(name.to_owned(), session.clone());
    }

    async fn agent_says(&mut self, message: &Value, sessions: &mut Sessions) {
        let mut said = message.clone();
        let mut opens = None;
        if said.get("method").is_none()
            && let Some((id, session)) = said.get("id").and_then(|id| self.asked.remove(&id.to_string()))
        {
            said["id"] = id;
            opens = session;
        }
        self.process.write(&said.to_string()).await;
        if let Incoming::Request { id, .. } = self.process.hear().await {
            self.serves.insert(message["id"].to_string(), id);
        }
        if let (Some(session), Some(name)) = (opens, message["result"]["sessionId"].as_str()) {
            self.name(&session, name, sessions);
        }
    }
}

fn rpc_error(error: &Value) -> RpcError {
    let code = error["code"].as_i64().expect("a code");
    let message = error["message"].as_str().expect("a message");
    RpcError { data: error.get("data").cloned(), ..RpcError::new(code, message) }
}

/// A line of the agent's, told to the log as a connection does.
pub(crate) fn update(log: &ProcessLog, session: &str, text: &str) {
    let update = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}});
    let params = json!({"sessionId": session, "update": update});
    let message = json!({"jsonrpc": "2.0", "method": "session/update", "params": params});
    from_agent(log, Some(session), &message.to_string(), true);
}

/// A line of the agent's that is no message.
pub(crate) fn noise(log: &ProcessLog, text: &str) {
    from_agent(log, None, text, false);
}

fn from_agent(log: &ProcessLog, session: Option<&str>, text: &str, is_object: bool) {
    let (direction, at) = (WireDirection::FromAgent, UNIX_EPOCH + Duration::from_hours(500_000));
    log.line(WireLine { direction, at, bytes: text.as_bytes(), is_object, session, opens: None });
}

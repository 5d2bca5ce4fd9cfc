//! A client of the replay agent, over pipes in this process.

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write as _};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use pleat_acp::replay_agent::{ReplayEnd, ReplayError, ReplayOptions, play};
use serde_json::{Value, json};

/// No line takes a fraction of it.
const PATIENCE: Duration = Duration::from_secs(20);

/// As fast as possible.
pub(crate) const FAST: ReplayOptions = ReplayOptions { speed: 0.0, part: 1 };

/// A recorded conversation of `tests/traces`.
pub(crate) fn trace_path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/traces/{name}.jsonl.zst"))
}

/// The replay agent playing, and our ends of its pipes.
pub(crate) struct Client {
    to_agent: Option<PipeWriter>,
    lines: Receiver<String>,
    playing: JoinHandle<Result<ReplayEnd, ReplayError>>,
    last_id: u64,
}

impl Client {
    pub(crate) fn start(name: &str, options: ReplayOptions) -> Self {
        Self::over(pleat_acp::trace::open_unpacked(&trace_path(name)).expect("a trace"), options)
    }

    pub(crate) fn over(trace: impl BufRead + Send + 'static, options: ReplayOptions) -> Self {
        let (input, to_agent) = std::io::pipe().expect("a pipe");
        let (from_agent, output) = std::io::pipe().expect("a pipe");
        let playing = std::thread::spawn(move || play(trace, BufReader::new(input), output, options));
        Self { to_agent: Some(to_agent), lines: read_lines(from_agent), playing, last_id: 100 }
    }

    pub(crate) fn send(&mut self, message: &Value) {
        let to_agent = self.to_agent.as_mut().expect("not closed");
        writeln!(to_agent, "{message}").expect("the agent reads");
    }

    /// Sends a request and gives its id.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let id = json!(self.last_id);
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    pub(crate) fn answer(&mut self, id: &Value, result: Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    /// The agent's next line.
    pub(crate) fn line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("one more line in time")
    }

    /// The agent's next message.
    pub(crate) fn next(&self) -> Value {
        serde_json::from_str(&self.line()).expect("JSON")
    }

    /// Whether the agent says nothing for a while; for what must not come.
    pub(crate) fn is_silent(&self) -> bool {
        self.lines.recv_timeout(Duration::from_millis(50)).is_err()
    }

    /// The answer to that request, and the messages before it. Permission is granted by the first
    /// option, and what else the agent asks is answered with nothing.
    pub(crate) fn until_answer(&mut self, id: &Value) -> (Value, Vec<Value>) {
        let mut before = Vec::new();
        loop {
            let message = self.next();
            if message.get("method").is_none() && message["id"] == *id {
                return (message, before);
            }
            if let Some(asked) = message.get("id") {
                let option = &message["params"]["options"][0]["optionId"];
                self.answer(asked, json!({"outcome": {"outcome": "selected", "optionId": option}}));
            }
            before.push(message);
        }
    }

    /// Sends a request and waits for its answer.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.until_answer(&id).0
    }

    /// The handshake and a new session, whose id this gives.
    pub(crate) fn open_session(&mut self) -> Value {
        self.ask("initialize", json!({"protocolVersion": 1}));
        self.ask("session/new", json!({"cwd": "/workspace", "mcpServers": []}))["result"]["sessionId"].clone()
    }

    /// Sends a prompt and gives its id.
    pub(crate) fn prompt(&mut self, session: &Value) -> Value {
        self.request("session/prompt", json!({"sessionId": session, "prompt": [{"type": "text", "text": "go"}]}))
    }

    /// Closes the agent's input; what it still says, and how it ended.
    pub(crate) fn close(mut self) -> (Vec<String>, Result<ReplayEnd, ReplayError>) {
        self.to_agent = None;
        self.end()
    }

    /// What the agent says until it ends by itself, and how it ended.
    pub(crate) fn end(self) -> (Vec<String>, Result<ReplayEnd, ReplayError>) {
        let ended = self.playing.join().expect("no panic");
        (self.lines.iter().collect(), ended)
    }
}

fn read_lines(from_agent: PipeReader) -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(from_agent).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

//! What the client serves, against real files and real processes.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod files;
mod outside;
mod slow_transcript;
mod terminal_ends;
mod terminals;
mod transcript;
mod workspace;

use pleat_acp::client::{ClientLimits, ClientSession, TerminalNews, Workspace};
use pleat_acp::connection::RpcError;
use serde_json::{Map, Value, json};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Nothing here takes a fraction of it.
const PATIENCE: Duration = Duration::from_secs(20);

/// A session in a directory of its own, `app`, which has neighbours.
struct Scene {
    folder: tempfile::TempDir,
    client: ClientSession,
    news: mpsc::UnboundedReceiver<TerminalNews>,
}

impl Scene {
    fn new() -> Self {
        Self::with(ClientLimits::default())
    }

    fn with(limits: ClientLimits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("app")).unwrap();
        let (sender, news) = mpsc::unbounded_channel();
        let workspace = Workspace::open(&folder.path().join("app"), &[]).unwrap();
        Self { client: ClientSession::new(workspace, limits, Vec::new(), sender), folder, news }
    }

    /// A path inside of the session's directory.
    fn app(&self, path: &str) -> PathBuf {
        self.folder.path().join("app").join(path)
    }

    /// What a request is answered.
    async fn ask(&self, method: &str, params: Value) -> Result<Value, RpcError> {
        ask(&self.client, method, params).await
    }

    async fn read(&self, path: impl AsRef<Path>) -> Result<String, RpcError> {
        self.read_lines(path, json!({})).await
    }

    async fn read_lines(&self, path: impl AsRef<Path>, lines: Value) -> Result<String, RpcError> {
        let answer = self.ask("fs/read_text_file", and(json!({"path": path.as_ref()}), lines)).await?;
        Ok(answer["content"].as_str().unwrap().to_owned())
    }

    async fn write(&self, path: impl AsRef<Path>, content: &str) -> Result<Value, RpcError> {
        self.ask("fs/write_text_file", json!({"path": path.as_ref(), "content": content})).await
    }

    /// A terminal with a shell's command line.
    async fn shell(&self, line: &str) -> String {
        self.create(json!({"command": "/bin/sh", "args": ["-c", line]})).await.unwrap()
    }

    async fn create(&self, params: Value) -> Result<String, RpcError> {
        let answer = self.ask("terminal/create", params).await?;
        Ok(answer["terminalId"].as_str().unwrap().to_owned())
    }

    async fn of(&self, method: &str, terminal: &str) -> Result<Value, RpcError> {
        self.ask(&format!("terminal/{method}"), json!({"terminalId": terminal})).await
    }

    async fn exit(&self, terminal: &str) -> Value {
        self.of("wait_for_exit", terminal).await.unwrap()
    }

    /// What a command printed by its exit.
    async fn printed(&self, terminal: &str) -> String {
        self.exit(terminal).await;
        self.of("output", terminal).await.unwrap()["output"].as_str().unwrap().to_owned()
    }

    async fn next_news(&mut self) -> TerminalNews {
        timeout(PATIENCE, self.news.recv()).await.expect("news in time").expect("news before their end")
    }

    /// News up to the first that is asked for.
    async fn news_until(&mut self, is_last: impl Fn(&TerminalNews) -> bool) -> Vec<TerminalNews> {
        let mut news = Vec::new();
        loop {
            news.push(self.next_news().await);
            if news.last().is_some_and(&is_last) {
                return news;
            }
        }
    }

    /// Waits until nothing is left of the next terminal that ends, and says which process led it.
    async fn ended(&mut self) -> u32 {
        loop {
            // What is not kept makes room for more.
            if let TerminalNews::Ended { pid, .. } = self.next_news().await {
                return pid;
            }
        }
    }

    /// Waits until so much was printed that it ends with this.
    async fn printed_so_far(&mut self, end: &str) -> String {
        let mut printed = String::new();
        while !printed.ends_with(end) {
            if let TerminalNews::Output { text, .. } = self.next_news().await {
                printed += &text;
            }
        }
        printed
    }
}

async fn ask(client: &ClientSession, method: &str, params: Value) -> Result<Value, RpcError> {
    let answer = client.serve(method, and(json!({"sessionId": "s"}), params));
    timeout(PATIENCE, answer).await.expect("an answer in time")
}

fn and(mut params: Value, more: Value) -> Value {
    let more: Map<String, Value> = serde_json::from_value(more).unwrap();
    params.as_object_mut().unwrap().extend(more);
    params
}

/// A text of many lines.
fn text_of_lines(numbers: Range<usize>, line: impl Fn(usize) -> String) -> String {
    numbers.map(line).collect()
}

/// What news tell, to be compared.
fn told(news: &TerminalNews) -> Value {
    match news {
        TerminalNews::Started { terminal, pid, .. } => json!(["started", terminal, pid]),
        TerminalNews::Output { terminal, text, .. } => json!(["output", terminal, text]),
        TerminalNews::Exited { terminal, exit } => json!(["exited", terminal, exit]),
        TerminalNews::Ended { terminal, pid } => json!(["ended", terminal, pid]),
    }
}

/// All text that news tell.
fn text_of(news: &[TerminalNews]) -> String {
    let text = |news: &TerminalNews| match news {
        TerminalNews::Output { text, .. } => Some(text.clone()),
        TerminalNews::Started { .. } | TerminalNews::Exited { .. } | TerminalNews::Ended { .. } => None,
    };
    news.iter().filter_map(text).collect()
}

/// How many processes of a group run; those that only wait to be reaped do not.
fn running_in_group(pgid: u32) -> usize {
    let stats = std::fs::read_dir("/proc").unwrap().flatten();
    let stats = stats.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    let runs = |stat: &String| {
        let mut fields = stat.rsplit(')').next().unwrap().split_ascii_whitespace();
        fields.next() != Some("Z") && fields.nth(1) == Some(&pgid.to_string())
    };
    stats.filter(runs).count()
}

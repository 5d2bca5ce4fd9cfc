//! Everything that we send, through one queue to the task that writes it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use serde::Serialize;
use serde_json::Value;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;

use super::backlog::{Backlog, Unwritten};
use super::correlation::{Asked, Pending, Question};
use super::incoming::{RequestId, RpcError, Token};
use super::tap::{WireDirection, WireLine, WireTap};

/// What the writing task is told.
enum Order {
    Line { line: Vec<u8>, about: Question, token: Option<Token>, unwritten: Option<Unwritten> },
    Close,
}

/// Enqueues messages; never waits.
#[derive(Debug, Clone)]
pub(super) struct Sender {
    orders: mpsc::UnboundedSender<Order>,
    pending: Pending,
    asked: Asked,
    backlog: Backlog,
    last_id: Arc<AtomicU64>,
}

/// A sender, and what the writing task takes from. Of answers so many bytes should wait at most.
pub(super) fn channel(max_outgoing_bytes: usize) -> (Sender, Receiver) {
    let (orders, receiver) = mpsc::unbounded_channel();
    let sender = Sender {
        orders,
        pending: Pending::default(),
        asked: Asked::default(),
        backlog: Backlog::new(max_outgoing_bytes),
        last_id: Arc::new(AtomicU64::new(0)),
    };
    (sender, Receiver(receiver))
}

/// The writing task's end of the queue.
pub(super) struct Receiver(mpsc::UnboundedReceiver<Order>);

impl std::fmt::Debug for Order {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Line { line, .. } => write!(formatter, "a line of {} bytes", line.len()),
            Self::Close => formatter.write_str("close"),
        }
    }
}

const JSONRPC: &str = "2.0";

#[derive(Serialize)]
struct Request<'a> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    method: &'a str,
    #[serde(skip_serializing_if = "Value::is_null")]
    params: Value,
}

#[derive(Serialize)]
struct Response<'a> {
    jsonrpc: &'static str,
    id: &'a RequestId,
    #[serde(flatten)]
    answer: Answer,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Answer {
    Result(Value),
    Error(RpcError),
}

impl Sender {
    pub(super) fn pending(&self) -> Pending {
        self.pending.clone()
    }

    /// The agent's requests that we have not answered.
    pub(super) fn asked(&self) -> Asked {
        self.asked.clone()
    }

    /// The answers that wait to be written.
    pub(super) fn backlog(&self) -> Backlog {
        self.backlog.clone()
    }

    pub(super) fn request(&self, method: &str, params: Value) -> Token {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let question = Question::new(method, &params);
        // Before it can be written, so that the answer finds it.
        self.pending.put(Token(id), question.clone());
        if let Some(line) = line_of(&Request { jsonrpc: JSONRPC, id: Some(id), method, params }) {
            self.send(Order::Line { line, about: question, token: Some(Token(id)), unwritten: None });
        }
        Token(id)
    }

    pub(super) fn notify(&self, method: &str, params: Value) {
        let about = Question::new(method, &params);
        if let Some(line) = line_of(&Request { jsonrpc: JSONRPC, id: None, method, params }) {
            self.send(Order::Line { line, about, token: None, unwritten: None });
        }
    }

    pub(super) fn respond(&self, id: &RequestId, answer: Result<Value, RpcError>) {
        let answer = match answer {
            Ok(result) => Answer::Result(result),
            Err(error) => Answer::Error(error),
        };
        let about = self.asked.take(id).unwrap_or_default();
        if let Some(line) = line_of(&Response { jsonrpc: JSONRPC, id, answer }) {
            let unwritten = Some(self.backlog.answered(id, line.len()));
            self.send(Order::Line { line, about, token: None, unwritten });
        }
    }

    /// Closes the agent's stdin after what was sent so far; what is sent later is dropped.
    pub(super) fn close(&self) {
        self.backlog.close();
        let _ = self.orders.send(Order::Close);
    }

    fn send(&self, order: Order) {
        if !self.backlog.is_closed() {
            // Fails only when the writer is gone, and then `Closed` says so.
            let _ = self.orders.send(order);
        }
    }
}

fn line_of(message: &impl Serialize) -> Option<Vec<u8>> {
    match serde_json::to_vec(message) {
        Ok(mut line) => {
            line.push(b'\n');
            Some(line)
        }
        Err(error) => {
            // Plain values with text keys always serialise.
            tracing::error!(%error, "a message to the agent could not be written as JSON");
            None
        }
    }
}

/// Writes line after line until told to close, then closes the stream.
pub(super) async fn write_all(
    mut stream: impl AsyncWrite + Unpin,
    mut orders: Receiver,
    tap: Option<Arc<dyn WireTap>>,
) -> io::Result<()> {
    while let Some(Order::Line { line, about, token, unwritten }) = orders.0.recv().await {
        if let Some(tap) = &tap {
            tap.line(WireLine {
                direction: WireDirection::ToAgent,
                at: SystemTime::now(),
                bytes: line.strip_suffix(b"\n").unwrap_or(&line),
                is_object: true,
                session: about.session.as_deref(),
                opens: token.filter(|_| about.opens),
            });
        }
        stream.write_all(&line).await?;
        stream.flush().await?;
        drop(unwritten);
    }
    stream.shutdown().await
}

//! Everything that we send, through one queue to the task that writes it.

use std::collections::HashSet;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use serde::Serialize;
use serde_json::Value;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;

use super::incoming::{RequestId, RpcError, Token};
use super::tap::{WireDirection, WireTap};

/// What the writing task is told.
enum Order {
    Line(Vec<u8>),
    Close,
}

/// Our requests that have no answer yet.
#[derive(Debug, Clone, Default)]
pub(super) struct Pending(Arc<Mutex<HashSet<Token>>>);

impl Pending {
    pub(super) fn put(&self, token: Token) {
        self.lock().insert(token);
    }

    /// Whether the request was waiting for its answer; it no longer is.
    pub(super) fn take(&self, token: Token) -> bool {
        self.lock().remove(&token)
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<Token>> {
        // Nothing can panic while the lock is held.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Enqueues messages; never waits.
#[derive(Debug, Clone)]
pub(super) struct Sender {
    orders: mpsc::UnboundedSender<Order>,
    pending: Pending,
    last_id: Arc<AtomicU64>,
}

/// A sender, and what the writing task takes from.
pub(super) fn channel() -> (Sender, Receiver) {
    let (orders, receiver) = mpsc::unbounded_channel();
    let sender = Sender { orders, pending: Pending::default(), last_id: Arc::new(AtomicU64::new(0)) };
    (sender, Receiver(receiver))
}

/// The writing task's end of the queue.
pub(super) struct Receiver(mpsc::UnboundedReceiver<Order>);

impl std::fmt::Debug for Order {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Line(line) => write!(formatter, "a line of {} bytes", line.len()),
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

    pub(super) fn request(&self, method: &str, params: Value) -> Token {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        // Before it can be written, so that the answer finds it.
        self.pending.put(Token(id));
        self.send(&Request { jsonrpc: JSONRPC, id: Some(id), method, params });
        Token(id)
    }

    pub(super) fn notify(&self, method: &str, params: Value) {
        self.send(&Request { jsonrpc: JSONRPC, id: None, method, params });
    }

    pub(super) fn respond(&self, id: &RequestId, answer: Result<Value, RpcError>) {
        let answer = match answer {
            Ok(result) => Answer::Result(result),
            Err(error) => Answer::Error(error),
        };
        self.send(&Response { jsonrpc: JSONRPC, id, answer });
    }

    /// Closes the agent's stdin after what was sent so far; what is sent later is dropped.
    pub(super) fn close(&self) {
        let _ = self.orders.send(Order::Close);
    }

    fn send(&self, message: &impl Serialize) {
        match serde_json::to_vec(message) {
            Ok(mut line) => {
                line.push(b'\n');
                // Fails only when the writer is gone, and then `Closed` says so.
                let _ = self.orders.send(Order::Line(line));
            }
            // Plain values with text keys always serialise.
            Err(error) => tracing::error!(%error, "a message to the agent could not be written as JSON"),
        }
    }
}

/// Writes line after line until told to close, then closes the stream.
pub(super) async fn write_all(
    mut stream: impl AsyncWrite + Unpin,
    mut orders: Receiver,
    tap: Option<Arc<dyn WireTap>>,
) -> io::Result<()> {
    while let Some(Order::Line(line)) = orders.0.recv().await {
        if let Some(tap) = &tap {
            tap.line(WireDirection::ToAgent, SystemTime::now(), line.strip_suffix(b"\n").unwrap_or(&line));
        }
        stream.write_all(&line).await?;
        stream.flush().await?;
    }
    stream.shutdown().await
}

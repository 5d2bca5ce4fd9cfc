//! A connection to one agent: JSON-RPC 2.0, one message a line, over a child's stdio.
//!
//! Everything the agent says comes out of **one queue in the order of its lines** ([`IncomingLines`]): a
//! prompt's answer after the updates before it, noise where it stood. [`Incoming::Closed`] is always the last item.
//!
//! Nothing here waits for a person or a store: reading only enqueues, sending only enqueues. What was read and is not
//! worked off is bounded ([`ConnectionOptions::max_waiting_bytes`], [`Weight`]): beyond that the reader waits, and so
//! does this one agent at its pipe, and nobody else; likewise where it asks and does not read what it is answered
//! ([`ConnectionOptions::max_outgoing_bytes`]).
//!
//! # Why the official SDK does not run this loop
//!
//! `agent-client-protocol` 5.2.0 was tried here with its `Lines` transport and one untyped dispatch
//! handler. It keeps the order of messages and answers. But:
//!
//! - an answer that carries `"result": null` beside its `error`, and one whose id it does not
//!   know, are dropped: such a prompt would never end;
//! - a message without `"jsonrpc"`, params that are neither object nor array, and a
//!   request with a fractional id are lost, not passed on (docs/agents.md: record everything);
//! - every line of noise is answered *to the agent* with a JSON-RPC error (B18), and neither noise
//!   nor a line that was too long has a place in its order;
//! - it takes 17 µs a message where this takes 6 (486 bytes, both at `opt-level = 2` on two shared
//!   cores). That alone would not have decided it.
//!
//! So the correlation of requests and answers is ours, two id spaces and no more. The SDK's schema
//! types write what we send and read the answers that we need: [`messages`].

use std::sync::Arc;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, watch};

pub use self::incoming::{CloseCause, CloseReason, Incoming, RequestId, RpcError, Token};
pub use self::received::{IncomingLines, Received};
pub use self::tap::{WireDirection, WireLine, WireTap};
pub(crate) use self::waiting::Room;
pub use self::waiting::Weight;
use crate::process::{self, AgentCommand, AgentProcess, ExitLadder, SpawnError, StderrTail};

mod backlog;
mod classify;
mod correlation;
mod incoming;
mod keeper;
mod lines;
mod lone_surrogates;
pub mod messages;
mod outgoing;
mod received;
mod tap;
mod waiting;

/// The longest line that is read; a longer one is skipped and reported. Real ones reach 974 kB, and
/// docs/agents.md asks for 16 MB or more.
pub const MAX_LINE_BYTES: usize = 64 * 1024 * 1024;

/// How long a line may go on without an end before the agent is cut off.
pub const MAX_UNENDED_BYTES: u64 = 256 * 1024 * 1024;

/// How much of what an agent said may wait to be worked off before the agent waits.
pub const MAX_WAITING_BYTES: usize = 64 * 1024 * 1024;

/// How much of what an agent asked for may wait to be written to it before it is heard no further.
pub const MAX_OUTGOING_BYTES: usize = 64 * 1024 * 1024;

/// What a connection may be given beyond its command.
#[derive(Clone)]
pub struct ConnectionOptions {
    /// Sees every raw line in both directions.
    pub tap: Option<Arc<dyn WireTap>>,
    /// The longest line that is read, in bytes.
    pub max_line_bytes: usize,
    /// How long a line may go on without an end, in bytes, before the connection is closed
    /// ([`CloseCause::EndlessLine`]).
    pub max_unended_bytes: u64,
    /// How many bytes may wait to be worked off ([`Weight`]); 4 GiB at most, and one line that is larger passes alone.
    /// They are counted as the memory that is held, which exceeds the line where it consists of small values.
    pub max_waiting_bytes: usize,
    /// How many bytes of answers to the agent may wait to be written: beyond it no further line of the agent is taken until
    /// it has read some. A few answers that were being made by then are added to them (`fs/read_text_file` and
    /// `terminal/output`, four at most). What is sent unasked neither counts nor waits.
    pub max_outgoing_bytes: usize,
    /// The ladder for an agent that closes its stdout, or stops reading, without being asked to.
    pub ladder: ExitLadder,
}

impl Default for ConnectionOptions {
    fn default() -> Self {
        Self {
            tap: None,
            max_line_bytes: MAX_LINE_BYTES,
            max_unended_bytes: MAX_UNENDED_BYTES,
            max_waiting_bytes: MAX_WAITING_BYTES,
            max_outgoing_bytes: MAX_OUTGOING_BYTES,
            ladder: ExitLadder::default(),
        }
    }
}

/// Our side of a connection. Dropping it kills the agent's process group at once;
/// [`Connection::shut_down`] ends it in order.
#[derive(Debug)]
pub struct Connection {
    outgoing: outgoing::Sender,
    orders: mpsc::UnboundedSender<ExitLadder>,
    closed: watch::Receiver<bool>,
    stderr: StderrTail,
    pid: Option<u32>,
    process_start: Option<u64>,
}

impl Connection {
    /// Starts an agent and listens to it. Must be called inside a tokio runtime.
    pub fn spawn(command: &AgentCommand) -> Result<(Self, IncomingLines), SpawnError> {
        Self::spawn_with(command, ConnectionOptions::default())
    }

    /// [`Connection::spawn`] with options.
    pub fn spawn_with(command: &AgentCommand, options: ConnectionOptions) -> Result<(Self, IncomingLines), SpawnError> {
        let spawned = process::spawn(command)?;
        Ok(Self::start(spawned.stdout, spawned.stdin, Some(spawned.process), options))
    }

    /// A connection over any pair of streams, with no process behind it.
    pub fn over<R, W>(reader: R, writer: W, options: ConnectionOptions) -> (Self, IncomingLines)
    where
        R: AsyncRead + Unpin + Send + 'static,
        W: AsyncWrite + Unpin + Send + 'static,
    {
        Self::start(reader, writer, None, options)
    }

    fn start<R, W>(
        reader: R,
        writer: W,
        process: Option<AgentProcess>,
        options: ConnectionOptions,
    ) -> (Self, IncomingLines)
    where
        R: AsyncRead + Unpin + Send + 'static,
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let (incoming, received) = mpsc::unbounded_channel();
        let (outgoing, to_write) = outgoing::channel(options.max_outgoing_bytes);
        let (orders, ordered) = mpsc::unbounded_channel();
        let (closing, closed) = watch::channel(false);
        let stderr = process.as_ref().map(AgentProcess::stderr_tail).unwrap_or_default();
        let pid = process.as_ref().map(AgentProcess::pid);
        let process_start = process.as_ref().and_then(AgentProcess::start);

        let room = waiting::Room::new(options.max_waiting_bytes);
        let reading = lines::Reading {
            incoming: incoming.clone(),
            room: room.clone(),
            backlog: outgoing.backlog(),
            pending: outgoing.pending(),
            asked: outgoing.asked(),
            tap: options.tap.clone(),
            max_line_bytes: options.max_line_bytes,
            max_unended_bytes: options.max_unended_bytes,
        };
        let keeper = keeper::Keeper {
            reading: tokio::spawn(lines::read_all(reader, reading)),
            writing: tokio::spawn(outgoing::write_all(writer, to_write, options.tap)),
            outgoing: outgoing.clone(),
            process,
            ordered,
            ladder: options.ladder,
            incoming,
            room,
            closing,
        };
        tokio::spawn(keeper.run());
        (Self { outgoing, orders, closed, stderr, pid, process_start }, IncomingLines(received))
    }

    /// Sends a request; its answer comes as [`Incoming::Answer`] with the token. After
    /// [`Incoming::Closed`] no answer comes any more. `Null` params are left out.
    pub fn request(&self, method: &str, params: Value) -> Token {
        self.outgoing.request(method, params)
    }

    /// Sends a notification. `Null` params are left out.
    pub fn notify(&self, method: &str, params: Value) {
        self.outgoing.notify(method, params);
    }

    /// Answers a request of the agent.
    pub fn respond(&self, id: &RequestId, answer: Result<Value, RpcError>) {
        self.outgoing.respond(id, answer);
    }

    /// Ends the agent: what was sent is written, stdin is closed, and the ladder is climbed as far
    /// as it takes. Returns when nothing of its process group is left and `Closed` is in the queue.
    pub async fn shut_down(&self, ladder: ExitLadder) {
        // Both fail only when the connection is closed already.
        let _ = self.orders.send(ladder);
        let _ = self.closed.clone().wait_for(|closed| *closed).await;
    }

    /// What the agent wrote to stderr last; it goes on changing while the agent lives.
    pub fn stderr_tail(&self) -> StderrTail {
        self.stderr.clone()
    }

    /// The agent's process id, which is also its group's; none over plain streams.
    pub fn pid(&self) -> Option<u32> {
        self.pid
    }

    /// When the agent's process started: clock ticks since the machine did (field 22 of `/proc/PID/stat`), however soon it
    /// exited. None over plain streams, and where there is no `/proc`.
    pub fn process_start(&self) -> Option<u64> {
        self.process_start
    }
}

impl std::fmt::Debug for ConnectionOptions {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ConnectionOptions")
            .field("tap", &self.tap.is_some())
            .field("max_line_bytes", &self.max_line_bytes)
            .field("max_unended_bytes", &self.max_unended_bytes)
            .field("max_waiting_bytes", &self.max_waiting_bytes)
            .field("max_outgoing_bytes", &self.max_outgoing_bytes)
            .field("ladder", &self.ladder)
            .finish()
    }
}

//! `terminal/*`: the terminals of one session.

use super::ClientLimits;
use super::error::ServeError;
use super::workspace::Workspace;
use crate::process::GroupLeader;
use agent_client_protocol::v1::schema as acp;
use news::{NewsQueue, Newsroom};
use running::RunningCount;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{self, PipeReader};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use supervisor::{Order, Parts, supervise};
use text_tail::TextTail;
use tokio::net::unix::pipe;
use tokio::sync::{mpsc, watch};
use transcript_output::TranscriptOutput;

pub use news::TerminalNews;
pub(crate) use transcript_output::left_out_line;

mod command;
mod exit;
mod news;
mod running;
mod supervisor;
mod text_tail;
mod transcript_output;
mod utf8_stream;

/// The terminals of a session.
pub(super) struct Terminals {
    limits: ClientLimits,
    /// Variables of our environment that no command inherits.
    hidden: Vec<String>,
    newsroom: Newsroom,
    running: RunningCount,
    list: Mutex<TerminalList>,
}

#[derive(Default)]
struct TerminalList {
    /// Those that are not released.
    terminals: HashMap<acp::TerminalId, Terminal>,
    /// How many there ever were: tells the older from the newer.
    count: u64,
    closed: bool,
}

/// A terminal that is not released. When it is dropped, it is.
struct Terminal {
    number: u64,
    orders: mpsc::UnboundedSender<Order>,
    heard: Arc<Heard>,
}

/// What is known of a terminal, for the agent.
pub(super) struct Heard {
    output: Mutex<TextTail>,
    /// ACP's `TerminalExitStatus`, once it has exited.
    exit: watch::Sender<Option<Value>>,
}

/// The wait for an exit.
pub(super) struct WaitForExit(watch::Receiver<Option<Value>>);

impl Terminals {
    /// There is none.
    pub(super) fn new(limits: ClientLimits, hidden: Vec<String>, news: mpsc::UnboundedSender<TerminalNews>) -> Self {
        let newsroom = Newsroom::new(news, limits.waiting_output_bytes);
        Self { limits, hidden, newsroom, running: RunningCount::new(), list: Mutex::default() }
    }

    /// `terminal/create`. Must be called inside a tokio runtime, where it may block.
    pub(super) fn create(
        self: &Arc<Self>,
        workspace: &Workspace,
        request: &acp::CreateTerminalRequest,
    ) -> Result<Value, ServeError> {
        let limit = self.limits.running_terminals;
        let running = self.running.one_more(limit).ok_or(ServeError::TooManyTerminals { limit })?;
        let (leader, pipe) = command::start(workspace, &self.hidden, request)?;
        let pipe = receiver(pipe).map_err(|source| not_heard(request, source))?;
        let (orders, ordered) = mpsc::unbounded_channel();
        let heard = Arc::new(Heard::new(self.output_limit(request)));
        let id = self.enter(orders, &heard, &leader)?;
        let output = TranscriptOutput::new(self.limits.transcript_output_bytes);
        let news = NewsQueue::new(id.to_string(), self.newsroom.clone());
        tokio::spawn(supervise(Parts {
            id: id.to_string(),
            leader,
            pipe,
            orders: ordered,
            heard,
            output,
            news,
            running,
        }));
        Ok(json!({"terminalId": id}))
    }

    /// Enters a terminal into the list, and tells of it. Where the session has ended meanwhile, its leader is dropped
    /// with the error, and so killed.
    fn enter(
        &self,
        orders: mpsc::UnboundedSender<Order>,
        heard: &Arc<Heard>,
        leader: &GroupLeader,
    ) -> Result<acp::TerminalId, ServeError> {
        let mut list = self.list();
        if list.closed {
            return Err(ServeError::SessionEnded);
        }
        list.release_one_too_many(self.limits.unreleased_terminals);
        list.count += 1;
        // Ids that no other session has, now or later: calls name terminals by them, also in old sessions.
        let id = acp::TerminalId::new(uuid::Uuid::now_v7().to_string());
        let (number, pid) = (list.count, leader.pid());
        list.terminals.insert(id.clone(), Terminal { number, orders, heard: Arc::clone(heard) });
        tracing::debug!(terminal = %id, pid, "a terminal was created");
        self.newsroom.tell(TerminalNews::Started { terminal: id.to_string(), pid, start: leader.start() });
        Ok(id)
    }

    fn output_limit(&self, request: &acp::CreateTerminalRequest) -> usize {
        let asked = request.output_byte_limit.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX));
        asked.unwrap_or(self.limits.output_bytes).min(self.limits.most_output_bytes)
    }

    /// `terminal/output`
    pub(super) fn heard(&self, id: &acp::TerminalId) -> Result<Arc<Heard>, ServeError> {
        self.list().terminals.get(id).map(|terminal| Arc::clone(&terminal.heard)).ok_or_else(|| unknown(id))
    }

    /// `terminal/wait_for_exit`
    pub(super) fn wait_for_exit(&self, id: &acp::TerminalId) -> Result<WaitForExit, ServeError> {
        Ok(WaitForExit(self.heard(id)?.exit.subscribe()))
    }

    /// `terminal/kill`: SIGTERM to the group, and SIGKILL 2 s later if anything of it is left.
    pub(super) fn kill(&self, id: &acp::TerminalId) -> Result<(), ServeError> {
        let list = self.list();
        let terminal = list.terminals.get(id).ok_or_else(|| unknown(id))?;
        // Fails only where nothing is left to kill.
        let _ = terminal.orders.send(Order::Kill);
        Ok(())
    }

    /// `terminal/release`: the id is unknown from now on, and what runs is killed as by `terminal/kill`.
    pub(super) fn release(&self, id: &acp::TerminalId) -> Result<(), ServeError> {
        self.list().terminals.remove(id).map(drop).ok_or_else(|| unknown(id))
    }

    /// Releases all, and creates none any more.
    pub(super) fn close(&self) {
        let mut list = self.list();
        list.closed = true;
        list.terminals.clear();
        self.newsroom.session_ended();
    }

    /// Whether the session has ended.
    pub(super) fn is_closed(&self) -> bool {
        self.list().closed
    }

    /// Waits until nothing of any terminal runs, released or not.
    pub(super) async fn none_runs(&self) {
        self.running.none().await;
    }

    fn list(&self) -> MutexGuard<'_, TerminalList> {
        // Nothing that could panic halfway is done while it is held.
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Terminals {
    fn drop(&mut self) {
        self.newsroom.session_ended();
    }
}

impl TerminalList {
    /// Agents that never release any do not make it grow for ever.
    fn release_one_too_many(&mut self, limit: usize) {
        if self.terminals.len() < limit {
            return;
        }
        let exited = self.terminals.iter().filter(|(_, terminal)| terminal.heard.has_exited());
        let oldest = exited.min_by_key(|(_, terminal)| terminal.number).map(|(id, _)| id.clone());
        if let Some(id) = oldest {
            self.terminals.remove(&id);
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Fails only where nothing is left to release.
        let _ = self.orders.send(Order::Release);
    }
}

impl Heard {
    fn new(output_limit: usize) -> Self {
        Self { output: Mutex::new(TextTail::new(output_limit)), exit: watch::Sender::new(None) }
    }

    fn hear(&self, text: &str) {
        self.lock().push(text);
    }

    fn exited(&self, status: Value) {
        self.exit.send_replace(Some(status));
    }

    fn has_exited(&self) -> bool {
        self.exit.borrow().is_some()
    }

    /// The answer to `terminal/output`: the last of what was printed, and how it ended if it has.
    pub(super) fn output(&self) -> Value {
        // The exit first: when it is told, all output is there.
        let exit = self.exit.borrow().clone();
        let (output, truncated) = {
            let output = self.lock();
            (output.text(), output.left_out() > 0)
        };
        let mut answer = json!({"output": output, "truncated": truncated});
        if let Some(exit) = exit {
            answer["exitStatus"] = exit;
        }
        answer
    }

    fn lock(&self) -> MutexGuard<'_, TextTail> {
        // Nothing that could panic halfway is done while it is held.
        self.output.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WaitForExit {
    /// The answer to `terminal/wait_for_exit`.
    pub(super) async fn wait(mut self) -> Result<Value, ServeError> {
        // Fails only where the runtime ends before the command.
        let exit = self.0.wait_for(Option::is_some).await.map_err(|_| ServeError::NotDone)?;
        exit.clone().ok_or(ServeError::NotDone)
    }
}

fn receiver(pipe: PipeReader) -> io::Result<pipe::Receiver> {
    pipe::Receiver::from_owned_fd(pipe.into())
}

fn not_heard(request: &acp::CreateTerminalRequest, source: io::Error) -> ServeError {
    ServeError::NotStarted { program: request.command.clone(), source }
}

fn unknown(id: &acp::TerminalId) -> ServeError {
    ServeError::UnknownTerminal { id: id.to_string() }
}

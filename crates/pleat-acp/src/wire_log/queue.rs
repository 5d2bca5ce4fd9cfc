//! From those who tell to the thread that writes: bounded, and nobody waits at it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use pleat_transcript::ids::{AgentSessionId, SessionId};
use tokio::sync::oneshot;

use super::line::LogLine;

/// Names a process of this run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ProcessId(u64);

/// What the thread is told.
#[derive(Debug)]
pub(super) enum Told {
    Line(ProcessId, LogLine),
    /// So many lines of the process were dropped here.
    Dropped(ProcessId, u64),
    AddSession(ProcessId, SessionId),
    NameSession(ProcessId, SessionId, AgentSessionId),
    RemoveSession(ProcessId, SessionId),
    ProcessOver(ProcessId),
    RemoveOld,
    Flush(oneshot::Sender<()>),
}

/// Enqueues; never waits.
#[derive(Debug, Clone)]
pub(super) struct Queue {
    told: mpsc::Sender<Told>,
    state: Arc<State>,
}

/// The thread's end.
#[derive(Debug)]
pub(super) struct ToldReceiver {
    told: mpsc::Receiver<Told>,
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    max_bytes: u64,
    /// Of the lines that wait.
    queued_bytes: AtomicU64,
    /// Whether lines are being dropped.
    is_behind: AtomicBool,
    processes: AtomicU64,
}

/// A queue in which so many bytes of lines may wait; one line that is larger passes alone.
pub(super) fn queue(max_bytes: u64) -> (Queue, ToldReceiver) {
    let (sender, receiver) = mpsc::channel();
    let state = Arc::new(State {
        max_bytes,
        queued_bytes: AtomicU64::new(0),
        is_behind: AtomicBool::new(false),
        processes: AtomicU64::new(0),
    });
    (Queue { told: sender, state: Arc::clone(&state) }, ToldReceiver { told: receiver, state })
}

impl Queue {
    pub(super) fn new_process(&self) -> ProcessId {
        ProcessId(self.state.processes.fetch_add(1, Ordering::Relaxed))
    }

    /// Whether a line of so many bytes may be told. Once it may not, none may until half of what waits is written: lines
    /// are missing in few places then, not in many.
    pub(super) fn has_room(&self, bytes: usize) -> bool {
        let queued = self.state.queued_bytes.load(Ordering::Relaxed);
        let is_behind = self.state.is_behind.load(Ordering::Relaxed);
        let max = if is_behind { self.state.max_bytes / 2 } else { self.state.max_bytes };
        let has_room = queued == 0 || queued + bytes as u64 <= max;
        self.state.is_behind.store(!has_room, Ordering::Relaxed);
        has_room
    }

    pub(super) fn tell(&self, told: Told) {
        self.state.queued_bytes.fetch_add(bytes_of(&told), Ordering::Relaxed);
        // Fails only when the thread is gone.
        let _ = self.told.send(told);
    }
}

impl ToldReceiver {
    /// Waits for what is told next, at most so long.
    pub(super) fn next(&self, patience: Duration) -> Result<Told, mpsc::RecvTimeoutError> {
        let told = self.told.recv_timeout(patience)?;
        self.state.queued_bytes.fetch_sub(bytes_of(&told), Ordering::Relaxed);
        Ok(told)
    }
}

fn bytes_of(told: &Told) -> u64 {
    match told {
        Told::Line(_, line) => line.text.len() as u64,
        Told::Dropped(..)
        | Told::AddSession(..)
        | Told::NameSession(..)
        | Told::RemoveSession(..)
        | Told::ProcessOver(_)
        | Told::RemoveOld
        | Told::Flush(_) => 0,
    }
}

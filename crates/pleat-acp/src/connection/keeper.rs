//! Watches over a connection's tasks and process, and says `Closed` when all of it has ended.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::task::{JoinError, JoinHandle};
use tokio::time::timeout;

use super::incoming::{CloseCause, CloseReason, Incoming};
use super::lines::EndOfReading;
use super::outgoing;
use super::received::Received;
use super::waiting::{Room, Weight};
use crate::process::{AgentProcess, ExitLadder};

/// How long the rest of stdout is waited for once the process group is gone. What was written is
/// in the pipe and read at once; only a process that left the group can hold the pipe open longer.
const STDOUT_GRACE: Duration = Duration::from_millis(500);

/// Everything that must have ended before a connection is closed.
pub(super) struct Keeper {
    pub(super) reading: JoinHandle<io::Result<EndOfReading>>,
    pub(super) writing: JoinHandle<io::Result<()>>,
    pub(super) outgoing: outgoing::Sender,
    pub(super) process: Option<AgentProcess>,
    pub(super) ordered: mpsc::UnboundedReceiver<ExitLadder>,
    pub(super) ladder: ExitLadder,
    pub(super) incoming: mpsc::UnboundedSender<Received>,
    pub(super) room: Room,
    pub(super) closing: watch::Sender<bool>,
}

impl Keeper {
    pub(super) async fn run(mut self) {
        let (cause, ladder) = self.wait_for_cause().await;
        self.outgoing.close();
        let exit = self.end_process(ladder).await;
        self.room.open();
        let stdout_patience = if self.process.is_some() { STDOUT_GRACE } else { ladder.after_stdin_closed };
        if !self.reading.is_finished() && timeout(stdout_patience, &mut self.reading).await.is_err() {
            self.reading.abort();
            // So that nothing is enqueued after `Closed`.
            let _ = (&mut self.reading).await;
        }
        self.writing.abort();
        let stderr_tail = self.process.as_ref().map(|process| process.stderr_tail().text()).unwrap_or_default();
        let what = Incoming::Closed(CloseReason { cause, exit, stderr_tail });
        let _ = self.incoming.send(Received { what, weight: Weight::default() });
        self.closing.send_replace(true);
    }

    async fn wait_for_cause(&mut self) -> (CloseCause, ExitLadder) {
        let ladder = self.ladder;
        tokio::select! {
            read = &mut self.reading => (end_of_reading(read), ladder),
            _ = wait_for_exit(self.process.as_mut()) => (CloseCause::AgentEnded, ladder),
            order = self.ordered.recv() => match order {
                Some(ladder) => (CloseCause::ShutDown, ladder),
                None => (CloseCause::Dropped, ExitLadder::KILL),
            },
            error = wait_for_failure(&mut self.writing) => (CloseCause::WriteFailed(error), ladder),
        }
    }

    /// A connection that is dropped while the ladder is climbed kills the agent at once.
    async fn end_process(&mut self, ladder: ExitLadder) -> Option<ExitStatus> {
        let process = self.process.as_mut()?;
        tokio::select! {
            exit = process.end(ladder) => return exit,
            () = wait_until_dropped(&mut self.ordered) => {}
        }
        process.end(ExitLadder::KILL).await
    }
}

fn end_of_reading(read: Result<io::Result<EndOfReading>, JoinError>) -> CloseCause {
    match read {
        Ok(Ok(EndOfReading::EndOfStream)) => CloseCause::AgentEnded,
        Ok(Ok(EndOfReading::EndlessLine { bytes })) => CloseCause::EndlessLine { bytes },
        Ok(Err(error)) => CloseCause::ReadFailed(error),
        Err(error) => CloseCause::ReadFailed(io::Error::other(error)),
    }
}

/// Without a process there is no exit to wait for.
async fn wait_for_exit(process: Option<&mut AgentProcess>) -> io::Result<ExitStatus> {
    match process {
        Some(process) => process.wait().await,
        None => std::future::pending().await,
    }
}

/// Ends only when writing failed: that it is done is no failure.
async fn wait_for_failure(writing: &mut JoinHandle<io::Result<()>>) -> io::Error {
    match writing.await {
        Ok(Ok(())) => std::future::pending().await,
        Ok(Err(error)) => error,
        Err(error) => io::Error::other(error),
    }
}

/// Later orders to shut down change nothing.
async fn wait_until_dropped(ordered: &mut mpsc::UnboundedReceiver<ExitLadder>) {
    while ordered.recv().await.is_some() {}
}

//! Signals: a session is at a revision. They say no more, so one that is lost or doubled hurts nobody (ARCHITECTURE.md,
//! "Level, not edge").

use crate::Revision;
use pleat_transcript::ids::SessionId;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

/// So many signals wait for a slow reader before it is told to read everything again.
const WAITING: usize = 1024;

/// What a store tells those who listen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signal {
    /// A session is at this revision, which is committed.
    Changed {
        /// Which session.
        session: SessionId,
        /// Its revision.
        revision: Revision,
    },
    /// A command waits for a session.
    Command {
        /// Which session.
        session: SessionId,
    },
    /// Signals were missed: anything may have changed.
    Missed,
}

/// The signals of a store from the moment that they were asked for.
#[derive(Debug)]
pub struct Signals(broadcast::Receiver<Signal>);

impl Signals {
    /// The next signal; `None` when the store is closed.
    pub async fn next(&mut self) -> Option<Signal> {
        match self.0.recv().await {
            Ok(signal) => Some(signal),
            Err(RecvError::Lagged(_)) => Some(Signal::Missed),
            Err(RecvError::Closed) => None,
        }
    }

    /// A signal that is there already.
    pub fn try_next(&mut self) -> Option<Signal> {
        use broadcast::error::TryRecvError;
        match self.0.try_recv() {
            Ok(signal) => Some(signal),
            Err(TryRecvError::Lagged(_)) => Some(Signal::Missed),
            Err(TryRecvError::Empty | TryRecvError::Closed) => None,
        }
    }
}

/// Where signals are given.
#[derive(Debug, Clone)]
pub(crate) struct Signalling(broadcast::Sender<Signal>);

impl Signalling {
    pub(crate) fn new() -> Self {
        Self(broadcast::Sender::new(WAITING))
    }

    pub(crate) fn give(&self, signal: Signal) {
        // Nobody may be listening.
        let _ = self.0.send(signal);
    }

    pub(crate) fn listen(&self) -> Signals {
        Signals(self.0.subscribe())
    }
}

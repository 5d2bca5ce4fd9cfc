//! Stop, by a signal or because nobody can answer: asked for once, the agent is told; twice, it is ended.

use crate::stop_signals::StopSignals;
use pleat_host::{Host, HostError};
use pleat_transcript::ids::SessionId;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// How far Stop has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    No,
    /// The agent is told.
    Asked,
    /// It is ended without waiting for it.
    Forced,
}

/// Stops one session, however often it is asked to. Cheap to clone; all clones are one.
#[derive(Clone)]
pub(super) struct Stopper {
    host: Host,
    session: SessionId,
    stage: watch::Sender<Stage>,
}

impl Stopper {
    pub(super) fn new(host: Host, session: SessionId) -> Self {
        Self { host, session, stage: watch::Sender::new(Stage::No) }
    }

    pub(super) fn stage(&self) -> watch::Receiver<Stage> {
        self.stage.subscribe()
    }

    /// Stops the turn, or with it asked already, ends it by force.
    pub(super) async fn go_further(&self) {
        let next = match *self.stage.borrow() {
            Stage::No => Stage::Asked,
            Stage::Asked | Stage::Forced => Stage::Forced,
        };
        raise(&self.stage, next);
        self.carry_out(next).await;
    }

    /// Stops the turn, unless that was done.
    pub(super) async fn stop(&self) {
        if raise(&self.stage, Stage::Asked) {
            self.carry_out(Stage::Asked).await;
        }
    }

    /// Stops what was asked to be stopped before there was anything to stop.
    pub(super) async fn catch_up(&self) {
        let stage = *self.stage.borrow();
        self.carry_out(stage).await;
    }

    async fn carry_out(&self, stage: Stage) {
        let done = match stage {
            Stage::No => return,
            Stage::Asked => self.host.stop(&self.session).await,
            Stage::Forced => self.host.force_stop(&self.session).await,
        };
        match done {
            // Once the host goes down there is nothing to stop.
            Ok(()) | Err(HostError::Stopping) => {}
            Err(error) => tracing::warn!(session = %self.session, %error, "the turn could not be stopped"),
        }
    }
}

/// Goes on to a stage, never back: what a person asks for at the same moment is not lost. Tells whether it was further.
fn raise(stage: &watch::Sender<Stage>, to: Stage) -> bool {
    stage.send_if_modified(|stage| {
        let is_further = to > *stage;
        *stage = to.max(*stage);
        is_further
    })
}

/// Listens to signals until it is dropped. They no longer end the program from here on, even after that.
pub(super) struct SignalListener {
    task: JoinHandle<()>,
}

impl SignalListener {
    /// Ctrl-C, and what asks a program to end, go further with Stop each time. A task of its own does it: a reader of
    /// our output that waits keeps nobody from stopping.
    pub(super) fn start(stopper: Stopper) -> std::io::Result<Self> {
        let mut signals = StopSignals::listen()?;
        let task = tokio::spawn(async move {
            loop {
                signals.next().await;
                stopper.go_further().await;
            }
        });
        Ok(Self { task })
    }
}

impl Drop for SignalListener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_is_never_taken_back() {
        let stage = watch::Sender::new(Stage::No);
        let mut seen = stage.subscribe();
        for (to, is_further, expected) in [
            (Stage::No, false, Stage::No),
            (Stage::Asked, true, Stage::Asked),
            (Stage::No, false, Stage::Asked),
            (Stage::Asked, false, Stage::Asked),
            (Stage::Forced, true, Stage::Forced),
            (Stage::Asked, false, Stage::Forced),
        ] {
            assert_eq!(raise(&stage, to), is_further, "{to:?}");
            assert_eq!(seen.has_changed().unwrap(), is_further, "{to:?}");
            assert_eq!(*seen.borrow_and_update(), expected, "{to:?}");
        }
    }
}

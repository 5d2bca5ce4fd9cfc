//! Stop, by a signal or because nobody can answer: asked for once, the agent is told; twice, it is ended.

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
        self.go_to(next).await;
    }

    /// Stops the turn, unless that was done.
    pub(super) async fn stop(&self) {
        if *self.stage.borrow() == Stage::No {
            self.go_to(Stage::Asked).await;
        }
    }

    /// Stops what was asked to be stopped before there was anything to stop.
    pub(super) async fn catch_up(&self) {
        let stage = *self.stage.borrow();
        self.go_to(stage).await;
    }

    async fn go_to(&self, stage: Stage) {
        self.stage.send_replace(stage);
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

/// Listens to signals until it is dropped. They no longer end the program from here on, even after that.
pub(super) struct SignalListener {
    task: JoinHandle<()>,
}

impl SignalListener {
    /// Ctrl-C, and what asks a program to end, go further with Stop each time. A task of its own does it: a reader of
    /// our output that waits keeps nobody from stopping.
    pub(super) fn start(stopper: Stopper) -> std::io::Result<Self> {
        let mut signals = Signals::listen()?;
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

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hang_up: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn listen() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn listen() -> std::io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

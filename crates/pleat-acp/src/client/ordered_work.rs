//! Work of one session that is done in the order it was asked for, one thing at a time and away from the threads that
//! everything else runs on.

use tokio::sync::{mpsc, oneshot};
use tokio::task::spawn_blocking;

type Work = Box<dyn FnOnce() + Send>;

/// The queue of a session. What was asked for is done also when this is dropped.
pub(super) struct OrderedWork {
    queue: mpsc::UnboundedSender<Work>,
}

impl OrderedWork {
    /// Starts an empty queue.
    pub(super) fn start() -> Self {
        let (queue, mut queued) = mpsc::unbounded_channel::<Work>();
        tokio::spawn(async move {
            while let Some(work) = queued.recv().await {
                if spawn_blocking(work).await.is_err() {
                    tracing::error!("an operation for an agent panicked");
                }
            }
        });
        Self { queue }
    }

    /// Puts work at the end of the queue. The receiver fails only where the work panics, or the runtime ends.
    pub(super) fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> oneshot::Receiver<T> {
        let (done, result) = oneshot::channel();
        // Whoever asked may not wait any more; the queue itself outlives this only in a runtime that ends.
        let _ = self.queue.send(Box::new(move || drop(done.send(work()))));
        result
    }
}

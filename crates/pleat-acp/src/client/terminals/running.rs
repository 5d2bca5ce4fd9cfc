//! How many terminals of a session run.

use std::sync::Arc;
use tokio::sync::watch;

/// The count of a session's terminals of which something runs.
#[derive(Debug)]
pub(super) struct RunningCount(Arc<watch::Sender<usize>>);

/// One that counts, until it is dropped.
#[derive(Debug)]
pub(super) struct Running(Arc<watch::Sender<usize>>);

impl RunningCount {
    /// None runs.
    pub(super) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }

    /// One more, if there are fewer than `limit`.
    pub(super) fn one_more(&self, limit: usize) -> Option<Running> {
        let counted = self.0.send_if_modified(|count| {
            let may = *count < limit;
            *count += usize::from(may);
            may
        });
        counted.then(|| Running(Arc::clone(&self.0)))
    }

    /// Waits until there is none.
    pub(super) async fn none(&self) {
        // The sender is here, so this does not fail.
        let _ = self.0.subscribe().wait_for(|count| *count == 0).await;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

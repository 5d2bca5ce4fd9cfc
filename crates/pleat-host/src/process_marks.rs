//! Which processes run because of us: noted in the store, so that the next start ends what a hard kill of Pleat left.

use pleat_acp::process::end_left_group;
use pleat_store::{ProcessMark, Store, StoreError};
use std::sync::Arc;
use tokio::sync::mpsc;

/// Where processes are noted. Nobody waits for it.
#[derive(Clone)]
pub(crate) struct ProcessMarks {
    notes: mpsc::UnboundedSender<Note>,
}

enum Note {
    Started(ProcessMark),
    Ended(ProcessMark),
}

impl ProcessMarks {
    /// Notes in a store, one after the other.
    pub(crate) fn in_store(store: Arc<dyn Store>) -> Self {
        let (notes, mut received) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Some(note) = received.recv().await {
                let done = match note {
                    Note::Started(mark) => store.add_process(mark).await,
                    Note::Ended(mark) => store.remove_process(mark).await,
                };
                if let Err(error) = done {
                    tracing::warn!(%error, "a process could not be noted");
                }
            }
        });
        Self { notes }
    }

    pub(crate) fn started(&self, mark: ProcessMark) {
        let _ = self.notes.send(Note::Started(mark));
    }

    pub(crate) fn ended(&self, mark: ProcessMark) {
        let _ = self.notes.send(Note::Ended(mark));
    }
}

/// Ends what servers of this machine that are gone have left running (docs/cases.md, B21).
pub(crate) async fn end_left_processes(store: &dyn Store) -> Result<(), StoreError> {
    for mark in store.left_processes().await? {
        tracing::debug!(pid = mark.pid, "an agent of an earlier Pleat is looked for");
        end_left_group(mark.pid, mark.is_running()).await;
        store.remove_process(mark).await?;
    }
    Ok(())
}

//! Who is told that something changed. A signal says only that a session is at a revision (ARCHITECTURE.md, "Level,
//! not edge"): one that is lost or doubled hurts nobody, and a slow reader skips states.

use pleat_store::Revision;
use pleat_transcript::ids::SessionId;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use tokio::sync::watch;

#[derive(Default)]
pub(crate) struct Hub {
    sessions: Mutex<HashMap<SessionId, watch::Sender<Revision>>>,
    any: watch::Sender<u64>,
}

impl Hub {
    /// A session is at a revision, which is committed.
    pub(crate) fn publish(&self, session: &SessionId, revision: Revision) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = sessions.get(session) {
            let changed = |current: &mut Revision| {
                let is_newer = *current < revision;
                *current = revision.max(*current);
                is_newer
            };
            if !sender.send_if_modified(changed) && sender.receiver_count() == 0 {
                sessions.remove(session);
            }
        }
        drop(sessions);
        self.any.send_modify(|changes| *changes += 1);
    }

    pub(crate) fn revisions(&self, session: &SessionId) -> watch::Receiver<Revision> {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.entry(session.clone()).or_default().subscribe()
    }

    pub(crate) fn any_change(&self) -> watch::Receiver<u64> {
        self.any.subscribe()
    }
}

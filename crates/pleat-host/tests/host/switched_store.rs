//! A store that can be told to refuse commits, and that says how far it is.

use pleat_store::{Durability, Revision, SessionListing, Store, StoreError, StoreFuture, StoredDocument};
use pleat_transcript::call::Call;
use pleat_transcript::change::Change;
use pleat_transcript::document::Document;
use pleat_transcript::ids::{AgentSessionId, CallId, SessionId};
use pleat_transcript::session::{Millis, Session};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

pub(crate) struct SwitchedStore {
    pub(crate) inner: Arc<dyn Store>,
    switch: Arc<Switch>,
}

/// The test's side.
#[derive(Default)]
pub(crate) struct Switch {
    /// Commits are refused.
    pub(crate) refuses: AtomicBool,
    /// The newest revision whose commit has ended.
    pub(crate) committed: AtomicU64,
}

impl SwitchedStore {
    pub(crate) fn around(inner: Arc<dyn Store>, switch: &Arc<Switch>) -> Arc<dyn Store> {
        Arc::new(Self { inner, switch: switch.clone() })
    }
}

impl Store for SwitchedStore {
    fn create_session(&self, session: Session) -> StoreFuture<'_, Revision> {
        self.inner.create_session(session)
    }

    fn commit(
        &self,
        session: SessionId,
        changes: Vec<Change>,
        at: Millis,
        durability: Durability,
    ) -> StoreFuture<'_, Revision> {
        Box::pin(async move {
            if self.switch.refuses.load(Ordering::SeqCst) {
                return Err(StoreError::Closed);
            }
            let revision = self.inner.commit(session, changes, at, durability).await?;
            // Whoever is told before the commit has ended gets the time to look.
            tokio::task::yield_now().await;
            self.switch.committed.store(revision.0, Ordering::SeqCst);
            Ok(revision)
        })
    }

    fn document(&self, session: SessionId) -> StoreFuture<'_, StoredDocument> {
        self.inner.document(session)
    }

    fn call(&self, session: SessionId, call: CallId) -> StoreFuture<'_, Option<Call>> {
        self.inner.call(session, call)
    }

    fn sessions(&self, limit: usize) -> StoreFuture<'_, Vec<SessionListing>> {
        self.inner.sessions(limit)
    }

    fn open_sessions(&self) -> StoreFuture<'_, Vec<SessionId>> {
        self.inner.open_sessions()
    }

    fn import(&self, document: Document, at: Millis) -> StoreFuture<'_, Revision> {
        self.inner.import(document, at)
    }

    fn add_agent_session(&self, session: SessionId, agent_session: AgentSessionId, at: Millis) -> StoreFuture<'_, ()> {
        self.inner.add_agent_session(session, agent_session, at)
    }

    fn agent_sessions(&self, session: SessionId) -> StoreFuture<'_, Vec<AgentSessionId>> {
        self.inner.agent_sessions(session)
    }
}

//! What an earlier process left open is closed, in one transaction a session (ARCHITECTURE.md). Doing it again
//! changes nothing.

use crate::clock::{TimeOrderedIds, now};
use pleat_store::{Durability, Revision, Store, StoreError};
use pleat_transcript::event::Event;
use pleat_transcript::ids::SessionId;
use pleat_transcript::record::SessionRecord;

const REASON: &str = "Pleat stopped while the agent was at work.";

/// Closes what is open in any session.
pub(crate) async fn close_what_is_open(store: &dyn Store) -> Result<(), StoreError> {
    for session in store.open_sessions().await? {
        close_session(store, &session).await?;
        tracing::info!(%session, "a turn that was running when Pleat stopped is interrupted");
    }
    Ok(())
}

/// Closes what is open in a session that nobody works on, and tells the revision where that altered something.
pub(crate) async fn close_session(store: &dyn Store, session: &SessionId) -> Result<Option<Revision>, StoreError> {
    let stored = store.document(session.clone()).await?;
    let mut record = SessionRecord::from_document(&stored.document);
    let event = Event::AgentGone { reason: Some(REASON.to_owned()), last_words: String::new() };
    let changes = record.apply(event, now(), &mut TimeOrderedIds);
    if changes.is_empty() {
        return Ok(None);
    }
    store.commit(session.clone(), changes, now(), Durability::Agent).await.map(Some)
}

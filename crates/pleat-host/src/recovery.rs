//! What an earlier process left open is closed, in one transaction a session (ARCHITECTURE.md). Doing it again
//! changes nothing.

use crate::clock::now;
use pleat_store::{Store, StoreError};
use pleat_transcript::ids::SessionId;

const REASON: &str = "Pleat stopped while the agent was at work.";

/// Closes what is open in any session.
pub(crate) async fn close_what_is_open(store: &dyn Store) -> Result<(), StoreError> {
    for session in store.open_sessions().await? {
        close_session(store, &session).await?;
    }
    Ok(())
}

/// Closes what is open in a session that nobody works on.
pub(crate) async fn close_session(store: &dyn Store, session: &SessionId) -> Result<(), StoreError> {
    if store.interrupt(session.clone(), REASON.to_owned(), now()).await?.is_some() {
        tracing::info!(%session, "a turn that was running when Pleat stopped is interrupted");
    }
    Ok(())
}

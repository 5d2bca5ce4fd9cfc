//! Who is told that something changed. A signal says only that a session is at a revision (ARCHITECTURE.md, "Level,
//! not edge"): one that is lost or doubled hurts nobody, and a slow reader skips states.
//!
//! The store signals what is committed, here and by other servers; that is passed on and nothing else is.

use crate::session_state::LiveState;
use pleat_store::{Revision, Signal, Signals};
use pleat_transcript::ids::SessionId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// What a session is at, as far as anything of it may have changed: what is stored, and what the host knows beside that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SessionSignal {
    /// What is committed.
    pub revision: Revision,
    /// Counts the changes of the session's [`LiveState`].
    pub live: u64,
}

/// Passes a store's signals on for as long as it lives.
pub(crate) struct Hub {
    watched: Arc<Watched>,
    feeding: JoinHandle<()>,
}

impl Hub {
    pub(crate) fn of(signals: Signals) -> Self {
        let watched = Arc::new(Watched::default());
        let feeding = tokio::spawn(feed(watched.clone(), signals));
        Self { watched, feeding }
    }

    pub(crate) fn signals(&self, session: &SessionId) -> watch::Receiver<SessionSignal> {
        self.watched.sessions().entry(session.clone()).or_default().subscribe()
    }

    pub(crate) fn live_states(&self) -> LiveStates {
        LiveStates(self.watched.clone())
    }

    /// What the host knows of a session at work, and how often that has changed.
    pub(crate) fn live(&self, session: &SessionId) -> (LiveState, u64) {
        self.watched.live().get(session).cloned().unwrap_or_default()
    }

    pub(crate) fn any_change(&self) -> watch::Receiver<u64> {
        self.watched.any.subscribe()
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        // Whoever watches sees the end of it.
        self.feeding.abort();
    }
}

async fn feed(watched: Arc<Watched>, mut signals: Signals) {
    while let Some(signal) = signals.next().await {
        watched.tell(&signal);
    }
}

/// Where sessions tell what is stored nowhere.
#[derive(Clone)]
pub(crate) struct LiveStates(Arc<Watched>);

impl LiveStates {
    /// Tells whoever watches, where it is not what it was.
    pub(crate) fn set(&self, session: &SessionId, live: &LiveState) {
        let count = {
            let mut all = self.0.live();
            let (current, count) = all.entry(session.clone()).or_default();
            if current == live {
                return;
            }
            current.clone_from(live);
            *count += 1;
            *count
        };
        self.0.live_changed(session, count);
    }

    /// Nobody works on the session any more.
    pub(crate) fn forget(&self, session: &SessionId) {
        self.set(session, &LiveState::default());
    }
}

#[derive(Default)]
struct Watched {
    sessions: Mutex<HashMap<SessionId, watch::Sender<SessionSignal>>>,
    live: Mutex<HashMap<SessionId, (LiveState, u64)>>,
    any: watch::Sender<u64>,
}

impl Watched {
    fn sessions(&self) -> MutexGuard<'_, HashMap<SessionId, watch::Sender<SessionSignal>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn live(&self) -> MutexGuard<'_, HashMap<SessionId, (LiveState, u64)>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, signal: &Signal) {
        match signal {
            Signal::Changed { session, revision } => self.changed(session, *revision),
            Signal::Missed => self.anything_changed(),
            // Commands travel another way as long as one server has a data folder for itself.
            Signal::Command { .. } => return,
        }
        self.any.send_modify(|changes| *changes += 1);
    }

    /// A session is at a revision, which is committed.
    fn changed(&self, session: &SessionId, revision: Revision) {
        let mut sessions = self.sessions();
        let Some(sender) = sessions.get(session) else { return };
        let is_told = sender.send_if_modified(|current| {
            let is_newer = current.revision < revision;
            current.revision = revision.max(current.revision);
            is_newer
        });
        if !is_told && sender.receiver_count() == 0 {
            sessions.remove(session);
        }
    }

    fn live_changed(&self, session: &SessionId, count: u64) {
        if let Some(sender) = self.sessions().get(session) {
            sender.send_modify(|current| current.live = count);
        }
        self.any.send_modify(|changes| *changes += 1);
    }

    /// Nobody knows at which revision a session is: whoever watches one looks again.
    fn anything_changed(&self) {
        let mut sessions = self.sessions();
        sessions.retain(|_, sender| sender.receiver_count() > 0);
        for sender in sessions.values() {
            sender.send_modify(|_| {});
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleat_store::Store as _;
    use pleat_store::sqlite::SqliteStore;
    use pleat_transcript::session::Session;
    use std::time::Duration;

    fn id(name: &str) -> SessionId {
        SessionId::new(name).unwrap()
    }

    fn changed(name: &str, revision: u64) -> Signal {
        Signal::Changed { session: id(name), revision: Revision(revision) }
    }

    fn is_told<T>(watching: &mut watch::Receiver<T>) -> bool {
        let told = watching.has_changed().unwrap();
        watching.mark_unchanged();
        told
    }

    /// A hub that is told by hand.
    fn hub() -> Hub {
        Hub::of(SqliteStore::open_temporary().unwrap().signals())
    }

    #[tokio::test]
    async fn a_newer_revision_is_told_once_and_to_those_who_watch_that_session() {
        let hub = hub();
        let (mut here, mut there) = (hub.signals(&id("here")), hub.signals(&id("there")));
        for (revision, told) in [(2, true), (2, false), (1, false), (3, true)] {
            hub.watched.tell(&changed("here", revision));
            assert_eq!(is_told(&mut here), told, "{revision}");
        }
        assert_eq!(here.borrow().revision, Revision(3));
        assert!(!is_told(&mut there));
    }

    #[tokio::test]
    async fn where_signals_were_missed_everyone_looks_again() {
        let hub = hub();
        let (mut here, mut there, mut any) = (hub.signals(&id("here")), hub.signals(&id("there")), hub.any_change());
        hub.watched.tell(&changed("here", 7));
        assert!(is_told(&mut here) && is_told(&mut any));
        hub.watched.tell(&Signal::Missed);
        assert!(is_told(&mut here) && is_told(&mut there) && is_told(&mut any));
        assert_eq!((here.borrow().revision, there.borrow().revision), (Revision(7), Revision(0)));
    }

    #[tokio::test]
    async fn commands_are_nobodys_change() {
        let hub = hub();
        let (mut here, mut any) = (hub.signals(&id("here")), hub.any_change());
        hub.watched.tell(&Signal::Command { session: id("here") });
        assert!(!is_told(&mut here) && !is_told(&mut any));
    }

    #[tokio::test]
    async fn sessions_that_nobody_watches_any_more_are_forgotten() {
        let hub = hub();
        drop(hub.signals(&id("a")));
        drop(hub.signals(&id("b")));
        let _watching = hub.signals(&id("c"));
        hub.watched.tell(&changed("a", 0));
        assert_eq!(hub.watched.sessions().len(), 2);
        hub.watched.tell(&Signal::Missed);
        assert_eq!(hub.watched.sessions().len(), 1);
    }

    #[tokio::test]
    async fn what_the_store_signals_is_passed_on_until_the_hub_is_gone() {
        let store = SqliteStore::open_temporary().unwrap();
        let hub = Hub::of(store.signals());
        let mut watching = hub.signals(&id("s"));
        // Whoever commits: nobody has to tell the hub.
        let revision = store.create_session(Session::new(id("s"))).await.unwrap();
        let told = tokio::time::timeout(Duration::from_secs(10), watching.changed());
        told.await.expect("a signal").expect("the hub lives");
        assert_eq!(watching.borrow_and_update().revision, revision);
        drop(hub);
        let end = tokio::time::timeout(Duration::from_secs(10), watching.changed());
        assert!(end.await.expect("the end").is_err());
    }
}

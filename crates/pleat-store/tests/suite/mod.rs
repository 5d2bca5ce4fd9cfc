//! The conformance suite: each function tests any store, one that is empty.

mod changes;
mod large_values;
mod listing;
mod plans;
mod processes;
mod prompts;
mod random;
mod recovery;
mod sample;
mod searching;
mod sharing;

pub(crate) use changes::*;
pub(crate) use large_values::*;
pub(crate) use listing::*;
pub(crate) use plans::*;
pub(crate) use processes::*;
pub(crate) use prompts::*;
pub(crate) use random::*;
pub(crate) use recovery::*;
pub(crate) use searching::*;
pub(crate) use sharing::*;

use pleat_store::{Durability, Revision, Store, StoreError};
use pleat_transcript::change::Change;
use pleat_transcript::document::{Document, Window};
use pleat_transcript::fold::{fold, fold_excerpt};
use pleat_transcript::ids::{CallId, MessageId, PermissionId, PromptId, SessionId, TurnId};
use pleat_transcript::message::{Assistant, Body, Message};
use pleat_transcript::rows::RowsDocument;
use pleat_transcript::session::{Millis, Session};

pub(crate) fn session_id(id: &str) -> SessionId {
    SessionId::new(id).unwrap()
}

pub(crate) fn turn_id(id: &str) -> TurnId {
    TurnId::new(id).unwrap()
}

pub(crate) fn message_id(id: &str) -> MessageId {
    MessageId::new(id).unwrap()
}

pub(crate) fn call_id(id: &str) -> CallId {
    CallId::new(id).unwrap()
}

pub(crate) fn permission_id(id: &str) -> PermissionId {
    PermissionId::new(id).unwrap()
}

pub(crate) fn prompt_id(id: &str) -> PromptId {
    PromptId::new(id).unwrap()
}

/// A store's session, and the document that it should be.
pub(crate) struct Twin<'a> {
    store: &'a dyn Store,
    pub(crate) document: Document,
    pub(crate) revision: Revision,
}

impl<'a> Twin<'a> {
    /// A new session.
    pub(crate) async fn create(store: &'a dyn Store, session: Session) -> Self {
        let revision = store.create_session(session.clone()).await.unwrap();
        assert_eq!(revision, Revision(1));
        let twin = Self { store, document: Document::new(session), revision };
        twin.compare().await;
        twin
    }

    pub(crate) fn id(&self) -> SessionId {
        self.document.session.id.clone()
    }

    pub(crate) async fn try_commit(&self, changes: Vec<Change>, at: Millis) -> Result<Revision, StoreError> {
        self.store.commit(self.id(), changes, at, Durability::Agent).await
    }

    /// Commits to both, and compares them.
    pub(crate) async fn commit(&mut self, changes: Vec<Change>) {
        self.commit_at(changes, 0).await;
    }

    pub(crate) async fn commit_at(&mut self, changes: Vec<Change>, at: Millis) {
        let mut altered = false;
        for change in &changes {
            let before = self.document.clone();
            self.document.apply(change).unwrap();
            altered |= self.document != before;
        }
        let expected = if altered { Revision(self.revision.0 + 1) } else { self.revision };
        let revision = self.try_commit(changes.clone(), at).await.unwrap();
        assert_eq!(revision, expected, "{changes:#?}");
        self.revision = revision;
        self.compare().await;
    }

    /// Commits what must be refused, and compares what is left.
    pub(crate) async fn refuse(&self, changes: Vec<Change>) -> StoreError {
        let error = self.try_commit(changes, 0).await.unwrap_err();
        self.compare().await;
        error
    }

    /// The store's session is the document.
    pub(crate) async fn compare(&self) {
        let stored = self.store.document(self.id()).await.unwrap();
        assert_eq!(stored.revision, self.revision);
        pretty_eq(&stored.document, &self.document);
        self.compare_windows().await;
    }

    /// Windows of the store fold as windows of the document do.
    async fn compare_windows(&self) {
        let messages = &self.document.messages;
        let id = |place: usize| messages[place * messages.len() / 8].id.clone();
        let mut windows = vec![Window::Latest];
        if !messages.is_empty() {
            windows.extend([0, 3, 7].map(|place| Window::At(id(place))));
            windows.extend([1, 4, 6].map(|place| Window::Earlier(id(place))));
            windows.extend([2, 5].map(|place| Window::Later(id(place))));
            windows.extend([(0, 0), (1, 3), (4, 7)].map(|(from, to)| Window::Range { from: id(from), to: id(to) }));
        }
        // Some at each revision: all of them come up soon enough.
        let turn = usize::try_from(self.revision.0).unwrap_or_default();
        let windows = windows.iter().cycle().skip(turn * 3 % windows.len()).take(3.min(windows.len()));
        for window in windows {
            let expected = fold(&self.document, window);
            let stored = self.store.excerpt(self.id(), window.clone()).await;
            match expected {
                Ok(rows) => {
                    let stored = stored.unwrap();
                    assert_eq!(stored.revision, self.revision);
                    pretty_eq_rows(&fold_excerpt(&stored.excerpt), &rows, window);
                }
                Err(error) => assert_eq!(stored.unwrap_err(), StoreError::NoWindow(error)),
            }
        }
    }
}

fn pretty_eq_rows(left: &RowsDocument, right: &RowsDocument, window: &Window) {
    for (left, right) in left.rows.iter().zip(&right.rows) {
        assert_eq!(left, right, "{window:?}");
    }
    assert_eq!(left, right, "{window:?}");
}

/// The round that a message is, if it is one.
pub(crate) fn round_of(message: &Message) -> Option<&Assistant> {
    if let Body::Assistant(round) = &message.body { Some(round) } else { None }
}

/// Compares by parts, so that a difference can be read.
pub(crate) fn pretty_eq(left: &Document, right: &Document) {
    assert_eq!(left.session, right.session);
    for (left, right) in left.messages.iter().zip(&right.messages) {
        assert_eq!(left, right);
    }
    assert_eq!(left.messages.len(), right.messages.len());
    assert!(left == right);
}

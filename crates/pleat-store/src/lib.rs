//! Everything Pleat keeps, durably.
//!
//! Between [`record`](pleat_transcript::record), whose changes it commits, and the faces, which read from it. One trait,
//! [`Store`], stands for every database; [`sqlite`] is the embedded one. A list of changes is one transaction that also
//! bumps the session's revision, so nothing is shown before it is durable and nothing is half stored.

mod error;
pub mod sqlite;

pub use error::{IdKind, StoreError};

use pleat_transcript::call::Call;
use pleat_transcript::change::Change;
use pleat_transcript::document::Document;
use pleat_transcript::ids::{AgentSessionId, CallId, SessionId};
use pleat_transcript::session::{Millis, Session, TurnState};
use std::pin::Pin;

/// What a [`Store`] promises to answer.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// A session's change counter: +1 for each committed list of changes that altered something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Revision(pub u64);

/// How much a commit must survive. Both survive the death of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// What a person did: survives a power cut.
    Person,
    /// What an agent said: a power cut may lose the last moments of it.
    Agent,
}

/// A transcript as it was at one revision.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredDocument {
    /// The transcript.
    pub document: Document,
    /// The revision that it was read at.
    pub revision: Revision,
}

/// What the list of sessions shows of one.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionListing {
    /// Which session.
    pub id: SessionId,
    /// Its title, if it has one.
    pub title: Option<String>,
    /// The agent's name.
    pub agent: Option<String>,
    /// The working directory.
    pub root: Option<String>,
    /// The newest change.
    pub updated_at: Millis,
    /// The state of the newest turn.
    pub last_turn: Option<TurnState>,
    /// A turn is running.
    pub live: bool,
    /// A permission request is open.
    pub needs_person: bool,
    /// The beginning of the newest thing that was said, at most 200 characters.
    pub last_words: Option<String>,
}

/// Everything Pleat keeps.
pub trait Store: Send + Sync {
    /// Stores a session that has no messages yet, at revision 1. An id that exists is an error.
    fn create_session(&self, session: Session) -> StoreFuture<'_, Revision>;

    /// Commits changes of one session in one transaction and tells its new revision. Changes that alter nothing write
    /// nothing and leave the revision as it is. Where one does not fit, or brings an id that its session has already,
    /// none is stored.
    fn commit(
        &self,
        session: SessionId,
        changes: Vec<Change>,
        at: Millis,
        durability: Durability,
    ) -> StoreFuture<'_, Revision>;

    /// A whole session.
    fn document(&self, session: SessionId) -> StoreFuture<'_, StoredDocument>;

    /// One call with its full request and result.
    fn call(&self, session: SessionId, call: CallId) -> StoreFuture<'_, Option<Call>>;

    /// Sessions, newest activity first, at most `limit`.
    fn sessions(&self, limit: usize) -> StoreFuture<'_, Vec<SessionListing>>;

    /// Sessions in which something is open: a turn, a call of a turn that was running, or a permission request.
    fn open_sessions(&self) -> StoreFuture<'_, Vec<SessionId>>;

    /// Stores a whole transcript as it is, at revision 1; the caller has prepared it. Its `window` is not stored. A
    /// session id that exists is an error.
    fn import(&self, document: Document, at: Millis) -> StoreFuture<'_, Revision>;

    /// Remembers what the agent calls this session; earlier names are kept. A name that is known becomes the newest.
    fn add_agent_session(&self, session: SessionId, agent_session: AgentSessionId, at: Millis) -> StoreFuture<'_, ()>;

    /// What the agent called this session, oldest first.
    fn agent_sessions(&self, session: SessionId) -> StoreFuture<'_, Vec<AgentSessionId>>;
}

//! What reads tell of sessions.

use pleat_transcript::call::Call;
use pleat_transcript::document::Document;
use pleat_transcript::fold::Excerpt;
use pleat_transcript::ids::SessionId;
use pleat_transcript::session::{Millis, TurnState};

/// A session's change counter: +1 for each committed list of changes that altered something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Revision(pub u64);

/// A transcript as it was at one revision.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredDocument {
    /// The transcript.
    pub document: Document,
    /// The revision that it was read at.
    pub revision: Revision,
}

/// A window of a transcript as it was at one revision.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredExcerpt {
    /// The window.
    pub excerpt: Excerpt,
    /// The calls of the session that a person is asked about now, wherever they stand; large values are previews.
    pub questions: Vec<Call>,
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
    /// How many prompts wait.
    pub waiting: usize,
    /// The beginning of the newest thing that was said, at most 200 characters.
    pub last_words: Option<String>,
}

impl SessionListing {
    /// Where the page after this listing begins.
    pub fn cursor(&self) -> SessionCursor {
        SessionCursor { updated_at: self.updated_at, id: self.id.clone() }
    }
}

/// A place in the list of sessions: behind this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionCursor {
    /// Its newest change when it was listed.
    pub updated_at: Millis,
    /// Which session.
    pub id: SessionId,
}

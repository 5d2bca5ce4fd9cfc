//! Why the store did not do what it was asked: each a sentence that names the thing and says what to do.

use pleat_transcript::change::ChangeError;
use pleat_transcript::ids::SessionId;
use std::fmt;
use std::path::PathBuf;

/// Why the store did not do what it was asked. Nothing was stored then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// There is no such session.
    #[error("there is no session `{0}`; the list of sessions shows those there are")]
    UnknownSession(SessionId),
    /// A new or imported session has an id that is taken.
    #[error("a session `{0}` exists already; open that one, or import under a new id")]
    SessionExists(SessionId),
    /// A change names what the session does not have.
    #[error("session `{session}` was left unchanged: {reason}; read it again before changing it")]
    DoesNotFit {
        /// Of which session.
        session: SessionId,
        /// What does not fit.
        reason: ChangeError,
    },
    /// A change brings an id that the session has already.
    #[error("session `{session}` was left unchanged: it already has a {kind} `{id}`; use a new id")]
    IdTaken {
        /// Of which session.
        session: SessionId,
        /// What the id names.
        kind: IdKind,
        /// The id.
        id: String,
    },
    /// The database was made by a newer Pleat.
    #[error(
        "`{}` was written by a newer Pleat (database version {found}, this one knows up to {known}); \
         it was left untouched: use the newer Pleat, or another data folder", path.display()
    )]
    NewerVersion {
        /// The database file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// Ours.
        known: i64,
    },
    /// The file is no database of ours.
    #[error(
        "`{}` is not a Pleat database ({reason}); it was left untouched: move it away, or use another data folder",
        path.display()
    )]
    NotADatabase {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        reason: String,
    },
    /// The file is a database of ours, but parts of it cannot be read.
    #[error("the database `{}` is damaged ({reason}); restore it from a backup, or use another data folder", path.display())]
    Damaged {
        /// The database file.
        path: PathBuf,
        /// What was found.
        reason: String,
    },
    /// The folder or the file cannot be written.
    #[error("cannot write `{}` ({reason}); check its permissions, or use another data folder", path.display())]
    Unwritable {
        /// The folder or file.
        path: PathBuf,
        /// The system's words.
        reason: String,
    },
    /// There is no space left.
    #[error("there is no space left for the database `{}`; make some and try again", path.display())]
    DiskFull {
        /// The database file.
        path: PathBuf,
    },
    /// Another process kept the database locked for longer than we wait.
    #[error("the database `{}` is locked by another process; close what uses it and try again", path.display())]
    Locked {
        /// The database file.
        path: PathBuf,
    },
    /// The database failed in another way.
    #[error("the database `{}` failed: {reason}; try again, and report this if it happens again", path.display())]
    Failed {
        /// The database file.
        path: PathBuf,
        /// The database's words.
        reason: String,
    },
    /// The store is closing down.
    #[error("the store is closed; start Pleat again")]
    Closed,
}

/// What an id names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdKind {
    /// A turn.
    Turn,
    /// A message.
    Message,
    /// A tool call.
    Call,
}

impl fmt::Display for IdKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Turn => "turn",
            Self::Message => "message",
            Self::Call => "call",
        })
    }
}

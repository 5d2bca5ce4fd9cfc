//! Why the store did not do what it was asked: each a sentence that names the thing and says what to do.

use crate::search::QueryError;
use pleat_transcript::change::ChangeError;
use pleat_transcript::fold::FoldError;
use pleat_transcript::ids::SessionId;
use std::fmt;

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
    /// Another server works on the session.
    #[error("session `{0}` belongs to another server now; it was left unchanged: ask that server")]
    OwnedElsewhere(SessionId),
    /// The window that is asked for is none.
    #[error(transparent)]
    NoWindow(#[from] FoldError),
    /// What is searched for cannot be searched for.
    #[error(transparent)]
    NoQuery(#[from] QueryError),
    /// The database was made by a newer Pleat.
    #[error(
        "`{database}` was written by a newer Pleat (database version {found}, this one knows up to {known}); \
         it was left untouched: use the newer Pleat, or another data folder"
    )]
    NewerVersion {
        /// The database: a file, or an address without its password.
        database: String,
        /// Its version.
        found: i64,
        /// Ours.
        known: i64,
    },
    /// The file is no database of ours.
    #[error(
        "`{database}` is not a Pleat database ({reason}); it was left untouched: move it away, or use another data folder"
    )]
    NotADatabase {
        /// The database: a file, or an address without its password.
        database: String,
        /// What it is instead.
        reason: String,
    },
    /// The file is a database of ours, but parts of it cannot be read.
    #[error("the database `{database}` is damaged ({reason}); restore it from a backup, or use another data folder")]
    Damaged {
        /// The database: a file, or an address without its password.
        database: String,
        /// What was found.
        reason: String,
    },
    /// The folder or the file cannot be written.
    #[error("cannot write `{database}` ({reason}); check its permissions, or use another data folder")]
    Unwritable {
        /// The folder, file or address.
        database: String,
        /// The system's words.
        reason: String,
    },
    /// There is no space left.
    #[error("there is no space left for the database `{database}`; make some and try again")]
    DiskFull {
        /// The database: a file, or an address without its password.
        database: String,
    },
    /// Another process kept the database locked for longer than we wait.
    #[error("the database `{database}` is locked by another process; close what uses it and try again")]
    Locked {
        /// The database: a file, or an address without its password.
        database: String,
    },
    /// What should be the address of a database is none. It is not repeated: it may hold a password.
    #[error(
        "the store's address is none (it is not repeated: it may hold a password); write \
         `postgres://USER@HOST/DATABASE`, with `%40` for an `@` in a password, or `sqlite:FILE`"
    )]
    NoAddress,
    /// The database server cannot be reached.
    #[error("the database `{database}` cannot be reached ({reason}); check that it runs and try again")]
    Unreachable {
        /// The address without its password.
        database: String,
        /// The system's words.
        reason: String,
    },
    /// The database failed in another way.
    #[error("the database `{database}` failed: {reason}; try again, and report this if it happens again")]
    Failed {
        /// The database: a file, or an address without its password.
        database: String,
        /// The database's words.
        reason: String,
    },
    /// A copy into the database was begun and is not whole yet.
    #[error(
        "a copy into `{database}` was not finished; run the same `pleat db copy` again, or remove what is there and begin \
         anew"
    )]
    UnfinishedCopy {
        /// The database: a file, or an address without its password.
        database: String,
    },
    /// What should be copied into holds something else.
    #[error("`{database}` holds something else already; it was left untouched: copy into an empty database")]
    NotEmpty {
        /// The database: a file, or an address without its password.
        database: String,
    },
    /// The copy that was begun is of something else, or of what its source was before.
    #[error(
        "a copy into `{database}` was begun from another source, or its source has changed since then; it was left \
         untouched: remove what is there and copy again"
    )]
    OtherCopy {
        /// The database: a file, or an address without its password.
        database: String,
    },
    /// A backup would replace a file.
    #[error("`{file}` exists already and was left untouched; choose another name for the backup")]
    FileExists {
        /// The file.
        file: String,
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
    /// A prompt that waits, or waited.
    Prompt,
}

impl fmt::Display for IdKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Turn => "turn",
            Self::Message => "message",
            Self::Call => "call",
            Self::Prompt => "prompt",
        })
    }
}

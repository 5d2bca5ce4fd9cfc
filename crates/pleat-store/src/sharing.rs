//! Several servers on one database: who they are, and what travels between them.

use pleat_transcript::ids::SessionId;
use std::collections::HashSet;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A server as the others know it: new with every start.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ServerId(pub(crate) String);

impl ServerId {
    pub(crate) fn new() -> Self {
        Self(uuid::Uuid::now_v7().to_string())
    }
}

impl fmt::Display for ServerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The sessions that this server claimed and did not let go: it commits to them only while they are its own.
#[derive(Debug, Default)]
pub(crate) struct Claims(Mutex<HashSet<SessionId>>);

impl Claims {
    pub(crate) fn add(&self, session: SessionId) {
        self.get().insert(session);
    }

    pub(crate) fn remove(&self, session: &SessionId) {
        self.get().remove(session);
    }

    pub(crate) fn clear(&self) {
        self.get().clear();
    }

    pub(crate) fn has(&self, session: &SessionId) -> bool {
        self.get().contains(session)
    }

    fn get(&self) -> MutexGuard<'_, HashSet<SessionId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Who has a session after it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// This server.
    Ours,
    /// Another one, which is alive.
    Theirs(ServerId),
}

/// A command's id, chosen by whoever sends it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CommandId(pub String);

/// A command as it is delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredCommand {
    /// Its id, by which the answer is told.
    pub id: CommandId,
    /// What is asked for, as JSON.
    pub body: String,
}

//! Several servers on one database: who they are, and what travels between them.

use std::fmt;

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

//! Ids as types of their own, so that one kind is never taken for another.
//!
//! Ids are opaque strings of 1 to 128 bytes (docs/spec/fold.md, "Input"). What an *agent* calls a call or a session is a
//! type apart: it may repeat, and is never a key of ours.

use serde::Serialize;
use std::fmt;

/// The longest id, in bytes (docs/spec/fold.md, "Input").
pub const MAX_ID_BYTES: usize = 128;

/// Why a string is no id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// The string is empty.
    #[error("an id may not be empty")]
    Empty,
    /// The string is longer than [`MAX_ID_BYTES`].
    #[error("an id may have at most {MAX_ID_BYTES} bytes, this one has {0}")]
    TooLong(usize),
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Checks the length and keeps the string as it is.
            pub fn new(id: impl Into<String>) -> Result<Self, IdError> {
                let id = id.into();
                match id.len() {
                    0 => Err(IdError::Empty),
                    1..=MAX_ID_BYTES => Ok(Self(id)),
                    n => Err(IdError::TooLong(n)),
                }
            }

            /// The id as stored.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

id!(
    /// One conversation with one agent in one working directory.
    SessionId
);
id!(
    /// From a prompt to its stop reason.
    TurnId
);
id!(
    /// A stored item of a session.
    MessageId
);
id!(
    /// One tool call; unique in its session, and ours: see [`AgentCallId`].
    CallId
);
id!(
    /// A permission request as we know it; unique in its session.
    PermissionId
);
id!(
    /// A prompt that waits, or waited, to be sent; unique in its session.
    PromptId
);

macro_rules! agent_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

agent_id!(
    /// What the agent calls a tool call. Agents repeat these (case B08), so it names a call only together with
    /// session, turn and order.
    AgentCallId
);
agent_id!(
    /// What the agent calls its session.
    AgentSessionId
);

/// Where new ids come from: time-ordered ones live, counted ones in a replay.
pub trait IdSource {
    /// A string that no earlier call returned, of 1 to [`MAX_ID_BYTES`] bytes. `kind` is one lower-case letter that
    /// counted ids begin with.
    fn next_id(&mut self, kind: char) -> String;
}

/// Ids that count up from 1 for each kind (`m1`, `m2`, `c1` …), so that a replay prints the same on every run.
#[derive(Debug, Clone, Default)]
pub struct CountedIds {
    counts: std::collections::BTreeMap<char, u64>,
}

impl IdSource for CountedIds {
    fn next_id(&mut self, kind: char) -> String {
        let count = self.counts.entry(kind).or_insert(0);
        *count += 1;
        format!("{kind}{count}")
    }
}

macro_rules! new_from_source {
    ($($name:ident $kind:literal),*) => {
        $(impl $name {
            /// A new id from `source`.
            pub fn from_source(source: &mut dyn IdSource) -> Self {
                Self(source.next_id($kind))
            }
        })*
    };
}

new_from_source!(SessionId 's', TurnId 't', MessageId 'm', CallId 'c', PermissionId 'p', PromptId 'q');

/// The namespace of plan messages' ids, so that a plan never collides with the row of its call (ARCHITECTURE.md).
const PLAN_NAMESPACE: uuid::Uuid = uuid::uuid!("6f3c3f3e-5d0a-5c0e-9f55-7a1d2b9e4c11");

impl MessageId {
    /// The id of the plan message of a stream: the same for the same session, turn and call, whoever asks
    /// (docs/spec/record.md, Plans 1).
    pub fn of_plan_stream(session: &SessionId, turn: Option<&TurnId>, call: &CallId) -> Self {
        let turn = turn.map_or("", TurnId::as_str);
        // Lengths first: no two different triples give the same name.
        let name = format!("{}:{}:{session}{turn}{call}", session.as_str().len(), turn.len());
        Self(uuid::Uuid::new_v5(&PLAN_NAMESPACE, name.as_bytes()).to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_1_to_128_bytes() {
        assert_eq!(MessageId::new(""), Err(IdError::Empty));
        assert_eq!(MessageId::new("x".repeat(129)), Err(IdError::TooLong(129)));
        assert!(MessageId::new("x".repeat(128)).is_ok());
    }

    #[test]
    fn plan_ids_differ_where_any_part_does() {
        let id = |s: &str, t: &str, c: &str| {
            MessageId::of_plan_stream(
                &SessionId::new(s).unwrap(),
                Some(&TurnId::new(t).unwrap()),
                &CallId::new(c).unwrap(),
            )
        };
        assert_eq!(id("s", "t", "c"), id("s", "t", "c"));
        assert_ne!(id("s", "t", "c"), id("s", "t", "d"));
        assert_ne!(id("s", "tc", "x"), id("s", "t", "cx"));
    }
}

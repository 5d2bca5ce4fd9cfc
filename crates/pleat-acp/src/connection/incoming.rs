//! What comes out of a connection.

use std::fmt;
use std::io;
use std::process::ExitStatus;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One thing that an agent said or that befell it, in the order of its lines.
#[derive(Debug)]
pub enum Incoming {
    /// A message that wants no answer. A request whose id is `null` is one too: it could not be
    /// answered to anyone (JSON-RPC 2.0, section 4).
    Notification {
        /// Its method.
        method: String,
        /// Its params as sent, `Null` where there were none.
        params: Value,
    },
    /// A request, to be answered with this id, also when its method is unknown (-32601).
    Request {
        /// The agent's id for it. It says nothing about our own ids.
        id: RequestId,
        /// Its method.
        method: String,
        /// Its params as sent, `Null` where there were none.
        params: Value,
    },
    /// The answer to a request of ours; one for each token at most.
    Answer {
        /// Which request.
        to: Token,
        /// Its result as sent, or its error.
        result: Result<Value, RpcError>,
    },
    /// A line that is no message: no JSON object, no JSON-RPC, an answer to nothing we asked or have
    /// an answer to already, or a torn last line. For the agent's log (`docs/spec/record.md`; B18).
    Noise(String),
    /// A line that was longer than is read.
    SkippedLine {
        /// How long it was.
        bytes: u64,
    },
    /// The connection is over. Always the last item; requests that are not answered yet never are.
    Closed(CloseReason),
}

/// How a connection ended.
#[derive(Debug)]
pub struct CloseReason {
    /// What began it.
    pub cause: CloseCause,
    /// How the agent's process exited, if there was one and it could be waited for.
    pub exit: Option<ExitStatus>,
    /// The last of its stderr.
    pub stderr_tail: String,
}

/// What ended a connection.
#[derive(Debug)]
pub enum CloseCause {
    /// The agent exited or closed its stdout.
    AgentEnded,
    /// [`super::Connection::shut_down`] was called.
    ShutDown,
    /// The connection was dropped.
    Dropped,
    /// The agent's stdout could not be read.
    ReadFailed(io::Error),
    /// A line went on for more than [`super::ConnectionOptions::max_unended_bytes`] without an end: the agent was cut
    /// off.
    EndlessLine {
        /// How much of it had come.
        bytes: u64,
    },
    /// The agent's stdin could not be written: it no longer listens.
    WriteFailed(io::Error),
}

/// A request of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Token(pub(super) u64);

impl fmt::Display for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// The id of a request of the agent's, exactly as it stood on the wire: `1` and `"1"` differ.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestId(pub(super) Value);

impl fmt::Display for RequestId {
    /// The JSON text, which tells a number from a string.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// A JSON-RPC error object (JSON-RPC 2.0, section 5.1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{message} ({code})")]
pub struct RpcError {
    /// Its number; agents also put an HTTP status here (docs/agents.md, 18).
    pub code: i64,
    /// Its text.
    pub message: String,
    /// What else there is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

/// JSON-RPC 2.0's number for an error that says nothing better.
const INTERNAL_ERROR: i64 = -32603;

/// JSON-RPC 2.0's number for a method that nobody knows.
const METHOD_NOT_FOUND: i64 = -32601;

impl RpcError {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// The answer to a request whose method we do not know (`docs/spec/record.md`, unknown requests).
    pub fn method_not_found(method: &str) -> Self {
        Self::new(METHOD_NOT_FOUND, format!("Method not found: {method}"))
    }

    /// Reads whatever an agent sent as an error; nothing makes it fail.
    pub(super) fn from_wire(error: Value) -> Self {
        match error {
            Value::Object(mut fields) => {
                let code = fields.get("code").and_then(Value::as_i64).unwrap_or(INTERNAL_ERROR);
                let data = fields.remove("data");
                match fields.remove("message") {
                    Some(Value::String(message)) => Self { code, message, data },
                    Some(_) | None => Self { code, message: Value::Object(fields).to_string(), data },
                }
            }
            Value::String(message) => Self::new(INTERNAL_ERROR, message),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
                Self::new(INTERNAL_ERROR, error.to_string())
            }
        }
    }
}

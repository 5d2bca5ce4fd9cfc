//! Why a request of the agent cannot be done, as the agent is told.

use crate::connection::RpcError;
use std::io;

/// JSON-RPC 2.0: what was asked cannot be done whoever asks.
const METHOD_NOT_FOUND: i64 = -32601;
/// JSON-RPC 2.0: it can, but not with these params.
const INVALID_PARAMS: i64 = -32602;
/// JSON-RPC 2.0: it should have gone well.
const INTERNAL_ERROR: i64 = -32603;
/// ACP's number for something that is not there (docs/agents.md, 29: agents tell a new file by it).
const RESOURCE_NOT_FOUND: i64 = -32002;

/// Why a request cannot be done.
#[derive(Debug, thiserror::Error)]
pub(super) enum ServeError {
    /// It is none of ours.
    #[error("Method not found: {method}")]
    UnknownMethod { method: String },
    /// Something is missing in it, or has another form than ACP says.
    #[error("the params are not those of ACP: {source}")]
    Params { source: serde_json::Error },
    /// Something about a file or directory.
    #[error("{path} {fault}")]
    File { path: String, fault: FileFault },
    /// There is no such program.
    #[error("the program {program} was not found; name one that is installed, or /bin/sh with -c and a command line")]
    ProgramNotFound { program: String },
    /// The file is there, but may not be executed.
    #[error("the program {program} is not executable")]
    NotExecutable { program: String },
    /// Anything else that the system said.
    #[error("the program {program} could not be started: {source}")]
    NotStarted { program: String, source: io::Error },
    /// A command, argument or variable that no process can be given.
    #[error("{what} holds a NUL character, which no process can be given")]
    Nul { what: &'static str },
    /// A variable that no environment can hold.
    #[error("an environment variable's name is empty or holds an equals sign")]
    VariableName,
    /// Never made, or released.
    #[error("there is no terminal {id}: it was released, or never created")]
    UnknownTerminal { id: String },
    /// As many run as may.
    #[error("{limit} terminals run already, and no more may in one session; kill or release one first")]
    TooManyTerminals { limit: usize },
    /// The session has ended.
    #[error("the session has ended, so nothing is served to it any more")]
    SessionEnded,
    /// It was lost by a fault of ours.
    #[error("the operation could not be finished")]
    NotDone,
}

/// What is wrong with a path, or what stands there. Follows the path in a sentence.
#[derive(Debug, thiserror::Error)]
pub(super) enum FileFault {
    #[error("is no absolute path; name files by their absolute paths")]
    Relative,
    #[error("holds a NUL character, which no path does")]
    Nul,
    #[error("lies, or leads, outside of the session's directories")]
    Outside,
    #[error("does not exist")]
    Missing,
    #[error("is a directory, not a file")]
    Directory,
    #[error("is no directory, or lies below something that is none")]
    NoDirectory,
    #[error("is no regular file")]
    Special,
    #[error("holds text that is not UTF-8; use a command to look at it")]
    NotUtf8,
    #[error("holds more than {most} bytes of text there; read it in parts with line and limit")]
    TooLong { most: usize },
    #[error("could not be used: {0}")]
    Io(io::Error),
}

impl From<io::Error> for FileFault {
    fn from(error: io::Error) -> Self {
        // What the directory handles say of a way that leads out of them; the system has a number for its own errors.
        if error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none() {
            return Self::Outside;
        }
        #[expect(clippy::wildcard_enum_match_arm, reason = "the system has many errors, and may have more")]
        match error.kind() {
            io::ErrorKind::NotFound => Self::Missing,
            io::ErrorKind::IsADirectory => Self::Directory,
            io::ErrorKind::NotADirectory => Self::NoDirectory,
            _ => Self::Io(error),
        }
    }
}

impl FileFault {
    /// The fault of this path.
    pub(super) fn of(self, path: &std::path::Path) -> ServeError {
        ServeError::File { path: path.display().to_string(), fault: self }
    }

    fn code(&self) -> i64 {
        match self {
            Self::Missing => RESOURCE_NOT_FOUND,
            Self::Relative
            | Self::Nul
            | Self::Outside
            | Self::Directory
            | Self::NoDirectory
            | Self::Special
            | Self::NotUtf8
            | Self::TooLong { .. } => INVALID_PARAMS,
            Self::Io(_) => INTERNAL_ERROR,
        }
    }
}

impl ServeError {
    fn code(&self) -> i64 {
        match self {
            Self::UnknownMethod { .. } => METHOD_NOT_FOUND,
            Self::File { fault, .. } => fault.code(),
            Self::UnknownTerminal { .. } => RESOURCE_NOT_FOUND,
            Self::Params { .. }
            | Self::ProgramNotFound { .. }
            | Self::NotExecutable { .. }
            | Self::Nul { .. }
            | Self::VariableName => INVALID_PARAMS,
            Self::NotStarted { .. } | Self::TooManyTerminals { .. } | Self::SessionEnded | Self::NotDone => {
                INTERNAL_ERROR
            }
        }
    }
}

impl From<ServeError> for RpcError {
    fn from(error: ServeError) -> Self {
        Self::new(error.code(), error.to_string())
    }
}

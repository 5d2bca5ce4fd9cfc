//! Why the host did not do what it was asked.

use pleat_store::StoreError;
use std::path::{Path, PathBuf};

/// Why the host did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// No agent of this name is known.
    #[error("no agent is called `{0}`; the agents are on the first page, pleat.toml can add others")]
    UnknownAgent(String),
    /// The working directory is not there, or not a directory.
    #[error("`{}` is not a directory; choose one that exists", .0.display())]
    NoDirectory(PathBuf),
    /// A path that is no text cannot be stored.
    #[error("`{}` is not in UTF-8; give the directory another name", .0.display())]
    NoUnicode(PathBuf),
    /// A prompt has no text.
    #[error("the prompt is empty; write something first")]
    EmptyPrompt,
    /// The client's key of a prompt is too long.
    #[error("the key of a prompt has at most 128 bytes; choose a shorter one")]
    KeyTooLong,
    /// The prompt is not waiting: it was sent, or removed.
    #[error("this prompt does not wait any more; it was sent or removed")]
    NotWaiting,
    /// The request was answered before.
    #[error("this request was already answered")]
    AlreadyAnswered,
    /// Nobody waits for the answer any more.
    #[error("this request is not open any more; the agent no longer waits for the answer")]
    NotOpen,
    /// The agent does not want a login now.
    #[error("the agent does not wait for a login; send a prompt to start it")]
    NoLoginWanted,
    /// The agent did not do what it was asked.
    #[error("the agent refused: {0}")]
    AgentRefused(String),
    /// Another server runs this session.
    #[error("another running Pleat works on this session; use that one, or stop it first")]
    Elsewhere,
    /// The request has no such option.
    #[error("this request has no option `{0}`")]
    UnknownOption(String),
    /// Pleat is going down.
    #[error("Pleat is stopping; start it again and repeat this")]
    Stopping,
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A path as it is stored.
pub(crate) fn path_text(path: &Path) -> Result<String, HostError> {
    path.to_str().map(str::to_owned).ok_or_else(|| HostError::NoUnicode(path.to_owned()))
}

//! Why the host did not do what it was asked.

use pleat_store::StoreError;
use std::path::PathBuf;

/// Why the host did not do what it was asked. Nothing was stored or sent then.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// No agent of this name is known.
    #[error("no agent is called `{0}`; the agents are on the first page, pleat.toml can add others")]
    UnknownAgent(String),
    /// The working directory is not there, or not a directory.
    #[error("`{}` is not a directory; choose one that exists", .0.display())]
    NoDirectory(PathBuf),
    /// A prompt has no text.
    #[error("the prompt is empty; write something first")]
    EmptyPrompt,
    /// A turn is running.
    #[error("a turn is running in this session; wait for its end, or stop it")]
    TurnRunning,
    /// The request was answered before, or nobody waits for the answer any more.
    #[error("this request is not open any more; it was answered, or the agent no longer waits for it")]
    NotOpen,
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

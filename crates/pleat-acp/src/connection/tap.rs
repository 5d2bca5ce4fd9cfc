//! A look at the wire.

use std::time::SystemTime;

use super::incoming::Token;

/// Which way a line went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireDirection {
    /// To the agent's stdin.
    ToAgent,
    /// From the agent's stdout.
    FromAgent,
}

/// One line of a connection.
#[derive(Debug, Clone, Copy)]
pub struct WireLine<'a> {
    /// Which way it went.
    pub direction: WireDirection,
    /// When it was read, or is about to be written.
    pub at: SystemTime,
    /// The line without its line end. Halves of UTF-16 pairs, which are no JSON, are replaced by U+FFFD.
    pub bytes: &'a [u8],
    /// Whether the bytes are the text of one JSON object; noise is not.
    pub is_object: bool,
    /// What the agent calls the session that the line is about: that of its params, of the request that it answers, or
    /// of the answer to `session/new`. `None`: no session, such as `initialize`, `authenticate` and noise.
    pub session: Option<&'a str>,
    /// The request that opens a session (`session/new`, `session/load`, `session/resume`): set on the request and on
    /// its answer.
    pub opens: Option<Token>,
}

/// Sees every raw line of a connection, in order for each direction: one from the agent before it is handed on, one to
/// the agent before it is written, so that an answer comes after its request. It runs inside the reading and writing
/// tasks and must not block.
pub trait WireTap: Send + Sync {
    /// One line.
    fn line(&self, line: WireLine<'_>);
}

impl<F: Fn(WireLine<'_>) + Send + Sync> WireTap for F {
    fn line(&self, line: WireLine<'_>) {
        self(line);
    }
}

//! A look at the wire.

use std::time::SystemTime;

/// Which way a line went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireDirection {
    /// To the agent's stdin.
    ToAgent,
    /// From the agent's stdout.
    FromAgent,
}

/// Sees every raw line of a connection, in order for each direction, before it is parsed or after
/// it was written. It runs inside the reading and writing tasks and must not block.
pub trait WireTap: Send + Sync {
    /// One line without its line end.
    fn line(&self, direction: WireDirection, at: SystemTime, line: &[u8]);
}

impl<F: Fn(WireDirection, SystemTime, &[u8]) + Send + Sync> WireTap for F {
    fn line(&self, direction: WireDirection, at: SystemTime, line: &[u8]) {
        self(direction, at, line);
    }
}

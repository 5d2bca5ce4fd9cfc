//! The consumer's end of a connection.

use tokio::sync::mpsc;

use super::incoming::Incoming;
use super::waiting::Weight;

/// Everything that comes out of a connection, in the order of the agent's lines. The last item is
/// [`Incoming::Closed`].
#[derive(Debug)]
pub struct IncomingLines(pub(super) mpsc::UnboundedReceiver<Received>);

/// An item with the room that it takes until it is worked off.
#[derive(Debug)]
pub struct Received {
    /// What came.
    pub what: Incoming,
    /// To be kept until the item is worked off, then dropped: what is kept longer makes this agent wait at its pipe
    /// ([`super::ConnectionOptions::max_waiting_bytes`]).
    pub weight: Weight,
}

impl IncomingLines {
    /// Waits for at least one item and takes what is there, at most `limit`. Gives how many were put into `into`; 0
    /// means that nothing comes any more. A call that is dropped before it is done has taken nothing.
    pub async fn recv_many(&mut self, into: &mut Vec<Received>, limit: usize) -> usize {
        self.0.recv_many(into, limit).await
    }

    /// Waits for the next item; `None` means that nothing comes any more. A call that is dropped before it is done has
    /// taken nothing.
    pub async fn recv(&mut self) -> Option<Received> {
        self.0.recv().await
    }
}

//! How much of what an agent said, or its commands printed, may wait to be worked off.
//!
//! Memory between a reader and its consumer is bounded: once so many bytes wait, the reader stops until some are
//! given back, and with it this agent, or command, at its pipe. Nobody else waits: neither the consumer nor another agent.

use std::sync::Arc;

use serde_json::{Map, Value};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError};

use super::incoming::Incoming;
use super::received::Received;

/// So many bytes of a connection, or of a session's terminals, wait to be worked off; given back when dropped. The default weighs nothing.
#[derive(Debug, Default)]
pub struct Weight {
    _permit: Option<OwnedSemaphorePermit>,
}

/// The bytes that may wait, one permit each.
#[derive(Debug, Clone)]
pub(crate) struct Room {
    free: Arc<Semaphore>,
    all: u32,
}

impl Room {
    pub(crate) fn new(bytes: usize) -> Self {
        let all = u32::try_from(bytes).unwrap_or(u32::MAX).max(1);
        // Without loss: a `usize` has at least 32 bits wherever processes are.
        Self { free: Arc::new(Semaphore::new(all as usize)), all }
    }

    /// Waits until there is room. What is larger than all of it passes alone.
    pub(crate) async fn take(&self, bytes: usize) -> Weight {
        // An error means that it was opened.
        Weight { _permit: Arc::clone(&self.free).acquire_many_owned(self.permits(bytes)).await.ok() }
    }

    /// [`Room::take`] where nobody has to wait for it.
    pub(crate) fn try_take(&self, bytes: usize) -> Option<Weight> {
        match Arc::clone(&self.free).try_acquire_many_owned(self.permits(bytes)) {
            Ok(permit) => Some(Weight { _permit: Some(permit) }),
            Err(TryAcquireError::Closed) => Some(Weight::default()),
            Err(TryAcquireError::NoPermits) => None,
        }
    }

    fn permits(&self, bytes: usize) -> u32 {
        u32::try_from(bytes).unwrap_or(u32::MAX).min(self.all)
    }

    /// Lets everything pass from now on: what it was to hold back is gone, and what that left in its pipe is little.
    pub(crate) fn open(&self) {
        self.free.close();
    }
}

/// About the memory that an item holds while it waits, which for a line of many small values is a multiple of the line.
pub(super) fn bytes_of(what: &Incoming) -> usize {
    let held = match what {
        Incoming::Notification { method, params } | Incoming::Request { method, params, .. } => {
            method.len() + bytes_held(params)
        }
        Incoming::Answer { result: Ok(result), .. } => bytes_held(result),
        Incoming::Answer { result: Err(error), .. } => error.message.len() + error.data.as_ref().map_or(0, bytes_held),
        Incoming::Noise(line) => line.len(),
        // Always pass.
        Incoming::SkippedLine { .. } | Incoming::Closed(_) => return 0,
    };
    size_of::<Received>() + held
}

/// What a value holds beside itself.
fn bytes_held(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(|value| size_of::<Value>() + bytes_held(value)).sum(),
        Value::Object(fields) => bytes_of_fields(fields),
    }
}

fn bytes_of_fields(fields: &Map<String, Value>) -> usize {
    let field = size_of::<String>() + size_of::<Value>() + size_of::<u64>();
    fields.iter().map(|(name, value)| field + name.len() + bytes_held(value)).sum()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_waits_is_weighed_by_the_memory_it_holds() {
        let noise = |bytes| bytes_of(&Incoming::Noise("x".repeat(bytes)));
        assert_eq!(noise(1000) - noise(0), 1000);
        assert!(noise(0) >= size_of::<Incoming>(), "many tiny lines are not free");
        let zeros = Incoming::Notification { method: "m".to_owned(), params: json!([0, 0, 0, 0]) };
        assert!(bytes_of(&zeros) > 4 * size_of::<Value>());
        assert_eq!(bytes_of(&Incoming::SkippedLine { bytes: 7 }), 0);
    }

    #[tokio::test]
    async fn what_is_larger_than_all_room_passes_alone() {
        let room = Room::new(10);
        let large = room.take(1000).await;
        let mut small = Box::pin(room.take(1));
        assert!(futures::poll!(&mut small).is_pending());
        drop(large);
        let small = small.await;
        let mut large = Box::pin(room.take(1000));
        assert!(futures::poll!(&mut large).is_pending());
        drop(small);
        drop(large.await);
        let _all = room.take(10).await;
        let mut last = Box::pin(room.take(1));
        assert!(futures::poll!(&mut last).is_pending());
        room.open();
        last.await;
    }
}

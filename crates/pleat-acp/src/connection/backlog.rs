//! How much of what an agent asked for may wait to be written to it.
//!
//! An agent that asks and does not read what it is answered would make us grow without end. So beyond a bound no further
//! line of it is taken, until it has read some: it waits, at its pipe, and nobody else does. Only answers count. What we
//! say unasked is bounded by what people do, and an agent that says much before it reads a long prompt must not wait
//! for itself.

use tokio::sync::watch;

use super::incoming::RequestId;
use super::messages::method;

/// How many requests whose answers may be large are worked on at once. Their answers are not there to be counted yet.
const LARGE_ANSWERS_AT_ONCE: usize = 4;

/// The answers of a connection that wait to be written. Cheap to clone; all clones are one.
#[derive(Debug, Clone)]
pub(super) struct Backlog {
    waiting: watch::Sender<Waiting>,
    most_bytes: usize,
}

#[derive(Debug, Default)]
struct Waiting {
    /// Of answers that wait to be written.
    bytes: usize,
    /// Requests whose answers may be large and are not there yet.
    large: Vec<RequestId>,
    is_closed: bool,
}

/// So many bytes of a backlog, until they are written: then it is dropped.
#[derive(Debug)]
pub(super) struct Unwritten {
    backlog: Backlog,
    bytes: usize,
}

impl Backlog {
    /// Nothing waits; at most `most_bytes` should.
    pub(super) fn new(most_bytes: usize) -> Self {
        Self { waiting: watch::Sender::default(), most_bytes }
    }

    /// Waits until a further line of the agent may be taken.
    pub(super) async fn until_there_is_room(&self) {
        if self.has_room(&self.waiting.borrow()) {
            return;
        }
        // The sender is here, so this does not fail.
        let _ = self.waiting.subscribe().wait_for(|waiting| self.has_room(waiting)).await;
    }

    fn has_room(&self, waiting: &Waiting) -> bool {
        let is_within = waiting.bytes <= self.most_bytes && waiting.large.len() < LARGE_ANSWERS_AT_ONCE;
        is_within || waiting.is_closed
    }

    /// The agent has sent a request.
    pub(super) fn asked(&self, id: &RequestId, method: &str) {
        if method == method::FS_READ_TEXT_FILE || method == method::TERMINAL_OUTPUT {
            self.waiting.send_modify(|waiting| waiting.large.push(id.clone()));
        }
    }

    /// A request is answered by so many bytes, which wait from now on.
    pub(super) fn answered(&self, id: &RequestId, bytes: usize) -> Unwritten {
        self.waiting.send_modify(|waiting| {
            if let Some(place) = waiting.large.iter().position(|asked| asked == id) {
                waiting.large.swap_remove(place);
            }
            waiting.bytes += bytes;
        });
        Unwritten { backlog: self.clone(), bytes }
    }

    /// Nothing is written any more but what waits, and nobody waits for that.
    pub(super) fn close(&self) {
        self.waiting.send_modify(|waiting| waiting.is_closed = true);
    }

    /// Whether it was closed.
    pub(super) fn is_closed(&self) -> bool {
        self.waiting.borrow().is_closed
    }
}

impl Drop for Unwritten {
    fn drop(&mut self) {
        self.backlog.waiting.send_modify(|waiting| waiting.bytes -= self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn id(number: usize) -> RequestId {
        RequestId(json!(number))
    }

    fn is_free(backlog: &Backlog) -> bool {
        backlog.has_room(&backlog.waiting.borrow())
    }

    #[test]
    fn answers_wait_up_to_a_bound() {
        let backlog = Backlog::new(10);
        let small = backlog.answered(&id(1), 10);
        assert!(is_free(&backlog));
        let large = backlog.answered(&id(2), 1000);
        assert!(!is_free(&backlog));
        drop(large);
        assert!(is_free(&backlog));
        let _one_too_many = backlog.answered(&id(3), 1);
        assert!(!is_free(&backlog));
        drop(small);
        assert!(is_free(&backlog));
    }

    #[test]
    fn answers_that_may_be_large_are_not_all_made_at_once() {
        let backlog = Backlog::new(10);
        for number in 0..100 {
            backlog.asked(&id(number), method::SESSION_REQUEST_PERMISSION);
            backlog.asked(&id(number), method::TERMINAL_WAIT_FOR_EXIT);
        }
        assert!(is_free(&backlog), "people and commands take their time");
        for _ in 0..LARGE_ANSWERS_AT_ONCE {
            assert!(is_free(&backlog));
            // The same id, however wrong that is.
            backlog.asked(&id(7), method::FS_READ_TEXT_FILE);
        }
        assert!(!is_free(&backlog));
        drop(backlog.answered(&id(8), 1));
        assert!(!is_free(&backlog), "it was another one");
        drop(backlog.answered(&id(7), 1));
        assert!(is_free(&backlog));
    }

    #[tokio::test]
    async fn nobody_waits_for_one_that_is_closed() {
        let backlog = Backlog::new(10);
        let _never_written = backlog.answered(&id(1), 11);
        let mut room = Box::pin(backlog.until_there_is_room());
        assert!(futures::poll!(&mut room).is_pending());
        backlog.close();
        room.await;
    }
}

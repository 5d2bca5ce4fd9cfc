//! The last of what an agent wrote to stderr.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt as _};

use crate::utf8::is_inside_a_character;

/// How much of stderr is kept (docs/cases.md, B20).
pub const STDERR_TAIL_BYTES: usize = 64 * 1024;

/// A shareable view of the last [`STDERR_TAIL_BYTES`] of an agent's stderr.
#[derive(Debug, Clone, Default)]
pub struct StderrTail(Arc<Mutex<Tail>>);

#[derive(Debug, Default)]
struct Tail {
    kept: VecDeque<u8>,
    dropped: u64,
}

impl StderrTail {
    /// What is kept, as text; bytes that are no UTF-8 are replaced.
    pub fn text(&self) -> String {
        self.text_since(0)
    }

    /// What is kept of that which came after the first `written` bytes.
    pub fn text_since(&self, written: u64) -> String {
        let tail = self.lock();
        let known = usize::try_from(written.saturating_sub(tail.dropped)).unwrap_or(usize::MAX);
        let is_cut = written > 0 || tail.dropped > 0;
        // A character that was cut at the front is left out.
        let cut =
            tail.kept.iter().skip(known).take(3).take_while(|byte| is_cut && is_inside_a_character(**byte)).count();
        let bytes: Vec<u8> = tail.kept.iter().skip(known.saturating_add(cut)).copied().collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// How many bytes came, kept or not.
    pub fn written_bytes(&self) -> u64 {
        let tail = self.lock();
        tail.dropped + tail.kept.len() as u64
    }

    /// How many bytes came before those that are kept.
    pub fn dropped_bytes(&self) -> u64 {
        self.lock().dropped
    }

    fn push(&self, bytes: &[u8]) {
        let mut tail = self.lock();
        tail.kept.extend(bytes);
        let excess = tail.kept.len().saturating_sub(STDERR_TAIL_BYTES);
        tail.kept.drain(..excess);
        tail.dropped += excess as u64;
    }

    fn lock(&self) -> MutexGuard<'_, Tail> {
        // Nothing can panic while the lock is held, and a half-kept tail would still be a tail.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads stderr to its end, so that the agent never blocks on a full pipe (B20).
pub(super) async fn drain(mut stderr: impl AsyncRead + Unpin, tail: StderrTail) {
    let mut buffer = vec![0; 8 * 1024];
    loop {
        match stderr.read(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(count) => tail.push(&buffer[..count]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_bytes_are_kept_and_the_rest_is_counted() {
        let tail = StderrTail::default();
        tail.push(&vec![b'a'; STDERR_TAIL_BYTES]);
        tail.push(b"end");
        assert_eq!((tail.text().len(), tail.dropped_bytes()), (STDERR_TAIL_BYTES, 3));
        assert!(tail.text().ends_with("aend"));
    }

    #[test]
    fn what_came_later_is_told_apart() {
        let tail = StderrTail::default();
        tail.push(b"starting\n");
        let started = tail.written_bytes();
        tail.push(b"panic\n");
        assert_eq!(tail.text_since(started), "panic\n");
        tail.push(&vec![b'a'; STDERR_TAIL_BYTES]);
        assert_eq!(tail.text_since(started).len(), STDERR_TAIL_BYTES);
        assert_eq!(tail.text_since(tail.written_bytes()), "");
    }

    #[test]
    fn a_character_cut_at_the_front_is_left_out() {
        let tail = StderrTail::default();
        tail.push("€".as_bytes());
        tail.push(&vec![b'a'; STDERR_TAIL_BYTES - 1]);
        assert_eq!(tail.text(), "a".repeat(STDERR_TAIL_BYTES - 1));
    }
}

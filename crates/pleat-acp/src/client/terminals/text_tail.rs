//! The end of a text.

use crate::utf8::is_inside_a_character;
use std::collections::VecDeque;

/// The last of a text that grows, and how much of it came before that.
#[derive(Debug)]
pub(super) struct TextTail {
    bytes: VecDeque<u8>,
    limit: usize,
    left_out: u64,
}

impl TextTail {
    /// Keeps at most `limit` bytes.
    pub(super) fn new(limit: usize) -> Self {
        Self { bytes: VecDeque::new(), limit, left_out: 0 }
    }

    /// More text.
    pub(super) fn push(&mut self, text: &str) {
        self.bytes.extend(text.as_bytes());
        let mut excess = self.bytes.len().saturating_sub(self.limit);
        if excess > 0 {
            while self.bytes.get(excess).is_some_and(|byte| is_inside_a_character(*byte)) {
                excess += 1;
            }
            self.bytes.drain(..excess);
            self.left_out += excess as u64;
        }
    }

    /// How many bytes were left out before it.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }

    /// What is kept. It begins with a whole character.
    pub(super) fn text(&self) -> String {
        let (front, back) = self.bytes.as_slices();
        // It is text, cut between characters, so nothing has to be replaced.
        String::from_utf8([front, back].concat()).unwrap_or_default()
    }

    /// What is kept, with what was left out before it; afterwards nothing is.
    pub(super) fn take(&mut self) -> (u64, String) {
        let taken = (self.left_out, self.text());
        *self = Self::new(self.limit);
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(limit: usize, pieces: &[&str], expect: &str, left_out: u64) {
        let mut tail = TextTail::new(limit);
        for piece in pieces {
            tail.push(piece);
        }
        assert_eq!((tail.text().as_str(), tail.left_out()), (expect, left_out), "{limit} of {pieces:?}");
    }

    #[test]
    fn the_end_is_kept_from_a_whole_character_on() {
        check(5, &["abc"], "abc", 0);
        check(5, &["abc", "de"], "abcde", 0);
        check(5, &["abc", "def"], "bcdef", 1);
        check(5, &["a€€"], "€", 4);
        check(6, &["a€€"], "€€", 1);
        check(5, &["€€", "€"], "€", 6);
        check(2, &["€"], "", 3);
        check(0, &["a", "b"], "", 2);
    }

    #[test]
    fn what_was_taken_is_gone() {
        let mut tail = TextTail::new(2);
        tail.push("abc");
        assert_eq!(tail.take(), (1, "bc".to_owned()));
        assert_eq!(tail.take(), (0, String::new()));
    }
}

//! What the transcript is told of one terminal's output: pieces of a sensible size, and an end to it.

use super::text_tail::TextTail;
use std::mem;
use std::time::Duration;
use tokio::time::Instant;

/// How long output is gathered after a piece was told. The first is told at once.
const GATHER: Duration = Duration::from_millis(20);

/// The longest piece, in bytes.
const PIECE_BYTES: usize = 64 * 1024;

/// The line that stands where output is missing.
pub(crate) fn left_out_line(bytes: u64) -> String {
    format!("[{bytes} bytes of output are left out here]\n")
}

/// Output on its way to the transcript. The first half of the bound is told as it comes, the last half of the rest when
/// the command has exited.
#[derive(Debug)]
pub(super) struct TranscriptOutput {
    /// To be told at the next occasion.
    gathered: String,
    last_told: Option<Instant>,
    /// How much may still be told as it comes, in bytes.
    left: usize,
    ends_a_line: bool,
    tail: TextTail,
}

impl TranscriptOutput {
    /// `bound`: how much is told in all, in bytes.
    pub(super) fn new(bound: usize) -> Self {
        let tail = TextTail::new(bound / 2);
        Self { gathered: String::new(), last_told: None, left: bound - bound / 2, ends_a_line: true, tail }
    }

    /// Takes more output.
    pub(super) fn push(&mut self, text: &str) {
        let (now, later) = text.split_at(text.floor_char_boundary(self.left));
        self.gathered.push_str(now);
        self.left -= now.len();
        if !later.is_empty() {
            // A character that does not fit is the end of the first half.
            self.left = 0;
            self.tail.push(later);
        }
    }

    /// When the next piece is due, if it has to wait.
    pub(super) fn due(&self) -> Option<Instant> {
        self.last_told.filter(|_| !self.gathered.is_empty()).map(|told| told + GATHER)
    }

    /// The pieces that are due by now.
    pub(super) fn take_due(&mut self, now: Instant) -> Vec<String> {
        let is_time = self.last_told.is_none_or(|told| told + GATHER <= now);
        if is_time || self.gathered.len() >= PIECE_BYTES { self.take_gathered(now) } else { Vec::new() }
    }

    /// All that is to be told by now, the command having exited: the rest of the first half, then the last half. What
    /// comes later, from the command's children, goes the same way.
    pub(super) fn take_rest(&mut self, now: Instant) -> Vec<String> {
        let (left_out, tail) = self.tail.take();
        if left_out > 0 {
            let line_is_open = self.gathered.chars().next_back().map_or(!self.ends_a_line, |last| last != '\n');
            self.gathered.push_str(if line_is_open { "\n" } else { "" });
            self.gathered.push_str(&left_out_line(left_out));
        }
        self.gathered.push_str(&tail);
        self.take_gathered(now)
    }

    fn take_gathered(&mut self, now: Instant) -> Vec<String> {
        let text = mem::take(&mut self.gathered);
        if text.is_empty() {
            return Vec::new();
        }
        self.last_told = Some(now);
        self.ends_a_line = text.ends_with('\n');
        in_pieces(text)
    }
}

fn in_pieces(mut text: String) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut rest = text.as_str();
    if rest.len() > PIECE_BYTES {
        while !rest.is_empty() {
            let (piece, later) = rest.split_at(rest.floor_char_boundary(PIECE_BYTES));
            pieces.push(piece.to_owned());
            rest = later;
        }
    } else {
        text.shrink_to_fit();
        pieces.push(text);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(bound: usize) -> (TranscriptOutput, Instant) {
        (TranscriptOutput::new(bound), Instant::now())
    }

    #[test]
    fn the_first_piece_is_told_at_once_and_the_next_are_gathered() {
        let (mut output, now) = output(1000);
        output.push("a");
        assert_eq!(output.take_due(now), ["a"]);
        assert_eq!(output.due(), None);
        output.push("b");
        assert_eq!(output.due(), Some(now + GATHER));
        assert_eq!(output.take_due(now), [""; 0]);
        output.push("c");
        assert_eq!(output.take_due(now + GATHER), ["bc"]);
        assert_eq!(output.due(), None);
    }

    #[test]
    fn pieces_have_a_bound_and_are_told_when_they_reach_it() {
        let (mut output, now) = output(1_000_000);
        output.push("first");
        output.take_due(now);
        let text = "€".repeat(PIECE_BYTES);
        output.push(&text);
        let pieces = output.take_due(now);
        assert!(pieces.iter().all(|piece| piece.len() <= PIECE_BYTES), "a piece is too long");
        assert_eq!(pieces.concat(), text);
    }

    #[test]
    fn only_the_middle_is_left_out() {
        let (mut output, now) = output(10);
        output.push("ab\nc");
        output.push("de");
        output.push("0123");
        output.push("456789");
        assert_eq!(output.take_due(now).concat(), "ab\ncd");
        assert_eq!(output.take_rest(now).concat(), format!("\n{}56789", left_out_line(6)));
        assert_eq!(output.take_rest(now), [""; 0]);
        output.push("late");
        assert_eq!(output.take_due(now + GATHER), [""; 0]);
        assert_eq!(output.take_rest(now).concat(), "late");
    }

    #[test]
    fn what_fits_is_told_as_it_was() {
        let (mut output, now) = output(11);
        output.push("abcdef");
        output.push("ghijk");
        assert_eq!(output.take_rest(now).concat(), "abcdefghijk");
    }

    #[test]
    fn a_character_that_does_not_fit_begins_the_second_half() {
        let (mut output, now) = output(10);
        output.push("abc€");
        output.push("d");
        assert_eq!(output.take_due(now).concat(), "abc");
        assert_eq!(output.take_rest(now).concat(), "€d");
    }
}

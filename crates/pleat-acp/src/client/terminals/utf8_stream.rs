//! Bytes that come in pieces, as text.

use std::mem;

/// Turns bytes into text. What is no UTF-8 is replaced; a character that is cut between two pieces is not.
#[derive(Debug, Default)]
pub(super) struct Utf8Stream {
    /// The beginning of a character, at most 3 bytes.
    held: Vec<u8>,
}

impl Utf8Stream {
    /// The text of a piece, but for a character at its end that is not whole yet.
    pub(super) fn push(&mut self, piece: &[u8]) -> String {
        let mut joined = mem::take(&mut self.held);
        let bytes = if joined.is_empty() {
            piece
        } else {
            joined.extend_from_slice(piece);
            &joined
        };
        let mut text = String::with_capacity(bytes.len());
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            text.push_str(chunk.valid());
            if chunks.peek().is_none() && begins_a_character(chunk.invalid()) {
                self.held = chunk.invalid().to_vec();
            } else if !chunk.invalid().is_empty() {
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        text
    }

    /// What is left when no more comes: nothing, or a replacement for what was not finished.
    pub(super) fn finish(&mut self) -> &'static str {
        if mem::take(&mut self.held).is_empty() { "" } else { "\u{fffd}" }
    }
}

fn begins_a_character(bytes: &[u8]) -> bool {
    str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_does_not_matter_where_the_pieces_are_cut() {
        let bytes = b"a\xc3\xa4 \xe2\x82\xac \xf0\x9f\xa6\x80 \xff\xfe \xe2\x82 \xc3( \xed\xa0\x80 \xf0\x9f\xa6";
        let expect = String::from_utf8_lossy(bytes);
        for first in 0..=bytes.len() {
            for second in first..=bytes.len() {
                let mut stream = Utf8Stream::default();
                let mut text = stream.push(&bytes[..first]);
                text += &stream.push(&bytes[first..second]);
                text += &stream.push(&bytes[second..]);
                text += stream.finish();
                assert_eq!(text, expect, "cut at {first} and {second}");
            }
        }
    }

    #[test]
    fn whole_characters_are_not_held_back() {
        let mut stream = Utf8Stream::default();
        assert_eq!(stream.push("ä€".as_bytes()), "ä€");
        assert_eq!(stream.push(b"\xf0\x9f"), "");
        assert_eq!(stream.push(b"\xa6\x80!"), "🦀!");
        assert_eq!(stream.finish(), "");
    }
}

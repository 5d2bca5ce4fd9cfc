//! Long texts in pieces that a database can index with the positions of all their tokens.

use super::fold::Folded;
use super::phrase::PHRASE_TOKENS;
use super::tokens::{Cursor, TokenKind};
use std::fmt::Write;

/// The most tokens of a chunk. PostgreSQL keeps at most 255 positions of a lexeme.
pub const CHUNK_TOKENS: usize = 250;
/// So many words of a chunk are also the next one's first, so that each [`IndexPhrase`](super::IndexPhrase) lies whole
/// in one.
pub const OVERLAP_TOKENS: usize = PHRASE_TOKENS - 1;

/// A piece of a text, as it is indexed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Chunk {
    /// Each with a space after it.
    words: String,
    word_count: usize,
    /// Parts of camel-case words, each with the place of its word.
    parts: Vec<(usize, String)>,
}

/// The chunks of a text, in order; none where it has no tokens.
pub fn chunks(text: &str) -> Vec<Chunk> {
    let folded = Folded::new(text);
    let mut cursor = Cursor::default();
    let mut chunks = Vec::new();
    let mut chunk = Chunk::default();
    while let Some((range, kind)) = cursor.next(&folded) {
        let token = &folded.text()[range];
        match kind {
            TokenKind::Word => {
                // A word and its parts are in one chunk.
                if chunk.len() + 1 + cursor.parts_to_come() > CHUNK_TOKENS {
                    let next = chunk.overlap();
                    chunks.push(std::mem::replace(&mut chunk, next));
                }
                chunk.words.push_str(token);
                chunk.words.push(' ');
                chunk.word_count += 1;
            }
            TokenKind::Part => chunk.parts.push((chunk.word_count - 1, token.to_owned())),
        }
    }
    if !chunk.is_empty() {
        chunks.push(chunk);
    }
    chunks
}

impl Chunk {
    /// How many tokens it has, at most [`CHUNK_TOKENS`].
    pub fn len(&self) -> usize {
        self.word_count + self.parts.len()
    }

    /// Whether it has no tokens; [`chunks`] gives no such.
    pub fn is_empty(&self) -> bool {
        self.word_count == 0
    }

    /// The words in their order, then the parts of camel-case words.
    pub fn tokens(&self) -> impl Iterator<Item = &str> {
        self.words().chain(self.parts.iter().map(|(_, part)| part.as_str()))
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        self.words.split_terminator(' ')
    }

    /// The beginning of the chunk after this one.
    fn overlap(&self) -> Self {
        let ends: Vec<_> = self.words.match_indices(' ').map(|(at, _)| at + 1).collect();
        let word_count = self.word_count.min(OVERLAP_TOKENS);
        let start = (self.word_count - word_count).checked_sub(1).map_or(0, |last| ends[last]);
        Self { words: self.words[start..].to_owned(), word_count, parts: Vec::new() }
    }

    /// What a column of an FTS5 table with the tokenizer `ascii` indexes: the tokens with spaces between them.
    pub fn fts5_text(&self) -> String {
        let mut text = self.words.clone();
        for (_, part) in &self.parts {
            text.push_str(part);
            text.push(' ');
        }
        text.pop();
        text
    }

    /// What PostgreSQL reads as a `tsvector`: `'token':position`, from 1; a part has its word's position.
    pub fn tsvector_text(&self) -> String {
        let mut text = String::new();
        let parts = self.parts.iter().map(|(place, part)| (*place, part.as_str()));
        for (place, token) in self.words().enumerate().chain(parts) {
            let space = if text.is_empty() { "" } else { " " };
            // Tokens hold no quote and no backslash. Writing to a string cannot fail.
            let _ = write!(text, "{space}'{token}':{}", place + 1);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_is_one_chunk() {
        assert_eq!(chunks(" % "), []);
        let [chunk] = &chunks("Fix camelCase's 部署")[..] else { panic!("not one chunk") };
        assert_eq!(chunk.fts5_text(), "fix camelcase s 部署 署 camel case");
        assert_eq!(chunk.tsvector_text(), "'fix':1 'camelcase':2 's':3 '部署':4 '署':5 'camel':2 'case':2");
    }

    #[test]
    fn chunks_overlap_so_that_every_phrase_lies_in_one() {
        for text in ["w ".repeat(1000), "someCamelCase ".repeat(500), "字".repeat(700)] {
            let chunks = chunks(&text);
            let mut covered = 0;
            for (number, chunk) in chunks.iter().enumerate() {
                assert!(chunk.len() <= CHUNK_TOKENS);
                covered += chunk.word_count - if number == 0 { 0 } else { OVERLAP_TOKENS };
            }
            assert_eq!(covered, super::super::tokens(&text).filter(|token| token.kind == TokenKind::Word).count());
        }
    }

    #[test]
    fn every_phrase_lies_in_a_chunk() {
        let words: Vec<String> = (0..900).map(|number| format!("some{number}Case")).collect();
        let chunks = chunks(&words.join(" "));
        for phrase in words.windows(PHRASE_TOKENS) {
            let phrase = phrase.join(" ").to_lowercase();
            assert!(chunks.iter().any(|chunk| chunk.fts5_text().contains(&phrase)), "{phrase}");
        }
    }
}

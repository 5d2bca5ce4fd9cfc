//! Texts as the tokens that are indexed.

use super::characters::{Class, class};
use super::fold::Folded;
use std::ops::Range;

/// The longest token, in bytes. Longer words are several tokens in a row.
pub const MAX_TOKEN_BYTES: usize = 64;
/// A camel-case word of more parts than this is no name that somebody chose.
const MAX_PARTS: usize = 8;
/// The shortest part of a camel-case word that is a token.
const MIN_PART_BYTES: usize = 2;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// A word, a piece of a long one, or two characters of a script without spaces (the last one of a run: alone).
    Word,
    /// A part of the camel-case word at the same position.
    Part,
}

/// One token. Its text is folded, and only letters, digits and marks: databases take it for one token as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// The folded text, at most [`MAX_TOKEN_BYTES`].
    pub text: String,
    /// Where it starts in the source, in bytes.
    pub start: usize,
    /// Where it ends in the source, in bytes.
    pub end: usize,
    /// Words are numbered from 0; a part has its word's number.
    pub position: u32,
    /// What it is.
    pub kind: TokenKind,
}

/// The tokens of a text.
pub fn tokens(text: &str) -> Tokens {
    Tokens { folded: Folded::new(text), cursor: Cursor::default(), next_position: 0 }
}

/// What [`tokens`] gives.
#[derive(Debug)]
pub struct Tokens {
    folded: Folded,
    cursor: Cursor,
    next_position: u32,
}

impl Iterator for Tokens {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let (range, kind) = self.cursor.next(&self.folded)?;
        if kind == TokenKind::Word {
            self.next_position += 1;
        }
        let source = self.folded.source(&range);
        Some(Token {
            text: self.folded.text()[range].to_owned(),
            start: source.start,
            end: source.end,
            position: self.next_position - 1,
            kind,
        })
    }
}

/// Goes from token to token of a folded text.
#[derive(Debug, Default)]
pub(super) struct Cursor {
    at: usize,
    /// What of the run that `at` stands in is to come.
    run: Option<(Class, usize)>,
    /// Parts of the word before `at` that are to come, the last one first.
    parts: Vec<Range<usize>>,
}

impl Cursor {
    /// How many parts of the last word follow it.
    pub(super) fn parts_to_come(&self) -> usize {
        self.parts.len()
    }

    /// The next token's range in the folded text.
    pub(super) fn next(&mut self, folded: &Folded) -> Option<(Range<usize>, TokenKind)> {
        if let Some(part) = self.parts.pop() {
            return Some((part, TokenKind::Part));
        }
        let (class, end) = if let Some(run) = self.run.take() {
            run
        } else {
            let (class, range) = next_run(folded, self.at)?;
            self.at = range.start;
            if class == Class::Word {
                self.parts = parts(folded, &range);
                self.parts.reverse();
            }
            (class, range.end)
        };
        let rest = &folded.text()[self.at..end];
        let range = match class {
            Class::Unspaced => {
                let mut chars = rest.chars();
                let first = chars.next().map_or(0, char::len_utf8);
                let range = self.at..self.at + first + chars.next().map_or(0, char::len_utf8);
                self.at += first;
                range
            }
            Class::Word | Class::Between => {
                let range = self.at..self.at + rest.floor_char_boundary(MAX_TOKEN_BYTES);
                self.at = range.end;
                range
            }
        };
        self.run = (self.at < end).then_some((class, end));
        Some((range, TokenKind::Word))
    }
}

/// The first run from `at` on of one class that is indexed.
fn next_run(folded: &Folded, at: usize) -> Option<(Class, Range<usize>)> {
    let mut searched = folded.searched(at);
    while !searched.is_empty() {
        let text = &folded.text()[searched.clone()];
        let first = text.char_indices().map(|(at, c)| (at, class(c))).find(|(_, class)| *class != Class::Between);
        if let Some((start, class_of_run)) = first {
            let rest = &text[start..];
            let length = rest.find(|c| class(c) != class_of_run).unwrap_or(rest.len());
            let start = searched.start + start;
            return Some((class_of_run, start..start + length));
        }
        searched = folded.searched(searched.end);
    }
    None
}

/// The parts of a camel-case word that are tokens.
pub(super) fn parts(folded: &Folded, word: &Range<usize>) -> Vec<Range<usize>> {
    if word.len() > MAX_TOKEN_BYTES {
        return Vec::new();
    }
    let humps = folded.humps(word);
    if humps.is_empty() || humps.len() >= MAX_PARTS {
        return Vec::new();
    }
    let starts = [word.start].into_iter().chain(humps.iter().copied());
    let ends = humps.iter().copied().chain([word.end]);
    starts.zip(ends).map(|(start, end)| start..end).filter(|part| part.len() >= MIN_PART_BYTES).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let shown = tokens(text).map(|token| match token.kind {
            TokenKind::Word => token.text,
            TokenKind::Part => format!("+{}", token.text),
        });
        assert_eq!(shown.collect::<Vec<_>>(), expected, "{text:?}");
    }

    #[test]
    fn words_are_letters_digits_and_marks() {
        check("", &[]);
        check(
            "foo_bar src/lib.rs E0308 --no-open v1.2.3",
            &["foo", "bar", "src", "lib", "rs", "e0308", "no", "open", "v1", "2", "3"],
        );
        check("don't naïve हिन्दी Ещё 100%", &["don", "t", "naive", "हिन्दी", "ещё", "100"]);
        check("a\u{0}b 'c' \"d\" \\e 🎉", &["a", "b", "c", "d", "e"]);
    }

    #[test]
    fn camel_case_words_have_parts() {
        check(
            "camelCase HTTPServer E0308",
            &["camelcase", "+camel", "+case", "httpserver", "+http", "+server", "e0308"],
        );
        check("aBcDeFgHiJkLmNoPqR iPhone", &["abcdefghijklmnopqr", "iphone", "+phone"]);
    }

    #[test]
    fn scripts_without_spaces_are_pairs_and_the_last_alone() {
        check("修复了", &["修复", "复了", "了"]);
        check("部署xyz-task前先备份", &["部署", "署", "xyz", "task", "前先", "先备", "备份", "份"]);
        check("あ・カー 時々 한글", &["あ", "カー", "ー", "時々", "々", "한글", "글"]);
        check("กิน", &["ก\u{e34}", "\u{e34}น", "น"]);
    }

    #[test]
    fn long_words_are_cut_and_blobs_are_left_out() {
        check(&format!("x{}", "é".repeat(100)), &[&format!("x{}", "e".repeat(63)), &"e".repeat(37)]);
        check(&format!("x{}", "ж".repeat(40)), &[&format!("x{}", "ж".repeat(31)), &"ж".repeat(9)]);
        check(&format!("before {} after", "Zm9v".repeat(300)), &["before", "after"]);
        check(&format!("{}ж", "Zm9v".repeat(300)), &["ж"]);
    }

    #[test]
    fn tokens_know_where_they_stood() {
        let text = "Ｆoo, camelCase 部署";
        let found: Vec<_> =
            tokens(text).map(|token| (token.position, text[token.start..token.end].to_owned())).collect();
        let expected = [(0, "Ｆoo"), (1, "camelCase"), (1, "camel"), (1, "Case"), (2, "部署"), (3, "署")];
        assert_eq!(found, expected.map(|(position, text)| (position, text.to_owned())));
    }
}

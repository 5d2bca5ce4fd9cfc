//! One term, and where it stands in a folded text.

use super::characters::{Class, class};
use super::fold::Folded;
use super::phrase::IndexPhrase;
use super::tokens::{Cursor, TokenKind, parts};
use memchr::memmem::Finder;
use std::ops::Range;

/// What a term matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    first: String,
    rest: Vec<(Space, String)>,
    /// The last word may go on.
    prefix: bool,
    /// Where the word is, if there is only one: after how many spaces, and where in the text that follows.
    only_word: Option<(usize, Range<usize>)>,
    phrases: Vec<IndexPhrase>,
}

/// What white space in a term stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Space {
    /// Between two words: anything between two words.
    Gap,
    /// Beside punctuation: white space.
    White,
}

impl Pattern {
    /// `None` where nothing is left of the term when it is folded.
    pub(super) fn new(term: &str, prefix: bool) -> Option<Self> {
        let folded = Folded::new(term.trim());
        let text = folded.text().trim_end();
        let mut words = text.split_whitespace();
        let first = words.next()?.to_owned();
        let mut before = &*first;
        let mut rest = Vec::new();
        for word in words {
            let space = if ends_in_word(before) && starts_with_word(word) { Space::Gap } else { Space::White };
            rest.push((space, word.to_owned()));
            before = word;
        }
        let (ranges, index_prefix) = index_tokens(&folded, text.len(), prefix);
        let tokens: Vec<_> = ranges.iter().map(|range| folded.text()[range.clone()].to_owned()).collect();
        let only_word = match &ranges[..] {
            [word] if text[word.clone()].chars().next_back().map(class) == Some(Class::Word) => {
                Some(place_of(text, word))
            }
            _ => None,
        };
        let prefix = prefix && last_class(text) == Some(Class::Word);
        Some(Self { first, rest, prefix, only_word, phrases: IndexPhrase::split(&tokens, index_prefix) })
    }

    /// What an index must have of every text that matches; nothing where the term has no token.
    pub(super) fn phrases(&self) -> &[IndexPhrase] {
        &self.phrases
    }

    /// Where it matches, in the source, at most so many times.
    pub(super) fn find(&self, folded: &Folded, most: usize) -> Vec<Range<usize>> {
        let finder = Finder::new(&self.first);
        let step = self.first.chars().next().map_or(1, char::len_utf8);
        let mut found = Vec::new();
        let mut from = 0;
        while found.len() < most
            && let Some(offset) = finder.find(&folded.text().as_bytes()[from..])
        {
            let start = from + offset;
            from = start + step;
            if let Some(end) = self.match_at(folded, start) {
                found.push(folded.source(&(start..end)));
                from = end;
            }
        }
        found
    }

    /// The end of the match that starts where `first` was found.
    fn match_at(&self, folded: &Folded, start: usize) -> Option<usize> {
        let mut piece = start;
        let mut pieces = vec![piece];
        let mut end = start + self.first.len();
        for (space, text) in &self.rest {
            piece = space.end(folded.text(), end)?;
            pieces.push(piece);
            end = folded.text()[piece..].starts_with(text).then_some(piece + text.len())?;
        }
        let whole = start..end;
        let only_word = self.only_word.as_ref().map(|(piece, word)| {
            let piece = pieces[*piece];
            piece + word.start..piece + word.end
        });
        let bounded = match &only_word {
            Some(word) => self.is_whole(folded, word) || self.is_part(folded, word),
            None => self.is_whole(folded, &whole),
        };
        (bounded && folded.is_searched(&whole)).then_some(end)
    }

    /// No word is cut where the range starts or ends, except by a prefix.
    fn is_whole(&self, folded: &Folded, range: &Range<usize>) -> bool {
        let text = &folded.text()[range.clone()];
        !(first_class(text) == Some(Class::Word) && folded.word_came_before(range.start))
            && (self.prefix || last_class(text) != Some(Class::Word) || !folded.word_goes_on(range.end))
    }

    /// The range is one part of a camel-case word, or the beginning of one.
    fn is_part(&self, folded: &Folded, range: &Range<usize>) -> bool {
        folded.word_around(range).is_some_and(|word| {
            let ends_right = |end| if self.prefix { range.end <= end } else { range.end == end };
            parts(folded, &word).iter().any(|part| part.start == range.start && ends_right(part.end))
        })
    }
}

impl Space {
    /// Where it ends if it starts at `at`.
    fn end(self, text: &str, at: usize) -> Option<usize> {
        let rest = &text[at..];
        let length = match self {
            Self::Gap => rest.find(|c| class(c) != Class::Between),
            Self::White => rest.find(|c: char| !c.is_whitespace()),
        };
        length.filter(|&length| length > 0).map(|length| at + length)
    }
}

/// The ranges of the tokens that a matching text has in a row, and whether the last one is only a beginning there.
fn index_tokens(folded: &Folded, end: usize, prefix: bool) -> (Vec<Range<usize>>, bool) {
    let mut cursor = Cursor::default();
    let mut tokens = Vec::new();
    while let Some((range, kind)) = cursor.next(folded) {
        if kind == TokenKind::Word {
            tokens.push(range);
        }
    }
    let Some(last) = tokens.last().filter(|last| last.end == end) else { return (tokens, false) };
    match last_class(&folded.text()[last.clone()]) {
        Some(Class::Unspaced) => {
            // In the text the run may go on, and its last character alone is a token only where it ends.
            let of_a_pair = tokens.iter().rev().nth(1).is_some_and(|pair| pair.end == end);
            if of_a_pair {
                tokens.pop();
            }
            (tokens, !of_a_pair)
        }
        Some(Class::Word | Class::Between) | None => (tokens, prefix),
    }
}

/// After how many spaces a range is, and where in the text that follows those.
fn place_of(text: &str, range: &Range<usize>) -> (usize, Range<usize>) {
    let before = &text[..range.start];
    let piece =
        before.rfind(char::is_whitespace).map_or(0, |at| at + before[at..].chars().next().map_or(0, char::len_utf8));
    (before[..piece].split_whitespace().count(), range.start - piece..range.end - piece)
}

fn first_class(text: &str) -> Option<Class> {
    text.chars().next().map(class)
}

fn last_class(text: &str) -> Option<Class> {
    text.chars().next_back().map(class)
}

fn starts_with_word(text: &str) -> bool {
    first_class(text).is_some_and(|class| class != Class::Between)
}

fn ends_in_word(text: &str) -> bool {
    last_class(text).is_some_and(|class| class != Class::Between)
}

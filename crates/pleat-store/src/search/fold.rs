//! A text as the search compares it, and the way back to where each piece of it stood.

use super::characters::{
    Class, class, is_common_mark, is_common_unspaced, is_left_out, is_plain, joins, keeps_marks, spelling,
};
use super::tokens::MAX_TOKEN_BYTES;
use std::ops::Range;
use unicode_normalization::char::{canonical_combining_class, decompose_compatible, is_combining_mark};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Unbroken runs of more bytes than this that look like base64 are not searched.
const MAX_UNBROKEN_BYTES: usize = 1024;
/// Base64 has at most one in so many characters that is neither letter nor digit; paths and rules have more.
const PUNCTUATION_IS_ONE_IN: usize = 8;

/// A folded text. Offsets are into it unless they are said to be of the source.
#[derive(Debug, Default)]
pub(super) struct Folded {
    text: String,
    /// Where one source character did not become one of the same length, in order.
    irregular: Vec<Irregular>,
    /// Where the source turns to another part of a camel-case word, in order.
    humps: Vec<usize>,
    /// What is not searched, in order.
    blobs: Vec<Range<usize>>,
}

#[derive(Debug)]
struct Irregular {
    folded: Range<usize>,
    source: Range<usize>,
}

impl Folded {
    /// Folds a text.
    pub(super) fn new(source: &str) -> Self {
        let mut work = Folder::new(source.len());
        let bytes = source.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if byte.is_ascii() && bytes.get(at + 1).is_none_or(u8::is_ascii) {
                work.ascii(byte);
                at += 1;
            } else {
                at += work.unit(source, at);
            }
        }
        let mut folded = work.folded;
        folded.blobs = blobs(&folded.text);
        folded
    }

    /// The folded text.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Where a camel-case word within `word` has its second and later parts.
    pub(super) fn humps(&self, word: &Range<usize>) -> &[usize] {
        let from = self.humps.partition_point(|&hump| hump <= word.start);
        let rest = self.humps.get(from..).unwrap_or_default();
        &rest[..rest.iter().take_while(|&&hump| hump < word.end).count()]
    }

    /// The first part of the text from `at` that is searched; empty where there is none.
    pub(super) fn searched(&self, at: usize) -> Range<usize> {
        let mut start = at;
        for blob in &self.blobs[self.blobs.partition_point(|blob| blob.end <= at)..] {
            if start < blob.start {
                return start..blob.start;
            }
            start = blob.end;
        }
        start.min(self.text.len())..self.text.len()
    }

    /// Whether all of a range is searched.
    pub(super) fn is_searched(&self, range: &Range<usize>) -> bool {
        let next = self.blobs.partition_point(|blob| blob.end <= range.start);
        self.blobs.get(next).is_none_or(|blob| blob.start >= range.end)
    }

    /// The end of a word is not here: another character of it follows.
    pub(super) fn word_goes_on(&self, at: usize) -> bool {
        self.text[at..].chars().next().is_some_and(|c| self.is_of_word(c, at))
    }

    /// The beginning of a word is not here: another character of it stands before.
    pub(super) fn word_came_before(&self, at: usize) -> bool {
        self.text[..at].chars().next_back().is_some_and(|c| self.is_of_word(c, at - c.len_utf8()))
    }

    /// The word that a range is in, unless it goes on for more than a token beside it.
    pub(super) fn word_around(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let mut word = range.clone();
        while self.word_came_before(word.start) {
            word.start = self.text.floor_char_boundary(word.start - 1);
            (range.start - word.start <= MAX_TOKEN_BYTES).then_some(())?;
        }
        while self.word_goes_on(word.end) {
            word.end = self.text.ceil_char_boundary(word.end + 1);
            (word.end - range.end <= MAX_TOKEN_BYTES).then_some(())?;
        }
        Some(word)
    }

    fn is_of_word(&self, c: char, at: usize) -> bool {
        class(c) == Class::Word && self.is_searched(&(at..at + c.len_utf8()))
    }

    /// The source's range that a range came from. It has whole units: a base with all its marks, a whole ligature.
    pub(super) fn source(&self, range: &Range<usize>) -> Range<usize> {
        let start = match self.irregular[..self.irregular.partition_point(|i| i.folded.start <= range.start)].last() {
            Some(unit) if range.start < unit.folded.end => unit.source.start,
            Some(unit) => unit.source.end + (range.start - unit.folded.end),
            None => range.start,
        };
        let end = match self.irregular[..self.irregular.partition_point(|i| i.folded.start < range.end)].last() {
            Some(unit) if range.end <= unit.folded.end => unit.source.end,
            Some(unit) => unit.source.end + (range.end - unit.folded.end),
            None => range.end,
        };
        start..end
    }
}

/// Runs of base64 and the like. Who searches does not mean a word in them, and they would fill the index.
fn blobs(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if text.len() <= MAX_UNBROKEN_BYTES {
        return found;
    }
    let mut start = 0;
    let mut punctuation = 0;
    for (at, byte) in text.bytes().chain([b' ']).enumerate() {
        if byte.is_ascii_alphanumeric() {
            continue;
        }
        if matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_') {
            punctuation += 1;
            continue;
        }
        if at - start > MAX_UNBROKEN_BYTES && punctuation * PUNCTUATION_IS_ONE_IN <= at - start {
            found.push(start..at);
        }
        start = at + 1;
        punctuation = 0;
    }
    found
}

/// What tells camel-case parts apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    Upper,
    Lower,
    Digit,
    Neither,
}

impl Case {
    fn of(c: char) -> Self {
        if c.is_uppercase() {
            Self::Upper
        } else if c.is_lowercase() {
            Self::Lower
        } else if c.is_numeric() {
            Self::Digit
        } else {
            Self::Neither
        }
    }
}

struct Folder {
    folded: Folded,
    /// The case of the two units before, and where the later one starts.
    cases: [Case; 2],
    last_unit: usize,
    decomposed: Vec<char>,
    kept: Vec<char>,
}

impl Folder {
    fn new(bytes: usize) -> Self {
        let folded = Folded { text: String::with_capacity(bytes), ..Folded::default() };
        Self { folded, cases: [Case::Neither; 2], last_unit: 0, decomposed: Vec::new(), kept: Vec::new() }
    }

    fn ascii(&mut self, byte: u8) {
        let case = match byte {
            b'A'..=b'Z' => Case::Upper,
            b'a'..=b'z' => Case::Lower,
            b'0'..=b'9' => Case::Digit,
            _ => Case::Neither,
        };
        self.hump(case);
        let byte = if byte.is_ascii_control() { b' ' } else { byte.to_ascii_lowercase() };
        self.folded.text.push(char::from(byte));
    }

    /// Before each unit: `fooBar` turns at `B`, `HTTPServer` at `S`.
    fn hump(&mut self, case: Case) {
        let start = self.folded.text.len();
        if case == Case::Upper && matches!(self.cases[1], Case::Lower | Case::Digit) {
            self.folded.humps.push(start);
        } else if case == Case::Lower && self.cases == [Case::Upper; 2] {
            self.folded.humps.push(self.last_unit);
        }
        self.cases = [self.cases[1], case];
        self.last_unit = start;
    }

    /// Folds a character with all that joins it, and tells the source's bytes of them.
    fn unit(&mut self, source: &str, at: usize) -> usize {
        let rest = &source[at..];
        let Some(first) = rest.chars().next() else { return 1 };
        let alone = first.len_utf8();
        let mut before = first;
        let joined = rest[alone..].chars().take_while(|&c| joins(std::mem::replace(&mut before, c), c));
        let bytes = alone + joined.map(char::len_utf8).sum::<usize>();
        self.hump(Case::of(first));
        let start = self.folded.text.len();
        let unit = &rest[..bytes];
        if bytes == alone && is_common_unspaced(first) {
            self.folded.text.push(first);
            return bytes;
        }
        if is_plain(unit) {
            self.folded.text.push_str(unit);
            if bytes != alone {
                self.irregular(start, at..at + bytes);
            }
            return bytes;
        }
        self.decompose(unit, first);
        self.keep();
        if self.kept.len() == 1 || is_nfc_quick(self.kept.iter().copied()) == IsNormalized::Yes {
            self.folded.text.extend(&self.kept);
        } else {
            self.folded.text.extend(self.kept.iter().copied().nfc());
        }
        if bytes != alone || self.kept.len() != 1 || self.folded.text.len() != start + bytes {
            self.irregular(start, at..at + bytes);
        }
        bytes
    }

    fn irregular(&mut self, start: usize, source: Range<usize>) {
        self.folded.irregular.push(Irregular { folded: start..self.folded.text.len(), source });
    }

    /// To NFKD.
    fn decompose(&mut self, unit: &str, first: char) {
        self.decomposed.clear();
        for c in unit.chars() {
            decompose_compatible(c, |c| self.decomposed.push(c));
        }
        if self.decomposed.len() > 2 {
            for marks in self.decomposed.chunk_by_mut(|_, next| canonical_combining_class(*next) != 0) {
                // The first one may be a base.
                marks.sort_by_key(|mark| canonical_combining_class(*mark));
            }
        }
        // `¨` is a space and a mark to Unicode; it is punctuation here.
        if let Some(space @ ' ') = self.decomposed.first_mut()
            && !first.is_whitespace()
        {
            *space = first;
        }
    }

    fn keep(&mut self) {
        self.kept.clear();
        let mut marks_count = false;
        for &decomposed in &self.decomposed {
            for c in decomposed.to_lowercase() {
                if is_left_out(c) || (is_common_mark(c) && !marks_count) {
                    continue;
                }
                if !is_combining_mark(c) {
                    marks_count = keeps_marks(c);
                }
                match spelling(c) {
                    _ if c.is_control() => self.kept.push(' '),
                    Some(spelling) => self.kept.extend(spelling.chars()),
                    None => self.kept.push(c),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_should_make_no_difference_makes_none() {
        let check = |source: &str, expected: &str| assert_eq!(Folded::new(source).text(), expected, "{source:?}");
        check("Café CAFE\u{301} cafe\u{301}\u{301}", "cafe cafe cafe");
        check("Straße STRASSE Łódź Øre İı ﬁ", "strasse strasse lodz ore ii fi");
        check("Ｆｏｏ１２ ｶﾞ が か\u{3099} ㎏ x²", "foo12 ガ が が kg x2");
        check("Όσος ΌΣΟΣ", "οσοσ οσοσ");
        check("Ещё ЙОД и\u{306}од ё", "ещё йод йод ё");
        check("한글 \u{1112}\u{1161}\u{11ab}", "한글 한");
        check("don’t “so” a–b − c", "don't \"so\" a-b - c");
        check("so\u{ad}ft zero\u{200b}width ❤\u{fe0f} \u{feff}x", "soft zerowidth ❤ x");
        check("a\u{0}b\u{1b}\n\u{85}c", "a b   c");
        check("مُحَمَّد محمد", "محمد محمد");
        check("हिन्दी ¨ ´", "हिन्दी ¨ ´");
    }

    #[test]
    fn ranges_lead_back_to_whole_units_of_the_source() {
        let source = "aé e\u{301}x ﬁn ß 한";
        let folded = Folded::new(source);
        let check = |found: &str, expected: &str| {
            let start = folded.text().find(found).unwrap();
            assert_eq!(&source[folded.source(&(start..start + found.len()))], expected, "{found}");
        };
        check("a", "a");
        check("ae", "aé");
        check("ex", "e\u{301}x");
        check("x f", "x ﬁ");
        check("in", "ﬁn");
        check("s", "ß");
        check("ss 한", "ß 한");
    }

    #[test]
    fn camel_case_words_have_humps() {
        let check = |source: &str, expected: &[&str]| {
            let folded = Folded::new(source);
            let ends = folded.humps.iter().copied().chain([folded.text.len()]);
            let mut start = 0;
            let parts: Vec<_> = ends.map(|end| &folded.text[std::mem::replace(&mut start, end)..end]).collect();
            assert_eq!(parts, expected);
        };
        check("camelCase", &["camel", "case"]);
        check("HTTPServerError", &["http", "server", "error"]);
        check("base64Decode", &["base64", "decode"]);
        check("SHA256", &["sha256"]);
        check("plain", &["plain"]);
        check("größeÄndern", &["grosse", "andern"]);
    }

    #[test]
    fn what_looks_like_base64_is_no_text() {
        let check = |source: &str, expected: usize| assert_eq!(Folded::new(source).blobs.len(), expected);
        check(&"aGVsbG8g".repeat(128), 0);
        check(&"aGVsbG8g".repeat(129), 1);
        check(&format!("x {} y {}==", "aGVsbG8g".repeat(129), "0f".repeat(600)), 2);
        check(&"one/two-".repeat(200), 0);
        check(&"=".repeat(2000), 0);
    }
}

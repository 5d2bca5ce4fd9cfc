//! Text in one line, measured in characters: grapheme clusters (docs/spec/fold.md, "Input" and section 6).

use std::borrow::Cow;
use unicode_segmentation::UnicodeSegmentation;

/// Empty or only Unicode white space.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}

/// What ends a line; CR and LF together end it once.
pub(super) fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Each line break becomes one space.
pub(super) fn one_line(text: &str) -> Cow<'_, str> {
    if text.contains(is_line_break) {
        Cow::Owned(text.replace("\r\n", " ").replace(is_line_break, " "))
    } else {
        Cow::Borrowed(text)
    }
}

/// How many characters a text has.
pub(super) fn count(text: &str) -> usize {
    text.graphemes(true).count()
}

/// The first `most` characters.
pub(super) fn first_characters(text: &str, most: usize) -> &str {
    // A character has at least one byte.
    if text.len() <= most {
        return text;
    }
    match text.grapheme_indices(true).nth(most) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// A text that is longer than `most` characters as `…` and its last ones, `most` in all.
pub(super) fn last_characters(text: &str, most: usize) -> Cow<'_, str> {
    if first_characters(text, most).len() == text.len() {
        return Cow::Borrowed(text);
    }
    let kept = most.saturating_sub(1);
    let start = text.grapheme_indices(true).rev().take(kept).last().map_or(text.len(), |(start, _)| start);
    Cow::Owned(format!("…{}", &text[start..]))
}

/// One line of at most `most` characters, its ends trimmed before the cut and after.
pub(super) fn cut(text: &str, most: usize) -> String {
    let line = one_line(text.trim());
    first_characters(&line, most).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rule: fold 6.9
    #[test]
    fn every_line_break_becomes_one_space() {
        assert_eq!(one_line("a\r\nb\rc\nd\u{b}e\u{c}f\u{85}g\u{2028}h\u{2029}i\n\nj"), "a b c d e f g h i  j");
        assert_eq!(one_line("\n\r"), "  ");
    }

    /// Rule: fold Input.8, fold 6.8
    #[test]
    fn cuts_fall_between_characters_at_either_end() {
        let family = "👨‍👩‍👧‍👦";
        assert_eq!(first_characters(&family.repeat(3), 2), family.repeat(2));
        assert_eq!(last_characters(&family.repeat(3), 3), family.repeat(3));
        assert_eq!(last_characters(&family.repeat(4), 3), format!("…{}", family.repeat(2)));
        assert_eq!(last_characters("abc", 1), "…");
        assert_eq!(last_characters("abc", 0), "…");
    }

    /// Rule: fold 6.9
    #[test]
    fn ends_are_trimmed_before_and_after_the_cut() {
        assert_eq!(cut("  ab  cd", 4), "ab");
        assert_eq!(cut("\u{a0}\u{3000}x\u{2003}", 9), "x");
    }

    /// Rule: fold Input.8
    #[test]
    fn blank_is_unicode_white_space() {
        assert!(is_blank("\u{3000}\u{85}\t"));
        assert!(!is_blank("\u{200b}"));
    }
}

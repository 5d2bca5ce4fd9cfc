//! What of a text is shown with a hit.

use std::ops::Range;
use unicode_segmentation::GraphemeCursor;

/// A piece of a text around what was found, on one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snippet {
    /// The piece. White space and control characters are single spaces, and `…` stands where something is cut.
    pub text: String,
    /// What was found of it, in bytes of `text`, in order and apart from each other. They hold whole characters.
    pub marks: Vec<Range<usize>>,
    /// Where the piece starts in the source, in bytes.
    pub start: usize,
    /// Where it ends in the source, in bytes.
    pub end: usize,
}

/// A cut that looks for the end of a word gives up so many characters for it, and at most a quarter of all.
const MAX_TRIM: usize = 15;
const CUT: char = '…';

/// A piece of at most `max_chars` characters (grapheme clusters), without the `…`, around the first of those places
/// where most ranges are near each other. The ranges are those of [`Query::find_in`](super::Query::find_in): in order,
/// apart from each other, at boundaries of characters.
pub fn snippet(text: &str, ranges: &[Range<usize>], max_chars: usize) -> Snippet {
    let budget = max_chars.max(1);
    let focus = densest(text, ranges, budget);
    let start = boundary_before(text, focus.start);
    let shown = units(text, start).take_while(|unit| unit.start < focus.end).take(budget).count();
    let (left, left_units) = left_of(text, start, (budget - shown) / 2);
    let end = units(text, left).take(budget).last().map_or(left, |unit| unit.end);
    // What is not needed on the right is shown on the left.
    let spare = budget - units(text, left).take(budget).count();
    let (left, _) = if spare > 0 { left_of(text, start, left_units + spare) } else { (left, left_units) };
    let trim = MAX_TRIM.min(budget / 4);
    let left = word_start(text, left..start, trim);
    let end = word_end(text, focus.end..end, trim);
    draw(text, without_blanks(text, left..end), ranges)
}

/// From the first to the last range of the first group of most ranges that fits in two thirds of the budget.
fn densest(text: &str, ranges: &[Range<usize>], budget: usize) -> Range<usize> {
    let room = budget.div_ceil(3) * 2;
    let mut read = 0;
    let mut characters = 0;
    let mut characters_before = |at: usize| {
        characters += text[read..at].chars().count();
        read = at;
        characters
    };
    let places: Vec<_> =
        ranges.iter().map(|range| (characters_before(range.start), characters_before(range.end))).collect();
    let mut best = 0..0;
    let mut end = 0;
    for (start, (from, _)) in places.iter().enumerate() {
        end += places[end..].iter().take_while(|(_, to)| to - from <= room).count();
        // A range that does not fit is a group of its own.
        end = end.max(start + 1);
        if end - start > best.len() {
            best = start..end;
        }
    }
    match ranges.get(best).unwrap_or_default() {
        [first, .., last] => first.start..last.end,
        [only] => only.clone(),
        [] => 0..0,
    }
}

/// What is drawn as one character: a grapheme cluster, or all the white space in a row.
fn units(text: &str, from: usize) -> impl Iterator<Item = Range<usize>> + Clone {
    let mut at = from;
    std::iter::from_fn(move || {
        let start = at;
        at = next_boundary(text, start)?;
        if is_blank(&text[start..at]) {
            while let Some(next) = next_boundary(text, at).filter(|&next| is_blank(&text[at..next])) {
                at = next;
            }
        }
        Some(start..at)
    })
}

/// Goes back by at most so many units, and tells how many there were.
fn left_of(text: &str, from: usize, most: usize) -> (usize, usize) {
    let mut at = from;
    let mut count = 0;
    let mut blank = false;
    while let Some(previous) = previous_boundary(text, at) {
        let is_blank = is_blank(&text[previous..at]);
        if !(blank && is_blank) {
            if count == most {
                break;
            }
            count += 1;
        }
        blank = is_blank;
        at = previous;
    }
    (at, count)
}

/// Moves the start of what is before the match right to the start of a word, where one is near.
fn word_start(text: &str, before: Range<usize>, most: usize) -> usize {
    if before.start == 0 || text[..before.start].ends_with(is_white) {
        return before.start;
    }
    let mut near = units(text, before.start).take(most).take_while(|unit| unit.end <= before.end);
    near.find(|unit| is_blank(&text[unit.clone()])).map_or(before.start, |blank| blank.end)
}

/// Moves the end of what is after the match left to the end of a word, where one is near.
fn word_end(text: &str, after: Range<usize>, most: usize) -> usize {
    if text[after.end..].chars().next().is_none_or(is_white) {
        return after.end;
    }
    let mut at = after.end;
    for _ in 0..most {
        match previous_boundary(text, at) {
            Some(previous) if previous >= after.start && is_blank(&text[previous..at]) => return previous,
            Some(previous) if previous >= after.start => at = previous,
            Some(_) | None => break,
        }
    }
    after.end
}

fn without_blanks(text: &str, shown: Range<usize>) -> Range<usize> {
    let start =
        units(text, shown.start).find(|unit| !is_blank(&text[unit.clone()])).map_or(shown.end, |unit| unit.start);
    let mut end = shown.end;
    while let Some(previous) = previous_boundary(text, end).filter(|&previous| is_blank(&text[previous..end])) {
        end = previous;
    }
    start.min(shown.end)..end.max(start.min(shown.end))
}

fn draw(text: &str, shown: Range<usize>, ranges: &[Range<usize>]) -> Snippet {
    let mut drawn = String::with_capacity(shown.len() + 2 * CUT.len_utf8());
    if !is_blank(&text[..shown.start]) {
        drawn.push(CUT);
    }
    let mut marks: Vec<Range<usize>> = Vec::new();
    let mut ranges = ranges[ranges.partition_point(|range| range.end <= shown.start)..].iter().peekable();
    for unit in units(text, shown.start).take_while(|unit| unit.end <= shown.end) {
        let start = drawn.len();
        if is_blank(&text[unit.clone()]) {
            drawn.push(' ');
        } else {
            drawn.push_str(&text[unit.clone()]);
        }
        while ranges.next_if(|range| range.end <= unit.start).is_some() {}
        if let Some(range) = ranges.peek().filter(|range| range.start < unit.end) {
            match marks.last_mut() {
                Some(last) if last.end == start && range.start < unit.start => last.end = drawn.len(),
                Some(_) | None => marks.push(start..drawn.len()),
            }
        }
    }
    if !is_blank(&text[shown.end..]) {
        drawn.push(CUT);
    }
    Snippet { text: drawn, marks, start: shown.start, end: shown.end }
}

fn is_blank(grapheme: &str) -> bool {
    grapheme.chars().all(is_white)
}

fn is_white(c: char) -> bool {
    c.is_whitespace() || c.is_control()
}

/// The last boundary that is not after `at`.
fn boundary_before(text: &str, at: usize) -> usize {
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    match cursor.is_boundary(text, 0) {
        Ok(false) => cursor.prev_boundary(text, 0).ok().flatten().unwrap_or(0),
        Ok(true) | Err(_) => at,
    }
}

fn next_boundary(text: &str, at: usize) -> Option<usize> {
    GraphemeCursor::new(at, text.len(), true).next_boundary(text, 0).ok().flatten()
}

fn previous_boundary(text: &str, at: usize) -> Option<usize> {
    GraphemeCursor::new(at, text.len(), true).prev_boundary(text, 0).ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Query;

    fn check(text: &str, query: &str, max_chars: usize, expected: &str) {
        let ranges = Query::parse(query).unwrap().find_in(text).unwrap();
        let snippet = snippet(text, &ranges, max_chars);
        let mut shown = snippet.text.clone();
        for mark in snippet.marks.iter().rev() {
            shown.insert(mark.end, ']');
            shown.insert(mark.start, '[');
        }
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_short_text_is_shown_whole_on_one_line() {
        check("  Fix\r\n\tthe\u{1b} bug ", "fix bug", 100, "[Fix] the [bug]");
        check("fix\nbug", "\"fix bug\"", 100, "[fix bug]");
    }

    #[test]
    fn a_long_text_is_cut_at_words_around_the_first_match() {
        let text = "one two three four five six seven eight nine ten eleven twelve";
        check(text, "six", 22, "…five [six] seven…");
        check(text, "six", 36, "…three four five [six] seven eight nine…");
        check(text, "one", 10, "[one] two th…");
        check(text, "twelve", 16, "…eleven [twelve]");
        check(&format!("{0}向{0}", "字".repeat(50)), "向", 5, "…字字[向]字字…");
        check(&"a".repeat(20), "a*", 4, "[a]aaa…");
        check(&format!("({})", "a".repeat(20)), &"a".repeat(20), 4, "…[aaaa]…");
    }

    #[test]
    fn the_densest_place_is_shown() {
        let text = format!("fix {} the bug fix {} fix", "- ".repeat(50), "- ".repeat(50));
        check(&text, "fix bug", 20, "…- the [bug] [fix] - - -…");
    }

    #[test]
    fn no_character_is_split() {
        check("e\u{301}e\u{301}e\u{301} x e\u{301}e\u{301}e\u{301}", "x", 5, "…e\u{301} [x] e\u{301}…");
        check("👨‍👩‍👧👨‍👩‍👧", "👩", 1, "[👨‍👩‍👧]…");
        check("🇩🇪🇫🇷🇮🇹 x 🇩🇪🇫🇷🇮🇹", "x", 5, "…🇮🇹 [x] 🇩🇪…");
    }

    #[test]
    fn nothing_found_shows_the_beginning() {
        assert_eq!(snippet("one two", &[], 100), Snippet { text: "one two".into(), marks: vec![], start: 0, end: 7 });
        assert_eq!(snippet("", &[], 0), Snippet { text: String::new(), marks: vec![], start: 0, end: 0 });
    }
}

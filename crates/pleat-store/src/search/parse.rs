//! A query's terms, as they were typed.

/// One term as it was typed, without its quotes and its `*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Typed<'a> {
    /// Its text, neither empty nor blank.
    pub(super) text: &'a str,
    /// A `*` followed: its last word may go on.
    pub(super) prefix: bool,
}

/// The terms of a query. Every input has a meaning.
///
/// A quote where a term begins opens a phrase. It ends at a quote that white space, `*` or the end follows, so that
/// `"key": "value"` is one phrase with quotes in it; where there is none, at the end of the query, so that a phrase
/// that is still being typed is one. Other quotes are literal.
pub(super) fn terms(query: &str) -> Vec<Typed<'_>> {
    let mut terms = Vec::new();
    let mut rest = query.trim_start();
    while let Some(first) = rest.chars().next() {
        let (text, after) = if is_quote(first) {
            phrase(&rest[first.len_utf8()..])
        } else {
            let (word, after) = rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len()));
            match word.strip_suffix('*') {
                Some(stem) if is_stem(stem) => (stem, &rest[stem.len()..]),
                Some(_) | None => (word, after),
            }
        };
        let unstarred = after.strip_prefix('*');
        if !text.trim().is_empty() {
            terms.push(Typed { text, prefix: unstarred.is_some() });
        }
        rest = unstarred.unwrap_or(after).trim_start();
    }
    terms
}

/// What a phrase's quotes hold, and what follows them.
fn phrase(rest: &str) -> (&str, &str) {
    for (at, quote) in rest.char_indices().filter(|(_, c)| is_quote(*c)) {
        let after = &rest[at + quote.len_utf8()..];
        if after.strip_prefix('*').unwrap_or(after).chars().next().is_none_or(char::is_whitespace) {
            return (&rest[..at], after);
        }
    }
    (rest, "")
}

/// What a `*` after it makes a prefix of. Without a word in it, as in `/*`, or in `**bold**`, the `*` is literal.
fn is_stem(stem: &str) -> bool {
    stem.contains(char::is_alphanumeric) && !stem.ends_with('*')
}

/// Telephones type the curved ones.
fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '”' | '„')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(query: &str, expected: &[&str]) {
        let shown =
            terms(query).into_iter().map(|term| format!("{}{}", term.text, if term.prefix { " ..." } else { "" }));
        assert_eq!(shown.collect::<Vec<_>>(), expected, "{query:?}");
    }

    #[test]
    fn words_and_phrases() {
        check(" \t\u{3000}", &[]);
        check("foo  bar\u{3000}baz", &["foo", "bar", "baz"]);
        check("a \"b c\" d", &["a", "b c", "d"]);
        check("“b c” d", &["b c", "d"]);
        check("\"\" \"  \" x", &["x"]);
    }

    #[test]
    fn a_star_after_a_word_makes_a_prefix() {
        check("foo* \"foo ba\"* foo_* src/*", &["foo ...", "foo ba ...", "foo_ ...", "src/ ..."]);
        check("* /* **bold** .* a*b \"foo*\"", &["*", "/*", "**bold**", ".*", "a*b", "foo*"]);
    }

    #[test]
    fn everything_else_is_literal() {
        check("a AND -b OR NEAR(c) d:e ^f % _", &["a", "AND", "-b", "OR", "NEAR(c)", "d:e", "^f", "%", "_"]);
        check("5\" foo\"bar", &["5\"", "foo\"bar"]);
        check("\"foo ba", &["foo ba"]);
        check("\"key\": \"value\" x", &["key\": \"value", "x"]);
        check("\"key\": 3", &["key\": 3"]);
        check("\"\"\" \"", &["\""]);
    }
}

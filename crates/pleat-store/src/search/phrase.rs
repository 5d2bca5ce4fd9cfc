//! What a database is asked for.

/// The most tokens of a phrase that a database is asked for. Longer ones are several.
pub const PHRASE_TOKENS: usize = 16;

/// Tokens that stand in a row in some chunk of every text that matches.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IndexPhrase {
    tokens: Vec<String>,
    prefix: bool,
}

impl IndexPhrase {
    /// The phrases of a row of tokens, the last of which may be a prefix. Together they have every token.
    pub(super) fn split(tokens: &[String], prefix: bool) -> Vec<Self> {
        let mut phrases = Vec::new();
        let mut start = 0;
        while start < tokens.len() {
            let end = tokens.len().min(start + PHRASE_TOKENS);
            let last = end == tokens.len();
            // The last one is as long as the others, so that it is as selective.
            let start_of_phrase = if last { end.saturating_sub(PHRASE_TOKENS) } else { start };
            phrases.push(Self { tokens: tokens[start_of_phrase..end].to_vec(), prefix: prefix && last });
            start = if last { end } else { end - 1 };
        }
        phrases
    }

    /// The tokens, at least one and at most [`PHRASE_TOKENS`].
    pub fn tokens(&self) -> &[String] {
        &self.tokens
    }

    /// The last token stands for every token that begins so.
    pub fn is_prefix(&self) -> bool {
        self.prefix
    }

    /// How many bytes must be found: about how selective it is.
    pub(super) fn weight(&self) -> usize {
        self.tokens.iter().map(String::len).sum()
    }

    /// For `MATCH` in SQLite: `"foo bar"`, `"foo ba"*`.
    pub fn fts5_expression(&self) -> String {
        // Tokens hold no quote.
        format!("\"{}\"{}", self.tokens.join(" "), if self.prefix { "*" } else { "" })
    }

    /// What PostgreSQL reads as a `tsquery`: `'foo' <-> 'bar'`, `'foo' <-> 'ba':*`.
    pub fn tsquery_text(&self) -> String {
        // Tokens hold no quote and no backslash.
        let lexemes: Vec<_> = self.tokens.iter().map(|token| format!("'{token}'")).collect();
        format!("{}{}", lexemes.join(" <-> "), if self.prefix { ":*" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(count: usize) -> Vec<String> {
        (0..count).map(|number| number.to_string()).collect()
    }

    #[test]
    fn phrases_are_written_for_each_database() {
        let [phrase] = &IndexPhrase::split(&numbered(2), false)[..] else { panic!("not one phrase") };
        assert_eq!((&*phrase.fts5_expression(), &*phrase.tsquery_text()), ("\"0 1\"", "'0' <-> '1'"));
        let [phrase] = &IndexPhrase::split(&numbered(2), true)[..] else { panic!("not one phrase") };
        assert_eq!((&*phrase.fts5_expression(), &*phrase.tsquery_text()), ("\"0 1\"*", "'0' <-> '1':*"));
    }

    #[test]
    fn long_rows_are_several_phrases() {
        let check = |count: usize, expected: &[(usize, usize, bool)]| {
            let phrases = IndexPhrase::split(&numbered(count), true);
            let ranges = phrases.iter().map(|phrase| {
                let start: usize = phrase.tokens[0].parse().unwrap();
                (start, start + phrase.tokens.len(), phrase.prefix)
            });
            assert_eq!(ranges.collect::<Vec<_>>(), expected);
        };
        check(0, &[]);
        check(1, &[(0, 1, true)]);
        check(16, &[(0, 16, true)]);
        check(17, &[(0, 16, false), (1, 17, true)]);
        check(40, &[(0, 16, false), (15, 31, false), (24, 40, true)]);
    }
}

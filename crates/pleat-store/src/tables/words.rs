//! The last words of a session, as its list shows them.

use super::session::{self, SessionRow};
use super::sql::{Sql, values};
use crate::failure::Failure;
use unicode_segmentation::UnicodeSegmentation;

/// At most so many characters.
const MAX_CHARACTERS: usize = 200;

/// Brings what the list of sessions shows up to date.
pub(crate) async fn refresh<S: Sql>(sql: &S, session: &SessionRow) -> Result<(), Failure> {
    let words = newest(sql, session).await?;
    session::set_last_words(sql, session, words).await
}

/// Whether text that is appended to one with this beginning may change the last words: not where more than they show
/// is there already, so that a long reply does not read its beginning with every piece.
pub(crate) fn may_change(before: &str) -> bool {
    before.split_whitespace().map(|word| word.graphemes(true).count() + 1).sum::<usize>() <= MAX_CHARACTERS + 1
}

/// The beginning, on one line, of the newest text that a person or the agent (no sub-agent) said.
async fn newest<S: Sql>(sql: &S, session: &SessionRow) -> Result<Option<String>, Failure> {
    // Only the beginning of a text is loaded; one that is blank so far counts as blank. Few messages say nothing, so
    // the newest few are asked first, and all before them only where they do.
    let (first, last) = (NEWEST, BEFORE);
    for statement in [first, last] {
        for mut row in sql.query(statement, values![session.key]).await? {
            let key = row.integer()?;
            let words = match row.optional_text()? {
                Some(text) => beginning(&text),
                None => newest_in_round(sql, key).await?,
            };
            if words.is_some() {
                return Ok(words);
            }
        }
    }
    Ok(None)
}

const NEWEST: &str = "SELECT key, substr(text, 1, 2000) FROM message \
     WHERE session = $1 AND role IN ('user', 'assistant') AND parent IS NULL ORDER BY seq DESC LIMIT 2";

const BEFORE: &str = "SELECT key, substr(text, 1, 2000) FROM message \
     WHERE session = $1 AND role IN ('user', 'assistant') AND parent IS NULL ORDER BY seq DESC LIMIT 100 OFFSET 2";

async fn newest_in_round<S: Sql>(sql: &S, message: i64) -> Result<Option<String>, Failure> {
    let statement =
        "SELECT substr(text, 1, 2000) FROM part WHERE message = $1 AND type = 'text' ORDER BY place DESC LIMIT 20";
    for mut row in sql.query(statement, values![message]).await? {
        let words = row.optional_text()?.as_deref().and_then(beginning);
        if words.is_some() {
            return Ok(words);
        }
    }
    Ok(None)
}

/// A text's beginning on one line; `None` where it is blank.
fn beginning(text: &str) -> Option<String> {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!line.is_empty()).then(|| line.graphemes(true).take(MAX_CHARACTERS).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_is_one_line_of_at_most_200_characters() {
        assert_eq!(beginning(" \n\t "), None);
        assert_eq!(beginning("  a\r\n b\u{85}c "), Some("a b c".to_owned()));
        assert_eq!(beginning(&"e\u{301}".repeat(300)), Some("e\u{301}".repeat(200)));
    }

    #[test]
    fn words_that_are_complete_stay() {
        assert!(may_change(""));
        assert!(may_change(&"x".repeat(200)));
        assert!(!may_change(&"x".repeat(202)));
        assert!(may_change(&format!("{}x", " ".repeat(299))));
    }
}

//! The last words of a session, as its list shows them.

use super::failure::Failure;
use super::session::{self, SessionRow};
use super::value::Columns;
use rusqlite::Connection;
use unicode_segmentation::UnicodeSegmentation;

/// At most so many characters.
const MAX_CHARACTERS: usize = 200;

/// Brings what the list of sessions shows up to date.
pub(super) fn refresh(connection: &Connection, session: &SessionRow) -> Result<(), Failure> {
    let words = newest(connection, session)?;
    session::set_last_words(connection, session, words.as_deref())
}

/// The beginning, on one line, of the newest text that a person or the agent (no sub-agent) said.
fn newest(connection: &Connection, session: &SessionRow) -> Result<Option<String>, Failure> {
    // Only the beginning of a text is loaded; one that is blank so far counts as blank.
    let mut statement = connection.prepare_cached(
        "SELECT key, substr(text, 1, 2000) FROM message \
         WHERE session = ?1 AND role IN ('user', 'assistant') AND parent IS NULL ORDER BY seq DESC",
    )?;
    let mut rows = statement.query([session.key])?;
    while let Some(row) = rows.next()? {
        let mut columns = Columns::of(row);
        let key = columns.take()?;
        let words = match columns.optional_text()? {
            Some(text) => beginning(text),
            None => newest_in_round(connection, key)?,
        };
        if words.is_some() {
            return Ok(words);
        }
    }
    Ok(None)
}

fn newest_in_round(connection: &Connection, message: i64) -> Result<Option<String>, Failure> {
    let mut statement = connection.prepare_cached(
        "SELECT substr(text, 1, 2000) FROM part WHERE message = ?1 AND type = 'text' ORDER BY place DESC",
    )?;
    let mut rows = statement.query([message])?;
    while let Some(row) = rows.next()? {
        let words = Columns::of(row).optional_text()?.and_then(beginning);
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
}

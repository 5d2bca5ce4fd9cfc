//! Reading a script: blanks, words and values.

use super::error::ScriptError;
use super::template::{Template, is_name};
use serde_json::Value;

/// A place in a script.
pub(crate) struct Cursor<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(script: &'a str) -> Self {
        Self { rest: script, line: 1 }
    }

    /// The line, from 1.
    pub(crate) fn line(&self) -> usize {
        self.line
    }

    pub(crate) fn error(&self, message: impl Into<String>) -> ScriptError {
        ScriptError::new(self.line, message)
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// Goes to the next token of the statement.
    pub(crate) fn skip_blanks(&mut self) {
        self.advance(self.rest.len() - self.rest.trim_start_matches([' ', '\t', '\r']).len());
        if self.rest.starts_with('#') {
            self.advance(self.rest.find('\n').unwrap_or(self.rest.len()));
        }
    }

    /// Goes to the next statement, or the end of the block.
    pub(crate) fn skip_separators(&mut self) {
        self.skip_blanks();
        while self.rest.starts_with(['\n', ';']) {
            self.advance(1);
            self.skip_blanks();
        }
    }

    /// Whether the statement has no more tokens.
    pub(crate) fn is_at_end_of_statement(&mut self) -> bool {
        self.skip_blanks();
        self.rest.is_empty() || self.rest.starts_with(['\n', ';', '}'])
    }

    /// Whether a character comes next.
    pub(crate) fn comes(&mut self, c: char) -> bool {
        self.skip_blanks();
        self.rest.starts_with(c)
    }

    /// Takes a character if it comes next.
    pub(crate) fn take(&mut self, c: char) -> bool {
        let found = self.comes(c);
        if found {
            self.advance(c.len_utf8());
        }
        found
    }

    /// Takes a word if it comes next and stands alone.
    pub(crate) fn take_word(&mut self, word: &str) -> bool {
        self.skip_blanks();
        let found = self.rest[..self.word_length()] == *word;
        if found {
            self.advance(word.len());
        }
        found
    }

    /// The word that comes next; empty where none does.
    pub(crate) fn word(&mut self) -> &'a str {
        self.skip_blanks();
        let (word, _) = self.rest.split_at(self.word_length());
        self.advance(word.len());
        word
    }

    /// The name of a field with its `=`, if that comes next.
    pub(crate) fn key(&mut self) -> Option<&'a str> {
        self.skip_blanks();
        let (key, after) = self.rest.split_once('=')?;
        if !is_name(key) || after.starts_with('=') {
            return None;
        }
        self.advance(key.len() + 1);
        Some(key)
    }

    /// The value that comes next: JSON, a text in single quotes, or a word.
    pub(crate) fn value(&mut self) -> Result<Template, ScriptError> {
        self.skip_blanks();
        let line = self.line;
        let template = match self.rest.chars().next() {
            Some('{' | '[' | '"') => Template::of(self.json()?),
            Some('\'') => Template::text(&self.quoted()?),
            Some(_) | None => match self.word() {
                "" => Err("a value is missing".to_owned()),
                word => bare(word),
            },
        };
        template.map_err(|message| ScriptError::new(line, message))
    }

    fn json(&mut self) -> Result<Value, ScriptError> {
        let mut values = serde_json::Deserializer::from_str(self.rest).into_iter();
        match values.next() {
            Some(Ok(value)) => {
                let length = values.byte_offset();
                self.advance(length);
                Ok(value)
            }
            Some(Err(error)) => {
                // It counts lines from here.
                let error_text = error.to_string();
                let complaint = error_text.split(" at line ").next().unwrap_or_default();
                Err(ScriptError::new(self.line + error.line() - 1, format!("no JSON: {complaint}")))
            }
            None => Err(self.error("a value is missing")),
        }
    }

    /// What stands in single quotes, where double ones are like any other character.
    fn quoted(&mut self) -> Result<String, ScriptError> {
        let mut text = String::new();
        let mut characters = self.rest.char_indices().skip(1);
        while let Some((at, c)) = characters.next() {
            match c {
                '\'' => {
                    self.advance(at + 1);
                    return Ok(text);
                }
                '\\' => text.push(match characters.next() {
                    Some((_, 'n')) => '\n',
                    Some((_, 'r')) => '\r',
                    Some((_, 't')) => '\t',
                    Some((_, c @ ('\\' | '\''))) => c,
                    Some(_) | None => return Err(self.error(r"only \n, \r, \t, \\ and \' may follow a \")),
                }),
                c => text.push(c),
            }
        }
        Err(self.error("a `'` is not closed"))
    }

    fn word_length(&self) -> usize {
        let mut in_braces = false;
        let mut before = ' ';
        for (at, c) in self.rest.char_indices() {
            match c {
                '{' if before == '$' => in_braces = true,
                '}' if in_braces => in_braces = false,
                ';' | '{' | '}' | '"' | '\'' => return at,
                c if c.is_whitespace() => return at,
                _ => {}
            }
            before = c;
        }
        self.rest.len()
    }

    fn advance(&mut self, bytes: usize) {
        let (passed, rest) = self.rest.split_at(bytes);
        self.line += passed.matches('\n').count();
        self.rest = rest;
    }
}

/// A word without quotes: a number, `true`, `false`, `null`, or else a text.
fn bare(word: &str) -> Result<Template, String> {
    match serde_json::from_str(word) {
        Ok(value) => Ok(Template::Literal(value)),
        Err(_) => Template::text(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_end_where_they_end() {
        for (script, expected, rest) in [
            ("in_progress x", json!("in_progress"), " x"),
            ("-32603;x", json!(-32603), ";x"),
            ("3}", json!(3), "}"),
            ("20ms", json!("20ms"), ""),
            ("null", json!(null), ""),
            ("session/prompt\n", json!("session/prompt"), "\n"),
            (r#""a \"b\" # 1" x"#, json!("a \"b\" # 1"), " x"),
            (r#"'{"a": "b\n"}' x"#, json!("{\"a\": \"b\n\"}"), " x"),
            ("''", json!(""), ""),
            ("[\n1,\n{\"a\": 2}\n] x", json!([1, {"a": 2}]), " x"),
        ] {
            let mut cursor = Cursor::new(script);
            let value = cursor.value().unwrap();
            assert_eq!(value, Template::of(expected).unwrap(), "{script}");
            assert_eq!(cursor.rest, rest, "{script}");
        }
    }

    #[test]
    fn what_is_no_value_says_where() {
        for (script, line, message) in [
            ("", 1, "a value is missing"),
            ("\"open", 1, "no JSON"),
            ("{\"a\": 1,\n b}", 2, "no JSON"),
            ("'open\n", 1, "not closed"),
            (r"'\x'", 1, "may follow"),
            ("[\n\"$\"\n]", 1, "begins no variable"),
        ] {
            let error = Cursor::new(script).value().unwrap_err();
            assert!(error.line == line && error.message.contains(message), "{script}: {error}");
        }
    }

    #[test]
    fn lines_are_counted_over_comments_and_values() {
        let mut cursor = Cursor::new("  # nothing\n\n say [\n1] ; x # end\n}");
        cursor.skip_separators();
        assert_eq!((cursor.line(), cursor.word()), (3, "say"));
        cursor.value().unwrap();
        assert!(cursor.is_at_end_of_statement());
        cursor.skip_separators();
        assert_eq!((cursor.line(), cursor.word()), (4, "x"));
        cursor.skip_separators();
        assert_eq!((cursor.line(), cursor.take('}'), cursor.is_at_end()), (5, true, true));
    }

    #[test]
    fn a_comparison_is_no_field() {
        assert_eq!(Cursor::new("status=completed").key(), Some("status"));
        assert_eq!(Cursor::new("_meta={}").key(), Some("_meta"));
        assert_eq!(Cursor::new("== x=1").key(), None);
        assert_eq!(Cursor::new("a==b").key(), None);
        assert_eq!(Cursor::new("\"a\" b=1").key(), None);
    }
}

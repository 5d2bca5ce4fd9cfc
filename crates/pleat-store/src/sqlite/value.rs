//! Between the domain's values and those of columns.

use super::failure::Failure;
use pleat_transcript::ids::IdError;
use pleat_transcript::message::JsonObject;
use rusqlite::Row;
use rusqlite::types::FromSql;
use serde_json::Value;

/// Reads a row's columns from left to right.
pub(super) struct Columns<'r, 's> {
    row: &'r Row<'s>,
    next: usize,
}

impl<'r, 's> Columns<'r, 's> {
    pub(super) fn of(row: &'r Row<'s>) -> Self {
        Self { row, next: 0 }
    }

    /// The next column.
    pub(super) fn take<T: FromSql>(&mut self) -> Result<T, Failure> {
        let value = self.row.get(self.next)?;
        self.next += 1;
        Ok(value)
    }

    /// Passes over columns.
    pub(super) fn skip(&mut self, columns: usize) {
        self.next += columns;
    }

    /// The next column, an id.
    pub(super) fn id<T>(&mut self, new: fn(String) -> Result<T, IdError>) -> Result<T, Failure> {
        id(self.take()?, new)
    }

    /// The next column, an id or NULL.
    pub(super) fn optional_id<T>(&mut self, new: fn(String) -> Result<T, IdError>) -> Result<Option<T>, Failure> {
        self.take::<Option<String>>()?.map(|text| id(text, new)).transpose()
    }

    /// The next column, one of the document's words.
    pub(super) fn word<T: Copy>(&mut self, words: &[(T, &'static str)]) -> Result<T, Failure> {
        of_word(words, self.text()?)
    }

    /// The next column, one of the document's words or NULL.
    pub(super) fn optional_word<T: Copy>(&mut self, words: &[(T, &'static str)]) -> Result<Option<T>, Failure> {
        self.optional_text()?.map(|word| of_word(words, word)).transpose()
    }

    /// The next column, JSON or NULL.
    pub(super) fn json(&mut self) -> Result<Option<Value>, Failure> {
        Ok(self.optional_text()?.map(serde_json::from_str).transpose()?)
    }

    /// The next column, a JSON array; NULL is an empty one.
    pub(super) fn array(&mut self) -> Result<Vec<Value>, Failure> {
        Ok(self.optional_text()?.map(serde_json::from_str).transpose()?.unwrap_or_default())
    }

    /// The next column, a JSON object; NULL is an empty one.
    pub(super) fn object(&mut self) -> Result<JsonObject, Failure> {
        Ok(self.optional_text()?.map(serde_json::from_str).transpose()?.unwrap_or_default())
    }

    /// The next column as text, or NULL, without a copy.
    pub(super) fn optional_text(&mut self) -> Result<Option<&'r str>, Failure> {
        let value = self.row.get_ref(self.next)?;
        self.next += 1;
        value.as_str_or_null().map_err(|error| Failure::Unreadable(error.to_string()))
    }

    fn text(&mut self) -> Result<&'r str, Failure> {
        self.optional_text()?.ok_or_else(|| Failure::Unreadable("a word is missing".to_owned()))
    }
}

fn id<T>(text: String, new: fn(String) -> Result<T, IdError>) -> Result<T, Failure> {
    new(text).map_err(|error| Failure::Unreadable(error.to_string()))
}

fn of_word<T: Copy>(words: &[(T, &'static str)], word: &str) -> Result<T, Failure> {
    let found = words.iter().find(|(_, known)| *known == word).map(|(value, _)| *value);
    found.ok_or_else(|| Failure::Unreadable(format!("`{word}` is no word for a state or kind")))
}

/// An optional value's JSON for its column.
pub(super) fn json_text(value: Option<&Value>) -> Option<String> {
    value.map(Value::to_string)
}

/// An array's JSON for its column; NULL where it is empty.
pub(super) fn array_text(values: &[Value]) -> Result<Option<String>, Failure> {
    if values.is_empty() { Ok(None) } else { Ok(Some(serde_json::to_string(values)?)) }
}

/// An object's JSON for its column; NULL where it is empty.
pub(super) fn object_text(object: &JsonObject) -> Result<Option<String>, Failure> {
    if object.is_empty() { Ok(None) } else { Ok(Some(serde_json::to_string(object)?)) }
}

//! Taking the fields of a JSON object one by one, each with its path, until only unknown keys are left.

use super::error::{DocumentError, Path, Problem, excerpt};
use crate::ids::IdError;
use crate::message::JsonObject;
use serde_json::Value;

/// The fields of an object that are not taken yet. Null counts as absent (docs/spec/fold.md, "Input").
pub(super) struct Fields<'p> {
    path: Path<'p>,
    object: JsonObject,
}

impl<'p> Fields<'p> {
    /// The fields of `value`, which must be an object.
    pub(super) fn of(value: Value, path: Path<'p>) -> Result<Self, DocumentError> {
        if let Value::Object(object) = value {
            return Ok(Self { path, object });
        }
        Err(Problem::of_type(&value, "an object").at(&path))
    }

    /// The path of `key`.
    pub(super) fn path(&self, key: &'static str) -> Path<'_> {
        Path::Key(&self.path, key)
    }

    /// The value of `key`, whatever it is.
    pub(super) fn any(&mut self, key: &str) -> Option<Value> {
        self.object.shift_remove(key).filter(|value| !value.is_null())
    }

    /// A string.
    pub(super) fn text(&mut self, key: &'static str) -> Result<Option<String>, DocumentError> {
        match self.any(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong(key, &other, "a string")),
        }
    }

    /// A flag; absent is false.
    pub(super) fn flag(&mut self, key: &'static str) -> Result<bool, DocumentError> {
        match self.any(key) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(other) => Err(self.wrong(key, &other, "true or false")),
        }
    }

    /// A list; absent is empty.
    pub(super) fn list(&mut self, key: &'static str) -> Result<Vec<Value>, DocumentError> {
        match self.any(key) {
            None => Ok(Vec::new()),
            Some(Value::Array(list)) => Ok(list),
            Some(other) => Err(self.wrong(key, &other, "a list")),
        }
    }

    /// A list whose items `read` reads, each under its own path.
    pub(super) fn list_of<T>(
        &mut self,
        key: &'static str,
        read: impl Fn(Value, Path<'_>) -> Result<T, DocumentError>,
    ) -> Result<Vec<T>, DocumentError> {
        let list = self.list(key)?;
        let path = self.path(key);
        list.into_iter().enumerate().map(|(index, item)| read(item, Path::Item(&path, index))).collect()
    }

    /// A whole number.
    pub(super) fn integer(&mut self, key: &'static str) -> Result<Option<i64>, DocumentError> {
        let Some(value) = self.any(key) else { return Ok(None) };
        match value.as_i64() {
            Some(number) => Ok(Some(number)),
            None => Err(self.wrong(key, &value, "a whole number")),
        }
    }

    /// A whole number that is not negative.
    pub(super) fn count(&mut self, key: &'static str) -> Result<Option<u64>, DocumentError> {
        let Some(value) = self.any(key) else { return Ok(None) };
        match value.as_u64() {
            Some(number) => Ok(Some(number)),
            None => Err(self.wrong(key, &value, "a whole number from 0")),
        }
    }

    /// An id, made by `new`.
    pub(super) fn id<T>(
        &mut self,
        key: &'static str,
        new: impl Fn(String) -> Result<T, IdError>,
    ) -> Result<Option<T>, DocumentError> {
        let Some(text) = self.text(key)? else { return Ok(None) };
        new(text).map(Some).map_err(|error| Problem::Id(error).at(&self.path(key)))
    }

    /// An id that must be there.
    pub(super) fn own_id<T>(
        &mut self,
        key: &'static str,
        new: impl Fn(String) -> Result<T, IdError>,
    ) -> Result<T, DocumentError> {
        self.id(key, new)?.ok_or_else(|| self.missing(key, "an id"))
    }

    /// A word of a table.
    pub(super) fn word<T: Copy>(
        &mut self,
        key: &'static str,
        what: &'static str,
        words: &[(T, &'static str)],
    ) -> Result<Option<T>, DocumentError> {
        let Some(word) = self.text(key)? else { return Ok(None) };
        if let Some((value, _)) = words.iter().find(|(_, known)| *known == word) {
            return Ok(Some(*value));
        }
        let expected = words.iter().map(|(_, known)| *known).collect();
        Err(Problem::UnknownWord { what, word: excerpt(&word), expected }.at(&self.path(key)))
    }

    /// The error for a key that must be there and is not.
    pub(super) fn missing(&self, key: &'static str, expected: &'static str) -> DocumentError {
        Problem::Missing { expected }.at(&self.path(key))
    }

    /// The error for a value of the wrong type.
    pub(super) fn wrong(&self, key: &'static str, found: &Value, expected: &'static str) -> DocumentError {
        Problem::of_type(found, expected).at(&self.path(key))
    }

    /// What was not taken: the keys that are not ours.
    pub(super) fn rest(self) -> JsonObject {
        self.object
    }
}

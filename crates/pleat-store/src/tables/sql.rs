//! What both databases are asked through: statements, the values that go in and the rows that come out.
//!
//! Everything above is written once, for [`Sql`]. Statements are of the dialect that both databases speak; parameters
//! are `$1`, `$2` … in the order in which they first stand in the statement, which is how SQLite numbers them.

use crate::failure::Failure;
use pleat_transcript::ids::IdError;
use pleat_transcript::message::JsonObject;
use serde_json::Value as Json;
use std::borrow::Cow;

/// A connection inside a transaction.
pub(crate) trait Sql: Sync {
    /// Runs a statement and returns its rows.
    fn query(
        &self,
        statement: &'static str,
        values: &[Value<'_>],
    ) -> impl Future<Output = Result<Vec<Row>, Failure>> + Send;

    /// Runs a statement and tells how many rows it altered.
    fn execute(
        &self,
        statement: &'static str,
        values: &[Value<'_>],
    ) -> impl Future<Output = Result<u64, Failure>> + Send;

    /// Runs a statement whose outcome nothing that follows depends on: it may be sent together with the next ones, and
    /// what goes wrong may be told by them. It stands before them all the same.
    fn post(
        &self,
        statement: &'static str,
        values: Vec<Value<'static>>,
    ) -> impl Future<Output = Result<(), Failure>> + Send;

    /// The statement that finds a session by its id and locks it: `SELECT key, revision, owner, unindexed …`.
    fn lock_session(&self) -> &'static str;

    /// The statement that keeps everyone else from counting uses of blobs until the transaction ends, where one is needed.
    fn lock_blobs(&self) -> Option<&'static str>;

    /// The statement that tells the database's time, in milliseconds since 1970.
    fn clock(&self) -> &'static str;

    /// Which full-text index this database has.
    fn full_text(&self) -> FullText;
}

/// How a database keeps its full-text index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FullText {
    /// SQLite's FTS5 table.
    Fts5,
    /// PostgreSQL's `tsvector`.
    TsVector,
}

/// A value that goes in. The type is known also where there is no value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value<'v> {
    Text(Option<Cow<'v, str>>),
    Integer(Option<i64>),
    Boolean(bool),
    Bytes(Option<Cow<'v, [u8]>>),
}

impl Value<'_> {
    /// The value, whatever it was borrowed from.
    pub(crate) fn into_owned(self) -> Value<'static> {
        match self {
            Self::Text(text) => Value::Text(text.map(|text| Cow::Owned(text.into_owned()))),
            Self::Integer(integer) => Value::Integer(integer),
            Self::Boolean(boolean) => Value::Boolean(boolean),
            Self::Bytes(bytes) => Value::Bytes(bytes.map(|bytes| Cow::Owned(bytes.into_owned()))),
        }
    }
}

macro_rules! value_from {
    ($($from:ty => |$value:ident| $into:expr),* $(,)?) => {
        $(impl<'v> From<$from> for Value<'v> {
            fn from($value: $from) -> Self {
                $into
            }
        })*
    };
}

value_from! {
    &'v str => |text| Self::Text(Some(Cow::Borrowed(text))),
    &'v String => |text| Self::Text(Some(Cow::Borrowed(text))),
    String => |text| Self::Text(Some(Cow::Owned(text))),
    Option<&'v str> => |text| Self::Text(text.map(Cow::Borrowed)),
    &'v Option<String> => |text| Self::Text(text.as_deref().map(Cow::Borrowed)),
    Option<&'v String> => |text| Self::Text(text.map(|text| Cow::Borrowed(text.as_str()))),
    Option<String> => |text| Self::Text(text.map(Cow::Owned)),
    i64 => |integer| Self::Integer(Some(integer)),
    Option<i64> => |integer| Self::Integer(integer),
    bool => |boolean| Self::Boolean(boolean),
    &'v [u8] => |bytes| Self::Bytes(Some(Cow::Borrowed(bytes))),
    Vec<u8> => |bytes| Self::Bytes(Some(Cow::Owned(bytes))),
    Option<&'v [u8]> => |bytes| Self::Bytes(bytes.map(Cow::Borrowed)),
}

/// The values of a statement, borrowed.
macro_rules! values {
    ($($value:expr),* $(,)?) => {
        &[$(crate::tables::sql::Value::from($value)),*]
    };
}

/// The values of a statement that is posted.
macro_rules! owned_values {
    ($($value:expr),* $(,)?) => {
        vec![$(crate::tables::sql::Value::from($value).into_owned()),*]
    };
}

pub(crate) use {owned_values, values};

/// What comes out of one column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    Null,
    Text(String),
    Integer(i64),
    Boolean(bool),
    Real(f64),
    Bytes(Vec<u8>),
}

/// A row's columns, read from left to right.
#[derive(Debug)]
pub(crate) struct Row {
    cells: std::vec::IntoIter<Cell>,
}

impl Row {
    pub(crate) fn new(cells: Vec<Cell>) -> Self {
        Self { cells: cells.into_iter() }
    }

    fn next(&mut self) -> Result<Cell, Failure> {
        self.cells.next().ok_or_else(|| unreadable("a column is missing"))
    }

    /// Passes over columns.
    pub(crate) fn skip(&mut self, columns: usize) {
        self.cells.by_ref().take(columns).for_each(drop);
    }

    /// The next column: text or NULL.
    pub(crate) fn optional_text(&mut self) -> Result<Option<String>, Failure> {
        match self.next()? {
            Cell::Null => Ok(None),
            Cell::Text(text) => Ok(Some(text)),
            Cell::Integer(_) | Cell::Boolean(_) | Cell::Real(_) | Cell::Bytes(_) => {
                Err(unreadable("a column is no text"))
            }
        }
    }

    /// The next column: text.
    pub(crate) fn text(&mut self) -> Result<String, Failure> {
        self.optional_text()?.ok_or_else(|| unreadable("a text is missing"))
    }

    /// The next column: an integer or NULL.
    pub(crate) fn optional_integer(&mut self) -> Result<Option<i64>, Failure> {
        match self.next()? {
            Cell::Null => Ok(None),
            Cell::Integer(integer) => Ok(Some(integer)),
            Cell::Text(_) | Cell::Boolean(_) | Cell::Real(_) | Cell::Bytes(_) => {
                Err(unreadable("a column is no integer"))
            }
        }
    }

    /// The next column: an integer.
    pub(crate) fn integer(&mut self) -> Result<i64, Failure> {
        self.optional_integer()?.ok_or_else(|| unreadable("an integer is missing"))
    }

    /// The next column: an integer that is not negative.
    pub(crate) fn count(&mut self) -> Result<usize, Failure> {
        usize::try_from(self.integer()?).map_err(|_| unreadable("a count is negative"))
    }

    /// The next column: a boolean.
    pub(crate) fn boolean(&mut self) -> Result<bool, Failure> {
        match self.next()? {
            Cell::Boolean(boolean) => Ok(boolean),
            // SQLite has no booleans of its own.
            Cell::Integer(integer) => Ok(integer != 0),
            Cell::Null | Cell::Text(_) | Cell::Real(_) | Cell::Bytes(_) => Err(unreadable("a column is no boolean")),
        }
    }

    /// The next column: bytes or NULL.
    pub(crate) fn optional_bytes(&mut self) -> Result<Option<Vec<u8>>, Failure> {
        match self.next()? {
            Cell::Null => Ok(None),
            Cell::Bytes(bytes) => Ok(Some(bytes)),
            Cell::Text(_) | Cell::Integer(_) | Cell::Boolean(_) | Cell::Real(_) => {
                Err(unreadable("a column is no bytes"))
            }
        }
    }

    /// The next column: an id.
    pub(crate) fn id<T>(&mut self, new: fn(String) -> Result<T, IdError>) -> Result<T, Failure> {
        id(self.text()?, new)
    }

    /// The next column: an id or NULL.
    pub(crate) fn optional_id<T>(&mut self, new: fn(String) -> Result<T, IdError>) -> Result<Option<T>, Failure> {
        self.optional_text()?.map(|text| id(text, new)).transpose()
    }

    /// The next column: one of the document's words.
    pub(crate) fn word<T: Copy>(&mut self, words: &[(T, &'static str)]) -> Result<T, Failure> {
        of_word(words, &self.text()?)
    }

    /// The next column: one of the document's words or NULL.
    pub(crate) fn optional_word<T: Copy>(&mut self, words: &[(T, &'static str)]) -> Result<Option<T>, Failure> {
        self.optional_text()?.map(|word| of_word(words, &word)).transpose()
    }

    /// The next column: JSON or NULL.
    pub(crate) fn json(&mut self) -> Result<Option<Json>, Failure> {
        Ok(self.optional_text()?.map(|text| serde_json::from_str(&text)).transpose()?)
    }

    /// The next column: a JSON array; NULL is an empty one.
    pub(crate) fn array(&mut self) -> Result<Vec<Json>, Failure> {
        Ok(self.optional_text()?.map(|text| serde_json::from_str(&text)).transpose()?.unwrap_or_default())
    }

    /// The next column: a JSON object; NULL is an empty one.
    pub(crate) fn object(&mut self) -> Result<JsonObject, Failure> {
        Ok(self.optional_text()?.map(|text| serde_json::from_str(&text)).transpose()?.unwrap_or_default())
    }
}

fn unreadable(reason: &str) -> Failure {
    Failure::Unreadable(reason.to_owned())
}

fn id<T>(text: String, new: fn(String) -> Result<T, IdError>) -> Result<T, Failure> {
    new(text).map_err(|error| Failure::Unreadable(error.to_string()))
}

fn of_word<T: Copy>(words: &[(T, &'static str)], word: &str) -> Result<T, Failure> {
    let found = words.iter().find(|(_, known)| *known == word).map(|(value, _)| *value);
    found.ok_or_else(|| Failure::Unreadable(format!("`{word}` is no word for a state or kind")))
}

/// An optional value's JSON for its column.
pub(crate) fn json_text(value: Option<&Json>) -> Option<String> {
    value.map(Json::to_string)
}

/// An array's JSON for its column; NULL where it is empty.
pub(crate) fn array_text(values: &[Json]) -> Result<Option<String>, Failure> {
    if values.is_empty() { Ok(None) } else { Ok(Some(serde_json::to_string(values)?)) }
}

/// An object's JSON for its column; NULL where it is empty.
pub(crate) fn object_text(object: &JsonObject) -> Result<Option<String>, Failure> {
    if object.is_empty() { Ok(None) } else { Ok(Some(serde_json::to_string(object)?)) }
}

//! Why a document cannot be read.

use crate::ids::IdError;
use serde_json::Value;

/// Why a document cannot be read: always with the place, what was found there and what was expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// The text is no JSON.
    #[error("malformed JSON in line {line}, column {column}: {problem}")]
    Malformed {
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
        /// The parser's words.
        problem: String,
    },
    /// The JSON is no transcript document.
    #[error("{path}: {problem}")]
    Invalid {
        /// Where: `messages[3].parts[0].type`.
        path: String,
        /// What is wrong there.
        problem: Problem,
    },
}

impl From<serde_json::Error> for DocumentError {
    fn from(error: serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        let whole = error.to_string();
        // The parser ends its words with the place, which we say ourselves.
        let place = format!(" at line {line} column {column}");
        let problem = whole.strip_suffix(&place).unwrap_or(&whole).to_owned();
        Self::Malformed { line, column, problem }
    }
}

/// What is wrong at a place of a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// A value of another type.
    #[error("found {found}, expected {expected}")]
    Type {
        /// What stands there, shortened.
        found: String,
        /// What may stand there.
        expected: &'static str,
    },
    /// Nothing where something must stand.
    #[error("found nothing, expected {expected}")]
    Missing {
        /// What must stand there.
        expected: &'static str,
    },
    /// A word that the list does not have (docs/spec/fold.md, "Input": an error, other than an unknown key).
    #[error("unknown {what} \"{word}\", expected one of {}", expected.join(", "))]
    UnknownWord {
        /// What the word stands for.
        what: &'static str,
        /// As found.
        word: String,
        /// The words that we know.
        expected: Vec<&'static str>,
    },
    /// A string that is no id.
    #[error("found a string that is no id, expected 1 to 128 bytes: {0}")]
    Id(#[from] IdError),
    /// An id that an earlier one of its kind has.
    #[error("found {what} id \"{id}\" a second time, expected one of its own")]
    RepeatedId {
        /// Of what.
        what: &'static str,
        /// The id.
        id: String,
    },
    /// A key by which a client names its prompt, and which an earlier prompt has.
    #[error("found the key \"{key}\" of a prompt a second time, expected one of its own")]
    RepeatedKey {
        /// The key.
        key: String,
    },
}

impl Problem {
    /// `found` stands where `expected` must.
    pub(super) fn of_type(found: &Value, expected: &'static str) -> Self {
        Self::Type { found: describe(found), expected }
    }

    /// The error of this problem at `path`.
    pub(super) fn at(self, path: &Path) -> DocumentError {
        DocumentError::Invalid { path: path.to_string(), problem: self }
    }
}

/// The longest part of a found value that an error repeats, in characters.
const LONGEST_EXCERPT: usize = 40;

fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the string \"{}\"", excerpt(text)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

pub(super) fn excerpt(text: &str) -> String {
    match text.char_indices().nth(LONGEST_EXCERPT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A place in a document, kept as links to the places around it, so that it costs nothing until an error names it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Path<'a> {
    /// The whole value, by what it is called.
    Root(&'static str),
    /// Under a key of an object.
    Key(&'a Path<'a>, &'static str),
    /// At a place of a list, from 0.
    Item(&'a Path<'a>, usize),
}

/// The path of a whole document: its keys are written without it.
pub(super) const DOCUMENT: Path<'static> = Path::Root("document");

impl std::fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Root(name) => f.write_str(name),
            Self::Key(Path::Root("document"), key) => f.write_str(key),
            Self::Key(object, key) => write!(f, "{object}.{key}"),
            Self::Item(list, index) => write!(f, "{list}[{index}]"),
        }
    }
}

//! What is wrong with a script.

use std::fmt;

/// What is wrong with a script, and in which line.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptError {
    /// The line, from 1; 0 where it is the script as a whole.
    pub line: usize,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl ScriptError {
    pub(crate) fn new(line: usize, message: impl Into<String>) -> Self {
        Self { line, message: message.into() }
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.message),
            line => write!(f, "line {line}: {}", self.message),
        }
    }
}

impl std::error::Error for ScriptError {}

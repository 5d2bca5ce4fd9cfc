//! The prompt of `pleat run`: from the command line, or from stdin.

use crate::failure::Failure;
use std::io::{IsTerminal, Read};

/// What stands for stdin.
const STDIN: &str = "-";

/// The prompt, which says something.
pub(super) fn read(argument: Option<&str>) -> Result<String, Failure> {
    let text = match argument {
        Some(text) if text != STDIN => text.to_owned(),
        None if std::io::stdin().is_terminal() => {
            return Err(Failure::user("there is no prompt; write one behind the agent's name, or `-` to type it here"));
        }
        Some(_) | None => read_stdin()?,
    };
    if text.trim().is_empty() {
        return Err(Failure::user("the prompt is empty; write something first"));
    }
    Ok(text)
}

fn read_stdin() -> Result<String, Failure> {
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text);
    read.map_err(|error| Failure::user(format!("the prompt cannot be read from stdin: {error}")))?;
    // Whoever wrote it ended its last line.
    text.truncate(text.trim_end_matches(['\n', '\r']).len());
    Ok(text)
}

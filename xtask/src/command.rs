//! Running other programs, with a sentence for each way that goes wrong.

use std::ffi::OsStr;
use std::fmt;
use std::io::{self, IsTerminal};
use std::process::{Command, ExitStatus};

/// Why a command of xtask ended early: one sentence for the person who ran it.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    pub(crate) fn new(sentence: impl Into<String>) -> Self {
        Self(sentence.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The cargo that runs xtask, with colours where a person is looking.
pub(crate) fn cargo<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(arguments).current_dir(crate::paths::root());
    if std::env::var_os("CARGO_TERM_COLOR").is_none() {
        command.env("CARGO_TERM_COLOR", if io::stdout().is_terminal() { "always" } else { "never" });
    }
    command
}

/// Runs it with its output going straight through, and insists on success.
pub(crate) fn succeed(command: &mut Command) -> Result<(), Failure> {
    let line = line_of(command);
    let status = command.status().map_err(|error| could_not_start(&line, &error))?;
    if status.success() { Ok(()) } else { Err(Failure::new(format!("`{line}` {}.", ending_of(status)))) }
}

/// Runs it and gives what it printed; a failure carries what it said on stderr.
pub(crate) fn output(command: &mut Command) -> Result<String, Failure> {
    let line = line_of(command);
    let output = command.output().map_err(|error| could_not_start(&line, &error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Failure::new(format!("`{line}` {}: {}", ending_of(output.status), said.trim())))
}

fn could_not_start(line: &str, error: &io::Error) -> Failure {
    Failure::new(format!("`{line}` could not be started: {error}."))
}

fn ending_of(status: ExitStatus) -> String {
    status.code().map_or_else(|| "was ended by a signal".to_owned(), |code| format!("failed with exit code {code}"))
}

/// The command as a person would type it.
pub(crate) fn line_of(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    // The whole path of cargo or Chromium tells a reader nothing.
    let name = program.file_name().unwrap_or(program.as_os_str());
    let words = std::iter::once(name).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_the_command_and_how_it_ended() {
        let failure = succeed(Command::new("sh").args(["-c", "exit 3"])).unwrap_err();
        assert_eq!(failure.to_string(), "`sh -c exit 3` failed with exit code 3.");
    }

    #[test]
    fn a_failure_carries_what_was_said() {
        let failure = output(Command::new("sh").args(["-c", "echo no such thing >&2; exit 1"])).unwrap_err();
        assert!(failure.to_string().ends_with("failed with exit code 1: no such thing"), "{failure}");
    }

    #[test]
    fn a_missing_program_is_named() {
        let failure = succeed(&mut Command::new("pleat-no-such-program")).unwrap_err();
        assert!(failure.to_string().starts_with("`pleat-no-such-program` could not be started"), "{failure}");
    }
}

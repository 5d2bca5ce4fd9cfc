//! How the program begins and ends.

use super::error::ScriptError;
use super::notes::Notes;
use super::parse::parse;
use super::player::Player;
use super::process::Process;
use super::script::Block;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// What a process with a bad script exits with; no script can.
pub(crate) const BAD_SCRIPT: u8 = 70;

/// Why a script is not played any further.
#[derive(Debug)]
pub(crate) enum Ending {
    /// The script says so.
    Exit(u8),
    /// The script says so.
    Abort,
    /// The client closed stdin while a message was waited for.
    StdinEnded,
    /// The client reads no more.
    ClientGone(io::Error),
    /// The script is wrong, or what it needs is not there.
    Trouble(ScriptError),
}

impl Ending {
    /// In a line that the player adds.
    pub(crate) fn trouble(message: impl Into<String>) -> Self {
        Self::Trouble(ScriptError::new(0, message))
    }

    /// Trouble of this line, if it is known of no other.
    pub(crate) fn at(self, line: usize) -> Self {
        match self {
            Self::Trouble(ScriptError { line: 0, message }) => Self::Trouble(ScriptError { line, message }),
            Self::Exit(_) | Self::Abort | Self::StdinEnded | Self::ClientGone(_) | Self::Trouble(_) => self,
        }
    }
}

/// Plays the script in a file over stdin and stdout, and leaves notes in the working directory. It is all that the
/// program does; `arguments` are those that follow the file's name on its command line.
pub fn play(script: &Path, arguments: &[String]) -> ExitCode {
    let outcome = prepare(script, arguments).and_then(|(mut player, block)| player.play(&block));
    ExitCode::from(outcome.map_or_else(|ending| end(ending, script), |()| 0))
}

fn prepare(script: &Path, arguments: &[String]) -> Result<(Player, Block), Ending> {
    let source = fs::read_to_string(script);
    let source = source.map_err(|error| Ending::trouble(format!("it cannot be read: {error}")))?;
    let block = parse(&source).map_err(Ending::Trouble)?;
    let process = Process::this(script);
    let player = process.and_then(|process| Player::new(Arc::new(process), arguments));
    Ok((player.map_err(|error| Ending::trouble(format!("it cannot be played: {error}")))?, block))
}

/// Says and notes what is to be known of an end; the process's exit code. An abort comes at once.
pub(crate) fn end(ending: Ending, script: &Path) -> u8 {
    match ending {
        Ending::Exit(code) => code,
        Ending::Abort => std::process::abort(),
        Ending::StdinEnded => 0,
        Ending::ClientGone(error) => {
            complain(&format!("the client is gone: {error}"));
            1
        }
        Ending::Trouble(error) => {
            let complaint = format!("{}: {error}", script.display());
            complain(&complaint);
            if let Err(error) = Notes::of_process().script_error(&complaint) {
                complain(&format!("that cannot be noted: {error}"));
            }
            BAD_SCRIPT
        }
    }
}

fn complain(complaint: &str) {
    // Nobody may be there to read it.
    drop(writeln!(io::stderr(), "scripted agent: {complaint}"));
}

//! The agent's ends of the pipes, which everything that it does at the same time shares.

use super::end::Ending;
use super::notes::Notes;
use super::script::Stream;
use serde_json::Value;
use std::collections::VecDeque;
use std::io::{self, BufRead, Write};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// So much is written at once of what is too long to be made as a whole.
const PIECE: usize = 16 * 1024;

/// What stands for the bytes of which only the number matters.
pub(crate) const FILLER: u8 = b'x';

pub(crate) struct Wire {
    stdin: Mutex<Box<dyn BufRead + Send>>,
    stdout: Mutex<Box<dyn Write + Send>>,
    inbox: Mutex<Inbox>,
    /// Something came into the inbox, or nobody reads any more.
    arrived: Condvar,
    notes: Notes,
}

#[derive(Default)]
struct Inbox {
    /// Messages that were read while others were waited for.
    unheard: VecDeque<Value>,
    is_being_filled: bool,
}

impl Wire {
    pub(crate) fn new(stdin: Box<dyn BufRead + Send>, stdout: Box<dyn Write + Send>, notes: Notes) -> Self {
        let inbox = Mutex::new(Inbox::default());
        Self { stdin: Mutex::new(stdin), stdout: Mutex::new(stdout), inbox, arrived: Condvar::new(), notes }
    }

    /// Waits for the first message that is wanted. Others stay for whoever wants them; stdin is read only while
    /// somebody waits.
    pub(crate) fn hear(&self, wanted: impl Fn(&Value) -> bool) -> Result<Value, Ending> {
        let mut inbox = lock(&self.inbox);
        loop {
            if let Some(at) = inbox.unheard.iter().position(&wanted)
                && let Some(message) = inbox.unheard.remove(at)
            {
                return Ok(message);
            }
            if inbox.is_being_filled {
                inbox = self.arrived.wait(inbox).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            inbox.is_being_filled = true;
            drop(inbox);
            let message = self.read();
            inbox = lock(&self.inbox);
            inbox.is_being_filled = false;
            self.arrived.notify_all();
            inbox.unheard.push_back(message?);
        }
    }

    fn read(&self) -> Result<Value, Ending> {
        let mut line = Vec::new();
        match lock(&self.stdin).read_until(b'\n', &mut line) {
            Ok(0) => return Err(Ending::StdinEnded),
            Ok(_) => {}
            Err(error) => return Err(Ending::trouble(format!("stdin cannot be read: {error}"))),
        }
        self.notes.heard(&line)?;
        let message = serde_json::from_slice(&line);
        message.map_err(|error| {
            Ending::trouble(format!("the client said what is no JSON ({error}): {}", String::from_utf8_lossy(&line)))
        })
    }

    /// Says a message in a line of its own.
    pub(crate) fn say(&self, message: &Value) -> Result<(), Ending> {
        let mut line = message.to_string();
        line.push('\n');
        self.write(Stream::Stdout, line.as_bytes())
    }

    pub(crate) fn write(&self, stream: Stream, bytes: &[u8]) -> Result<(), Ending> {
        match stream {
            Stream::Stdout => lock(&self.stdout).write_all(bytes),
            Stream::Stderr => io::stderr().lock().write_all(bytes),
        }
        .map_err(Ending::ClientGone)
    }

    /// Writes so many bytes without an end of the line.
    pub(crate) fn write_filler(&self, stream: Stream, bytes: u64) -> Result<(), Ending> {
        let piece = [FILLER; PIECE];
        let mut left = bytes;
        while left > 0 {
            let length = usize::try_from(left).unwrap_or(PIECE).min(PIECE);
            self.write(stream, &piece[..length])?;
            left -= length as u64;
        }
        Ok(())
    }
}

/// A panic elsewhere is told by whoever panicked.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! Raw lines from the agent's stdout, split wherever the bytes happen to be.

use std::io;
use std::sync::Arc;
use std::time::SystemTime;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::sync::mpsc;

use super::backlog::Backlog;
use super::classify::{Heard, classify, noise};
use super::correlation::{Asked, Pending, Question, session_of};
use super::incoming::{Incoming, Token};
use super::received::Received;
use super::tap::{WireDirection, WireLine, WireTap};
use super::waiting::{Room, bytes_of};

/// How much is read at once.
const READ_BYTES: usize = 64 * 1024;

/// A line's buffer that grew beyond this is given back after the line.
const KEPT_BUFFER_BYTES: usize = 1024 * 1024;

/// What reading needs beside the stream.
pub(super) struct Reading {
    pub(super) incoming: mpsc::UnboundedSender<Received>,
    pub(super) room: Room,
    pub(super) backlog: Backlog,
    pub(super) pending: Pending,
    pub(super) asked: Asked,
    pub(super) tap: Option<Arc<dyn WireTap>>,
    pub(super) max_line_bytes: usize,
    pub(super) max_unended_bytes: u64,
}

/// What ended the reading of a stream that could be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EndOfReading {
    EndOfStream,
    EndlessLine { bytes: u64 },
}

/// Reads to the end of the stream, each line parsed once and enqueued.
pub(super) async fn read_all(mut stream: impl AsyncRead + Unpin, reading: Reading) -> io::Result<EndOfReading> {
    let mut splitter = LineSplitter::new(reading.max_line_bytes);
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let count = match stream.read(&mut buffer).await {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                reading.take(splitter.finish()).await;
                return Err(error);
            }
        };
        let mut bytes = &buffer[..count];
        while let Some(piece) = splitter.next(&mut bytes) {
            reading.take(piece).await;
        }
        if splitter.unended_bytes() > reading.max_unended_bytes {
            return Ok(EndOfReading::EndlessLine { bytes: splitter.unended_bytes() });
        }
    }
    reading.take(splitter.finish()).await;
    Ok(EndOfReading::EndOfStream)
}

impl Reading {
    async fn take(&self, piece: Piece<'_>) {
        self.backlog.until_there_is_room().await;
        let what = match piece {
            Piece::Line(line) | Piece::Torn(line) if line.trim_ascii().is_empty() => return,
            Piece::Line(line) => self.heard(classify(line, &self.pending)),
            Piece::Torn(line) => self.heard(self.classify_torn(line)),
            Piece::TooLong { bytes } => Incoming::SkippedLine { bytes },
        };
        if let Incoming::Request { id, method, .. } = &what {
            self.backlog.asked(id, method);
        }
        let weight = self.room.take(bytes_of(&what)).await;
        // Nobody may be listening any more; the pipe is emptied all the same.
        let _ = self.incoming.send(Received { what, weight });
    }

    /// A last line without its end is dropped and reported (`docs/spec/record.md`), unless it is a whole
    /// object: that cannot be half of anything.
    fn classify_torn<'a>(&self, line: &'a [u8]) -> Heard<'a> {
        if line.trim_ascii_end().ends_with(b"}") { classify(line, &self.pending) } else { noise(line) }
    }

    /// Shows the line to the tap, and keeps what the answer to a request of the agent's will be about.
    fn heard(&self, heard: Heard<'_>) -> Incoming {
        if let Some(tap) = &self.tap {
            tap.line(WireLine {
                direction: WireDirection::FromAgent,
                at: SystemTime::now(),
                bytes: &heard.line,
                is_object: heard.is_object,
                session: session_in(&heard),
                opens: opens(&heard),
            });
            if let Incoming::Request { id, method, params } = &heard.what {
                self.asked.put(id.clone(), Question::new(method, params));
            }
        }
        heard.what
    }
}

/// The session that a line is about.
fn session_in<'a>(heard: &'a Heard<'_>) -> Option<&'a str> {
    match &heard.what {
        Incoming::Notification { params, .. } | Incoming::Request { params, .. } => session_of(params),
        Incoming::Answer { result, .. } => {
            let asked_about = heard.answers.as_ref().and_then(|question| question.session.as_deref());
            asked_about.or_else(|| session_of(result.as_ref().ok()?))
        }
        Incoming::Noise(_) | Incoming::SkippedLine { .. } | Incoming::Closed(_) => None,
    }
}

/// The request that opens a session and that the line answers.
fn opens(heard: &Heard<'_>) -> Option<Token> {
    match &heard.what {
        Incoming::Answer { to, .. } => heard.answers.as_ref().filter(|question| question.opens).map(|_| *to),
        Incoming::Notification { .. }
        | Incoming::Request { .. }
        | Incoming::Noise(_)
        | Incoming::SkippedLine { .. }
        | Incoming::Closed(_) => None,
    }
}

/// What the splitter finds.
#[derive(Clone, Copy)]
enum Piece<'a> {
    /// A line, without its `\n` or `\r\n`.
    Line(&'a [u8]),
    /// What stood after the last line end.
    Torn(&'a [u8]),
    /// A line beyond the limit, of which nothing was kept.
    TooLong { bytes: u64 },
}

/// Puts lines together from any split of bytes; holds at most one line, and that up to its limit.
struct LineSplitter {
    limit: usize,
    begun: Vec<u8>,
    /// Whether `begun` is a line that was given out already.
    is_ended: bool,
    /// How much of a line that is too long has gone by.
    skipping: Option<u64>,
}

impl LineSplitter {
    fn new(limit: usize) -> Self {
        Self { limit, begun: Vec::new(), is_ended: false, skipping: None }
    }

    /// The next line that ends in the bytes, which are taken off them; `None` when none of them are left.
    fn next<'a, 'bytes: 'a>(&'a mut self, bytes: &mut &'bytes [u8]) -> Option<Piece<'a>> {
        self.forget_ended();
        let Some(end) = memchr::memchr(b'\n', bytes) else {
            self.go_on(bytes);
            *bytes = &[];
            return None;
        };
        let (rest, after) = (&bytes[..end], &bytes[end + 1..]);
        *bytes = after;
        // The common case: the whole line lies in what was just read.
        if self.begun.is_empty() && self.skipping.is_none() && rest.len() <= self.limit {
            return Some(Piece::Line(without_cr(rest)));
        }
        self.go_on(rest);
        self.is_ended = true;
        Some(match self.skipping.take() {
            Some(bytes) => Piece::TooLong { bytes },
            None => Piece::Line(without_cr(&self.begun)),
        })
    }

    /// What stood after the last line end.
    fn finish(&mut self) -> Piece<'_> {
        self.forget_ended();
        match self.skipping.take() {
            Some(bytes) => Piece::TooLong { bytes },
            None => Piece::Torn(&self.begun),
        }
    }

    /// How much there is of the line that has no end yet.
    fn unended_bytes(&self) -> u64 {
        self.skipping.unwrap_or(self.begun.len() as u64)
    }

    fn forget_ended(&mut self) {
        if self.is_ended {
            self.is_ended = false;
            self.begun.clear();
            self.begun.shrink_to(KEPT_BUFFER_BYTES);
        }
    }

    fn go_on(&mut self, bytes: &[u8]) {
        if let Some(skipped) = &mut self.skipping {
            *skipped += bytes.len() as u64;
        } else if self.begun.len() + bytes.len() > self.limit {
            self.skipping = Some((self.begun.len() + bytes.len()) as u64);
            self.begun = Vec::new();
        } else {
            self.begun.extend_from_slice(bytes);
        }
    }
}

fn without_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: usize = 8;

    fn split(text: &str, chunk: usize) -> Vec<String> {
        let mut splitter = LineSplitter::new(LIMIT);
        let mut pieces = Vec::new();
        let mut take = |piece: Piece<'_>| {
            pieces.push(match piece {
                Piece::Line(line) => String::from_utf8_lossy(line).into_owned(),
                Piece::Torn(line) => format!("torn {}", String::from_utf8_lossy(line)),
                Piece::TooLong { bytes } => format!("too long {bytes}"),
            });
        };
        for mut bytes in text.as_bytes().chunks(chunk) {
            while let Some(piece) = splitter.next(&mut bytes) {
                take(piece);
            }
            assert!(splitter.begun.len() <= LIMIT);
        }
        take(splitter.finish());
        pieces
    }

    /// Whatever the split, the lines are these.
    fn check(text: &str, expect: &[&str]) {
        for chunk in 1..=text.len().max(1) {
            assert_eq!(split(text, chunk), expect, "in chunks of {chunk}");
        }
    }

    #[test]
    fn lines_do_not_depend_on_the_split() {
        check("one\ntwo\r\n\nä€\n", &["one", "two", "", "ä€", "torn "]);
        check("one\nhal", &["one", "torn hal"]);
        check("", &["torn "]);
    }

    #[test]
    fn a_line_beyond_the_limit_is_skipped_and_the_next_is_read() {
        check("12345678\n123456789\nok\n", &["12345678", "too long 9", "ok", "torn "]);
        check("1234567890123456789012345", &["too long 25"]);
    }

    #[test]
    fn a_line_that_has_no_end_is_measured() {
        for (begun, bytes) in [("one\n", 0), ("one\ntwo", 3), ("12345678\n123456789", 9)] {
            let mut splitter = LineSplitter::new(LIMIT);
            let mut rest = begun.as_bytes();
            while splitter.next(&mut rest).is_some() {}
            assert_eq!(splitter.unended_bytes(), bytes, "{begun}");
        }
    }
}

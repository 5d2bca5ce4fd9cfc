//! Raw lines from the agent's stdout, split wherever the bytes happen to be.

use std::io;
use std::sync::Arc;
use std::time::SystemTime;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::sync::mpsc;

use super::classify::{classify, noise};
use super::incoming::Incoming;
use super::outgoing::Pending;
use super::tap::{WireDirection, WireTap};

/// How much is read at once.
const READ_BYTES: usize = 64 * 1024;

/// A line's buffer that grew beyond this is given back after the line.
const KEPT_BUFFER_BYTES: usize = 1024 * 1024;

/// What reading needs beside the stream.
pub(super) struct Reading {
    pub(super) incoming: mpsc::UnboundedSender<Incoming>,
    pub(super) pending: Pending,
    pub(super) tap: Option<Arc<dyn WireTap>>,
    pub(super) max_line_bytes: usize,
}

/// Reads to the end of the stream, each line parsed once and enqueued.
pub(super) async fn read_all(mut stream: impl AsyncRead + Unpin, reading: Reading) -> io::Result<()> {
    let mut splitter = LineSplitter::new(reading.max_line_bytes);
    let mut buffer = vec![0; READ_BYTES];
    loop {
        match stream.read(&mut buffer).await {
            Ok(0) => break,
            Ok(count) => splitter.feed(&buffer[..count], |piece| reading.take(piece)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                splitter.finish(|piece| reading.take(piece));
                return Err(error);
            }
        }
    }
    splitter.finish(|piece| reading.take(piece));
    Ok(())
}

impl Reading {
    fn take(&self, piece: Piece<'_>) {
        let item = match piece {
            Piece::Line(line) | Piece::Torn(line) if line.trim_ascii().is_empty() => return,
            Piece::Line(line) => {
                self.tap(line);
                classify(line, &self.pending)
            }
            Piece::Torn(line) => {
                self.tap(line);
                self.classify_torn(line)
            }
            Piece::TooLong { bytes } => Incoming::SkippedLine { bytes },
        };
        // Nobody may be listening any more; the pipe is emptied all the same.
        let _ = self.incoming.send(item);
    }

    /// A last line without its end is dropped and reported (`docs/spec/record.md`), unless it is a whole
    /// object: that cannot be half of anything.
    fn classify_torn(&self, line: &[u8]) -> Incoming {
        if line.trim_ascii_end().ends_with(b"}") { classify(line, &self.pending) } else { noise(line) }
    }

    fn tap(&self, line: &[u8]) {
        if let Some(tap) = &self.tap {
            tap.line(WireDirection::FromAgent, SystemTime::now(), line);
        }
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
    /// How much of a line that is too long has gone by.
    skipping: Option<u64>,
}

impl LineSplitter {
    fn new(limit: usize) -> Self {
        Self { limit, begun: Vec::new(), skipping: None }
    }

    fn feed(&mut self, mut bytes: &[u8], mut take: impl FnMut(Piece<'_>)) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.end_line(&bytes[..end], &mut take);
            bytes = &bytes[end + 1..];
        }
        self.go_on(bytes);
    }

    fn finish(mut self, mut take: impl FnMut(Piece<'_>)) {
        match self.skipping.take() {
            Some(bytes) => take(Piece::TooLong { bytes }),
            None => take(Piece::Torn(&self.begun)),
        }
    }

    fn end_line(&mut self, rest: &[u8], take: &mut impl FnMut(Piece<'_>)) {
        // The common case: the whole line lies in what was just read.
        if self.begun.is_empty() && self.skipping.is_none() && rest.len() <= self.limit {
            take(Piece::Line(without_cr(rest)));
            return;
        }
        self.go_on(rest);
        match self.skipping.take() {
            Some(bytes) => take(Piece::TooLong { bytes }),
            None => take(Piece::Line(without_cr(&self.begun))),
        }
        self.begun.clear();
        self.begun.shrink_to(KEPT_BUFFER_BYTES);
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
        for bytes in text.as_bytes().chunks(chunk) {
            splitter.feed(bytes, &mut take);
            assert!(splitter.begun.len() <= LIMIT);
        }
        splitter.finish(&mut take);
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
}

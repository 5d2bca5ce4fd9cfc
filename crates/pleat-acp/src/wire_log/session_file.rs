//! The files of one session: what is gathered for them, and how it gets there.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::{Instant, SystemTime};

use zstd::bulk::Compressor;
use zstd::zstd_safe::find_frame_compressed_size;

use super::line::{LogLine, Opening, again};
use super::names::Files;
use super::routing::Part;

/// The files' mode: their owner's only.
const FILE_MODE: u32 = 0o600;

/// How much is kept for the heads of a session's files, compressed.
const MAX_HEAD_BYTES: usize = 1024 * 1024;

/// The note that tells a reader that ids start anew ([`crate::trace_replay`]).
const NEW_PROCESS: &str = "a new one is started: another process of the agent serves the session from here on";

/// What is known of one session's files.
#[derive(Debug)]
pub(super) struct SessionFile {
    files: Files,
    /// How large the current file may become before it is turned over.
    max_file_bytes: u64,
    /// Lines that are not written yet.
    gathered: Vec<u8>,
    gathered_lines: u64,
    /// When they are to be written.
    pub(super) due: Option<Instant>,
    head: Vec<HeadLine>,
    /// Lines that could not be written.
    lost: u64,
}

/// A line that each further file begins with.
#[derive(Debug)]
struct HeadLine {
    part: Part,
    /// Compressed, as a frame of its own.
    frame: Vec<u8>,
    /// Whether it stands in an earlier file; one that does not is still among what is gathered.
    is_written: bool,
}

impl SessionFile {
    pub(super) fn new(files: Files, max_file_bytes: u64) -> Self {
        let gathered = Vec::new();
        Self { files, max_file_bytes, gathered, gathered_lines: 0, due: None, head: Vec::new(), lost: 0 }
    }

    /// A process begins to serve the session. What there is of its files is made fit to be gone on with.
    pub(super) fn begin(&mut self, at: SystemTime) {
        match cut_torn_end(&self.files.current) {
            Ok(0) => {}
            Ok(_) => self.add(&LogLine::note(at, NEW_PROCESS).text),
            Err(error) => {
                tracing::warn!(file = %self.files.current.display(), %error, "the wire log cannot be gone on with");
            }
        }
    }

    /// Gathers a line.
    pub(super) fn line(&mut self, line: &LogLine, part: Part, compressor: &mut Compressor<'_>) {
        self.add(&line.text);
        match part {
            Part::Conversation => {}
            Part::Prelude => self.add_to_head(line, part, compressor),
            Part::Opening => {
                if matches!(line.opens, Some(Opening::Asked(_))) {
                    // The session is opened anew.
                    self.head.retain(|line| line.part != Part::Opening);
                }
                self.add_to_head(line, part, compressor);
            }
        }
    }

    /// How much is gathered, in bytes.
    pub(super) fn gathered_bytes(&self) -> usize {
        self.gathered.len()
    }

    /// Writes what is gathered, as one frame. Where that fails, it is lost, and a note will say how much.
    pub(super) fn write(&mut self, compressor: &mut Compressor<'_>) {
        self.due = None;
        // Given back: a session that says nothing more holds nothing.
        let mut gathered = std::mem::take(&mut self.gathered);
        let lines = std::mem::take(&mut self.gathered_lines);
        if gathered.is_empty() {
            return;
        }
        if self.lost > 0 {
            gathered.splice(..0, self.lost_note().text);
        }
        let written = compressor.compress(&gathered).and_then(|frame| self.append(&frame));
        for line in &mut self.head {
            line.is_written = true;
        }
        match written {
            Ok(()) => self.lost = 0,
            Err(error) => {
                // Once for each time that the disk is full, not once a second.
                if self.lost == 0 {
                    tracing::warn!(file = %self.files.current.display(), %error, "the wire log cannot be written");
                }
                self.lost += lines;
            }
        }
    }

    fn add(&mut self, text: &[u8]) {
        self.gathered.extend_from_slice(text);
        self.gathered_lines += 1;
    }

    fn lost_note(&self) -> LogLine {
        LogLine::note(SystemTime::now(), &format!("{} lines are missing here: they could not be written", self.lost))
    }

    fn add_to_head(&mut self, line: &LogLine, part: Part, compressor: &mut Compressor<'_>) {
        let bytes: usize = self.head.iter().map(|line| line.frame.len()).sum();
        match compressor.compress(&again(&line.text)) {
            Ok(frame) if bytes + frame.len() <= MAX_HEAD_BYTES => {
                self.head.push(HeadLine { part, frame, is_written: false });
            }
            // A file that begins without it can be read after the other one, but not alone.
            Ok(_) | Err(_) => {}
        }
    }

    /// Appends a frame to the current file, or to a new one where it would become too large or is gone.
    fn append(&self, frame: &[u8]) -> io::Result<()> {
        let mut length = length(&self.files.current)?;
        if length > 0 && length + frame.len() as u64 > self.max_file_bytes {
            fs::rename(&self.files.current, &self.files.older)?;
            length = 0;
        }
        let head = self.head.iter().filter(|line| length == 0 && line.is_written);
        let text = head.map(|line| line.frame.as_slice()).chain([frame]).collect::<Vec<_>>().concat();
        let mut file = OpenOptions::new().append(true).create(true).mode(FILE_MODE).open(&self.files.current)?;
        file.write_all(&text).inspect_err(|_| {
            // Half a frame would make everything after it unreadable.
            let _ = file.set_len(length);
        })
    }
}

/// The length of a file, 0 where there is none.
fn length(path: &Path) -> io::Result<u64> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(metadata.len()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error),
    }
}

/// Cuts off what stands after the last whole frame of a file: a kill may have torn it, and nothing behind it could be
/// read. Gives the length that is left, 0 also where there is no file.
fn cut_torn_end(path: &Path) -> io::Result<u64> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    let mut whole = 0;
    while let Ok(frame @ 1..) = find_frame_compressed_size(&bytes[whole..]) {
        whole += frame;
    }
    if whole < bytes.len() {
        File::options().write(true).open(path)?.set_len(whole as u64)?;
        tracing::info!(file = %path.display(), bytes = bytes.len() - whole, "the torn end of a wire log is cut off");
    }
    Ok(whole as u64)
}

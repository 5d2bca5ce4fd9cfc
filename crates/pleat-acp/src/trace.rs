//! Reading recorded ACP conversations: one JSON object a line,
//! `{"t_ms", "dir", "msg"}` or `{"t_ms", "dir", "raw"}`, plain or zstd-compressed.
//!
//! Lines are read one at a time, so a trace larger than the memory is no trouble. A line that is
//! wrong is an error of its own and the next line is read all the same; only a reader that fails
//! ends the iteration.
//!
//! A wire log ([`crate::wire_log`]) repeats at the head of a file what stood in an earlier one, and
//! marks it (`"again": true`). Such lines are read at the beginning, and left out where others have
//! been read before.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

/// The first bytes of a zstd frame (RFC 8878, section 3.1.1).
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// The traces were written with `zstd --long=27` (`docs/spec/record.md`), beyond zstd's default window.
const ZSTD_WINDOW_LOG_MAX: u32 = 27;

/// How much of a wrong line an error quotes.
const QUOTED_CHARS: usize = 60;

/// One line of a trace.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceLine {
    /// Its number in the file, from 1; blank lines count.
    pub line: usize,
    /// `t_ms`: milliseconds since the recording began.
    pub at_ms: i64,
    /// Who said what.
    pub what: TraceItem,
}

/// What a trace line holds, by its `dir`.
#[derive(Debug, Clone, PartialEq)]
pub enum TraceItem {
    /// `client->agent`: a message to the agent.
    ClientToAgent(Value),
    /// `agent->client` with `msg`: a message from the agent.
    AgentToClient(Value),
    /// `agent->client` with `raw`: a line on the agent's stdout that was no JSON.
    AgentRaw(String),
    /// `agent-stderr`: a line on the agent's stderr.
    AgentStderr(String),
    /// `note`: what the recorder did or saw, such as a kill.
    Note(Value),
}

/// Why a trace, or one line of it, could not be read.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file could not be opened, or is no zstd stream although it begins like one.
    #[error("{file}: cannot open the trace: {source}")]
    Open {
        /// The file's path as given.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// Reading or unpacking failed; nothing more follows.
    #[error("{file}:{line}: cannot read the trace on from here: {source}")]
    Read {
        /// The file's path, or `trace` where a reader was given.
        file: String,
        /// The line that could not be read.
        line: usize,
        /// What the system said.
        source: io::Error,
    },
    /// A line is not what a trace line must be; the next line follows.
    #[error("{file}:{line}: expected {expected}, found {found}")]
    Malformed {
        /// The file's path, or `trace` where a reader was given.
        file: String,
        /// The line's number.
        line: usize,
        /// What should have stood there.
        expected: &'static str,
        /// What stood there, shortened.
        found: String,
    },
    /// The last line has no newline and is no JSON, or the last zstd frame is not whole: the recorder was cut off
    /// (`docs/spec/record.md`: dropped and reported).
    #[error("{file}:{line}: the last line is torn after {bytes} bytes")]
    Torn {
        /// The file's path, or `trace` where a reader was given.
        file: String,
        /// The line's number.
        line: usize,
        /// How much of it there is.
        bytes: usize,
    },
}

/// Reads the lines of a trace, one at each step.
pub struct TraceReader<R> {
    reader: R,
    file: String,
    line: usize,
    buffer: Vec<u8>,
    ended: bool,
    /// Whether a line has been read that stands there for the first time.
    has_begun: bool,
}

/// A trace in a file.
pub type TraceFile = TraceReader<Box<dyn BufRead + Send>>;

/// Reads the lines of a trace in several files, one at each step.
pub struct TraceFiles {
    files: std::vec::IntoIter<PathBuf>,
    open: Option<TraceFile>,
    has_begun: bool,
}

/// The lines of the trace behind `reader`, which holds plain JSON lines.
pub fn read<R: BufRead>(reader: R) -> TraceReader<R> {
    TraceReader::new(reader, "trace".to_owned())
}

/// The lines of the trace at `path`, unpacked where it is zstd-compressed.
pub fn open(path: &Path) -> Result<TraceFile, TraceError> {
    let file = path.display().to_string();
    match open_unpacked(path) {
        Ok(reader) => Ok(TraceReader::new(reader, file)),
        Err(source) => Err(TraceError::Open { file, source }),
    }
}

/// The lines of the files at `paths` one after the other, as one trace: a session's wire log
/// ([`crate::wire_log::files`]). A file that cannot be opened is an error of its own, and the next one is read.
pub fn open_all(paths: Vec<PathBuf>) -> TraceFiles {
    TraceFiles { files: paths.into_iter(), open: None, has_begun: false }
}

/// The file at `path`, unpacked where it is zstd-compressed: its own bytes decide, not its name.
pub fn open_unpacked(path: &Path) -> io::Result<Box<dyn BufRead + Send>> {
    let mut file = File::open(path)?;
    let mut magic = Vec::new();
    file.by_ref().take(ZSTD_MAGIC.len() as u64).read_to_end(&mut magic)?;
    file.seek(SeekFrom::Start(0))?;
    if magic != ZSTD_MAGIC {
        return Ok(Box::new(BufReader::new(file)));
    }
    let mut decoder = zstd::stream::read::Decoder::new(file)?;
    decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
    Ok(Box::new(BufReader::new(decoder)))
}

impl<R: BufRead> TraceReader<R> {
    fn new(reader: R, file: String) -> Self {
        Self { reader, file, line: 0, buffer: Vec::new(), ended: false, has_begun: false }
    }

    /// Reads the next line into the buffer, without its line end; `None` at the end of the file.
    fn read_line(&mut self) -> io::Result<Option<LineEnd>> {
        self.buffer.clear();
        if self.reader.read_until(b'\n', &mut self.buffer)? == 0 {
            return Ok(None);
        }
        let end = if self.buffer.ends_with(b"\n") { LineEnd::Newline } else { LineEnd::EndOfFile };
        let kept = self.buffer.trim_ascii_end().len();
        self.buffer.truncate(kept);
        Ok(Some(end))
    }

    /// `None` for a line that was read before.
    fn parse_line(&mut self, end: LineEnd) -> Result<Option<TraceLine>, TraceError> {
        let envelope: Envelope = match serde_json::from_slice(&self.buffer) {
            Ok(envelope) => envelope,
            Err(error) if end == LineEnd::EndOfFile && !error.is_data() => return Err(self.torn()),
            Err(error) => return Err(self.malformed("a trace line {\"t_ms\", \"dir\", \"msg\" or \"raw\"}", &error)),
        };
        if envelope.again && self.has_begun {
            return Ok(None);
        }
        self.has_begun |= !envelope.again;
        let at_ms = envelope.t_ms;
        let what = envelope.into_item().map_err(|expected| self.malformed_item(expected))?;
        Ok(Some(TraceLine { line: self.line, at_ms, what }))
    }

    fn torn(&self) -> TraceError {
        TraceError::Torn { file: self.file.clone(), line: self.line, bytes: self.buffer.len() }
    }

    fn malformed(&self, expected: &'static str, error: &serde_json::Error) -> TraceError {
        // serde's own "line 1" would be taken for a line of the file.
        let found = error.to_string().replace(" at line 1 column ", " at column ");
        TraceError::Malformed { file: self.file.clone(), line: self.line, expected, found }
    }

    fn malformed_item(&self, expected: &'static str) -> TraceError {
        let found = String::from_utf8_lossy(&self.buffer).chars().take(QUOTED_CHARS).collect();
        TraceError::Malformed { file: self.file.clone(), line: self.line, expected, found }
    }
}

impl<R: BufRead> Iterator for TraceReader<R> {
    type Item = Result<TraceLine, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            self.line += 1;
            match self.read_line() {
                Ok(None) => self.ended = true,
                Ok(Some(_)) if self.buffer.is_empty() => {}
                Ok(Some(end)) => {
                    if let Some(line) = self.parse_line(end).transpose() {
                        return Some(line);
                    }
                }
                // What zstd says of a frame that ends too soon.
                Err(source) if source.kind() == io::ErrorKind::UnexpectedEof => {
                    self.ended = true;
                    return Some(Err(self.torn()));
                }
                Err(source) => {
                    self.ended = true;
                    return Some(Err(TraceError::Read { file: self.file.clone(), line: self.line, source }));
                }
            }
        }
        None
    }
}

impl Iterator for TraceFiles {
    type Item = Result<TraceLine, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(file) = &mut self.open {
                let line = file.next();
                self.has_begun |= file.has_begun;
                if line.is_some() {
                    return line;
                }
            }
            match open(&self.files.next()?) {
                Ok(file) => self.open = Some(TraceReader { has_begun: self.has_begun, ..file }),
                Err(error) => {
                    self.open = None;
                    return Some(Err(error));
                }
            }
        }
    }
}

/// What ended a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineEnd {
    Newline,
    EndOfFile,
}

/// A trace line before its `dir` is looked at.
#[derive(Deserialize)]
struct Envelope {
    t_ms: i64,
    dir: String,
    msg: Option<Value>,
    raw: Option<String>,
    #[serde(default)]
    again: bool,
}

impl Envelope {
    /// The item, or what was expected instead.
    fn into_item(self) -> Result<TraceItem, &'static str> {
        match (self.dir.as_str(), self.msg, self.raw) {
            ("client->agent", Some(msg), None) => Ok(TraceItem::ClientToAgent(msg)),
            ("client->agent", _, _) => Err("`msg` on a client->agent line"),
            ("agent->client", Some(msg), None) => Ok(TraceItem::AgentToClient(msg)),
            ("agent->client", None, Some(raw)) => Ok(TraceItem::AgentRaw(raw)),
            ("agent->client", _, _) => Err("either `msg` or `raw` on an agent->client line"),
            ("agent-stderr", None, Some(raw)) => Ok(TraceItem::AgentStderr(raw)),
            ("agent-stderr", _, _) => Err("`raw` on an agent-stderr line"),
            ("note", Some(msg), None) => Ok(TraceItem::Note(msg)),
            ("note", _, _) => Err("`msg` on a note line"),
            (_, _, _) => Err("`dir` client->agent, agent->client, agent-stderr or note"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use serde_json::json;

    use super::*;

    /// The lines of `text`: what each holds, or its error's text.
    fn check(text: &str, expect: &[Result<TraceItem, &str>]) {
        let read: Vec<_> =
            read(text.as_bytes()).map(|line| line.map(|line| line.what).map_err(|error| error.to_string())).collect();
        let expect: Vec<_> = expect.iter().cloned().map(|line| line.map_err(str::to_owned)).collect();
        assert_eq!(read, expect);
    }

    #[test]
    fn every_dir_has_its_item() {
        check(
            concat!(
                "{\"t_ms\": 1, \"dir\": \"client->agent\", \"msg\": {\"id\": 0}}\n",
                "\r\n",
                "{\"t_ms\": 2, \"dir\": \"agent->client\", \"msg\": {\"id\": 0}}\r\n",
                "{\"t_ms\": 3, \"dir\": \"agent->client\", \"raw\": \"hello\"}\n",
                "{\"t_ms\": 4, \"dir\": \"agent-stderr\", \"raw\": \"warn\"}\n",
                "{\"t_ms\": 5, \"dir\": \"note\", \"msg\": {\"agent_exit\": 0}}",
            ),
            &[
                Ok(TraceItem::ClientToAgent(json!({"id": 0}))),
                Ok(TraceItem::AgentToClient(json!({"id": 0}))),
                Ok(TraceItem::AgentRaw("hello".to_owned())),
                Ok(TraceItem::AgentStderr("warn".to_owned())),
                Ok(TraceItem::Note(json!({"agent_exit": 0}))),
            ],
        );
    }

    #[test]
    fn a_wrong_line_says_what_was_expected_and_the_next_is_read() {
        check(
            concat!(
                "{\"t_ms\": 1, \"dir\": \"sideways\", \"msg\": {}}\n",
                "{\"dir\": \"note\", \"msg\": {}}\n",
                "nonsense\n",
                "{\"t_ms\": 1, \"dir\": \"note\", \"msg\": {}}\n",
            ),
            &[
                Err(
                    "trace:1: expected `dir` client->agent, agent->client, agent-stderr or note, found {\"t_ms\": 1, \"dir\": \"sideways\", \"msg\": {}}",
                ),
                Err(
                    "trace:2: expected a trace line {\"t_ms\", \"dir\", \"msg\" or \"raw\"}, found missing field `t_ms` at column 26",
                ),
                Err(
                    "trace:3: expected a trace line {\"t_ms\", \"dir\", \"msg\" or \"raw\"}, found expected ident at column 2",
                ),
                Ok(TraceItem::Note(json!({}))),
            ],
        );
    }

    #[test]
    fn a_torn_last_line_is_its_own_error() {
        let text = "{\"t_ms\": 1, \"dir\": \"note\", \"msg\": {}}\n{\"t_ms\": 2, \"dir\": \"no";
        let last = read(text.as_bytes()).last().expect("two lines");
        assert!(matches!(last, Err(TraceError::Torn { line: 2, bytes: 22, .. })), "{last:?}");
    }

    #[test]
    fn a_compressed_file_is_unpacked_whatever_its_name() {
        let line = "{\"t_ms\": 7, \"dir\": \"note\", \"msg\": {}}\n";
        let mut file = tempfile::NamedTempFile::new().expect("temporary file");
        file.write_all(&zstd::encode_all(line.as_bytes(), 1).expect("compressed")).expect("written");
        let lines: Vec<_> = open(file.path()).expect("opened").collect::<Result<_, _>>().expect("read");
        assert_eq!(lines, [TraceLine { line: 1, at_ms: 7, what: TraceItem::Note(json!({})) }]);
    }

    const AGAIN: &str = "{\"again\": true, \"t_ms\": 1, \"dir\": \"note\", \"msg\": \"again\"}\n";

    fn note(text: &str) -> String {
        format!("{{\"t_ms\": 1, \"dir\": \"note\", \"msg\": \"{text}\"}}\n")
    }

    #[test]
    fn what_stands_there_again_is_read_at_the_beginning_only() {
        let again = || Ok(TraceItem::Note(json!("again")));
        let first = || Ok(TraceItem::Note(json!("first")));
        check(&[AGAIN, AGAIN, &note("first"), AGAIN, &note("first")].concat(), &[again(), again(), first(), first()]);
        check(AGAIN, &[again()]);
    }

    #[test]
    fn several_files_are_one_trace() {
        let folder = tempfile::tempdir().expect("a folder");
        let (older, current) = (folder.path().join("older"), folder.path().join("current"));
        let frames = |texts: &[String]| -> Vec<u8> {
            texts.iter().flat_map(|text| zstd::encode_all(text.as_bytes(), 1).expect("compressed")).collect()
        };
        std::fs::write(&older, frames(&[AGAIN.to_owned(), note("one"), note("two")])).expect("written");
        // The last frame is torn.
        let mut torn = frames(&[AGAIN.to_owned(), note("three"), note("four")]);
        torn.truncate(torn.len() - 5);
        std::fs::write(&current, torn).expect("written");
        let read = |paths: Vec<PathBuf>| -> Vec<String> {
            let lines = open_all(paths).map(|line| match line {
                Ok(TraceLine { what: TraceItem::Note(note), .. }) => note.as_str().expect("text").to_owned(),
                Ok(line) => panic!("{line:?}"),
                Err(TraceError::Torn { line, .. }) => format!("torn at {line}"),
                Err(error) => error.to_string(),
            });
            lines.collect()
        };
        assert_eq!(read(vec![older.clone(), current.clone()]), ["again", "one", "two", "three", "torn at 3"]);
        assert_eq!(read(vec![current.clone()]), ["again", "three", "torn at 3"]);
        let missing = folder.path().join("missing");
        let all = read(vec![older, missing, current]);
        assert_eq!(all.len(), 6, "{all:?}");
        assert!(all[3].contains("cannot open the trace"), "{all:?}");
        assert_eq!(read(Vec::new()), [""; 0]);
    }

    #[test]
    fn a_missing_file_is_named() {
        let Err(error) = open(Path::new("/no/such/trace.jsonl")) else { panic!("there is no such file") };
        assert!(error.to_string().starts_with("/no/such/trace.jsonl: cannot open the trace"), "{error}");
    }
}

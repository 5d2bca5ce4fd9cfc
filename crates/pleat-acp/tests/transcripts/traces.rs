//! The recorded traces.

use pleat_acp::trace::{self, TraceLine};
use pleat_acp::trace_replay::{Replayed, replay};
use pleat_transcript::document::Document;
use std::io::Read;
use std::path::PathBuf;

/// The trace of 974 MB: what holds for it is tested on its transcript alone, in the `pleat` crate's snapshots.
const HUGE: &str = "fast-agent-big-full";

/// A recorded conversation, unpacked.
pub(crate) struct Trace {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

impl Trace {
    /// All but the one that does not fit into memory well.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        names().into_iter().filter(|name| name != HUGE).map(|name| Self::of(&name))
    }

    pub(crate) fn of(name: &str) -> Self {
        let mut bytes = Vec::new();
        let path = folder().join(format!("{name}.jsonl.zst"));
        trace::open_unpacked(&path).unwrap().read_to_end(&mut bytes).unwrap();
        Self { name: name.to_owned(), bytes }
    }

    /// Its lines; those that are torn are left out.
    pub(crate) fn lines(&self) -> Vec<TraceLine> {
        trace::read(self.bytes.as_slice()).filter_map(Result::ok).collect()
    }

    pub(crate) fn replayed(&self) -> Replayed {
        replay(trace::read(self.bytes.as_slice())).unwrap()
    }

    pub(crate) fn documents(&self) -> Vec<Document> {
        self.replayed().documents
    }

    /// The only document.
    pub(crate) fn document(&self) -> Document {
        let mut documents = self.documents();
        assert_eq!(documents.len(), 1, "{}", self.name);
        documents.remove(0)
    }

    pub(crate) fn json(&self) -> Vec<String> {
        json(&self.documents())
    }

    /// The same trace from its second process on: the history is loaded by somebody who has nothing stored.
    pub(crate) fn without_first_process(&self) -> Self {
        let text = String::from_utf8(self.bytes.clone()).unwrap();
        let greets = |line: &str| line.contains("client->agent") && line.contains(r#""method": "initialize""#);
        let second = text.lines().enumerate().filter(|(_, line)| greets(line)).nth(1).unwrap().0;
        let rest: Vec<&str> = text.lines().skip(second).collect();
        Self { name: format!("{} from its second process on", self.name), bytes: rest.join("\n").into_bytes() }
    }

    /// The same trace up to (without) the second `session/load` or `session/resume` request's process.
    pub(crate) fn first_process(&self) -> Self {
        let text = String::from_utf8(self.bytes.clone()).unwrap();
        let greets = |line: &str| line.contains("client->agent") && line.contains(r#""method": "initialize""#);
        let second = text.lines().enumerate().filter(|(_, line)| greets(line)).nth(1).unwrap().0;
        let first: Vec<&str> = text.lines().take(second).collect();
        Self { name: format!("{}, its first process", self.name), bytes: first.join("\n").into_bytes() }
    }
}

pub(crate) fn json(documents: &[Document]) -> Vec<String> {
    documents.iter().map(|document| document.to_json().to_string()).collect()
}

/// Like `assert_eq`, for texts of megabytes.
pub(crate) fn assert_same(found: &[String], expected: &[String], name: &str) {
    for (found, expected) in found.iter().zip(expected) {
        let Some(at) = found.bytes().zip(expected.bytes()).position(|(a, b)| a != b) else { continue };
        let around = |text: &str| {
            String::from_utf8_lossy(&text.as_bytes()[at.saturating_sub(200)..text.len().min(at + 100)]).into_owned()
        };
        panic!("{name}: they differ at byte {at}\nfound:    {}\nexpected: {}", around(found), around(expected));
    }
    let lengths = |texts: &[String]| texts.iter().map(String::len).collect::<Vec<_>>();
    assert_eq!(lengths(found), lengths(expected), "{name}");
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/traces")
}

/// The names of all traces, in order.
pub(crate) fn names() -> Vec<String> {
    let files = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = files.filter_map(|file| file.strip_suffix(".jsonl.zst").map(str::to_owned)).collect();
    names.sort();
    assert_eq!(names.len(), 141);
    names
}

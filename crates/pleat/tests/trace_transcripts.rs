//! The transcript of every recorded trace as a person reads it, reviewed against what the agent said.
//!
//! The traces are those of `pleat-acp`. Long lines and long texts are cut in their middle, with a note of how much is
//! left out.

#![allow(clippy::unwrap_used, reason = "the helpers of tests may panic too")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

const MAX_LINES: usize = 60;
const MAX_CHARACTERS: usize = 160;

fn traces() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../pleat-acp/tests/traces")
}

fn snapshots() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots")
}

/// The names of the files in a folder that begin and end like this, without that.
fn names(folder: &Path, prefix: &str, suffix: &str) -> BTreeSet<String> {
    let Ok(files) = std::fs::read_dir(folder) else { return BTreeSet::new() };
    let files = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    files.filter_map(|file| Some(file.strip_prefix(prefix)?.strip_suffix(suffix)?.to_owned())).collect()
}

/// What `pleat replay` prints, with what it says on stderr behind it.
fn transcript(trace: &str) -> String {
    let file = traces().join(format!("{trace}.jsonl.zst"));
    let output = Command::new(env!("CARGO_BIN_EXE_pleat"))
        .args(["replay", "--format", "text"])
        .arg(&file)
        .env_remove("PLEAT_LOG")
        .output()
        .unwrap();
    assert!(output.status.success(), "{trace}: {output:?}");
    let said = String::from_utf8(output.stderr).unwrap().replace(&file.display().to_string(), trace);
    String::from_utf8(output.stdout).unwrap() + &said
}

fn shortened(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(shortened_line).collect();
    if lines.len() <= MAX_LINES {
        return lines.join("\n");
    }
    let (head, tail) = (MAX_LINES * 2 / 3, MAX_LINES / 3 - 1);
    let left_out = lines.len() - head - tail;
    let note = format!("  ⋮ {left_out} lines left out");
    [&lines[..head], &[note], &lines[lines.len() - tail..]].concat().join("\n")
}

fn shortened_line(line: &str) -> String {
    let characters: Vec<char> = line.chars().collect();
    if characters.len() <= MAX_CHARACTERS {
        return line.to_owned();
    }
    let (head, tail) = (MAX_CHARACTERS / 2, MAX_CHARACTERS / 4);
    let left_out = characters.len() - head - tail;
    let text = |characters: &[char]| characters.iter().collect::<String>();
    format!(
        "{} ⟨{left_out} characters left out⟩ {}",
        text(&characters[..head]),
        text(&characters[characters.len() - tail..])
    )
}

#[test]
fn transcripts_are_as_reviewed() {
    for trace in names(&traces(), "", ".jsonl.zst") {
        let text = shortened(&transcript(&trace));
        assert!(text.lines().count() <= MAX_LINES, "{trace}");
        insta::assert_snapshot!(trace, text);
    }
}

#[test]
fn every_trace_has_a_snapshot_and_every_snapshot_a_trace() {
    assert_eq!(names(&snapshots(), "trace_transcripts__", ".snap"), names(&traces(), "", ".jsonl.zst"));
}

//! The same trace through other hands: read in pieces of any size, and with updates that come twice.

use crate::traces::{Trace, assert_same, json};
use pleat_acp::trace;
use pleat_acp::trace_replay::replay;
use serde_json::Value;
use std::io::{BufReader, Read};

/// A source that gives at most so many bytes at once.
struct InPieces<'a> {
    bytes: &'a [u8],
    size: usize,
}

impl Read for InPieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.size.min(self.bytes.len()).min(buffer.len());
        buffer[..count].copy_from_slice(&self.bytes[..count]);
        self.bytes = &self.bytes[count..];
        Ok(count)
    }
}

fn read_in_pieces(trace: &Trace, size: usize) -> Vec<String> {
    let reader = BufReader::with_capacity(size, InPieces { bytes: &trace.bytes, size });
    json(&replay(trace::read(reader)).unwrap().documents)
}

#[test]
fn lines_may_be_split_anywhere() {
    for trace in Trace::all() {
        let whole = trace.json();
        // Primes, so that the pieces end at another place in every line.
        for size in if trace.bytes.len() < 100_000 { [7, 31, 1021] } else { [251, 4093, 65_521] } {
            assert_same(&read_in_pieces(&trace, size), &whole, &format!("{} in pieces of {size} bytes", trace.name));
        }
    }
    let short = Trace::of("gemini-short");
    for size in 1..200 {
        assert_same(&read_in_pieces(&short, size), &short.json(), &format!("in pieces of {size} bytes"));
    }
}

/// Whether the same update once more says nothing new: states of calls, plans and gauges, but no text.
fn is_idempotent(line: &Value) -> bool {
    let update = &line["msg"]["params"]["update"];
    match update["sessionUpdate"].as_str() {
        // An announcement of a call that has ended is a new call (Calls 2), and terminal output is appended (Calls 6).
        Some("tool_call") => matches!(update["status"].as_str(), None | Some("pending" | "in_progress")),
        Some("tool_call_update") => {
            update.pointer("/_meta/terminal_output_delta").is_none()
                && update.pointer("/_meta/terminal_output").is_none()
        }
        Some("plan" | "usage_update" | "session_info_update" | "current_mode_update" | "available_commands_update") => {
            true
        }
        Some(_) | None => false,
    }
}

#[test]
fn updates_that_supersede_may_come_twice() {
    for trace in Trace::all() {
        let mut doubled = Vec::new();
        for line in trace.bytes.split_inclusive(|byte| *byte == b'\n') {
            doubled.extend_from_slice(line);
            if serde_json::from_slice(line).is_ok_and(|line| is_idempotent(&line)) {
                doubled.extend_from_slice(line);
            }
        }
        let doubled = Trace { name: format!("{}, doubled", trace.name), bytes: doubled };
        assert_same(&doubled.json(), &trace.json(), &doubled.name);
    }
}

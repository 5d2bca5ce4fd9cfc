//! A record that is put away and rebuilt goes on as if nothing had happened (issue 3, item 7).

use crate::live::Live;
use crate::traces::{Trace, assert_same, json};
use crate::transcript::{call, output_text};
use pleat_acp::trace;
use pleat_acp::trace_replay::{Between, replay_with};
use pleat_transcript::record::SessionRecord;
use serde_json::json;

fn rebuilt_at_each_event_is_the_same(between: Between) {
    for trace in Trace::all() {
        let replayed = replay_with(trace::read(trace.bytes.as_slice()), between).unwrap();
        assert_same(&json(&replayed.documents), &trace.json(), &trace.name);
    }
}

#[test]
fn from_what_is_stored_and_what_is_open() {
    rebuilt_at_each_event_is_the_same(|record, document| {
        if !record.is_replaying() {
            *record = SessionRecord::rebuilt(document, record.unstored());
        }
    });
}

/// Between turns nothing is open, and what is stored is enough.
#[test]
fn from_what_is_stored_alone_between_turns() {
    rebuilt_at_each_event_is_the_same(|record, document| {
        if !record.is_replaying() && record.live_turn().is_none() {
            *record = SessionRecord::from_document(document);
        }
    });
}

/// A command that we closed goes on: what it says late is added to what it said, not put in its place.
#[test]
fn what_a_closed_call_says_in_the_next_turn_is_added() {
    let output = |data: &str| json!({"_meta": {"terminal_output_delta": {"data": data}}});
    let mut live = Live::new();
    live.prompt("1").call("t", "in_progress", json!({"title": "make"})).call_update("t", output("one\n"));
    live.cancel().stops("cancelled").prompt("2").call_update("t", output("two\n")).text("Hm.").stops("end_turn");
    assert_eq!(output_text(call(&live.document, "make")), "one\ntwo\n");
}

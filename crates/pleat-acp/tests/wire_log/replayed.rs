//! A replay of the log equals a replay of what went over the wire.

use pleat_acp::trace_replay::replay;
use pleat_transcript::document::Document;
use serde_json::Value;

use crate::conversation::{House, Told, recorded, say, session};

/// Says a recorded conversation, and compares each session's transcript.
async fn check(name: &str, told: Told) {
    let house = House::new();
    let recorded = recorded(name);
    say(&recorded, &house.logs, told).await;
    let expect = replay(recorded.into_iter().map(Ok)).expect("a trace");
    for (number, expect) in (1..).zip(&expect.documents) {
        let replayed = house.replayed(&session(number)).await;
        let [document] = replayed.documents.as_slice() else {
            panic!("{name}, session {number}: {} documents", replayed.documents.len())
        };
        let is_killed = recorded_kill(name);
        let (found, expect) = (comparable(document, is_killed), comparable(expect, is_killed));
        assert!(found == expect, "{name}, session {number}:\n{found}\n{expect}");
    }
    // One that could not be opened says why.
    let further = house.replayed(&session(expect.documents.len() + 1)).await;
    assert!(further.documents.is_empty(), "{name}");
    if expect.documents.is_empty() {
        assert_eq!(further.last_error, expect.last_error, "{name}");
    }
}

/// Ends of processes have other times in a log, which learns of one by the next.
fn recorded_kill(name: &str) -> bool {
    name.ends_with("-kill")
}

/// A document as text: sessions are numbered by their order in the trace and are alone in their log, so ids that are made
/// of the session's are left out.
fn comparable(document: &Document, without_times: bool) -> String {
    let mut json = document.to_json();
    json["session"]["id"] = Value::Null;
    strip(&mut json, without_times);
    json.to_string()
}

fn strip(value: &mut Value, times: bool) {
    match value {
        Value::Object(fields) => {
            let is_plan = fields.get("role").is_some_and(|role| role == "plan");
            fields.retain(|name, _| {
                let is_time = matches!(name.as_str(), "created_at" | "started_at" | "ended_at" | "waited_ms" | "at");
                !(times && is_time || is_plan && name == "id")
            });
            fields.values_mut().for_each(|value| strip(value, times));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| strip(value, times)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Every recorded conversation but the one of 974 MB.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_is_replayed_as_what_went_over_the_wire() {
    let folder = format!("{}/tests/traces", env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the traces") {
        let file = entry.expect("an entry").file_name();
        let Some(name) = file.to_str().expect("text").strip_suffix(".jsonl.zst") else { continue };
        if name != "fast-agent-big-full" {
            check(name, Told::Late).await;
            count += 1;
        }
    }
    assert!(count > 100, "{count} traces");
}

/// A host tells the first session before it starts the process.
#[tokio::test]
async fn a_session_may_be_told_before_the_agent_says_anything() {
    for name in ["claude-tools", "copilot-kill", "gemini-twosessions", "qwen-short", "claude-sub-native"] {
        check(name, Told::First).await;
    }
}

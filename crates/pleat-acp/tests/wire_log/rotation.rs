//! Two files at most, each to be read alone and both after each other.

use std::fmt::Write as _;
use std::path::PathBuf;

use pleat_acp::connection::messages::method;
use pleat_acp::trace::{self, TraceItem};
use pleat_acp::trace_replay::replay;
use pleat_transcript::ids::AgentSessionId;
use serde_json::json;

use crate::conversation::{House, Process, Told, recorded, say_with, session};

/// Says a recorded conversation with files so small that the current one is turned over once.
async fn check_turned_over(name: &str) {
    let recorded = recorded(name);
    let whole = House::new();
    say_with(&recorded, &whole.logs, Told::Late, 8).await;
    let bytes = whole.files(&session(1)).await[0].metadata().expect("a file").len();
    let house = House::with(|settings| settings.max_bytes = bytes / 5 * 6);
    say_with(&recorded, &house.logs, Told::Late, 8).await;
    let files = house.files(&session(1)).await;
    assert_eq!(files.len(), 2, "{name}");
    let expect = whole.replayed(&session(1)).await.documents;
    let found = house.replayed(&session(1)).await.documents;
    let json = |documents: &[pleat_transcript::document::Document]| documents[0].to_json().to_string();
    assert_eq!(found.len(), 1);
    assert!(json(&found) == json(&expect), "{name}:\n{}\n{}", json(&found), json(&expect));
    for file in &files {
        let alone = replay(trace::open(file).expect("a file")).expect("a trace").documents;
        assert_eq!(alone.len(), 1, "{}", file.display());
        assert_eq!(alone[0].session.root, expect[0].session.root);
        assert_eq!(alone[0].session.agent, expect[0].session.agent);
    }
}

/// Rule: record Replay.7
#[tokio::test]
async fn files_that_were_turned_over_are_one_log() {
    check_turned_over("claude-tools").await;
    check_turned_over("codex-midprompt").await;
    // After another process has begun to load the session.
    check_turned_over("codex-replay").await;
}

/// Text that cannot be packed.
fn random(seed: u64) -> String {
    let mut state = seed;
    let mut text = String::new();
    while text.len() < 1000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        write!(text, "{:08x}", state >> 32).expect("a text takes everything");
    }
    text
}

#[tokio::test]
async fn a_log_is_bounded_and_keeps_what_is_newest() {
    const MAX_BYTES: u64 = 40_000;
    let house = House::with(|settings| settings.max_bytes = MAX_BYTES);
    let mut process = Process::start(&house.logs);
    let asked = process.ask(method::INITIALIZE, json!({})).await;
    process.answer(asked, json!({"agentInfo": {"name": "a", "version": "1"}})).await;
    process.log.add_session(&session(1));
    let asked = process.ask(method::SESSION_NEW, json!({"cwd": "/w"})).await;
    process.answer(asked, json!({"sessionId": "a"})).await;
    process.log.name_session(&session(1), &AgentSessionId("a".to_owned()));
    for number in 0..200 {
        process.update("a", &random(number)).await;
        let files = house.files(&session(1)).await;
        let size: u64 = files.iter().map(|file| file.metadata().expect("a file").len()).sum();
        assert!(size <= MAX_BYTES, "{size}");
    }
    let files = house.files(&session(1)).await;
    let read = |files: Vec<PathBuf>| -> Vec<String> {
        let lines = trace::open_all(files).map(|line| match line.expect("a trace line").what {
            TraceItem::ClientToAgent(message) => message["method"].as_str().expect("a method").to_owned(),
            TraceItem::AgentToClient(message) => {
                let text = message["params"]["update"]["content"]["text"].as_str();
                text.map_or_else(|| "an answer".to_owned(), str::to_owned)
            }
            TraceItem::AgentRaw(_) | TraceItem::AgentStderr(_) | TraceItem::Note(_) => panic!("nothing else is said"),
        });
        lines.collect()
    };
    let head = ["initialize", "an answer", "session/new", "an answer"];
    let all = read(files.clone());
    let texts: Vec<_> = (0..200).map(random).collect();
    assert_eq!(all[..4], head);
    assert!(all.len() > 20 && texts.ends_with(&all[4..]), "{} lines", all.len());
    let alone: Vec<_> = files.into_iter().map(|file| read(vec![file])).collect();
    assert_eq!(alone[1][..4], head);
    assert_eq!([&alone[0], &alone[1][4..]].concat(), all);
}

/// Somebody, or the retention, removed the file of a session that goes on.
#[tokio::test]
async fn a_file_that_is_gone_begins_anew_with_its_head() {
    let house = House::new();
    let mut process = Process::start(&house.logs);
    process.log.add_session(&session(1));
    let asked = process.ask(method::SESSION_NEW, json!({"cwd": "/w"})).await;
    process.answer(asked, json!({"sessionId": "a"})).await;
    process.update("a", "gone").await;
    for file in house.files(&session(1)).await {
        std::fs::remove_file(file).expect("removed");
    }
    process.update("a", "there").await;
    let lines = house.lines(&session(1)).await;
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert_eq!(house.replayed(&session(1)).await.documents.len(), 1);
}

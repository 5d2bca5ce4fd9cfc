//! How fast the fold is, with figures that `cargo xtask bench core` sets beside their aims.

#![allow(clippy::unwrap_used, missing_docs, reason = "a bench may panic, and its parts are nobody's interface")]

use divan::Bencher;
use divan::counter::ItemsCount;
use pleat_transcript::document::{Document, Window};
use pleat_transcript::fold::fold;
use serde_json::{Value, json};

fn main() {
    divan::main();
}

/// A call as agents make them: reads, searches, edits with their diff, commands with their output.
fn call(number: usize) -> Value {
    let file = format!("/home/me/app/src/module_{}/part_{number}.rs", number % 7);
    let output = "a line of what it said, as long as lines are\n".repeat(20);
    let text = json!([{"type": "content", "content": {"type": "text", "text": output}}]);
    let (name, kind, input, output) = match number % 4 {
        0 => ("Read", "read", json!({"file_path": file, "offset": 1, "limit": 200}), text),
        1 => ("Grep", "search", json!({"pattern": format!("fn part_{number}"), "path": "src", "-n": true}), text),
        2 => {
            let diff = json!([{"type": "diff", "path": file, "oldText": output, "newText": output}]);
            ("Edit", "edit", json!({"file_path": file, "old_string": output, "new_string": output}), diff)
        }
        _ => ("Bash", "execute", json!({"command": format!("cargo test part_{number}"), "description": "Test"}), text),
    };
    json!({"id": format!("call-{number}"), "name": name, "kind": kind, "title": name, "state": "completed",
        "input": input, "output": output, "locations": [{"path": file}], "started_at": number, "ended_at": number + 5,
        "lines": {"added": 3, "removed": 1}})
}

/// A session of 40 messages in one turn: the prompt, rounds of a thought and some calls, and the answer.
fn session(calls: usize) -> Document {
    let rounds = 38;
    let round = |round: usize| {
        let mut parts =
            vec![json!({"type": "text", "text": "Now I look at what the next part needs.\nThen I change it."})];
        let calls = (round * calls / rounds)..((round + 1) * calls / rounds);
        parts.extend(calls.map(|number| json!({"type": "call", "call": call(number)})));
        json!({"id": format!("round-{round}"), "turn": "t1", "role": "assistant", "state": "complete", "parts": parts})
    };
    let mut messages = vec![json!({"id": "prompt", "turn": "t1", "role": "user", "text": "Make the tests pass"})];
    messages.extend((0..rounds).map(round));
    messages.push(json!({"id": "answer", "turn": "t1", "role": "assistant", "state": "complete",
        "parts": [{"type": "text", "text": "All tests pass."}]}));
    let session = json!({"id": "s1", "root": "/home/me/app"});
    Document::from_value(json!({"session": session, "messages": messages})).unwrap()
}

/// The latest window of a session with so many calls.
#[divan::bench(args = [40, 400])]
fn latest_window(bencher: Bencher, calls: usize) {
    let document = session(calls);
    assert_eq!(document.messages.len(), 40);
    bencher.counter(ItemsCount::new(calls)).bench_local(|| fold(divan::black_box(&document), &Window::Latest));
}

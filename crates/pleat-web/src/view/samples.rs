//! Documents that the tests draw.

use super::block::{Block, Content};
use super::diff::{Patch, diff};
use super::transcript::Transcript;
use pleat_host::LiveState;
use pleat_transcript::call::Call;
use pleat_transcript::document::{Document, Window};
use pleat_transcript::fold::{excerpt, fold_excerpt};
use serde_json::{Value, json};

/// A document from JSON.
pub(super) fn document(json: &Value) -> Document {
    Document::from_json(&json.to_string()).unwrap()
}

/// The page of a document.
pub(super) fn page(document: &Document) -> Block {
    page_at(document, &Window::Latest)
}

/// The page of a document at a window.
pub(super) fn page_at(document: &Document, window: &Window) -> Block {
    page_asking(document, window, &[])
}

/// The page of a document at a window, where these calls outside of it are asked about.
pub(super) fn page_asking(document: &Document, window: &Window, elsewhere: &[Call]) -> Block {
    drawn(document, &LiveState::default(), window, elsewhere)
}

/// The page of a document while this is known beside it.
pub(super) fn page_live(document: &Document, live: &LiveState) -> Block {
    drawn(document, live, &Window::Latest, &[])
}

fn drawn(document: &Document, live: &LiveState, window: &Window, elsewhere: &[Call]) -> Block {
    let excerpt = excerpt(document, window).unwrap();
    let rows = fold_excerpt(&excerpt);
    Transcript::new(&excerpt, live, elsewhere, &rows, window, Some("Claude Code"), "form-key").page()
}

/// The block of this key.
pub(super) fn find<'b>(block: &'b Block, key: &str) -> Option<&'b Block> {
    if block.key() == key {
        return Some(block);
    }
    match block.content() {
        Content::Leaf { .. } => None,
        Content::Children(children) => children.iter().find_map(|child| find(child, key)),
    }
}

/// What of a page changes, by key: `-` goes, `+` comes, `>` moves, `=` has new content, `@` new attributes.
pub(super) fn patched(old: &Block, new: &Block) -> Vec<String> {
    let outline = old.outline();
    let key = |patch: &Patch<'_>| match patch {
        Patch::Remove { key } => format!("-{key}"),
        Patch::Insert { block, .. } => format!("+{}", block.key()),
        Patch::Move { key, .. } => format!(">{key}"),
        Patch::Replace { block } => format!("={}", block.key()),
        Patch::Attributes { block } => format!("@{}", block.key()),
    };
    diff(&outline, new).iter().map(key).collect()
}

/// A session in one turn `t1`, live or over.
pub(super) fn session(live: bool, messages: &Value) -> Document {
    let state = if live { "running" } else { "completed" };
    document(&json!({
        "session": {
            "id": "s1", "root": "/home/me/app", "title": "Make the tests pass", "agent": "claude",
            "live_turn": live.then_some("t1"), "turns": [{"id": "t1", "state": state}]
        },
        "messages": messages
    }))
}

/// A round with these calls.
pub(super) fn round(id: &str, calls: &[Value]) -> Value {
    let parts: Vec<_> = calls.iter().map(call).collect();
    json!({"id": id, "turn": "t1", "role": "assistant", "state": "complete", "parts": parts})
}

/// A question with two options.
pub(super) fn question(request: &str) -> Value {
    json!({"request": request, "state": "open", "options": [
        {"optionId": "yes", "name": "Yes", "kind": "allow_once"}, {"optionId": "no", "name": "No", "kind": "reject_once"}
    ]})
}

/// A bit of everything, at the moment when a person is asked.
pub(super) fn everything() -> Document {
    session(
        true,
        &json!([
            {"id": "m1", "turn": "t1", "role": "user", "text": "The parser test fails since yesterday.\nFind out why, and mend it. Don't touch the public API, please."},
            {"id": "m2", "turn": "t1", "role": "assistant", "state": "complete", "parts": [
                {"type": "text", "text": PROSE}
            ]},
            {"id": "m3", "turn": "t1", "role": "plan", "stream": null, "entries": [
                {"content": "Reproduce the failure", "status": "completed"},
                {"content": "Mend `parse_header` so that an empty line ends it", "status": "in_progress"},
                {"content": "Run the whole suite", "status": "pending"}
            ]},
            {"id": "m4", "turn": "t1", "role": "assistant", "state": "complete", "parts": [
                {"type": "thinking", "text": "The header ends at the first empty line. The test feeds CRLF."},
                {"type": "text", "text": "I'll reproduce it first."},
                call(&json!({"id": "c1", "name": "Bash", "kind": "execute", "state": "failed", "input": {"command": "cargo test -p parser", "description": "Run the parser tests"},
                    "output": [{"type": "terminal", "output": "\u{1b}[1mrunning 3 tests\u{1b}[0m\ntest header ... FAILED\n", "exit": {"exitCode": 101}}], "started_at": 0, "ended_at": 4200})),
                call(&json!({"id": "c2", "name": "Read", "kind": "read", "state": "completed", "input": {"file_path": "/home/me/app/src/header.rs"}, "started_at": 4200, "ended_at": 4300,
                    "output": [{"type": "content", "content": {"type": "text", "text": "fn parse_header() {}\n"}}]}))
            ]},
            {"id": "m5", "turn": "t1", "role": "assistant", "state": "complete", "parts": [
                {"type": "text", "text": "The check for the end of the header compares with `\"\"`, and with CRLF the line is `\"\\r\"`."},
                call(&json!({"id": "c3", "name": "Task", "kind": "think", "state": "completed", "input": {"description": "Look for other callers"}, "started_at": 5000, "ended_at": 9000})),
                call(&json!({"id": "c5", "name": "Edit", "kind": "edit", "state": "completed", "input": {"file_path": "/home/me/app/src/header.rs"}, "lines": {"added": 2, "removed": 1}, "started_at": 9000, "ended_at": 9100,
                    "output": [{"type": "diff", "path": "/home/me/app/src/header.rs", "oldText": "fn a() {\n    if line == \"\" {\n}\n", "newText": "fn a() {\n    let line = line.trim_end();\n    if line.is_empty() {\n}\n"}]}))
            ]},
            {"id": "m6", "turn": "t1", "role": "assistant", "parent": "c3", "state": "complete", "parts": [
                {"type": "text", "text": "Two callers, both inside the crate."},
                call(&json!({"id": "c4", "name": "Grep", "kind": "search", "state": "completed", "input": {"pattern": "parse_header"}, "started_at": 5100, "ended_at": 5200}))
            ]},
            {"id": "m7", "turn": "t1", "role": "notice", "level": "warning", "code": "late", "text": "The agent did not say which model it uses."},
            {"id": "m8", "turn": "t1", "role": "assistant", "state": "streaming", "parts": [
                {"type": "text", "text": "Now the whole suite."},
                call(&json!({"id": "c6", "name": "Bash", "kind": "execute", "state": "awaiting_permission", "input": {"command": "cargo test --workspace && rm -rf target/tmp"},
                    "permission": {"request": "p1", "state": "open", "options": [
                        {"optionId": "a", "name": "Yes", "kind": "allow_once"},
                        {"optionId": "b", "name": "Yes, and don't ask again for cargo", "kind": "allow_always"},
                        {"optionId": "c", "name": "Yes, for this session", "kind": "allow_always"},
                        {"optionId": "d", "name": "No, and tell it what to do", "kind": "reject_once"}
                    ]}}))
            ]}
        ]),
    )
}

/// The same when it is over, with its answer.
pub(super) fn over() -> Document {
    let mut document = everything();
    document.session.live_turn = None;
    document.session.turns[0].state = pleat_transcript::session::TurnState::Interrupted;
    document
}

fn call(call: &Value) -> Value {
    json!({"type": "call", "call": call})
}

const PROSE: &str = "I looked at `src/header.rs` and the **failing test**. Three things stand out:\n\n\
1. The test feeds *CRLF* line ends.\n2. `parse_header` compares with an empty string.\n3. See [the RFC](https://www.rfc-editor.org/rfc/rfc9112).\n\n\
## What I would change\n\n```rust\nfn ends_header(line: &str) -> bool {\n    line.trim_end().is_empty()\n}\n```\n\n\
| line end | before | after |\n|---|---|---|\n| LF | passes | passes |\n| CRLF | fails | passes |\n\n\
> An empty line ends the header.\n\n- [x] reproduce\n- [ ] mend\n";

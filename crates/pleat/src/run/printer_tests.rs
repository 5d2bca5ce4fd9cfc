//! What is printed while a session grows: everything once, and in its order.

use super::page::Page;
use super::printer::{Look, Printer};
use super::style::Style;
use pleat_acp::{trace, trace_replay};
use pleat_store::{Revision, StoredExcerpt};
use pleat_transcript::document::{Document, Window};
use pleat_transcript::fold::{excerpt, top_level_messages};
use pleat_transcript::record::SessionRecord;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const PLAIN: Look = Look { style: Style::Plain, shows_thinking: true };

fn page(document: &Document, window: &Window, is_over: bool) -> Page {
    let excerpt = excerpt(document, window).unwrap();
    Page::new(StoredExcerpt { excerpt, questions: Vec::new(), revision: Revision(0) }, is_over)
}

/// What one look at the session prints, as `Following` looks at it where all of it is new.
fn look(printer: &mut Printer, document: &Document, is_over: bool) -> String {
    let mut text = String::new();
    if let Some(message) = printer.growing().cloned() {
        let only = Window::Range { from: message.clone(), to: message };
        text.push_str(&printer.print(&page(document, &only, is_over)));
    }
    for messages in top_level_messages(document).chunks(30) {
        let (from, to) = (messages[0].clone(), messages[messages.len() - 1].clone());
        text.push_str(&printer.print(&page(document, &Window::Range { from, to }, is_over)));
    }
    text
}

fn read(document: &Value) -> Document {
    Document::from_json(&document.to_string()).unwrap()
}

/// The session `t` with these messages, live or over.
fn session(is_over: bool, messages: &Value) -> Value {
    let turn = if is_over { json!({"id": "t", "state": "completed"}) } else { json!({"id": "t", "state": "running"}) };
    let live = if is_over { Value::Null } else { json!("t") };
    let mut messages = messages.clone();
    for message in messages.as_array_mut().unwrap() {
        message["turn"] = json!("t");
    }
    json!({"session": {"id": "s", "root": "/w", "live_turn": live, "turns": [turn]}, "messages": messages})
}

/// Prints states of a session one after the other, the last one over; each look's text behind a `┆`.
fn printed(look_of: Look, states: &[Value]) -> String {
    let mut printer = Printer::new(look_of);
    let count = states.len();
    let looks = states.iter().enumerate().map(|(number, messages)| {
        let is_over = number + 1 == count;
        look(&mut printer, &read(&session(is_over, messages)), is_over)
    });
    looks.flat_map(|text| ["┆".to_owned(), text]).collect()
}

fn said(id: &str, state: &str, parts: &Value) -> Value {
    json!({"id": id, "role": "assistant", "state": state, "parts": parts})
}

fn text(words: &str) -> Value {
    json!({"type": "text", "text": words})
}

fn call(id: &str, state: &str, more: &Value) -> Value {
    let mut call = json!({"id": id, "kind": "execute", "state": state, "input": {"command": format!("run {id}")}});
    call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"type": "call", "call": call})
}

fn prompt() -> Value {
    json!({"id": "m0", "role": "user", "text": "Fix it", "origin": "typed"})
}

#[test]
fn a_text_grows_and_is_printed_once_though_it_becomes_a_narration() {
    let none = json!({});
    let shown = printed(
        PLAIN,
        &[
            json!([prompt()]),
            json!([prompt(), said("m1", "streaming", &json!([text("\nLook")]))]),
            json!([prompt(), said("m1", "streaming", &json!([text("\nLooking\r\naround\x1b[2J.\n\n")]))]),
            json!([prompt(), said("m1", "streaming", &json!([text("\nLooking\r\naround\x1b[2J.\n\nNow"),]))]),
            json!([
                prompt(),
                said(
                    "m1",
                    "streaming",
                    &json!([text("\nLooking\r\naround\x1b[2J.\n\nNow\n"), call("c1", "running", &none)])
                )
            ]),
            json!([
                prompt(),
                said(
                    "m1",
                    "complete",
                    &json!([text("\nLooking\r\naround\x1b[2J.\n\nNow\n"), call("c1", "completed", &none)])
                ),
                said("m2", "streaming", &json!([text("Done.")]))
            ]),
            json!([
                prompt(),
                said(
                    "m1",
                    "complete",
                    &json!([text("\nLooking\r\naround\x1b[2J.\n\nNow\n"), call("c1", "completed", &none)])
                ),
                said("m2", "complete", &json!([text("Done.")]))
            ]),
        ],
    );
    insta::assert_snapshot!(shown);
}

#[test]
fn calls_are_lines_when_they_have_ended() {
    let failed = json!({"output": [{"type": "terminal", "output": "x", "exit": 101}]});
    let killed = json!({"output": [{"type": "terminal", "output": "x", "exit": "SIGKILL"}]});
    let well = json!({"output": [{"type": "terminal", "output": "x", "exit": 0}]});
    let none = json!({});
    let round = |first, second| {
        let calls = [
            call("a", first, &well),
            call("b", second, &failed),
            call("c", "completed", &killed),
            call("d", "denied", &none),
            call("e", "cancelled", &none),
            call("f", "interrupted", &none),
            call("g", "running", &none),
        ];
        json!([prompt(), said("m1", "complete", &json!(calls))])
    };
    let shown = printed(
        PLAIN,
        &[
            round("running", "pending"),
            round("running", "failed"),
            round("completed", "failed"),
            round("completed", "failed"),
        ],
    );
    insta::assert_snapshot!(shown);
}

#[test]
fn what_ends_while_a_text_grows_comes_behind_it() {
    let none = json!({});
    let state = |first, words: &str, state: &str| {
        json!([
            prompt(),
            said("m1", "complete", &json!([call("a", first, &none), call("b", "completed", &none)])),
            said("m2", state, &json!([text(words)]))
        ])
    };
    let shown = printed(
        PLAIN,
        &[
            state("running", "I go", "streaming"),
            state("completed", "I go on", "streaming"),
            state("completed", "I go on.", "complete"),
            state("completed", "I go on.", "complete"),
        ],
    );
    assert_eq!(shown, "┆✓ Run command · run b\n\nI go┆ on┆.\n\n✓ Run command · run a\n┆");
}

#[test]
fn what_sub_agents_do_stands_under_their_names() {
    let agent =
        |id: &str, state| call(id, state, &json!({"name": "Task", "input": {"description": format!("Look {id}")}}));
    let inside = |id: &str, parent: &str, state| call(id, state, &json!({"parent": parent}));
    let child = |id: &str, parent: &str, parts: Value| json!({"id": id, "role": "assistant", "state": "streaming", "parent": parent, "parts": parts});
    let shown = printed(
        PLAIN,
        &[
            json!([
                prompt(),
                said("m1", "complete", &json!([agent("a", "running"), agent("b", "running")])),
                child("m2", "a", json!([text("I loo")]))
            ]),
            json!([
                prompt(),
                said("m1", "complete", &json!([agent("a", "running"), agent("b", "running")])),
                child(
                    "m2",
                    "a",
                    json!([text("I look\nhere."), inside("a1", "a", "completed"), inside("a2", "a", "running")])
                ),
                child("m3", "b", json!([inside("b1", "b", "completed")]))
            ]),
            json!([
                prompt(),
                said("m1", "complete", &json!([agent("a", "completed"), agent("b", "running")])),
                child(
                    "m2",
                    "a",
                    json!([text("I look\nhere."), inside("a1", "a", "completed"), inside("a2", "a", "completed")])
                ),
                child("m3", "b", json!([inside("b1", "b", "completed")]))
            ]),
            // It goes on though its call has ended.
            json!([
                prompt(),
                said("m1", "complete", &json!([agent("a", "completed"), agent("b", "completed")])),
                child(
                    "m2",
                    "a",
                    json!([text("I look\nhere."), inside("a1", "a", "completed"), inside("a2", "a", "completed")])
                ),
                child("m3", "b", json!([inside("b1", "b", "completed")])),
                child("m4", "b", json!([inside("b2", "b", "failed")]))
            ]),
        ],
    );
    insta::assert_snapshot!(shown);
}

#[test]
fn a_text_that_turns_out_to_be_a_sub_agent_s_goes_on_under_its_name() {
    let agent = call("a", "running", &json!({"name": "Task", "input": {"description": "Look"}}));
    let first = || said("m1", "complete", &json!([agent]));
    let moved = json!([text("I look around."), call("b", "completed", &json!({"parent": "a"}))]);
    let shown = printed(
        PLAIN,
        &[
            json!([prompt(), first(), said("m2", "streaming", &json!([text("I look")]))]),
            json!([prompt(), first(), said("m2", "complete", &moved)]),
            json!([prompt(), first(), said("m2", "complete", &moved)]),
        ],
    );
    let inside = "▸ Run sub-agent · Look\n  “  around.\n  ✓ Run command · run b\n";
    assert_eq!(shown, format!("┆I look┆\n\n{inside}┆… without a result: Run sub-agent · Look\n"));
}

#[test]
fn a_plan_is_shown_at_first_and_where_it_changed_in_the_end() {
    let plan = |first: &str, second: &str| {
        let entry = |content: &str, status: &str| json!({"content": content, "status": status});
        json!([prompt(), {"id": "p1", "role": "plan", "entries": [entry("Read", first), entry("Fix", second)]},
            said("m2", "complete", &json!([text("Going on.")]))])
    };
    let shown = printed(
        PLAIN,
        &[plan("in_progress", "pending"), plan("completed", "in_progress"), plan("completed", "completed")],
    );
    insta::assert_snapshot!(shown);
    let same = printed(PLAIN, &[plan("completed", "pending"), plan("completed", "pending")]);
    assert!(same.ends_with("Going on.\n┆"), "{same}");
}

#[test]
fn notices_errors_and_thinking_are_told_apart() {
    let messages = json!([
        prompt(),
        {"id": "m1", "role": "user", "text": "Injected", "origin": "agent"},
        {"id": "m2", "role": "notice", "level": "warning", "text": "The line\nwas too long."},
        {"id": "m3", "role": "assistant", "state": "complete", "error": "It broke.", "parts": [
            {"type": "thinking", "text": "Hm.\nWell."},
            {"type": "text", "text": "Here:"},
            {"type": "image", "mime": "image/png", "data": "aaaa", "name": "chart"},
            call("a", "failed", &json!({}))]}
    ]);
    insta::assert_snapshot!(
        "in_a_terminal",
        printed(Look { style: Style::Coloured, shows_thinking: true }, std::slice::from_ref(&messages))
            .replace('\x1b', "␛")
    );
    insta::assert_snapshot!("in_a_pipe", printed(Look { style: Style::Plain, shows_thinking: false }, &[messages]));
}

thread_local! {
    /// What was printed so far of the sessions of a trace, by their ids.
    static PRINTED: RefCell<BTreeMap<String, (Printer, String)>> = const { RefCell::new(BTreeMap::new()) };
}

fn print_between(_: &mut SessionRecord, document: &Document) {
    PRINTED.with_borrow_mut(|sessions| print_in(sessions, document, false));
}

fn print_in(sessions: &mut BTreeMap<String, (Printer, String)>, document: &Document, is_over: bool) {
    let id = document.session.id.to_string();
    let (printer, text) = sessions.entry(id).or_insert_with(|| (Printer::new(PLAIN), String::new()));
    text.push_str(&look(printer, document, is_over));
}

/// Lines that may be there more than once, or only on the way: names of sub-agents, and plans.
fn lasting(text: &str) -> Vec<&str> {
    let is_of_a_plan = |line: &str| {
        line.starts_with("plan ·") || ["  [x]", "  [>]", "  [ ]"].iter().any(|mark| line.starts_with(mark))
    };
    let mut lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.is_empty() && !line.trim_start().starts_with('▸') && !is_of_a_plan(line))
        .collect();
    lines.sort_unstable();
    lines
}

/// What the agent said itself, in its order.
fn prose(text: &str) -> Vec<&str> {
    const MARKS: [&str; 9] = ["✓", "✗", "⊘", "■", "⚡", "… without", "▸", "  ", "plan ·"];
    let is_prose = |line: &&str| !line.is_empty() && !MARKS.iter().any(|mark| line.starts_with(mark));
    text.lines().filter(is_prose).collect()
}

fn traces() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../pleat-acp/tests/traces");
    let files: BTreeSet<PathBuf> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    // Those that grow for long take minutes, and say nothing else.
    files.into_iter().filter(|file| file.metadata().unwrap().len() < 40_000).collect()
}

#[test]
fn real_conversations_are_printed_whole_and_once_however_they_grow() {
    let mut looked_at = 0;
    for file in traces() {
        PRINTED.with_borrow_mut(BTreeMap::clear);
        let replayed = trace_replay::replay_with(trace::open(&file).unwrap(), print_between).unwrap();
        for document in &replayed.documents {
            let grown = PRINTED.with_borrow_mut(|sessions| {
                print_in(sessions, document, true);
                sessions.remove(document.session.id.as_str()).unwrap().1
            });
            let whole = look(&mut Printer::new(PLAIN), document, true);
            assert_eq!(lasting(&grown), lasting(&whole), "{}", file.display());
            assert_eq!(prose(&grown), prose(&whole), "{}", file.display());
            looked_at += 1;
        }
    }
    assert!(looked_at > 50, "{looked_at}");
}

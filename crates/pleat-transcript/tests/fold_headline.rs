//! The headline of a group (docs/spec/fold.md, section 5.1): what a person reads of a row that is closed.

#![allow(clippy::unwrap_used, reason = "the helpers of tests may panic too")]

mod document_generator;

use document_generator::document as any_document;
use pleat_transcript::document::{Document, Window};
use pleat_transcript::fold::fold;
use pleat_transcript::rows::{Children, Round, Row, Summary};
use proptest::prelude::*;
use serde_json::{Value, json};
use unicode_segmentation::UnicodeSegmentation;

/// The longest headline, in characters.
const LONGEST: usize = 120;

fn call(name: &str, state: &str, input: &Value) -> Value {
    json!({"name": name, "state": state, "input": input})
}

fn read(path: &str) -> Value {
    call("Read", "completed", &json!({"path": path}))
}

fn edit(path: &str, added: u64, removed: u64) -> Value {
    json!({"name": "Edit", "state": "completed", "input": {"path": path}, "lines": {"added": added, "removed": removed}})
}

fn run(command: &str, state: &str) -> Value {
    call("Bash", state, &json!({"command": command}))
}

fn of_server(server: &str, tool: &str) -> Value {
    json!({"server": server, "name": tool, "state": "completed"})
}

/// A round of calls, numbered from `first`.
fn round(id: &str, parent: Option<&str>, first: usize, calls: &[Value]) -> Value {
    let part = |(number, call): (usize, &Value)| {
        let mut call = call.clone();
        call["id"] = json!(format!("c{}", first + number));
        json!({"type": "call", "call": call})
    };
    let parts: Vec<_> = calls.iter().enumerate().map(part).collect();
    json!({"id": id, "turn": "t1", "role": "assistant", "parent": parent, "parts": parts})
}

fn rows_of(live_turn: Option<&str>, messages: &[Value]) -> Value {
    let session = json!({"id": "s1", "root": "/home/me/app", "live_turn": live_turn});
    let document = Document::from_value(json!({"session": session, "messages": messages})).unwrap();
    serde_json::to_value(fold(&document, &Window::Latest).unwrap()).unwrap()["rows"].clone()
}

fn headline_of(live_turn: Option<&str>, messages: &[Value]) -> String {
    rows_of(live_turn, messages)[0]["summary"]["headline"].as_str().unwrap().to_owned()
}

/// The headline of calls whose turn is over.
fn over(calls: &[Value]) -> String {
    headline_of(None, &[round("a1", None, 0, calls)])
}

/// The headline of calls whose turn is live.
fn live(calls: &[Value]) -> String {
    headline_of(Some("t1"), &[round("a1", None, 0, calls)])
}

fn check(calls: &[Value], expected: &str) {
    assert_eq!(over(calls), expected);
}

/// A headline with its length, for the snapshots.
fn shape(name: &str, headline: &str) -> String {
    format!("{name}\n  {headline}\n  ({} characters)\n", headline.graphemes(true).count())
}

/// Rule: fold 5.1.1
#[test]
fn every_call_is_told_once_by_its_state() {
    let states = [
        "completed",
        "failed",
        "denied",
        "cancelled",
        "superseded",
        "interrupted",
        "pending",
        "running",
        "awaiting_permission",
    ];
    let calls: Vec<_> = states.iter().map(|state| run("ls", state)).collect();
    assert_eq!(
        over(&calls),
        "Ran ls · 1 failed · 1 denied · 2 stopped, last: run ls · 1 interrupted: run ls \
         · 3 without a result, last: run ls"
    );
    assert_eq!(
        live(&calls),
        "Ran ls · 1 failed · 1 denied · 2 stopped · 1 interrupted · 1 waits for permission: run ls \
         · Running ls and 1 more"
    );
}

/// Rule: fold 5.1.2
#[test]
fn one_phrase_for_each_action_in_the_order_of_the_newest_calls() {
    let calls = [edit("a.rs", 1, 0), read("b.rs"), run("make", "completed"), read("c.rs"), edit("a.rs", 2, 1)];
    check(&calls, "Ran make · Read b.rs, c.rs · Edited a.rs 2 times +3 −1");
    check(
        &[of_server("a", "x"), read("y"), of_server("a", "z"), of_server("b", "x")],
        "Read y · Used a: x, z · Used b: x",
    );
}

/// Rule: fold 5.1.3
#[test]
fn targets_are_named_while_they_are_few() {
    check(&[read("/home/me/app/src/a.rs")], "Read src/a.rs");
    check(&[read("a"), read("b")], "Read a, b");
    check(&[read("a"), read("b"), read("a")], "Read b, a");
    check(&[read("a"), read("b"), read("c"), read("a")], "Read 3 files");
    check(&[read("a"), call("Read", "completed", &Value::Null)], "Read 2 files");
    check(&[run("ls", "completed"), run("ls", "completed")], "Ran ls 2 times");
    check(&[run("ls", "completed"), run("ps", "completed")], "Ran ls, ps");
    check(&[run("ls", "completed"), run("ps", "completed"), run("ls", "completed")], "Ran 3 commands");
    check(&[run(" ", "completed")], "Ran 1 command");
    let search = |pattern: &str| call("Grep", "completed", &json!({"pattern": pattern}));
    check(&[search("a")], "Searched for a");
    check(&[search("a"), search("b"), search("c")], "Searched files 3 times");
    check(&[call("Grep", "completed", &json!({}))], "Searched files");
}

/// Rule: fold 5.1.3
#[test]
fn every_action_has_words_of_its_own() {
    let names = [
        "Read",
        "Edit",
        "Write",
        "delete_file",
        "move_file",
        "Grep",
        "Glob",
        "LS",
        "Bash",
        "BashOutput",
        "KillShell",
        "WebFetch",
        "WebSearch",
        "Think",
        "Task",
        "TodoWrite",
        "ExitPlanMode",
    ];
    let line_of = |name: &str| {
        let call = |state: &str, target: &Value| {
            let kind = if name == "Think" { json!("think") } else { Value::Null };
            json!({"name": name, "kind": kind, "state": state, "title": "", "input": target})
        };
        let target = json!({"path": "x", "pattern": "x", "command": "x", "url": "x", "description": "x"});
        let told = |calls: &[Value]| [over(calls), live(calls)];
        let [one, _] = told(&[call("completed", &target)]);
        let [alone, _] = told(&[call("completed", &json!({}))]);
        let [many, _] = told(&vec![call("completed", &json!({})); 3]);
        let [failed, _] = told(&[call("failed", &target)]);
        let [failed_alone, _] = told(&[call("failed", &json!({}))]);
        let [_, running] = told(&[call("running", &target)]);
        let [_, running_alone] = told(&[call("running", &json!({}))]);
        [one, alone, many, failed, failed_alone, running, running_alone].join(" | ")
    };
    insta::assert_snapshot!(names.map(line_of).join("\n"));
}

/// Rule: fold 5.1.3
#[test]
fn servers_memories_and_unknown_tools() {
    check(&[of_server("linear", "create_issue")], "Used linear: create_issue");
    check(&vec![of_server("linear", "create_issue"); 3], "Used linear: create_issue 3 times");
    check(&[of_server("linear", "a"), of_server("linear", "b"), of_server("linear", "c")], "Used linear 3 times");
    check(&[json!({"name": "mcp__broken", "state": "completed"})], "Used mcp__broken");
    let memory = |name: &str, tool: &str| call(tool, "completed", &json!({"name": name}));
    check(&[memory("plans", "save_memory")], "Used memory: save plans");
    check(&[memory("a", "save_memory"), memory("a", "read_memory"), memory("b", "read_memory")], "Used memory 3 times");
    check(&[json!({"name": "lsp", "title": "Look up `Row`", "state": "completed"})], "Look up `Row`");
    check(&[json!({"name": "lsp", "state": "completed", "input": {"path": "a"}})], "lsp a");
    let titled = |title: &str| json!({"title": title, "state": "completed"});
    check(&[titled("a"), titled("b"), titled("c")], "3 other actions");
    assert_eq!(live(&[json!({"server": "linear", "name": "list", "state": "running"})]), "Using linear: list");
    check(&[json!({"server": "linear", "state": "failed"})], "1 failed: use linear");
}

/// Rule: fold 5.1.4
#[test]
fn a_target_has_at_most_40_characters() {
    let long = "x".repeat(60);
    assert_eq!(over(&[read(&format!("{long}/a.rs"))]), format!("Read …{}/a.rs", "x".repeat(34)));
    assert_eq!(over(&[run(&long, "completed")]), format!("Ran {}…", "x".repeat(39)));
    assert_eq!(over(&[run(&"界".repeat(40), "completed")]), format!("Ran {}", "界".repeat(40)));
    assert_eq!(over(&[of_server(&long, "t\nu")]), format!("Used {}…: t u", "x".repeat(39)));
}

/// Rule: fold 5.1.5
#[test]
fn lines_that_changed_stand_behind_their_action() {
    check(&[edit("a", 12, 3)], "Edited a +12 −3");
    check(&[edit("a", 12, 0), edit("b", 0, 3)], "Edited a, b +12 −3");
    check(&[edit("a", 0, 0)], "Edited a");
    let failed =
        json!({"name": "Edit", "state": "failed", "input": {"path": "a"}, "lines": {"added": 1, "removed": 1}});
    check(&[failed, edit("b", 1, 0)], "Edited b +1 · 1 failed: edit a");
}

/// Rule: fold 5.1.6
#[test]
fn outcomes_are_named_in_the_order_of_issues() {
    check(
        &[read("a"), run("make", "failed"), read("b"), call("Write", "denied", &json!({"path": "c"}))],
        "Read a, b · 1 failed: run make · 1 denied: create c",
    );
    check(&[run("a", "failed"), run("b", "failed"), run("c", "failed")], "3 failed, last: run c");
    check(&[run("a", "interrupted"), run("b", "pending")], "1 interrupted: run a · 1 without a result: run b");
    check(&[call("Read", "cancelled", &Value::Null)], "1 stopped: read file");
}

/// Rule: fold 5.1.7
#[test]
fn what_waits_and_what_runs_stand_last() {
    assert_eq!(live(&[read("a"), run("make", "running")]), "Read a · Running make");
    assert_eq!(live(&[run("a", "pending"), run("b", "running"), run("c", "pending")]), "Running b and 2 more");
    assert_eq!(
        live(&[run("a", "running"), run("b", "awaiting_permission"), run("c", "awaiting_permission")]),
        "2 wait for permission, first: run b · Running a"
    );
}

/// Rule: fold 5.1.7
#[test]
fn what_waits_inside_a_sub_agent_is_told_around_it() {
    let task = call("Task", "running", &json!({"description": "Look around"}));
    let messages = [
        round("a1", None, 0, &[task]),
        round("a2", Some("c0"), 1, &[call("Task", "running", &json!({"description": "Look deeper"}))]),
        round("a3", Some("c1"), 2, &[run("rm -rf x", "awaiting_permission"), run("ls", "failed")]),
    ];
    let rows = rows_of(Some("t1"), &messages);
    let outer = "1 waits for permission: run rm -rf x · Running sub-agent: Look around";
    assert_eq!(rows[0]["summary"]["headline"], outer);
    let inside = &rows[0]["rounds"][0]["calls"][0]["children"];
    assert_eq!(inside["headline"], "1 waits for permission: run rm -rf x · Running sub-agent: Look deeper");
    let deepest = &inside["rounds"][0]["calls"][0]["children"];
    assert_eq!(deepest["headline"], "1 failed: run ls · 1 waits for permission: run rm -rf x");
    let over = rows_of(None, &messages);
    assert_eq!(over[0]["summary"]["headline"], "1 without a result: run sub-agent: Look around");
}

/// Rule: fold 5.1.8
#[test]
fn a_sub_agent_that_only_talks_does_nothing() {
    let said = json!({"id": "a2", "turn": "t1", "role": "assistant", "parent": "c0",
        "parts": [{"type": "text", "text": "Looking"}]});
    let inside = |live_turn: Option<&str>| {
        let task = call("Task", "running", &json!({"description": "Look around"}));
        let rows = rows_of(live_turn, &[round("a1", None, 0, &[task]), said.clone()]);
        rows[0]["rounds"][0]["calls"][0]["children"]["headline"].clone()
    };
    assert_eq!((inside(Some("t1")), inside(None)), (json!("Working"), json!("No actions")));
}

/// Rule: fold 5.1.9
#[test]
fn what_is_too_long_becomes_shorter_from_the_oldest_work_on() {
    let path = |letter: &str| format!("{}/{letter}.rs", letter.repeat(18));
    let all = [
        read(&path("a")),
        edit(&path("b"), 1, 1),
        call("Grep", "completed", &json!({"pattern": "c".repeat(18)})),
        run(&"d".repeat(18), "completed"),
        run(&"e".repeat(18), "failed"),
    ];
    let name = "b".repeat(18);
    assert_eq!(
        over(&all),
        format!(
            "Read 1 file · Edited {name}/b.rs +1 −1 · Searched files · Ran 1 command · 1 failed: run {}",
            "e".repeat(18)
        )
    );
    let servers: Vec<_> = (0..9).map(|n| of_server(&format!("server-{n}-{}", "s".repeat(20)), "tool")).collect();
    let headline = over(&[servers.as_slice(), &[run("make", "failed")]].concat());
    assert_eq!(
        headline,
        format!("7 more actions · Used server-7-{0} · Used server-8-{0} · 1 failed: run make", "s".repeat(20))
    );
}

/// Rule: fold 5.1.9
#[test]
fn a_huge_session_still_fits() {
    let states = ["failed", "denied", "cancelled", "interrupted", "awaiting_permission", "running", "completed"];
    let calls: Vec<_> = (0..7_000).map(|n| run(&"command ".repeat(9), states[n % 7])).collect();
    let headline = live(&calls);
    insta::assert_snapshot!(shape("7,000 calls in seven states", &headline));
}

#[test]
fn many_shapes() {
    let fifty: Vec<_> = (0..50)
        .map(|n| match n % 10 {
            0..=3 => read(&format!("src/{n}.rs")),
            4 | 5 => call("Grep", "completed", &json!({"pattern": format!("p{n}")})),
            6 => edit(&format!("src/{}.rs", n % 20), 4, 1),
            7 => run(&format!("cargo test --package p{n}"), if n == 47 { "failed" } else { "completed" }),
            8 => of_server("linear", if n < 20 { "list_issues" } else { "create_issue" }),
            _ => call("Task", "completed", &json!({"description": format!("Look for {n}")})),
        })
        .collect();
    let deep = format!("/home/me/app/{}/view/activity.rs", "very/long/path".repeat(20));
    let shapes = [
        ("one call", over(&[read("/home/me/app/src/a.rs")])),
        (
            "a working day",
            over(&[read("a"), read("b"), read("c"), edit("src/a.rs", 12, 3), run("cargo test", "failed")]),
        ),
        ("failed only", over(&[run("cargo test", "failed")])),
        ("all stopped", over(&vec![run("sleep 100", "cancelled"); 3])),
        ("live, one call", live(&[run("cargo test", "running")])),
        ("live, after some work", live(&[read("a"), edit("b", 1, 0), run("cargo test", "running")])),
        ("live, between calls", live(&[read("a")])),
        ("live, a person is asked", live(&[read("a"), run("rm -rf target", "awaiting_permission")])),
        ("50 calls of mixed kinds", over(&fifty)),
        ("50 calls of mixed kinds, live", live(&[fifty.as_slice(), &[run("cargo clippy", "running")]].concat())),
        ("MCP tools", over(&[of_server("linear", "get_issue"), of_server("Memory", "read"), of_server("db", "query")])),
        ("sub-agents", over(&vec![call("Task", "completed", &json!({"description": "Look for callers"})); 2])),
        ("a very long path", over(&[read(&deep), edit(&deep, 100, 2000), run(&format!("cat {deep}"), "failed")])),
        (
            "CJK",
            over(&[
                edit("文档/很长的路径/很长的文件名/这是一个非常非常非常非常非常非常非常非常长的文件名.md", 3, 1),
                run("请运行所有的测试并且告诉我哪些失败了为什么失败了以及如何修复它们谢谢", "failed"),
            ]),
        ),
        ("emoji", over(&[read(&"👨‍👩‍👧‍👦".repeat(50)), run(&"👩🏽‍💻 ".repeat(50), "failed")])),
        ("several lines", over(&[run("cat <<E\n1\n2\nE", "completed")])),
        (
            "unknown tools",
            over(&[json!({"title": "Consult the oracle", "state": "completed"}), json!({"state": "completed"})]),
        ),
    ];
    let text: Vec<_> = shapes.iter().map(|(name, headline)| shape(name, headline)).collect();
    insta::assert_snapshot!(text.join("\n"));
}

/// The summaries of rounds and of what stands inside their calls.
fn summaries<'r>(summary: &'r Summary, rounds: &'r [Round], found: &mut Vec<&'r Summary>) {
    found.push(summary);
    for children in rounds.iter().flat_map(|round| &round.calls).filter_map(|call| call.children.as_deref()) {
        let Children { summary, rounds, .. } = children;
        summaries(summary, rounds, found);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Rule: fold 5.headline
    #[test]
    fn any_headline_is_one_line_of_at_most_120_characters(document in any_document(40)) {
        let folded = fold(&document, &Window::Latest).unwrap();
        let mut found = Vec::new();
        for row in &folded.rows {
            if let Row::Activity(row) = row {
                summaries(&row.summary, &row.rounds, &mut found);
            }
        }
        for summary in found {
            let headline = &summary.headline;
            prop_assert!(!headline.is_empty());
            prop_assert!(headline.graphemes(true).count() <= LONGEST, "{headline}");
            let breaks = headline.contains(['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}']);
            prop_assert!(!breaks, "{headline}");
            if summary.issues.is_empty() {
                prop_assert!(!headline.contains("without a result"));
            }
        }
    }
}

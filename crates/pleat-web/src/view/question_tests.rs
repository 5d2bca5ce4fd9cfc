//! What a person is asked, and what they see of it before and after.

use super::block::Block;
use super::details::{Extent, details};
use super::index::calls_of;
use super::samples::{find, page, page_asking, page_at, question, round, session};
use pleat_transcript::document::{Document, Window};
use pleat_transcript::ids::MessageId;
use serde_json::{Value, json};

/// Longer than any label.
fn long_command() -> String {
    format!("printf '%s' {} && rm -rf /home/me/app", "a".repeat(400))
}

fn html(page: &Block, key: &str) -> String {
    find(page, key).unwrap_or_else(|| panic!("no {key}")).html()
}

fn asking(call: &Value) -> Document {
    let mut call = call.clone();
    for (name, value) in [("id", json!("c1")), ("state", json!("awaiting_permission")), ("permission", question("p1"))]
    {
        call[name] = value;
    }
    session(true, &json!([round("m1", &[call])]))
}

/// The request as the card of a call shows it.
fn asked(call: &Value) -> String {
    html(&page(&asking(call)), "c:c1/ask:p1/request")
}

/// A call as it is shown when it is opened.
fn opened(call: &Value) -> String {
    let mut call = call.clone();
    call["id"] = json!("c1");
    let document = session(false, &json!([round("m1", &[call])]));
    let call = document.messages.iter().flat_map(calls_of).next().unwrap();
    details(&document.session.id, call, Extent::Preview).into_string()
}

#[test]
fn a_command_that_stands_only_in_the_title_is_shown_in_full() {
    let command = long_command();
    let shown = format!("<pre class=\"command\" tabindex=\"0\">{}</pre>", command.replace('&', "&amp;"));
    for input in [Value::Null, json!({})] {
        let call = json!({"kind": "execute", "title": command, "input": input, "state": "completed"});
        assert!(asked(&call).contains(&shown), "{}", asked(&call));
        assert!(opened(&call).contains(&shown), "{}", opened(&call));
    }
}

#[test]
fn a_title_that_is_all_there_is_is_shown_in_full() {
    let title = format!("Delete everything in {} and below", "x".repeat(300));
    let call = json!({"kind": "other", "title": title, "state": "completed"});
    assert!(asked(&call).contains(&title) && opened(&call).contains(&title));
    // Also beside an input that does not say it.
    let call = json!({"kind": "other", "title": title, "input": {"force": true}, "state": "completed"});
    assert!(asked(&call).contains(&title) && opened(&call).contains(&title));
}

#[test]
fn every_block_of_a_request_is_shown() {
    let output = json!([
        {"type": "diff", "path": "/home/me/app/a.rs", "oldText": "one\n", "newText": "two\n"},
        {"type": "content", "content": {"type": "text", "text": "Careful:\u{1b}[8m hidden"}},
        {"type": "content", "content": {"type": "resource_link", "uri": "file:///etc/passwd", "name": "x"}}
    ]);
    let html = asked(&json!({"kind": "edit", "title": "a.rs", "output": output}));
    for shown in ["<del>−one</del>", "<ins>+two</ins>", "Careful:␛[8m hidden", "file:///etc/passwd", ">a.rs</p>"] {
        assert!(html.contains(shown), "{shown}: {html}");
    }
}

#[test]
fn a_request_without_anything_says_so() {
    assert!(asked(&json!({"kind": "other"})).contains("The agent sent no request data."));
}

#[test]
fn an_edit_is_asked_for_as_a_difference_with_what_that_does_not_tell() {
    let input = json!({"file_path": "/a.rs", "old_string": "one", "new_string": "two", "replace_all": true});
    let html = asked(&json!({"kind": "edit", "name": "Edit", "input": input}));
    let (open, folded) = html.split_once("<details>").unwrap();
    assert!(open.contains("<del>−one</del>") && open.contains("replace_all"), "{open}");
    assert!(folded.contains("old_string"), "{folded}");
}

#[test]
fn the_bar_holds_one_line_where_the_card_is_on_the_page_and_the_card_where_it_is_not() {
    let mut messages: Vec<Value> = vec![round(
        "m0",
        &[
            json!({"id": "c1", "kind": "execute", "state": "awaiting_permission", "input": {"command": "make"}, "permission": question("p1")}),
        ],
    )];
    messages.extend(
        (1..80).map(|n| json!({"id": format!("m{n}"), "turn": "t1", "role": "user", "lead": true, "text": "x"})),
    );
    let document = session(true, &json!(messages));

    let asked = document.messages.iter().flat_map(calls_of).next().cloned().unwrap();
    let away = page_asking(&document, &Window::Latest, &[asked]);
    assert!(find(&away, "bar/line:p1").is_none());
    assert_eq!(html(&away, "bar").matches("name=\"option\"").count(), 2);

    let here = page_at(&document, &Window::At(MessageId::new("m0").unwrap()));
    let line = html(&here, "bar/line:p1");
    assert!(line.contains("href=\"#c:c1%2Fask:p1\"") && line.contains("needs your answer"), "{line}");
    assert!(!html(&here, "bar").contains("name=\"option\""));
    assert!(html(&here, "c:c1/ask:p1").contains("id=\"c:c1/ask:p1\""));
}

#[test]
fn whatever_is_closed_around_a_question_has_its_card_beside_it() {
    let call = |id: &str, kind: &str| json!({"id": id, "kind": kind, "state": "awaiting_permission", "input": {"command": "make"}, "permission": question(id)});
    let mut inner = round("m2", &[call("c3", "execute")]);
    inner["parent"] = json!("c1");
    let helper = json!({"id": "c1", "name": "Task", "kind": "think", "state": "running"});
    let document = session(true, &json!([round("m1", &[helper, call("c2", "execute")]), inner]));
    let page = page(&document);
    for key in ["a:m1/beside/ask:c2", "a:m1/beside/ask:c3", "c:c1/beside/ask:c3", "c:c2/ask:c2", "c:c3/ask:c3"] {
        assert!(find(&page, key).is_some(), "{key}");
    }
    assert_eq!(html(&page, "bar").matches("class=\"question\"").count(), 2);
}

#[test]
fn a_request_that_nobody_answered_says_why() {
    let mut permission = question("p1");
    permission["state"] = json!("expired");
    for (state, words) in [("cancelled", "Asked; the turn was stopped first"), ("interrupted", "Asked, and made moot")]
    {
        let call = json!({"id": "c1", "kind": "execute", "state": state, "permission": permission});
        assert!(html(&page(&session(false, &json!([round("m1", &[call])]))), "c:c1/answer").contains(words));
    }
}

#[test]
fn only_what_was_done_has_changed_lines() {
    let row = |state: &str| {
        let call = json!({"id": "c1", "kind": "edit", "state": state, "lines": {"added": 1, "removed": 1}});
        html(&page(&session(false, &json!([round("m1", &[call])]))), "c:c1/line")
    };
    assert!(row("completed").contains("+1"));
    for state in ["denied", "cancelled", "failed", "interrupted"] {
        assert!(!row(state).contains("+1"), "{state}");
    }
}

#[test]
fn the_difference_of_a_denied_edit_is_its_request() {
    let diff = json!({"type": "diff", "path": "/a.rs", "oldText": "one\n", "newText": "two\n"});
    let refused = json!({"type": "content", "content": {"type": "text", "text": "Tool use aborted"}});
    let input = json!({"file_path": "/a.rs", "old_string": "one", "new_string": "two"});
    for call in [
        json!({"kind": "edit", "state": "denied", "output": [diff, refused]}),
        json!({"kind": "edit", "state": "denied", "input": input, "output": [refused]}),
    ] {
        let html = opened(&call);
        let (request, result) = html.split_once("<section class=\"result\">").unwrap();
        assert!(request.contains("<del>−one</del>") && request.contains("<ins>+two</ins>"), "{request}");
        assert!(result.contains("Tool use aborted") && !result.contains("<ins>"), "{result}");
    }
    let done = opened(&json!({"kind": "edit", "state": "completed", "input": input, "output": [diff]}));
    assert_eq!(done.matches("<ins>").count(), 1, "{done}");
}

#[test]
fn an_exit_code_is_told_once() {
    let shown = |output: &str| {
        opened(
            &json!({"kind": "execute", "state": "failed", "input": {"command": "x"}, "output": [{"type": "terminal", "output": output, "exit": 3}]}),
        )
    };
    for output in ["Exit code 3\nout", "out"] {
        assert_eq!(shown(output).matches("Exit code 3").count(), 1, "{output}");
    }
}

#[test]
fn an_empty_request_has_no_heading() {
    let html = opened(&json!({"kind": "other", "title": "list_things", "input": {}, "state": "completed"}));
    assert!(!html.contains("Request") && html.contains("Result"), "{html}");
}

#[test]
fn what_a_person_did_is_quiet_and_what_went_wrong_is_not() {
    let calls: Vec<_> = ["failed", "denied", "cancelled", "interrupted"]
        .iter()
        .map(|state| json!({"id": state, "kind": "execute", "state": state}))
        .collect();
    let page = page(&session(false, &json!([round("m1", &calls)])));
    let title = html(&page, "a:m1/title");
    for (issue, class) in
        [("1 failed", "issue bad"), ("1 denied", "issue"), ("1 stopped", "issue"), ("1 interrupted", "issue bad")]
    {
        assert!(title.contains(&format!("<span class=\"{class}\">{issue}</span>")), "{title}");
    }
    for (call, class) in [("failed", "bad"), ("denied", "quiet"), ("cancelled", "quiet"), ("interrupted", "bad")] {
        assert!(html(&page, &format!("c:{call}/line")).contains(&format!("class=\"state {class}\"")), "{call}");
    }
}

/// A call as an excerpt has it.
fn previewed(call: &Value) -> Value {
    use pleat_transcript::preview::{preview_input, preview_output};
    let mut call = call.clone();
    if let Some(input) = call.get("input").and_then(preview_input) {
        call["input"] = input;
    }
    if let Some(output) = call.get("output").and_then(Value::as_array).and_then(|output| preview_output(output)) {
        call["output"] = json!(output);
    }
    call
}

const SHOW_ALL: &str = "<a href=\"/s/s1/calls/c1?full\">Show all of it</a>";

#[test]
fn a_preview_of_a_request_is_told_before_it() {
    let command = format!("printf {} && rm -rf /home/me/app", "a".repeat(100 * 1024));
    let html = asked(&previewed(&json!({"kind": "execute", "input": {"command": command}})));
    let (told, command) = html.split_once("<pre class=\"command\"").unwrap();
    assert!(told.contains("This is only the beginning of the request, which has 100 KiB."), "{told}");
    assert!(told.contains(SHOW_ALL) && command.contains("…</pre>") && !command.contains("rm -rf"), "{told}");
    // Whole ones say nothing of it.
    assert!(!asked(&json!({"kind": "execute", "input": {"command": "make"}})).contains("only the beginning"));
}

#[test]
fn a_cut_difference_is_not_drawn_as_one() {
    let diff = |path: &str, old: &str, new: &str| json!({"type": "diff", "path": path, "oldText": old, "newText": new});
    let long = "line\n".repeat(20_000);
    let blocks = [
        diff("/a.rs", &long, &format!("{long}one more\n")),
        diff("/b.rs", "x\n", "y\n"),
        json!({"type": "content", "content": {"type": "text", "text": "Careful."}}),
    ];
    let html = asked(&previewed(&json!({"kind": "edit", "output": blocks})));
    assert!(html.contains("This is only the beginning of what it would do, which has 234 KiB."), "{html}");
    for shown in [SHOW_ALL, "/a.rs", "/b.rs", "Careful."] {
        assert!(html.contains(shown), "{shown}: {html}");
    }
    for absent in ["<ins>", "<del>", "changed", "new file", "No line changes", "preview"] {
        assert!(!html.contains(absent), "{absent}: {html}");
    }
}

#[test]
fn beside_a_difference_the_preview_of_a_request_is_not_folded_away() {
    let diff = json!({"type": "diff", "path": "/a.rs", "oldText": "one\n", "newText": "two\n"});
    let input = json!({"file_path": "/a.rs", "then": "make", "content": "x".repeat(80 * 1024)});
    let html = asked(&previewed(&json!({"kind": "edit", "input": input, "output": [diff]})));
    assert!(
        html.contains("<ins>+two</ins>") && html.contains("the beginning of the request, which has 80 KiB"),
        "{html}"
    );
    assert!(html.contains("make") && !html.contains("<details"), "{html}");
}

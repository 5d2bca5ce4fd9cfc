//! Labels that the conformance vectors do not reach.

use super::*;
use crate::document::call_from_json;
use serde_json::{Value, json};

const ROOT: Option<&str> = Some("/home/me/app");

fn label_of(mut call: Value) -> Label {
    call["id"] = json!("c1");
    label(&call_from_json(call).unwrap(), ROOT)
}

fn text_of(call: Value) -> String {
    label_of(call).text
}

/// Rule: fold 6.1
#[test]
fn names_are_compared_without_case_underscores_and_hyphens() {
    for name in ["ReadFile", "read-file", "READ_FILE", "re_ad_fi-le"] {
        assert_eq!(text_of(json!({"name": name, "input": {"path": "a.rs"}})), "Read file · a.rs", "{name}");
    }
    assert_eq!(text_of(json!({"name": "read file"})), "read file");
}

/// Rule: fold 6.1, fold 6.2
#[test]
fn a_name_wins_over_the_kind_unless_files_change_and_its_argument_is_no_path() {
    assert_eq!(text_of(json!({"name": "Task", "kind": "think"})), "Run sub-agent");
    assert_eq!(text_of(json!({"name": "Read", "kind": "edit"})), "Read file");
    assert_eq!(text_of(json!({"name": "Write", "kind": "edit"})), "Create file");
    assert_eq!(text_of(json!({"name": "Bash", "kind": "move", "input": {"command": "mv a b"}})), "Move file");
    assert_eq!(text_of(json!({"name": "Grep", "kind": "delete"})), "Delete file");
}

/// Rule: fold 6.4, fold 6.5
#[test]
fn the_rest_of_the_arguments_follow_in_their_order() {
    let input = json!({"prompt": "p", "url": "u", "cmd": "c", "query": "q"});
    assert_eq!(text_of(json!({"kind": "read", "input": input})), "Read file · q");
    assert_eq!(text_of(json!({"kind": "think", "input": input})), "Think · p");
    assert_eq!(text_of(json!({"kind": "edit", "input": input})), "Edit file");
    assert_eq!(text_of(json!({"kind": "fetch", "input": {"prompt": "p", "cmd": "c"}})), "Fetch page · c");
    assert_eq!(text_of(json!({"kind": "execute", "input": {"command": " ", "cmd": "ls"}})), "Run command · ls");
}

/// Rule: fold 6.4, fold 6.5
#[test]
fn only_commands_are_read_from_arrays() {
    assert_eq!(text_of(json!({"kind": "execute", "input": {"cmd": ["", "ls", 7, "-l"]}})), "Run command · ls -l");
    assert_eq!(text_of(json!({"kind": "execute", "input": {"cmd": [" "], "args": ["x"]}})), "Run command");
    assert_eq!(text_of(json!({"kind": "search", "input": {"pattern": ["a"], "query": "b"}})), "Search files · b");
}

/// Rule: fold 6.4, fold 6.5
#[test]
fn a_blank_location_or_diff_is_passed_over() {
    let call = json!({"kind": "edit", "locations": [{"path": " "}, {"path": "no"}],
        "output": [{"type": "content"}, {"type": "diff", "path": ""}], "input": {"path": "a.rs"}});
    assert_eq!(text_of(call), "Edit file · a.rs");
}

/// Rule: fold 6.12
#[test]
fn the_title_is_the_argument_only_without_an_input() {
    assert_eq!(text_of(json!({"kind": "edit", "title": "Patch the parser"})), "Edit file · Patch the parser");
    assert_eq!(text_of(json!({"kind": "edit", "title": "Patch", "input": {}})), "Edit file");
    assert_eq!(text_of(json!({"kind": "edit", "title": " EDIT-file"})), "Edit file");
    assert_eq!(text_of(json!({"kind": "edit", "name": "my edit", "title": "My_Edit"})), "Edit file");
}

/// Rule: fold 6.14, fold 6.15
#[test]
fn a_server_is_shown_as_stored_and_alone_without_a_tool() {
    assert_eq!(text_of(json!({"server": "linear", "title": "T"})), "linear");
    assert_eq!(text_of(json!({"server": "a\nb", "name": "mcp__x__y"})), "a b · mcp__x__y");
    assert_eq!(text_of(json!({"server": " ", "name": "Read"})), "Read file");
    assert_eq!(text_of(json!({"name": "mcp__"})), "mcp__");
    assert_eq!(text_of(json!({"name": "MCP__a__b"})), "MCP__a__b");
}

/// Rule: fold 6.16
#[test]
fn memory_has_its_own_form_and_detail() {
    let own = label_of(json!({"name": "SaveMemory", "input": {"memory_name": " a\nb "}}));
    assert_eq!((own.text.as_str(), own.detail), ("Memory · save · a b", Some(Detail::Memory)));
    assert_eq!(own.text, own.progress);
    assert_eq!(text_of(json!({"server": "MEMORY", "input": {"key": "k"}})), "Memory · k");
    assert_eq!(text_of(json!({"name": "mcp__memory"})), "mcp__memory");
}

/// Rule: fold 6.13
#[test]
fn an_unknown_tool_stands_in_the_actions_place() {
    assert_eq!(text_of(json!({"name": " ", "title": ""})), "Tool");
    assert_eq!(text_of(json!({"name": "lsp", "input": {"url": "u", "pattern": "p"}})), "lsp · p");
    assert_eq!(text_of(json!({"kind": "strange", "locations": [{"path": "/home/me/app/a"}]})), "Tool · a");
}

/// Rule: fold 6.11
#[test]
fn an_input_of_64_kib_is_read_and_a_larger_one_is_not() {
    // {"command":"ls","x":"…"}
    let with_padding = |bytes: usize| json!({"kind": "execute", "input": {"command": "ls", "x": "x".repeat(bytes)}});
    assert_eq!(text_of(with_padding(64 * 1024 - 23)), "Run command · ls");
    assert_eq!(text_of(with_padding(64 * 1024 - 22)), "Run command");
}

/// Rule: fold 6.2
#[test]
fn a_command_tool_that_only_looks_is_named_by_what_it_looks_at() {
    let read = json!({"name": "exec_command", "kind": "read", "locations": [{"path": "/home/me/app/a.rs"}]});
    assert_eq!(text_of(read), "Read file · a.rs");
    let search = json!({"name": "exec_command", "kind": "search", "title": "Search for 'def ' in src"});
    assert_eq!(text_of(search), "Search files · Search for 'def ' in src");
    let command = json!({"name": "exec_command", "kind": "read", "input": {"cmd": "cat a.rs"}});
    assert_eq!(text_of(command), "Run command · cat a.rs");
}

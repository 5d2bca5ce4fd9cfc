//! The built program's commands, as a person types them: what they print, and what they say when something is wrong.

#![allow(clippy::unwrap_used, reason = "the helpers of tests may panic too")]

use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

struct House {
    folder: TempDir,
}

impl House {
    fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.folder.path().join(name), text).unwrap();
        self.path(name)
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pleat"));
        command.args(words).current_dir(self.folder.path());
        for name in ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"] {
            command.env(name, self.folder.path());
        }
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    /// What a command that must succeed prints.
    fn prints(&self, words: &[&str]) -> String {
        let output = self.run(words);
        assert!(output.status.success(), "{words:?}: {}", said(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The one sentence of a command that must fail.
    #[track_caller]
    fn fails(&self, words: &[&str], code: i32) -> String {
        let output = self.run(words);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {}", said(&output));
        assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{words:?}");
        said(&output)
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn document() -> Value {
    json!({
        "session": {"id": "s1", "title": "Fix it", "root": "/home/me/app", "agent": "claude", "odd": [1, 2.50],
            "turns": [{"id": "t1", "state": "completed", "stop_reason": "end_turn", "usage": {"inputTokens": 3}}]},
        "messages": [
            {"id": "m1", "turn": "t1", "role": "user", "text": "Fix it", "origin": "typed"},
            {"id": "m2", "turn": "t1", "role": "assistant", "state": "complete", "parts": [
                {"type": "text", "text": "Reading."},
                {"type": "call", "call": {"id": "c1", "kind": "read", "state": "completed",
                    "locations": [{"path": "/home/me/app/a.rs"}]}}]},
            {"id": "m3", "turn": "t1", "role": "assistant", "parts": [{"type": "text", "text": "Done."}]}
        ]
    })
}

#[test]
fn export_then_import_then_export_is_identical() {
    let house = House::new();
    let file = house.write("in.json", &document().to_string());
    assert_eq!(house.prints(&["import", &file, "--data", "one"]), "s1\n");
    let first = house.prints(&["export", "s1", "--format", "json", "--data", "one"]);
    let again = house.write("again.json", &first);
    house.prints(&["import", &again, "--data", "two"]);
    assert_eq!(house.prints(&["export", "s1", "--data", "two"]), first);
    let exported: Value = serde_json::from_str(&first).unwrap();
    assert_eq!(exported["session"]["odd"], json!([1, 2.5]), "keys that are not ours are kept");
}

#[test]
fn a_session_that_exists_is_imported_only_under_a_new_id() {
    let house = House::new();
    let file = house.write("in.json", &document().to_string());
    house.prints(&["import", &file, "--data", "d"]);
    let sentence = house.fails(&["import", &file, "--data", "d"], 1);
    assert!(sentence.contains("`s1` exists already") && sentence.contains("--new-id"), "{sentence}");
    let id = house.prints(&["import", &file, "--data", "d", "--new-id"]);
    assert_ne!(id.trim(), "s1");
    house.prints(&["export", id.trim(), "--data", "d"]);
}

/// Rule: record Plans.3
#[test]
fn plans_without_a_call_are_messages_of_their_own() {
    let house = House::new();
    let mut plans = document();
    let snapshot = |id: &str, text: &str| json!({"id": id, "turn": "t1", "role": "plan", "text": text});
    plans["messages"].as_array_mut().unwrap().extend([snapshot("p1", "1. Read"), snapshot("p2", "1. Read\n2. Fix")]);
    let file = house.write("plans.json", &plans.to_string());
    house.prints(&["import", &file, "--data", "d"]);
    let exported: Value = serde_json::from_str(&house.prints(&["export", "s1", "--data", "d"])).unwrap();
    let stored: Vec<&Value> = exported["messages"].as_array().unwrap()[3..].iter().map(|plan| &plan["text"]).collect();
    assert_eq!(stored, ["1. Read", "1. Read\n2. Fix"], "both are kept, and neither has a stream");
    let rows: Value = serde_json::from_str(&house.prints(&["fold", &file])).unwrap();
    let plans = rows["rows"].as_array().unwrap().iter().filter(|row| row["kind"] == "plan");
    assert_eq!(plans.map(|row| &row["message"]).collect::<Vec<_>>(), ["p2"], "the fold shows the last");
}

#[test]
fn an_imported_live_turn_is_interrupted() {
    let house = House::new();
    let mut live = document();
    live["session"]["live_turn"] = json!("t1");
    live["session"]["turns"][0]["state"] = json!("running");
    let file = house.write("live.json", &live.to_string());
    house.prints(&["import", &file, "--data", "d"]);
    let exported: Value = serde_json::from_str(&house.prints(&["export", "s1", "--data", "d"])).unwrap();
    assert_eq!(exported["session"].get("live_turn"), None);
    assert_eq!(exported["session"]["turns"][0]["state"], "interrupted");
}

#[test]
fn fold_prints_the_rows_of_a_file_or_of_stdin() {
    let house = House::new();
    let file = house.write("in.json", &document().to_string());
    let rows: Value = serde_json::from_str(&house.prints(&["fold", &file])).unwrap();
    let kinds: Vec<&Value> = rows["rows"].as_array().unwrap().iter().map(|row| &row["kind"]).collect();
    assert_eq!(kinds, ["message", "activity", "message"]);

    let mut child = house.command(&["fold", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(document().to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&output.stdout).unwrap(), rows);
}

#[test]
fn a_document_that_is_not_right_is_refused_with_its_place() {
    let house = House::new();
    let mut odd = document();
    odd["messages"][1]["parts"][0]["type"] = json!("zip");
    let file = house.write("odd.json", &odd.to_string());
    for command in ["fold", "import"] {
        let sentence = house.fails(&[command, &file, "--data", "d"], 1);
        assert!(sentence.contains("odd.json") && sentence.contains("messages[1].parts[0].type"), "{sentence}");
    }
    let torn = house.write("torn.json", "{\"session\":\n{");
    let sentence = house.fails(&["fold", &torn], 1);
    assert!(sentence.contains("torn.json") && sentence.contains("line 2"), "{sentence}");
    let sentence = house.fails(&["fold", "missing.json"], 1);
    assert!(sentence.contains("missing.json"), "{sentence}");
    let unknown = house.write("window.json", &json!({"session": {"id": "s"}, "window": {"at": "m9"}}).to_string());
    assert!(house.fails(&["fold", &unknown], 1).contains("m9"));
}

#[test]
fn a_corrupt_trace_is_refused_with_file_and_line() {
    let house = House::new();
    let line = r#"{"t_ms": 0, "dir": "note", "msg": {}}"#;
    let file = house.write("bad.jsonl", &format!("{line}\n{{\"t_ms\": 1, \"dir\": \"sideways\"}}\n{line}\n"));
    let sentence = house.fails(&["replay", &file], 1);
    assert!(sentence.contains("bad.jsonl:2") && sentence.contains("expected"), "{sentence}");
    assert!(house.fails(&["replay", "missing.jsonl"], 1).contains("missing.jsonl"));
}

#[test]
fn a_trace_without_a_session_prints_nothing_and_says_why() {
    let house = House::new();
    let file = house.write("empty.jsonl", "");
    let output = house.run(&["replay", &file, "--format", "json"]);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), b"".as_slice()));
    assert!(said(&output).contains("holds no session"), "{}", said(&output));
    let messages = [
        json!({"t_ms": 0, "dir": "client->agent", "msg": {"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/w"}}}),
        json!({"t_ms": 1, "dir": "agent->client", "msg": {"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": "no\u{1b}[2J"}}}),
    ];
    let file = house.write("error.jsonl", &messages.map(|message| message.to_string()).join("\n"));
    let said = said(&house.run(&["replay", &file]));
    assert!(said.contains("no␛[2J") && !said.contains('\u{1b}'), "{said:?}");
}

#[test]
fn an_unknown_session_and_a_bad_id_are_named() {
    let house = House::new();
    assert!(house.fails(&["export", "nobody", "--data", "d"], 1).contains("`nobody`"));
    assert!(house.fails(&["export", &"x".repeat(129), "--data", "d"], 1).contains("128 bytes"));
}

#[test]
fn serving_says_what_is_wrong_with_the_data_folder() {
    let house = House::new();
    let file = house.write("file", "");
    let sentence = house.fails(&["--data", &format!("{file}/below"), "--no-open"], 3);
    assert!(sentence.contains("cannot be made") && sentence.contains("--data"), "{sentence}");

    std::fs::create_dir(house.path("garbage")).unwrap();
    house.write("garbage/pleat.db", "this is no database, however one looks at it");
    let sentence = house.fails(&["--data", "garbage", "--no-open"], 3);
    assert!(sentence.contains("is not a Pleat database"), "{sentence}");
    let kept = std::fs::read_to_string(Path::new(&house.path("garbage")).join("pleat.db")).unwrap();
    assert_eq!(kept, "this is no database, however one looks at it");
}

#[test]
fn serving_says_that_a_port_is_taken() {
    let house = House::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let sentence = house.fails(&["--listen", &address, "--data", "d", "--no-open"], 3);
    assert!(sentence.contains(&address) && sentence.contains("taken"), "{sentence}");
}

#[test]
fn serving_says_what_is_wrong_with_the_configuration() {
    let house = House::new();
    let file = house.write("pleat.toml", "[agents.mine]\ncomand = \"x\"\n");
    let sentence = house.fails(&["--config", &file, "--data", "d", "--no-open"], 3);
    assert!(sentence.contains("pleat.toml") && sentence.contains("comand"), "{sentence}");
    let sentence = house.fails(&["--config", "missing.toml", "--data", "d", "--no-open"], 3);
    assert!(sentence.contains("missing.toml"), "{sentence}");
}

#[test]
fn every_demonstration_is_a_whole_conversation() {
    let house = House::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("demonstrations");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let json = house.prints(&["replay", path.to_str().unwrap(), "--format", "json"]);
        let transcript: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(transcript["session"]["turns"][0]["state"], "completed", "{}", path.display());
    }
}

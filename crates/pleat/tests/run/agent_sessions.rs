//! `pleat agent sessions`: what an agent itself knows.

use crate::house::House;
#[cfg(unix)]
use crate::signals::stop_signals;
use serde_json::{Value, json};

const LISTS: &str = r#"
initialize agentCapabilities={"sessionCapabilities": {"list": {}}}
hear session/list as list
reply list {"sessions": [
    {"sessionId": "a1", "cwd": "/w", "title": "Fix\tthe\u001b[2J bug", "updatedAt": "2026-11-30T10:00:00Z"},
    {"sessionId": "a2", "cwd": "/w"}
]}
listen
"#;

#[test]
fn each_is_a_line() {
    let house = House::with(LISTS);
    house.output(&["agent", "sessions", "player"]).expect(0, "a1\t2026-11-30T10:00:00Z\tFix the␛[2J bug\na2\t-\t-\n");
    let house = House::with(LISTS);
    let printed = house.prints(&["agent", "sessions", "player", "--cwd", ".", "--json"]);
    let lines: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[1], json!({"id": "a2", "cwd": "/w", "title": null, "updated_at": null}));
    let root = house.work().canonicalize().unwrap();
    assert_eq!(house.heard("session/list")[0]["params"]["cwd"], root.to_str().unwrap());
}

#[test]
fn an_agent_that_does_not_tell_is_named() {
    let house = House::with("initialize\nlisten");
    let ended = house.output(&["agent", "sessions", "player"]);
    ended.expect(4, "");
    ended.expect_said(&["The Player", "does not tell which sessions it knows"]);
    house.output(&["agent", "sessions", "nobody"]).expect_said(&["no agent is called `nobody`"]);
}

#[test]
fn what_an_agent_says_at_its_end_is_not_obeyed() {
    let house = House::with("hear initialize\nstderr \"\\u001b[2Jgone\\n\"\nexit 3");
    let ended = house.output(&["agent", "sessions", "player"]);
    ended.expect(4, "");
    ended.expect_said(&["The Player", "␛[2Jgone"]);
    assert!(!ended.said.contains('\u{1b}'), "{:?}", ended.said);
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_agent_too() {
    for signal in stop_signals() {
        let house = House::with("hear initialize\nspawn \"echo > told\"\nsleep_forever");
        house.make_pipe("told");
        let running = house.start_command(&["agent", "sessions", "player", "--cwd", "."]);
        house.wait_at_pipe("told");
        running.signal(signal);
        let ended = running.end();
        ended.expect(130, "");
        assert_eq!(ended.said, "pleat: stopped\n");
        assert!(house.work().join("pids").exists(), "an agent was there");
    }
}

//! Ctrl-C once is Stop, twice ends the agent; a program that is asked to end does so in order.

use crate::house::House;
use crate::signals::stop_signals;

const STOPS: &str = r#"
open_session
hear session/prompt as prompt
call c1 title="Wait" kind=execute status=in_progress
text "I wait"
hear session/cancel
text " no more."
finish prompt cancelled
listen
"#;

/// It takes no notice of Stop, nor does its child.
const GOES_ON: &str = r#"
open_session
hear session/prompt as prompt
spawn "trap '' TERM; sleep 1000"
text "I go on"
sleep_forever
"#;

#[test]
fn ctrl_c_once_is_stop() {
    for signal in stop_signals() {
        let house = House::with(STOPS);
        let mut running = house.start(&["x"]);
        running.until_printed("I wait");
        running.signal(signal);
        let ended = running.end();
        assert_eq!(ended.code, Some(130), "{signal}: {}", ended.said);
        assert!(
            ended.printed.contains("I wait no more.\n") && ended.printed.contains("■ stopped: Run command · Wait"),
            "{}",
            ended.printed
        );
        ended.expect_said(&["Stopping…; press Ctrl-C again to kill it\n", "pleat: stopped; session "]);
        assert_eq!(house.heard("session/cancel").len(), 1);
        assert_eq!(house.session()["session"]["turns"][0]["state"], "cancelled");
    }
}

#[test]
fn ctrl_c_twice_ends_the_agent() {
    let house = House::with(GOES_ON);
    let mut running = house.start(&["x"]);
    running.until_printed("I go on");
    running.signal("INT");
    running.until_said("Stopping…");
    running.signal("INT");
    let ended = running.end();
    ended.expect(130, "I go on\n");
    ended.expect_said(&["Killing it…\n", "pleat: stopped; session "]);
    assert_eq!(house.session()["session"]["turns"][0]["state"], "cancelled");
}

#[test]
fn an_agent_that_does_not_stop_is_ended_after_its_grace() {
    let house = House::with_settings(GOES_ON, "stop_grace_seconds = 0.3");
    let mut running = house.start(&["x"]);
    running.until_printed("I go on");
    running.signal("TERM");
    running.end().expect(130, "I go on\n");
}

#[test]
fn what_has_not_begun_is_stopped_too() {
    let house = House::with("hear initialize\nspawn \"echo > told\"\nsleep_forever");
    house.make_pipe("told");
    let running = house.start(&["x"]);
    // The agent runs, and opens no session.
    house.wait_at_pipe("told");
    running.signal("INT");
    let ended = running.end();
    ended.expect(130, "");
    let session = house.session();
    assert_eq!(session["session"].get("turns"), None);
    assert_eq!(session["session"]["waiting"][0]["text"], "x");
}

#[test]
fn a_reader_that_waits_keeps_nobody_from_stopping() {
    let house = House::with(
        r#"
open_session
hear session/prompt as prompt
fill much 300000
text "$much"
spawn "echo > told"
hear session/cancel
spawn "echo > stopped"
finish prompt cancelled
listen
"#,
    );
    house.make_pipe("told");
    house.make_pipe("stopped");
    let running = house.start(&["x"]);
    house.wait_at_pipe("told");
    // Nothing was read, so that stdout is full.
    running.signal("INT");
    house.wait_at_pipe("stopped");
    let ended = running.end();
    assert_eq!(ended.code, Some(130), "{}", ended.said);
    assert_eq!(ended.printed.trim_end().len(), 300_000);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let house = House::with(
        "open_session\nhear session/prompt as prompt\nrepeat 50 { text \"line\\n\"; sleep 5ms }\nfinish prompt\nlisten",
    );
    let words = ["-c", "\"$0\" run player x | head -n 1"];
    let pleat = house.command(&[]);
    let mut shell = std::process::Command::new("sh");
    shell.args(words).arg(pleat.get_program()).current_dir(house.work());
    for (name, value) in pleat.get_envs() {
        value.map(|value| shell.env(name, value));
    }
    let output = shell.output().unwrap();
    assert_eq!(
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap()),
        ("line\n".to_owned(), String::new())
    );
    assert_eq!(house.session()["session"]["turns"][0]["state"], "completed", "the work is done all the same");
    house.expect_nothing_left();
}

//! At a terminal: questions are asked there, what runs now is shown, and thinking too.

use crate::house::{House, Stream};
use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::process::Child;

const ASKS: &str = r#"
open_session
hear session/prompt as prompt
call c1 title="Run it" kind=execute rawInput={"command": "rm -rf \u001b[2Jx", "cwd": "/w"}
ask r1 c1
hear_answer r1 as answer
call_update c1 status=completed
text "$answer.result.outcome.optionId"
finish prompt
listen
"#;

/// `pleat run player WORDS` at a terminal of its own.
struct Terminal<'h> {
    house: &'h House,
    child: Child,
    keyboard: File,
    shown: Stream,
}

impl<'h> Terminal<'h> {
    fn start(house: &'h House, words: &[&str]) -> Self {
        Self::start_with(house, words, &[])
    }

    fn start_with(house: &'h House, words: &[&str], environment: &[(&str, &str)]) -> Self {
        let (pty, pts) = pty_process::blocking::open().unwrap();
        let pleat = house.command(&[&["run", "player"], words].concat());
        let mut command = pty_process::blocking::Command::new(pleat.get_program());
        command = command.args(pleat.get_args()).current_dir(house.work());
        for (name, value) in pleat.get_envs() {
            command = match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let child = command.envs(environment.iter().copied()).spawn(pts).unwrap();
        let keyboard = File::from(OwnedFd::from(pty));
        let shown = Stream::of(keyboard.try_clone().unwrap());
        Self { house, child, keyboard, shown }
    }

    fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Types a line.
    fn type_line(&mut self, line: &str) {
        self.press(&format!("{line}\n"));
    }

    #[track_caller]
    fn until_shown(&mut self, words: &str) -> String {
        self.shown.until(words)
    }

    /// Its exit code and the rest of what it shows. No agent is left of it.
    #[track_caller]
    fn end(mut self) -> (i32, String) {
        let rest = self.shown.rest();
        let code = self.child.wait().unwrap().code();
        self.house.expect_nothing_left();
        (code.unwrap(), rest)
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_question_is_asked_in_full_and_answered_by_its_number() {
    let house = House::with(ASKS);
    let mut terminal = Terminal::start(&house, &["x"]);
    let before = terminal.until_shown("Type a number from 1 to 2: ");
    assert!(before.contains("  $ rm -rf ␛[2Jx\r\n") && before.contains("\"cwd\": \"/w\""), "{before:?}");
    assert!(before.contains("  1. Allow\r\n  2. Reject\r\n"), "{before:?}");
    terminal.type_line("");
    let again = terminal.until_shown("Type a number from 1 to 2: ");
    assert!(again.contains("  $ rm -rf ␛[2Jx\r\n") && again.contains("  2. Reject\r\n"), "{again:?}");
    for odd in ["3", "0", "yes"] {
        terminal.type_line(odd);
        let short = terminal.until_shown("Type a number from 1 to 2: ");
        assert!(!short.contains("rm -rf"), "{short:?}");
    }
    terminal.type_line("1");
    terminal.until_shown("✓");
    let (code, rest) = terminal.end();
    assert_eq!(code, 0, "{rest}");
    assert!(rest.contains("yes\r\n"), "{rest:?}");
    assert_eq!(house.session()["messages"][1]["parts"][0]["call"]["permission"]["by"], "owner");
}

#[test]
fn an_edit_is_shown_line_by_line() {
    let house = House::with(
        r#"
open_session
hear session/prompt as prompt
call c1 title="Edit" kind=edit content=[{"type": "diff", "path": "$CWD/a.txt", "oldText": "one\ntwo\nthree\n", "newText": "one\n2\u202e\nthree\n"}] rawInput={"old_string": "two", "replace_all": true}
ask r1 c1
hear_answer r1 as answer
call_update c1 status=failed
finish prompt
listen
"#,
    );
    let mut terminal = Terminal::start(&house, &["x"]);
    let question = terminal.until_shown("Type a number");
    assert!(question.contains("a.txt (changed)\r\n   one\r\n"), "{question:?}");
    assert!(question.contains("-two") && question.contains("+2�") && question.contains("   three\r\n"), "{question:?}");
    assert!(question.contains("\"replace_all\": true") && !question.contains("old_string"), "{question:?}");
    terminal.type_line("2");
    assert_eq!(terminal.end().0, 0);
    assert_eq!(house.session()["messages"][1]["parts"][0]["call"]["state"], "denied");
}

#[test]
fn questions_come_one_after_the_other() {
    let house = House::with(
        r#"
open_session
hear session/prompt as prompt
call c1 title="First" kind=other
call c2 title="Second" kind=other
ask r1 c1
ask r2 c2
hear_answer r1 as first
hear_answer r2 as second
call_update c1 status=completed
call_update c2 status=failed
text "$first.result.outcome.optionId, $second.result.outcome.optionId"
finish prompt
listen
"#,
    );
    let mut terminal = Terminal::start(&house, &["x"]);
    let first = terminal.until_shown("Type a number");
    assert!(first.contains("First") && !first.contains("Second"), "{first:?}");
    // The second line is typed before its question is seen.
    terminal.type_line("1\n1");
    let second = terminal.until_shown("Second");
    assert!(!second.contains("yes"), "{second:?}");
    terminal.until_shown("Type a number from 1 to 2: ");
    terminal.type_line("2");
    let (code, rest) = terminal.end();
    assert!(code == 0 && rest.contains("yes, no\r\n"), "{rest:?}");
}

#[test]
fn what_is_not_asked_any_more_is_taken_back() {
    let house = House::with(
        r#"
open_session
hear session/prompt as prompt
call c1 title="First" kind=other
ask r1 c1
wait_at gate
call_update c1 status=failed
text "Never mind."
finish prompt
listen
"#,
    );
    house.make_pipe("gate");
    let mut terminal = Terminal::start(&house, &["x"]);
    terminal.until_shown("Type a number");
    house.open_gate("gate");
    terminal.until_shown("This is not asked any more.");
    let (code, rest) = terminal.end();
    assert!(code == 0 && rest.contains("Never mind.\r\n"), "{rest:?}");
}

#[test]
fn the_end_of_what_is_typed_is_stop() {
    let house = House::with(
        &ASKS.replace("text \"$answer.result.outcome.optionId\"\nfinish prompt", "finish prompt cancelled"),
    );
    let mut terminal = Terminal::start(&house, &["x"]);
    terminal.until_shown("Type a number");
    terminal.press("\x04");
    terminal.until_shown("Stopping…");
    let (code, rest) = terminal.end();
    assert!(code == 130 && rest.contains("stopped"), "{rest:?}");
    assert_eq!(house.heard("session/cancel").len(), 1);
}

#[test]
fn ctrl_c_reaches_pleat_and_not_the_agent() {
    let house = House::with(
        "open_session\nhear session/prompt as prompt\ntext \"I wait\"\nhear session/cancel\ntext \" no more.\"\nfinish prompt cancelled\nlisten",
    );
    let mut terminal = Terminal::start(&house, &["x"]);
    terminal.until_shown("I wait");
    terminal.press("\x03");
    terminal.until_shown("Stopping…; press Ctrl-C again to kill it");
    terminal.until_shown("no more.");
    assert_eq!(terminal.end().0, 130);
}

#[test]
fn a_login_is_chosen_and_the_prompt_then_sent() {
    let house = House::with(
        r#"
initialize authMethods=[{"id": "key", "name": "Use a key", "description": "of yours"}]
hear session/new as first
refuse first -32000 "Authentication required"
authenticate
new_session
hear session/prompt as prompt
text "Welcome."
finish prompt
listen
"#,
    );
    let mut terminal = Terminal::start(&house, &["x"]);
    let question = terminal.until_shown("Type a number from 1 to 1: ");
    assert!(
        question.contains("The Player wants a login") && question.contains("1. Use a key: of yours"),
        "{question:?}"
    );
    terminal.type_line("1");
    let (code, rest) = terminal.end();
    assert!(code == 0 && rest.contains("Welcome.\r\n"), "{rest:?}");
    assert_eq!(house.heard("authenticate")[0]["params"]["methodId"], "key");
}

#[test]
fn what_happens_now_is_shown_and_taken_away() {
    let house = House::with(
        r#"
stderr "warming up\n"
wait_at gate
open_session
hear session/prompt as prompt
thought "Hm."
call c1 title="Run it" kind=execute status=in_progress rawInput={"command": "make"}
wait_at gate
call_update c1 status=completed
finish prompt
listen
"#,
    );
    house.make_pipe("gate");
    let mut terminal = Terminal::start(&house, &["x"]);
    terminal.until_shown("The Player starts… (warming up)");
    house.open_gate("gate");
    let before = terminal.until_shown("Running command · make…");
    assert!(before.contains("\r\u{1b}[K") && before.contains("thinking · "), "{before:?}");
    house.open_gate("gate");
    let taken = terminal.until_shown("✓");
    assert!(taken.contains("\r\u{1b}[K"), "{taken:?}");
    assert_eq!(terminal.end().0, 0);
}

#[test]
fn no_colours_for_who_wants_none() {
    let house = House::with(
        "open_session\nhear session/prompt as prompt\nthought \"Hm.\"\ncall c1 title=Look status=completed\nfinish prompt\nlisten",
    );
    let terminal = Terminal::start_with(&house, &["x"], &[("NO_COLOR", "1")]);
    let (code, shown) = terminal.end();
    assert!(code == 0 && shown.contains("thinking · Hm.") && !shown.contains("\u{1b}[2m"), "{shown:?}");
}

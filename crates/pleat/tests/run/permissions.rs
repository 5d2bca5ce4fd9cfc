//! Permission requests where nobody is there to be asked.

use crate::house::{House, quoted};
use serde_json::json;

const ASKS_TO_READ: &str = r#"
open_session
hear session/prompt as prompt
call c1 title="Look" kind=read locations=[{"path": "$CWD/notes.txt"}]
ask r1 c1
hear_answer r1 as answer
if $answer.result.outcome.outcome == selected {
    call_update c1 status=completed
    text "$answer.result.outcome.optionId"
    finish prompt
} else {
    finish prompt cancelled
}
listen
"#;

#[test]
fn a_request_stops_the_turn_and_says_what_to_do() {
    let house = House::with(ASKS_TO_READ);
    let ended = house.run(&["x"]);
    ended.expect(3, "■ stopped: Read file · notes.txt\n");
    ended.expect_said(&["The Player asks whether it may: Read file · notes.txt", "`--allow read`", "terminal"]);
    assert!(!ended.said.contains("Ctrl-C"), "{}", ended.said);
    assert_eq!(house.heard("session/cancel").len(), 1);
    let session = house.session();
    assert_eq!(session["session"]["turns"][0]["state"], "cancelled");
}

#[test]
fn what_is_allowed_is_answered_by_itself() {
    let house = House::with(ASKS_TO_READ);
    house.run(&["x", "--allow", "read"]).expect(0, "✓ Read file · notes.txt\n\nyes\n");
    let session = house.session();
    let permission = &session["messages"][1]["parts"][0]["call"]["permission"];
    assert_eq!((&permission["chosen"], &permission["by"]), (&json!("yes"), &json!("configuration")));
    let house = House::with(ASKS_TO_READ);
    house.run(&["x", "--allow", "edit,search", "--allow", "read"]).expect(0, "✓ Read file · notes.txt\n\nyes\n");
    let house = House::with(ASKS_TO_READ);
    assert_eq!(house.run(&["x", "--allow", "edit"]).code, Some(3));
}

#[test]
fn the_configuration_allows_too() {
    let house = House::with(ASKS_TO_READ);
    let configuration = std::fs::read_to_string(house.path("pleat.toml")).unwrap();
    let rule = format!("[agents.player.directories.{}]\nallow = [\"read\"]\n", quoted(&house.work()));
    house.write("pleat.toml", &(configuration + &rule));
    house.run(&["x"]).expect(0, "✓ Read file · notes.txt\n\nyes\n");
}

#[test]
fn what_reaches_outside_is_never_allowed_by_itself() {
    let house = House::with(&ASKS_TO_READ.replace("$CWD/notes.txt", "/etc/passwd"));
    let ended = house.run(&["x", "--allow", "read"]);
    ended.expect(3, "■ stopped: Read file · /etc/passwd\n");
    ended.expect_said(&["`--allow read` does not cover it"]);
}

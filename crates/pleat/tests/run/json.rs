//! `--json`: what programs read.

use crate::house::House;
use serde_json::{Value, json};

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn rows_are_told_when_they_are_settled_and_the_turn_at_last() {
    let house = House::with(
        r#"
open_session
hear session/prompt as prompt
text "Reading."
call c1 title="Read it" kind=other status=completed
text "Done."
finish prompt end_turn usage={"inputTokens": 3, "outputTokens": 4, "totalTokens": 7}
listen
"#,
    );
    let ended = house.run(&["x", "--json"]);
    assert_eq!((ended.code, ended.said.as_str()), (Some(0), ""));
    let lines = lines(&ended.printed);
    let session = house.session();
    assert_eq!(lines[0], json!({"session": session["session"]["id"]}));
    let kinds: Vec<_> = lines[1..4].iter().map(|line| line["row"]["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["message", "activity", "message"]);
    assert_eq!(lines[2]["row"]["rounds"][0]["calls"][0]["label"], "Read it");
    assert_eq!(lines[3]["message"]["parts"][0]["text"], "Done.");
    let turn = &session["session"]["turns"][0];
    let usage = json!({"inputTokens": 3, "outputTokens": 4, "totalTokens": 7});
    let last =
        json!({"turn": {"id": turn["id"], "state": "completed", "stop_reason": "end_turn", "usage": usage}, "exit": 0});
    assert_eq!(lines[4..], [last]);
}

#[test]
fn the_rows_are_those_of_the_fold() {
    for trace in ["claude-tools", "claude-sub", "codex-plan-native", "opencode-fail"] {
        let house = House::with_trace(trace);
        let ended = house.run(&["x", "--json", "--allow", "read,edit,execute,search,other"]);
        let mut told: Vec<(Value, Value)> = Vec::new();
        for line in lines(&ended.printed).iter().filter(|line| line.get("row").is_some()) {
            let key = line["row"]["id"].clone();
            // One that changed is told again, and the last time is right.
            match told.iter_mut().find(|(known, _)| *known == key) {
                Some((_, row)) => *row = line["row"].clone(),
                None => told.push((key, line["row"].clone())),
            }
        }
        house.write("session.json", &house.session().to_string());
        let folded = house.prints(&["fold", house.path("session.json").to_str().unwrap()]);
        let folded: Value = serde_json::from_str(&folded).unwrap();
        let rows: Vec<Value> = told.into_iter().map(|(_, row)| row).collect();
        assert_eq!(json!(rows), folded["rows"], "{trace}");
    }
}

#[test]
fn a_run_that_no_window_holds_is_told_in_parts() {
    let house = House::with(
        r#"
open_session
hear session/prompt as prompt
repeat 250 {
    text "Step $i."
    call "c$i" title="Call $i" kind=other status=completed
}
text "Done."
finish prompt
listen
"#,
    );
    let ended = house.run(&["x", "--json"]);
    let lines = lines(&ended.printed);
    let rows: Vec<&Value> =
        lines.iter().filter(|line| line["row"]["kind"] == "activity").map(|line| &line["row"]).collect();
    let actions: Vec<_> = rows.iter().map(|row| row["summary"]["actions"].as_u64().unwrap()).collect();
    assert_eq!(actions, [200, 50]);
    assert_eq!(rows[0]["run"], rows[1]["run"]);
}

#[test]
fn a_person_who_is_needed_is_told_of() {
    let house = House::with(
        r#"
open_session
hear session/prompt as prompt
call c1 title="Look" kind=read locations=[{"path": "$CWD/a.txt"}]
ask r1 c1
hear session/cancel
finish prompt cancelled
listen
"#,
    );
    let ended = house.run(&["x", "--json"]);
    assert_eq!(ended.code, Some(3), "{}", ended.said);
    let lines = lines(&ended.printed);
    let asks: Vec<&Value> = lines.iter().filter_map(|line| line.get("asks")).collect();
    let [asks] = asks[..] else { panic!("{lines:?}") };
    assert_eq!((&asks["kind"], &asks["label"]), (&json!("read"), &json!("Read file · a.txt")));
    assert_eq!(asks["options"][1]["name"], "Reject");
    let last = lines.last().unwrap();
    assert_eq!((&last["turn"]["state"], &last["exit"]), (&json!("cancelled"), &json!(3)));

    let house =
        House::with("initialize\nhear session/new as new\nrefuse new -32000 \"Authentication required\"\nlisten");
    let ended = house.run(&["x", "--json"]);
    let lines: Vec<Value> = ended.printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines[1]["asks"]["login"]["said"].as_str().unwrap().contains("Authentication required"), "{lines:?}");
    assert_eq!(lines[2..], [json!({"turn": null, "exit": 3})]);
}

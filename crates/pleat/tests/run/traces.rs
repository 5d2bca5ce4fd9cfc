//! `pleat trace` and `pleat replay`: what went over the wire, read again.

use crate::house::House;
use serde_json::Value;

/// What was said and done, without ids and times.
fn told(document: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let messages = document["messages"].as_array().unwrap().iter().flat_map(|message| {
        let own = format!("{} {}{}", message["role"], text(&message["text"]), message["entries"]);
        let parts = message["parts"].as_array().cloned().unwrap_or_default();
        let parts = parts.into_iter().map(move |part| {
            let call = &part["call"];
            format!(
                "{} {} {} {} {} {}",
                part["type"], part["text"], call["title"], call["state"], call["input"], call["output"]
            )
        });
        std::iter::once(own).chain(parts).collect::<Vec<_>>()
    });
    messages.collect()
}

#[test]
fn what_is_replayed_is_what_is_stored() {
    for trace in ["claude-tools", "claude-sub", "qwen-tools", "gemini-thinking"] {
        let house = House::with_trace(trace);
        house.run(&["x", "--allow", "read,edit,execute,search,other"]);
        let stored = house.session();
        let paths = house.prints(&["trace", stored["session"]["id"].as_str().unwrap()]);
        let paths: Vec<&str> = paths.lines().collect();
        let replayed = house.prints(&[&["replay", "--format", "json"], &paths[..]].concat());
        let replayed: Value = serde_json::from_str(&replayed).unwrap();
        assert_eq!(told(&replayed), told(&stored), "{trace}");
    }
}

#[test]
fn several_files_are_one_trace() {
    let house = House::with("listen");
    let first = crate::house::trace("claude-plain");
    let first = first.to_str().unwrap();
    let whole = house.prints(&["replay", "--format", "json", first]);
    let lines = whole.lines().count();
    let both =
        house.prints(&["replay", "--format", "json", first, crate::house::trace("codex-plain").to_str().unwrap()]);
    assert!(both.lines().count() > lines && both.starts_with(whole.lines().next().unwrap()), "{both}");
    let ended = house.output(&["replay", first, "nowhere.jsonl"]);
    ended.expect(1, "");
    ended.expect_said(&["nowhere.jsonl"]);
    assert_eq!(house.output(&["replay"]).code, Some(2));
}

#[test]
fn where_there_is_none_it_is_said_why() {
    let script = "open_session\nhear session/prompt as prompt\nfinish prompt\nlisten";
    let house = House::with(script);
    let ended = house.output(&["trace", "nobody"]);
    ended.expect(1, "");
    ended.expect_said(&["there is no database"]);
    house.run(&["x"]);
    let ended = house.output(&["trace", "nobody"]);
    ended.expect(1, "");
    ended.expect_said(&["there is no session `nobody`"]);
    house.output(&["trace", &"x".repeat(200)]).expect_said(&["128 bytes"]);

    let id = house.session()["session"]["id"].as_str().unwrap().to_owned();
    let file = house.prints(&["trace", &id]);
    std::fs::remove_file(file.trim()).unwrap();
    let ended = house.output(&["trace", &id]);
    ended.expect(1, "");
    ended.expect_said(&["more than 7 days ago"]);
    let configuration = std::fs::read_to_string(house.path("pleat.toml")).unwrap();
    house.write("pleat.toml", &format!("wire_log_days = 0\n{configuration}"));
    house.run(&["x"]);
    assert!(house.sessions().is_empty(), "nothing is kept");
    let ended = house.output(&["trace", &id]);
    ended.expect(1, "");
    ended.expect_said(&["`wire_log_days` is 0"]);
}

//! Several sessions on one process: each line goes where it belongs.

use pleat_acp::connection::{RpcError, messages::method};
use pleat_acp::trace::TraceItem;
use pleat_transcript::ids::{AgentSessionId, SessionId};
use serde_json::{Value, json};

use crate::conversation::{House, Process, session};

/// What a line says, in short.
fn describe(item: &TraceItem) -> String {
    match item {
        TraceItem::ClientToAgent(message) => format!("> {}", message["method"].as_str().unwrap_or("answer")),
        TraceItem::AgentToClient(message) => match message["params"]["update"]["content"]["text"].as_str() {
            Some(text) => format!("< {text}"),
            None => format!("< {}", message.get("result").or(message.get("error")).expect("an answer")),
        },
        TraceItem::AgentRaw(raw) => format!("raw {raw}"),
        TraceItem::AgentStderr(_) => panic!("stderr goes over no wire"),
        TraceItem::Note(note) => format!("note {}", &note["event"].as_str().expect("an event")[..20]),
    }
}

async fn check(house: &House, session: &SessionId, expect: &[&str]) {
    let lines: Vec<_> = house.lines(session).await.iter().map(describe).collect();
    assert_eq!(lines, expect, "{session}");
}

async fn open(process: &mut Process, ours: &SessionId, name: &str) {
    process.log.add_session(ours);
    let asked = process.ask(method::SESSION_NEW, json!({"cwd": "/w"})).await;
    process.answer(asked, json!({"sessionId": name})).await;
    process.log.name_session(ours, &AgentSessionId(name.to_owned()));
}

async fn greet(process: &mut Process) {
    let asked = process.ask(method::INITIALIZE, json!({})).await;
    process.noise("Loaded cached credentials.").await;
    process.answer(asked, json!({"protocolVersion": 1})).await;
}

const GREETING: [&str; 3] = ["> initialize", "raw Loaded cached credentials.", "< {\"protocolVersion\":1}"];

fn greeted<'a>(further: &[&'a str]) -> Vec<&'a str> {
    [GREETING.as_slice(), further].concat()
}

#[tokio::test]
async fn each_session_has_its_own_lines_and_what_is_about_none() {
    let (house, [one, two]) = (House::new(), [session(1), session(2)]);
    let mut process = Process::start(&house.logs);
    process.log.add_session(&one);
    greet(&mut process).await;
    open(&mut process, &one, "a").await;
    open(&mut process, &two, "b").await;
    process.update("a", "to one").await;
    process.update("b", "to two").await;
    process.noise("to both").await;
    process.update("a sub-agent's", "to both too").await;
    let asked = process.ask(method::SESSION_PROMPT, json!({"sessionId": "b", "prompt": []})).await;
    process.answer(asked, json!({"stopReason": "end_turn"})).await;
    process.log.remove_session(&one);
    process.update("a", "to nobody").await;
    process.noise("to two alone").await;
    process.end().await;
    let both = ["raw to both", "< to both too"];
    let of_one = ["> session/new", "< {\"sessionId\":\"a\"}", "< to one", both[0], both[1]];
    check(&house, &one, &greeted(&of_one)).await;
    let of_two = ["> session/new", "< {\"sessionId\":\"b\"}", "< to two", both[0], both[1]];
    let last = ["> session/prompt", "< {\"stopReason\":\"end_turn\"}", "raw to two alone"];
    check(&house, &two, &greeted(&[of_two.as_slice(), &last].concat())).await;
}

/// Agents speak of a session before they say its name, while others go on.
#[tokio::test]
async fn what_is_said_of_a_session_that_opens_is_not_another_ones() {
    let (house, [one, two, three]) = (House::new(), [session(1), session(2), session(3)]);
    let mut process = Process::start(&house.logs);
    greet(&mut process).await;
    open(&mut process, &one, "a").await;
    process.update("known sub-agent", "sub-agent").await;
    // Both wait; the agent is asked for one at a time, and not in the order in which they were told.
    process.log.add_session(&two);
    process.log.add_session(&three);
    for (session, name) in [(&three, "c"), (&two, "b")] {
        let asked = process.ask(method::SESSION_NEW, json!({"cwd": "/w"})).await;
        process.update(name, &format!("early {name}")).await;
        process.update("a", "to one").await;
        process.update("known sub-agent", "at once").await;
        process.answer(asked, json!({"sessionId": name})).await;
        process.update(name, &format!("answered {name}")).await;
        process.log.name_session(session, &AgentSessionId(name.to_owned()));
        process.update(name, &format!("named {name}")).await;
    }
    process.end().await;
    let opened = ["> session/new", "< {\"sessionId\":\"a\"}", "< sub-agent"];
    let meanwhile = ["< to one", "< at once"];
    check(&house, &one, &greeted(&[opened.as_slice(), &meanwhile, &meanwhile].concat())).await;
    // What a sub-agent says is everyone's; nothing else of another session is there.
    for (session, name) in [(&two, "b"), (&three, "c")] {
        let lines: Vec<_> = house.lines(session).await.iter().map(describe).collect();
        let own: Vec<_> = lines.iter().filter(|line| *line != "< at once").map(String::as_str).collect();
        let answer = format!("< {{\"sessionId\":\"{name}\"}}");
        let [early, answered, named] = ["early", "answered", "named"].map(|when| format!("< {when} {name}"));
        assert_eq!(own, greeted(&["> session/new", &early, &answer, &answered, &named]), "{session}");
    }
}

/// One that could not be opened has the reason in its file, and may be opened again.
#[tokio::test]
async fn a_refused_session_has_what_was_said() {
    let (house, [one, two]) = (House::new(), [session(1), session(2)]);
    let mut process = Process::start(&house.logs);
    open(&mut process, &one, "a").await;
    process.log.add_session(&two);
    let asked = process.ask(method::SESSION_NEW, json!({})).await;
    process.noise("not now").await;
    let error = RpcError::new(-32000, "Authentication required");
    process.noise(&json!({"id": asked, "error": error}).to_string()).await;
    open(&mut process, &two, "b").await;
    process.end().await;
    check(&house, &one, &["> session/new", "< {\"sessionId\":\"a\"}", "raw not now"]).await;
    let refused = r#"< {"code":-32000,"message":"Authentication required"}"#;
    let opened = ["> session/new", "raw not now", refused, "> session/new", "< {\"sessionId\":\"b\"}"];
    check(&house, &two, &opened).await;
}

/// An agent that hangs while it opens a session: what is wanted then is its log.
#[tokio::test]
async fn a_session_that_is_never_opened_has_what_was_said() {
    let (house, [one, two]) = (House::new(), [session(1), session(2)]);
    let mut process = Process::start(&house.logs);
    process.log.add_session(&one);
    process.ask(method::SESSION_NEW, json!({})).await;
    check(&house, &one, &["> session/new"]).await;
    process.update("a", "early").await;
    process.log.remove_session(&one);
    check(&house, &one, &["> session/new", "< early"]).await;
    // Where it is not clear whose it is, it goes to both.
    let mut process = Process::start(&house.logs);
    process.log.add_session(&one);
    process.log.add_session(&two);
    process.ask(method::SESSION_NEW, Value::Null).await;
    check(&house, &two, &[]).await;
    process.end().await;
    check(&house, &two, &["> session/new"]).await;
    check(&house, &one, &["> session/new", "< early", "note a new one is started", "> session/new"]).await;
}

/// A process that was replaced says nothing any more that would stand in the middle of what the next one says.
#[tokio::test]
async fn the_process_that_was_told_last_has_the_session() {
    let (house, one) = (House::new(), session(1));
    let mut old = Process::start(&house.logs);
    open(&mut old, &one, "a").await;
    let mut new = Process::start(&house.logs);
    new.log.add_session(&one);
    new.log.name_session(&one, &AgentSessionId("a".to_owned()));
    old.update("a", "too late").await;
    old.noise("too late").await;
    new.update("a", "in time").await;
    old.end().await;
    new.update("a", "still there").await;
    let expect =
        ["> session/new", "< {\"sessionId\":\"a\"}", "note a new one is started", "< in time", "< still there"];
    check(&house, &one, &expect).await;
    // Told twice is told once.
    new.log.add_session(&one);
    new.update("a", "again").await;
    check(&house, &one, &[expect.as_slice(), &["< again"]].concat()).await;
}

//! The connection over streams in memory: lines, order, ids.

#![allow(clippy::expect_used, reason = "a test fails by panicking, in its helpers too")]

use std::io;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use pleat_acp::connection::{
    CloseCause, Connection, ConnectionOptions, Incoming, IncomingLines, RpcError, Token, WireDirection, WireLine,
    messages,
};
use pleat_acp::process::ExitLadder;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines};

/// Nothing here takes a fraction of it.
const PATIENCE: Duration = Duration::from_secs(20);

/// The agent's ends of a connection's pipes.
struct Agent {
    stdout: DuplexStream,
    stdin: Lines<BufReader<DuplexStream>>,
}

impl Agent {
    async fn say(&mut self, bytes: impl AsRef<[u8]>) {
        self.stdout.write_all(bytes.as_ref()).await.expect("the connection reads");
    }

    async fn hear(&mut self) -> Value {
        let line = self.stdin.next_line().await.expect("the connection writes").expect("one more line");
        serde_json::from_str(&line).expect("JSON")
    }
}

fn connect(options: ConnectionOptions) -> (Agent, Connection, IncomingLines) {
    let (stdout, reader) = tokio::io::duplex(4096);
    let (writer, stdin) = tokio::io::duplex(4096);
    let (connection, incoming) = Connection::over(reader, writer, options);
    (Agent { stdout, stdin: BufReader::new(stdin).lines() }, connection, incoming)
}

async fn next(incoming: &mut IncomingLines) -> Incoming {
    let item = tokio::time::timeout(PATIENCE, incoming.recv()).await.expect("an item in time");
    item.expect("an item before the end of the queue").what
}

fn describe(item: &Incoming) -> String {
    match item {
        Incoming::Notification { method, .. } => format!("notification {method}"),
        Incoming::Request { id, method, .. } => format!("request {id} {method}"),
        Incoming::Answer { to, result: Ok(result) } => format!("answer {to} {result}"),
        Incoming::Answer { to, result: Err(error) } => format!("error {to} {error}"),
        Incoming::Noise(line) => format!("noise {line}"),
        Incoming::SkippedLine { bytes } => format!("skipped {bytes}"),
        Incoming::Closed(reason) => format!("closed {:?}", reason.cause),
    }
}

/// Everything to the end of the queue, which is always `Closed`.
async fn rest(incoming: &mut IncomingLines) -> Vec<String> {
    let mut items = Vec::new();
    loop {
        let item = next(incoming).await;
        items.push(describe(&item));
        if matches!(item, Incoming::Closed(_)) {
            assert!(incoming.recv().await.is_none(), "something came after Closed");
            return items;
        }
    }
}

fn update(text: &str) -> String {
    let update = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}});
    json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}}).to_string()
}

/// B18: plain lines, an empty one, a CRLF line, a plain line at the end without its own.
#[tokio::test]
async fn noise_stands_where_it_stood() {
    let (mut agent, connection, mut incoming) = connect(ConnectionOptions::default());
    let token = connection.request("initialize", json!({}));
    let id = agent.hear().await["id"].clone();
    agent.say("Loaded cached credentials.\n").await;
    agent.say(format!("{}\r\n", json!({"jsonrpc": "2.0", "id": id, "result": {}}))).await;
    agent.say(format!("{}\nhook: shutdown\n\n   \n{}\n", update("a"), update("b"))).await;
    agent.say("[1, 2]\nbye").await;
    drop(agent);
    let expect = [
        "noise Loaded cached credentials.".to_owned(),
        format!("answer {token} {{}}"),
        "notification session/update".to_owned(),
        "noise hook: shutdown".to_owned(),
        "notification session/update".to_owned(),
        "noise [1, 2]".to_owned(),
        "noise bye".to_owned(),
        "closed AgentEnded".to_owned(),
    ];
    assert_eq!(rest(&mut incoming).await, expect);
}

/// B19, and a line at each edge of the reader's buffer.
#[tokio::test]
async fn long_lines_are_whole() {
    for length in [65_535, 65_536, 65_537, 132 * 1024, 8 * 1024 * 1024] {
        let (mut agent, _connection, mut incoming) = connect(ConnectionOptions::default());
        let text = "x".repeat(length - update("").len());
        let line = update(&text);
        assert_eq!(line.len(), length);
        let agent_says = tokio::spawn(async move {
            agent.say(format!("{line}\n{}\n", update("after"))).await;
        });
        for expect in [text.as_str(), "after"] {
            let Incoming::Notification { params, .. } = next(&mut incoming).await else { panic!("an update") };
            assert_eq!(params["update"]["content"]["text"].as_str(), Some(expect));
        }
        agent_says.await.expect("all said");
        assert_eq!(rest(&mut incoming).await, ["closed AgentEnded"]);
    }
}

#[tokio::test]
async fn a_line_beyond_the_limit_is_skipped_and_reported() {
    let (mut agent, _connection, mut incoming) =
        connect(ConnectionOptions { max_line_bytes: 1000, ..ConnectionOptions::default() });
    agent.say(format!("{}\n{}\n", "y".repeat(5000), update("after"))).await;
    agent.say("z".repeat(3000)).await;
    drop(agent);
    let expect = ["skipped 5000", "notification session/update", "skipped 3000", "closed AgentEnded"];
    assert_eq!(rest(&mut incoming).await, expect);
}

/// A SIGKILL tears the last line (docs/agents.md, 27); one that only lacks its end is whole.
#[tokio::test]
async fn a_torn_last_line_is_noise() {
    for (last, expect) in
        [(&update("a")[..40], "noise {\"jsonrpc\":"), (&update("a")[..], "notification session/update")]
    {
        let (mut agent, _connection, mut incoming) = connect(ConnectionOptions::default());
        agent.say(last).await;
        drop(agent);
        let items = rest(&mut incoming).await;
        assert!(items[0].starts_with(expect), "{items:?}");
        assert_eq!(items[1..], ["closed AgentEnded"]);
    }
}

/// The order that matters most: nothing overtakes, whatever the load.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_comes_after_the_updates_before_it() {
    const UPDATES: usize = 3000;
    let (mut agent, connection, mut incoming) = connect(ConnectionOptions::default());
    let prompt = connection.request("session/prompt", json!({"sessionId": "s"}));
    let id = agent.hear().await["id"].clone();
    let agent_says = tokio::spawn(async move {
        for number in 0..UPDATES {
            agent.say(format!("{}\n", update(&number.to_string()))).await;
        }
        agent.say(format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "result": {"stopReason": "end_turn"}}))).await;
        agent.say(format!("{}\n", update("late"))).await;
    });
    for number in 0..UPDATES {
        let Incoming::Notification { params, .. } = next(&mut incoming).await else { panic!("update {number}") };
        assert_eq!(params["update"]["content"]["text"], number.to_string());
    }
    let answer = format!("answer {prompt} {{\"stopReason\":\"end_turn\"}}");
    assert_eq!(rest(&mut incoming).await, [answer.as_str(), "notification session/update", "closed AgentEnded"]);
    agent_says.await.expect("all said");
}

/// Two id spaces (docs/agents.md, 28): the agent's requests have our numbers, also as text.
#[tokio::test]
async fn ids_of_both_sides_do_not_mix() {
    let (mut agent, connection, mut incoming) = connect(ConnectionOptions::default());
    let tokens: Vec<Token> = (0..2).map(|_| connection.request("session/prompt", json!({}))).collect();
    let ids = [agent.hear().await["id"].clone(), agent.hear().await["id"].clone()];
    let ask = |id: Value| format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": "fs/read_text_file"}));
    agent.say(ask(ids[0].clone()) + &ask(json!(ids[0].to_string())) + &ask(json!(0))).await;
    let mut asked = Vec::new();
    for _ in 0..3 {
        let Incoming::Request { id, method, params } = next(&mut incoming).await else { panic!("a request") };
        assert_eq!((method.as_str(), params), ("fs/read_text_file", Value::Null));
        asked.push(id);
    }
    connection.respond(&asked[1], Err(RpcError::method_not_found("fs/read_text_file")));
    connection.respond(&asked[0], Ok(json!({"content": "c"})));
    connection.respond(&asked[2], Ok(Value::Null));
    let error = json!({"code": -32601, "message": "Method not found: fs/read_text_file"});
    assert_eq!(agent.hear().await, json!({"jsonrpc": "2.0", "id": ids[0].to_string(), "error": error}));
    assert_eq!(agent.hear().await, json!({"jsonrpc": "2.0", "id": ids[0], "result": {"content": "c"}}));
    assert_eq!(agent.hear().await, json!({"jsonrpc": "2.0", "id": 0, "result": null}));
    // The answers come the other way round, and one of them twice.
    let answer = |id: &Value| format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "result": {}}));
    agent.say(answer(&ids[1]) + &answer(&ids[0]) + &answer(&ids[1])).await;
    assert_eq!(describe(&next(&mut incoming).await), format!("answer {} {{}}", tokens[1]));
    assert_eq!(describe(&next(&mut incoming).await), format!("answer {} {{}}", tokens[0]));
    assert!(matches!(next(&mut incoming).await, Incoming::Noise(_)), "a second answer");
}

#[tokio::test]
async fn params_that_are_null_are_left_out() {
    let (mut agent, connection, _incoming) = connect(ConnectionOptions::default());
    connection.notify("session/cancel", json!({"sessionId": "s"}));
    connection.notify("no/params", Value::Null);
    assert_eq!(agent.hear().await, json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "s"}}));
    assert_eq!(agent.hear().await, json!({"jsonrpc": "2.0", "method": "no/params"}));
}

/// The tap sees what the wire saw, noise too, without line ends.
#[tokio::test]
async fn a_tap_sees_both_directions() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let tap = {
        let seen = Arc::clone(&seen);
        move |line: WireLine<'_>| {
            assert!(line.at <= SystemTime::now());
            let text = String::from_utf8_lossy(line.bytes).into_owned();
            seen.lock().expect("not poisoned").push((line.direction, text, line.is_object));
        }
    };
    let (mut agent, connection, mut incoming) =
        connect(ConnectionOptions { tap: Some(Arc::new(tap)), ..ConnectionOptions::default() });
    connection.notify("hello", Value::Null);
    agent.hear().await;
    agent.say("noise\r\n{\"method\":  \"m\"}\n").await;
    drop(agent);
    rest(&mut incoming).await;
    let expect = [
        (WireDirection::ToAgent, r#"{"jsonrpc":"2.0","method":"hello"}"#.to_owned(), true),
        (WireDirection::FromAgent, "noise".to_owned(), false),
        (WireDirection::FromAgent, "{\"method\":  \"m\"}".to_owned(), true),
    ];
    assert_eq!(*seen.lock().expect("not poisoned"), expect);
}

/// Each line with the session that it is about, both ways: by its params, its request, or the answer to `session/new`.
#[tokio::test]
async fn a_tap_is_told_which_session_a_line_is_about() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let tap = {
        let seen = Arc::clone(&seen);
        move |line: WireLine<'_>| {
            let session = line.session.unwrap_or("-").to_owned();
            seen.lock().expect("not poisoned").push((session, line.opens.is_some()));
        }
    };
    let (mut agent, connection, mut incoming) =
        connect(ConnectionOptions { tap: Some(Arc::new(tap)), ..ConnectionOptions::default() });
    let line = |message: Value| format!("{message}\n");
    let about = |session: &str| json!({"sessionId": session});

    connection.request("initialize", json!({}));
    let id = agent.hear().await["id"].clone();
    agent.say("noise\n".to_owned() + &line(json!({"id": id, "result": {}}))).await;
    connection.request(messages::method::SESSION_NEW, json!({"cwd": "/"}));
    let id = agent.hear().await["id"].clone();
    let early = line(json!({"method": "session/update", "params": about("new")}));
    agent.say(early + &line(json!({"id": id, "result": about("new")}))).await;
    connection.request("session/prompt", about("old"));
    let id = agent.hear().await["id"].clone();
    agent.say(line(json!({"id": id, "result": {"stopReason": "end_turn"}}))).await;
    agent.say(line(json!({"id": 1, "method": "fs/read_text_file", "params": about("its")}))).await;
    let asked = loop {
        if let Incoming::Request { id, .. } = next(&mut incoming).await {
            break id;
        }
    };
    connection.respond(&asked, Ok(json!({"sessionId": "another"})));
    agent.hear().await;
    connection.respond(&asked, Ok(Value::Null));
    agent.hear().await;
    connection.request(messages::method::SESSION_LOAD, about("old"));
    let id = agent.hear().await["id"].clone();
    agent.say(line(json!({"id": id, "error": {"code": 1, "message": "m"}}))).await;
    connection.notify("session/cancel", about("old"));
    agent.hear().await;
    drop(agent);
    rest(&mut incoming).await;

    let expect = [
        ("-", false),   // initialize
        ("-", false),   // noise
        ("-", false),   // its answer
        ("-", true),    // session/new
        ("new", false), // an update before its answer
        ("new", true),  // its answer
        ("old", false), // session/prompt
        ("old", false), // its answer
        ("its", false), // a request of the agent's
        ("its", false), // our answer, whatever it holds
        ("-", false),   // an answer to nothing
        ("old", true),  // session/load
        ("old", true),  // its answer
        ("old", false), // session/cancel
    ];
    let seen = seen.lock().expect("not poisoned");
    let seen: Vec<_> = seen.iter().map(|(session, opens)| (session.as_str(), *opens)).collect();
    assert_eq!(seen, expect);
}

/// What is not worked off makes this agent wait at its pipe, and nothing is lost by it.
#[tokio::test]
async fn what_waits_to_be_worked_off_is_bounded() {
    const LINES: usize = 200;
    let (mut agent, connection, mut incoming) =
        connect(ConnectionOptions { max_waiting_bytes: 100_000, ..ConnectionOptions::default() });
    let long = "x".repeat(10_000);
    let said = Arc::new(Mutex::new(0));
    let agent_says = {
        let said = Arc::clone(&said);
        tokio::spawn(async move {
            for _ in 0..LINES {
                agent.say(update(&long) + "\n").await;
                *said.lock().expect("not poisoned") += 1;
            }
            // One line that is larger than all room passes alone.
            agent.say(update(&"y".repeat(1_000_000)) + "\n").await;
            agent
        })
    };
    let mut taken = Vec::new();
    while taken.len() < 5 {
        incoming.recv_many(&mut taken, LINES).await;
    }
    // Nothing is given back, so nothing comes after these.
    while tokio::time::timeout(Duration::from_millis(100), incoming.recv_many(&mut taken, LINES)).await.is_ok() {}
    assert!(taken.len() < 10, "{}", taken.len());
    assert!(*said.lock().expect("not poisoned") < 20, "the agent waits");
    // Sending goes on.
    connection.notify("session/cancel", json!({"sessionId": "s"}));

    let mut count = taken.len();
    while count < LINES {
        taken.clear();
        count += incoming.recv_many(&mut taken, 3).await;
    }
    assert_eq!(count, LINES);
    taken.clear();
    let Incoming::Notification { params, .. } = next(&mut incoming).await else { panic!("an update") };
    assert_eq!(params["update"]["content"]["text"].as_str().map(str::len), Some(1_000_000));
    let mut agent = agent_says.await.expect("all said");
    assert_eq!(agent.hear().await["method"], "session/cancel");
    drop(agent);
    assert_eq!(rest(&mut incoming).await, ["closed AgentEnded"]);
}

#[tokio::test]
async fn a_line_without_an_end_closes_the_connection() {
    let options = ConnectionOptions { max_line_bytes: 1000, max_unended_bytes: 9000, ..ConnectionOptions::default() };
    let (mut agent, _connection, mut incoming) = connect(options);
    let agent_says = tokio::spawn(async move {
        agent.say("y".repeat(8000) + "\n" + &update("a") + "\n").await;
        while agent.stdout.write_all(&[b'z'; 1000]).await.is_ok() {}
    });
    let items = rest(&mut incoming).await;
    assert_eq!(items[..2], ["skipped 8000", "notification session/update"]);
    assert!(items[2].starts_with("closed EndlessLine { bytes: "), "{items:?}");
    agent_says.await.expect("its pipe is closed");
}

/// Nobody reads the queue, and still the agent's pipe is emptied.
#[tokio::test]
async fn reading_does_not_wait_for_the_consumer() {
    let (mut agent, connection, incoming) = connect(ConnectionOptions::default());
    for _ in 0..1000 {
        tokio::time::timeout(PATIENCE, agent.say(update("x") + "\n")).await.expect("read in time");
    }
    drop(incoming);
    agent.say(update("x") + "\n").await;
    drop(agent);
    connection.shut_down(ExitLadder::default()).await;
}

#[tokio::test]
async fn an_agent_that_no_longer_listens_closes_the_connection() {
    let (reader, stdout) = tokio::io::duplex(64);
    let (writer, stdin) = tokio::io::duplex(64);
    let ladder = ExitLadder { after_stdin_closed: Duration::ZERO, ..ExitLadder::default() };
    let (connection, mut incoming) =
        Connection::over(reader, writer, ConnectionOptions { ladder, ..ConnectionOptions::default() });
    drop(stdin);
    connection.request("initialize", Value::Null);
    let Incoming::Closed(reason) = next(&mut incoming).await else { panic!("closed") };
    let CloseCause::WriteFailed(error) = reason.cause else { panic!("{:?}", reason.cause) };
    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    assert!(reason.exit.is_none());
    drop(stdout);
}

/// What was sent before the end is written, what comes after is dropped, and the end is told once.
#[tokio::test]
async fn shutting_down_writes_what_was_sent() {
    let (mut agent, connection, mut incoming) = connect(ConnectionOptions::default());
    connection.notify("last", Value::Null);
    let ended = tokio::spawn(async move {
        connection.shut_down(ExitLadder::default()).await;
        connection.notify("too late", Value::Null);
        connection.shut_down(ExitLadder::default()).await;
    });
    assert_eq!(agent.hear().await["method"], "last");
    assert!(agent.stdin.next_line().await.expect("readable").is_none(), "stdin is closed");
    drop(agent);
    assert_eq!(rest(&mut incoming).await, ["closed ShutDown"]);
    ended.await.expect("shut down");
}

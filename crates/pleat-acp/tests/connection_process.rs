//! The connection to real processes: how they start, end, and leave nothing behind.

#![allow(clippy::expect_used, reason = "a test fails by panicking, in its helpers too")]

use std::os::unix::process::ExitStatusExt as _;
use std::time::Duration;

use pleat_acp::connection::{
    CloseCause, CloseReason, Connection, ConnectionOptions, Incoming, IncomingLines, Received,
};
use pleat_acp::process::{AgentCommand, ExitLadder, STDERR_TAIL_BYTES, SpawnError};
use serde_json::{Value, json};

/// Nothing here takes a fraction of it.
const PATIENCE: Duration = Duration::from_secs(20);

/// A ladder whose rungs end by events, not by time, when all is well.
const LADDER: ExitLadder =
    ExitLadder { after_stdin_closed: PATIENCE, after_sigterm: PATIENCE, after_sigkill: PATIENCE };

/// A ladder for agents that ignore that stdin was closed.
const HASTY: ExitLadder = ExitLadder { after_stdin_closed: Duration::from_millis(50), ..LADDER };

fn shell(script: &str) -> (Connection, IncomingLines) {
    shell_with(script, ExitLadder::default())
}

/// With a ladder also for an end that comes unasked.
fn shell_with(script: &str, ladder: ExitLadder) -> (Connection, IncomingLines) {
    let command = AgentCommand { args: vec!["-c".into(), script.into()], ..AgentCommand::new("sh", "/") };
    let options = ConnectionOptions { ladder, ..ConnectionOptions::default() };
    Connection::spawn_with(&command, options).expect("sh starts")
}

async fn next(incoming: &mut IncomingLines) -> Incoming {
    let item = tokio::time::timeout(PATIENCE, incoming.recv()).await.expect("an item in time");
    item.expect("an item before the end of the queue").what
}

async fn noise(incoming: &mut IncomingLines) -> String {
    let item = next(incoming).await;
    let Incoming::Noise(line) = item else { panic!("{item:?} is no noise") };
    line
}

async fn closed(incoming: &mut IncomingLines) -> CloseReason {
    let item = next(incoming).await;
    let Incoming::Closed(reason) = item else { panic!("{item:?} is not Closed") };
    assert!(incoming.recv().await.is_none(), "something came after Closed");
    reason
}

/// Whether a process runs; one that only waits to be reaped does not.
fn runs(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z')))
}

#[tokio::test]
async fn a_missing_program_is_named() {
    let Err(error) = Connection::spawn(&AgentCommand::new("pleat-no-such-agent", "/")) else { panic!("started") };
    assert!(matches!(error, SpawnError::ProgramNotFound { .. }), "{error}");
    assert!(error.to_string().contains("pleat-no-such-agent"), "{error}");
}

#[tokio::test]
async fn an_agent_that_exits_at_once_says_how() {
    let (connection, mut incoming) = shell("echo no key >&2; exit 7");
    connection.request("initialize", json!({}));
    let reason = closed(&mut incoming).await;
    assert_eq!(reason.exit.and_then(|exit| exit.code()), Some(7));
    assert_eq!(reason.stderr_tail, "no key\n");
    assert!(matches!(reason.cause, CloseCause::AgentEnded | CloseCause::WriteFailed(_)), "{:?}", reason.cause);
}

#[tokio::test]
async fn a_killed_agent_says_how_and_its_last_line_is_torn() {
    let (_connection, mut incoming) = shell(r#"printf '{"method":"m"}\n{"meth'; kill -KILL $$"#);
    assert!(matches!(next(&mut incoming).await, Incoming::Notification { .. }));
    assert_eq!(noise(&mut incoming).await, "{\"meth");
    let reason = closed(&mut incoming).await;
    assert_eq!(reason.exit.and_then(|exit| exit.signal()), Some(9));
}

/// B20: an agent that fills stderr before it answers is not blocked, and the tail is bounded.
#[tokio::test]
async fn stderr_is_drained_into_a_bounded_tail() {
    for bytes in [1000, 65_537, 200_000] {
        let script = format!(
            r#"head -c {bytes} /dev/zero | tr '\0' e >&2; read line; echo '{{"id":1,"result":{{}}}}'; echo end >&2"#
        );
        let (connection, mut incoming) = shell(&script);
        connection.request("initialize", json!({}));
        assert!(matches!(next(&mut incoming).await, Incoming::Answer { .. }));
        let tail = closed(&mut incoming).await.stderr_tail;
        assert!(tail.ends_with("eend\n"));
        assert_eq!(tail.len(), (bytes + 4).min(STDERR_TAIL_BYTES));
        assert_eq!(connection.stderr_tail().text(), tail);
    }
}

/// Closing stdin is enough for a well-behaved agent, and what was sent before is read by it.
#[tokio::test]
async fn a_listening_agent_ends_with_its_stdin() {
    let (connection, mut incoming) = shell("cat");
    connection.notify("echoed", Value::Null);
    connection.shut_down(LADDER).await;
    assert!(matches!(next(&mut incoming).await, Incoming::Notification { method, .. } if method == "echoed"));
    let reason = closed(&mut incoming).await;
    assert_eq!(reason.exit.and_then(|exit| exit.code()), Some(0));
    assert!(matches!(reason.cause, CloseCause::ShutDown));
}

#[tokio::test]
async fn an_agent_that_ignores_its_stdin_gets_sigterm_then_sigkill() {
    for (trap, signal) in [("", 15), ("trap '' TERM; ", 9)] {
        let (connection, mut incoming) = shell(&format!("{trap}echo ready; while :; do sleep 1000; done"));
        assert_eq!(noise(&mut incoming).await, "ready");
        let ladder =
            ExitLadder { after_sigterm: if signal == 9 { Duration::from_millis(50) } else { PATIENCE }, ..HASTY };
        connection.shut_down(ladder).await;
        assert_eq!(closed(&mut incoming).await.exit.and_then(|exit| exit.signal()), Some(signal));
    }
}

/// B21: the launcher's child is ended with it, whoever ends first.
#[tokio::test]
async fn nothing_of_the_group_is_left() {
    for script in [
        "sleep 1000 & echo $!; wait",
        "sleep 1000 & echo $!; cat >/dev/null",
        "sleep 1000 & echo $!; exit 0",
        "sh -c 'trap \"\" TERM; while :; do sleep 1000; done' & echo $!; exit 0",
    ] {
        // One of them ends before it is asked to, or while it is.
        let ladder = ExitLadder { after_sigterm: Duration::from_millis(500), ..HASTY };
        let (connection, mut incoming) = shell_with(script, ladder);
        let child = noise(&mut incoming).await;
        connection.shut_down(ladder).await;
        assert!(!runs(&child), "{script}");
        closed(&mut incoming).await;
    }
}

#[tokio::test]
async fn a_dropped_connection_kills_the_group() {
    let (connection, mut incoming) = shell("trap '' TERM; sleep 1000 & echo $!; wait");
    let child = noise(&mut incoming).await;
    assert!(runs(&child));
    drop(connection);
    let reason = closed(&mut incoming).await;
    assert!(matches!(reason.cause, CloseCause::Dropped));
    assert_eq!(reason.exit.and_then(|exit| exit.signal()), Some(9));
    assert!(!runs(&child));
}

/// Dropped in the middle of a shutdown that would take its time.
#[tokio::test]
async fn a_connection_dropped_while_shutting_down_does_not_wait() {
    let (connection, mut incoming) = shell("echo ready; sleep 1000");
    assert_eq!(noise(&mut incoming).await, "ready");
    let gave_up = tokio::time::timeout(Duration::from_millis(20), connection.shut_down(LADDER)).await;
    assert!(gave_up.is_err());
    drop(connection);
    assert_eq!(closed(&mut incoming).await.exit.and_then(|exit| exit.signal()), Some(9));
}

/// More than fits into a pipe, and nobody takes anything before it is over.
#[tokio::test]
async fn what_an_agent_said_last_is_not_lost_when_its_consumer_is_slow() {
    let command =
        AgentCommand { args: vec!["-c".into(), "seq 60000; echo done >&2".into()], ..AgentCommand::new("sh", "/") };
    let options = ConnectionOptions { max_waiting_bytes: 1, ladder: LADDER, ..ConnectionOptions::default() };
    let (connection, mut incoming) = Connection::spawn_with(&command, options).expect("sh starts");
    // As it waits for room, the agent does at its pipe.
    assert_eq!(noise(&mut incoming).await, "1");
    assert_eq!(connection.stderr_tail().text(), "");
    for number in 2..=60_000 {
        assert_eq!(noise(&mut incoming).await, number.to_string());
    }
    assert_eq!(closed(&mut incoming).await.stderr_tail, "done\n");

    // And one that has ended already.
    let options = ConnectionOptions { max_waiting_bytes: 1, ladder: LADDER, ..ConnectionOptions::default() };
    let command = AgentCommand { args: vec!["-c".into(), "seq 1000".into()], ..AgentCommand::new("sh", "/") };
    let (connection, mut incoming) = Connection::spawn_with(&command, options).expect("sh starts");
    let first = incoming.recv().await.expect("an item");
    connection.shut_down(LADDER).await;
    for number in 2..=1000 {
        assert_eq!(noise(&mut incoming).await, number.to_string());
    }
    closed(&mut incoming).await;
    drop(first);
}

/// It is cut off and ended by the ladder.
#[tokio::test]
async fn an_agent_that_never_ends_its_line_is_ended() {
    let command = AgentCommand {
        args: vec!["-c".into(), "trap '' TERM; tr '\\0' x </dev/zero".into()],
        ..AgentCommand::new("sh", "/")
    };
    let options = ConnectionOptions {
        max_line_bytes: 1000,
        max_unended_bytes: 1_000_000,
        ladder: ExitLadder { after_sigterm: Duration::from_millis(50), ..HASTY },
        ..ConnectionOptions::default()
    };
    let (_connection, mut incoming) = Connection::spawn_with(&command, options).expect("sh starts");
    let reason = closed(&mut incoming).await;
    let CloseCause::EndlessLine { bytes } = reason.cause else { panic!("{:?}", reason.cause) };
    assert!((1_000_001..1_100_000).contains(&bytes), "{bytes}");
    assert!(reason.exit.is_some());
}

/// A process that only closed its stdout can say nothing any more: it is ended.
#[tokio::test]
async fn an_agent_that_closes_its_stdout_is_ended() {
    let (_connection, mut incoming) = shell("exec >&-; cat >/dev/null");
    let reason = closed(&mut incoming).await;
    assert!(matches!(reason.cause, CloseCause::AgentEnded));
    assert_eq!(reason.exit.and_then(|exit| exit.code()), Some(0));
}

#[tokio::test]
async fn the_environment_and_the_directory_are_the_commands() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let command = AgentCommand {
        args: vec!["-c".into(), "echo $PLEAT_TEST; pwd".into()],
        env: vec![("PLEAT_TEST".into(), "a b".into())],
        ..AgentCommand::new("sh", directory.path())
    };
    let (connection, mut incoming) = Connection::spawn(&command).expect("sh starts");
    assert!(connection.pid().is_some());
    assert_eq!(noise(&mut incoming).await, "a b");
    let cwd = directory.path().canonicalize().expect("a real path");
    assert_eq!(noise(&mut incoming).await, cwd.display().to_string());
    closed(&mut incoming).await;
}

/// A script that asks for many files at once, and reads what it is answered when the file `go` is there.
fn pipelining(then: &str) -> String {
    let request = r#"{"id":&,"method":"fs\/read_text_file","params":{}}"#;
    format!("seq {REQUESTS} | sed 's/.*/{request}/'; while [ ! -e go ]; do sleep 0.01; done; {then}")
}

const REQUESTS: usize = 300;
const ANSWER_BYTES: usize = 1_000_000;
const OUTGOING: usize = 4 * ANSWER_BYTES;

fn agent_that_does_not_read(then: &str) -> (tempfile::TempDir, Connection, IncomingLines) {
    let directory = tempfile::tempdir().expect("temporary directory");
    let command =
        AgentCommand { args: vec!["-c".into(), pipelining(then)], ..AgentCommand::new("sh", directory.path()) };
    let options = ConnectionOptions { max_outgoing_bytes: OUTGOING, ladder: LADDER, ..ConnectionOptions::default() };
    let (connection, incoming) = Connection::spawn_with(&command, options).expect("sh starts");
    (directory, connection, incoming)
}

/// What comes, until nothing does any more; at least 4 items.
async fn next_if_any(incoming: &mut IncomingLines, before: usize) -> Option<Received> {
    let patience = if before < 4 { PATIENCE } else { Duration::from_millis(200) };
    tokio::time::timeout(patience, incoming.recv()).await.ok().flatten()
}

/// Answers what comes until nothing does, and tells how much that was.
async fn answer_all(connection: &Connection, incoming: &mut IncomingLines) -> usize {
    let mut count = 0;
    while let Some(item) = next_if_any(incoming, count).await {
        let Incoming::Request { id, .. } = item.what else { panic!("{:?} is no request", item.what) };
        connection.respond(&id, Ok(json!({"content": "x".repeat(ANSWER_BYTES)})));
        count += 1;
    }
    count
}

/// What it asks for does not grow without end, and comes when it reads.
#[tokio::test]
async fn an_agent_that_asks_and_does_not_read_is_heard_no_further() {
    let (directory, connection, mut incoming) = agent_that_does_not_read("cat | wc -l; cat >/dev/null");
    let mut answered = answer_all(&connection, &mut incoming).await;
    assert!((4..=9).contains(&answered), "{answered}");
    // What we say unasked waits for nothing.
    connection.notify("session/cancel", json!({"sessionId": "s"}));
    std::fs::write(directory.path().join("go"), "").expect("a file");
    while answered < REQUESTS {
        let Incoming::Request { id, .. } = next(&mut incoming).await else { panic!("a request") };
        connection.respond(&id, Ok(json!({"content": "x".repeat(ANSWER_BYTES)})));
        answered += 1;
    }
    connection.shut_down(LADDER).await;
    assert_eq!(noise(&mut incoming).await, (REQUESTS + 1).to_string());
    closed(&mut incoming).await;
}

/// Requests that are not answered yet count too: their answers may be large.
#[tokio::test]
async fn of_large_answers_a_few_are_made_at_once() {
    let (_directory, connection, mut incoming) = agent_that_does_not_read("");
    let mut asked = Vec::new();
    while let Some(item) = next_if_any(&mut incoming, asked.len()).await {
        asked.push(item);
    }
    assert_eq!(asked.len(), 4);
    let Incoming::Request { id, .. } = &asked[0].what else { panic!("a request") };
    connection.respond(id, Ok(Value::Null));
    assert!(matches!(next(&mut incoming).await, Incoming::Request { .. }));
}

/// Neither the end that we want nor the one that comes is held up by it, and nothing that was said is lost.
#[tokio::test]
async fn an_agent_that_is_heard_no_further_ends() {
    for is_ordered in [true, false] {
        let (directory, connection, mut incoming) = agent_that_does_not_read("exit 5");
        let heard = answer_all(&connection, &mut incoming).await;
        if is_ordered {
            connection.shut_down(HASTY).await;
        } else {
            std::fs::write(directory.path().join("go"), "").expect("a file");
        }
        for _ in heard..REQUESTS {
            assert!(matches!(next(&mut incoming).await, Incoming::Request { .. }), "after {heard}");
        }
        let reason = closed(&mut incoming).await;
        let exit = reason.exit.expect("an exit");
        assert_eq!((exit.code(), exit.signal()), if is_ordered { (None, Some(15)) } else { (Some(5), None) });
    }
}

#[tokio::test]
async fn the_start_of_the_process_is_known_however_soon_it_exits() {
    let (connection, mut incoming) = shell("exit 0");
    closed(&mut incoming).await;
    let pid = connection.pid().expect("a process");
    assert!(!std::fs::exists(format!("/proc/{pid}")).expect("/proc"), "it was not reaped");
    assert!(connection.process_start().is_some_and(|start| start > 0));
}

#[tokio::test]
async fn what_is_hidden_is_not_inherited() {
    let command = AgentCommand {
        args: vec!["-c".into(), "echo ${HOME-none}, ${PATH:+some}".into()],
        hidden: vec!["HOME".into()],
        ..AgentCommand::new("sh", "/")
    };
    let (_connection, mut incoming) = Connection::spawn(&command).expect("sh starts");
    assert_eq!(noise(&mut incoming).await, "none, some");
}

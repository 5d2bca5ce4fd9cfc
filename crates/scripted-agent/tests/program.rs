//! The program as a client sees it: lines on pipes, notes in a folder, and how it ends.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A client of one agent. Every wait ends at the latest when the agent does.
struct Client {
    agent: Child,
    stdin: Option<ChildStdin>,
    stdout: Option<BufReader<ChildStdout>>,
    folder: TempDir,
}

impl Client {
    fn of(script: &str) -> Self {
        Self::in_folder(tempfile::tempdir().unwrap(), script)
    }

    fn in_folder(folder: TempDir, script: &str) -> Self {
        let file = folder.path().join("agent.script");
        fs::write(&file, script).unwrap();
        let mut command = Command::new(scripted_agent::program());
        command.arg(file).arg("first").env("PLAYER_KEY", "s3cret");
        Self::start(command, folder)
    }

    fn start(mut command: Command, folder: TempDir) -> Self {
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut agent = pipes.current_dir(folder.path()).spawn().unwrap();
        let (stdin, stdout) = (agent.stdin.take(), agent.stdout.take().map(BufReader::new));
        Self { agent, stdin, stdout, folder }
    }

    fn say(&mut self, message: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    fn ask(&mut self, id: u32, method: &str, params: &Value) {
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.as_mut().unwrap().read_line(&mut line).unwrap();
        assert!(line.ends_with('\n'), "the agent ended: {line}{}", self.stderr());
        line
    }

    fn hear(&mut self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }

    /// The text of the next update, and the session it is of.
    fn hear_text(&mut self) -> (String, String) {
        let message = self.hear();
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        (text(&message["params"]["update"]["content"]["text"]), text(&message["params"]["sessionId"]))
    }

    fn open_session(&mut self) -> String {
        self.ask(1, "initialize", &json!({"protocolVersion": 1}));
        assert_eq!(self.hear(), json!({"jsonrpc": "2.0", "id": 1, "result": usual_capabilities()}));
        self.new_session()
    }

    fn new_session(&mut self) -> String {
        self.ask(2, "session/new", &json!({"cwd": "/", "mcpServers": []}));
        self.hear()["result"]["sessionId"].as_str().expect("a session").to_owned()
    }

    fn prompt(&mut self, id: u32, session: &str) {
        self.ask(id, "session/prompt", &json!({"sessionId": session, "prompt": []}));
    }

    /// Closes stdin, and reads what is left.
    fn end(&mut self) -> (ExitStatus, String) {
        self.stdin = None;
        let mut rest = String::new();
        if let Some(stdout) = &mut self.stdout {
            stdout.read_to_string(&mut rest).unwrap();
        }
        (self.agent.wait().unwrap(), rest)
    }

    fn stderr(&mut self) -> String {
        let mut stderr = String::new();
        self.agent.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        stderr
    }

    fn note(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }

    /// Opens the gate once the agent is there.
    fn open_gate(&self) {
        fs::OpenOptions::new().write(true).open(self.folder.path().join("gate")).unwrap();
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.agent.kill());
        drop(self.agent.wait());
    }
}

fn usual_capabilities() -> Value {
    json!({"protocolVersion": 1, "agentCapabilities": {}})
}

/// Whether a process runs; one that only waits to be reaped does not.
fn runs(pid: &str) -> bool {
    fs::read_to_string(Path::new("/proc").join(pid).join("stat"))
        .is_ok_and(|stat| !stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z')))
}

#[test]
fn a_turn_is_played_and_noted() {
    let mut client = Client::of(
        r#"
open_session
hear session/prompt as prompt
text "I shall look."
call c1 title="Look" status=in_progress output="found"
ask r1 c1 kind=read
hear_answer r1 as answer
if $answer.result.outcome.optionId == yes { call_update c1 status=completed } else { abort }
finish prompt end_turn usage={"totalTokens": 7}
listen
"#,
    );
    let session = client.open_session();
    client.prompt(3, &session);
    assert_eq!(client.hear_text(), ("I shall look.".to_owned(), session.clone()));
    let content = json!([{"type": "content", "content": {"type": "text", "text": "found"}}]);
    let call = json!({"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Look", "kind": "edit",
        "status": "in_progress", "content": content});
    assert_eq!(client.hear()["params"], json!({"sessionId": session, "update": call}));
    let question = client.hear();
    assert_eq!((&question["id"], &question["method"]), (&json!("r1"), &json!("session/request_permission")));
    assert_eq!(question["params"]["toolCall"], json!({"toolCallId": "c1", "kind": "read"}));
    assert_eq!(question["params"]["options"].as_array().map(Vec::len), Some(2));
    client.say(&json!({"id": "r1", "result": {"outcome": {"outcome": "selected", "optionId": "yes"}}}));
    let update = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed"});
    assert_eq!(client.hear()["params"]["update"], update);
    let result = json!({"stopReason": "end_turn", "usage": {"totalTokens": 7}});
    assert_eq!(client.hear(), json!({"jsonrpc": "2.0", "id": 3, "result": result}));
    let (status, rest) = client.end();
    assert_eq!((status.code(), rest.as_str()), (Some(0), ""));
    assert_eq!(client.note("pids"), format!("{}\n", client.agent.id()));
    let heard = client.note("heard");
    let methods = heard.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["method"].clone());
    assert_eq!(
        methods.collect::<Vec<_>>(),
        [json!("initialize"), json!("session/new"), json!("session/prompt"), json!(null)]
    );
    assert_eq!((client.stderr(), client.note("script_error")), (String::new(), String::new()));
}

#[test]
fn a_handshake_can_be_anything() {
    let mut client = Client::of(
        r#"
initialize protocolVersion=2 authMethods=[{"id": "key"}]
authenticate
hear session/new as request
refuse request -32000 "Authentication required"
hear as anything
reply anything null
say {"method": "_vendor/notification", "params": 7}
"#,
    );
    client.ask(1, "initialize", &json!({}));
    let result = json!({"protocolVersion": 2, "agentCapabilities": {}, "authMethods": [{"id": "key"}]});
    assert_eq!(client.hear()["result"], result);
    client.ask(2, "authenticate", &json!({"methodId": "key"}));
    assert_eq!(client.hear()["result"], json!({}));
    client.ask(3, "session/new", &json!({}));
    assert_eq!(client.hear()["error"], json!({"code": -32000, "message": "Authentication required"}));
    client.ask(4, "whatever", &json!({}));
    assert_eq!(client.hear(), json!({"jsonrpc": "2.0", "id": 4, "result": null}));
    assert_eq!(client.hear(), json!({"jsonrpc": "2.0", "method": "_vendor/notification", "params": 7}));
    // A script that is played to its end ends the agent.
    assert_eq!(client.end().0.code(), Some(0));
}

#[test]
fn a_process_ends_as_it_is_told() {
    for (script, code, signal, stderr) in [
        ("exit 3", Some(3), None, ""),
        ("stderr \"out of memory\\n\"\nabort", None, Some(6), "out of memory\n"),
        ("if $RUN == 1 { exit 4 }", Some(4), None, ""),
        ("stderr 65537", Some(0), None, &"x".repeat(65_537)),
        ("background { exit 5 }\nsleep_forever", Some(5), None, ""),
        ("sleep 1ms\nhear", Some(0), None, ""),
        ("background { listen }\nsleep_forever", Some(0), None, ""),
    ] {
        let mut client = Client::of(script);
        client.stdin = None;
        assert_eq!(client.stderr(), stderr, "{script}");
        let status = client.end().0;
        assert_eq!((status.code(), status.signal()), (code, signal), "{script}");
        assert_eq!(client.note("script_error"), "", "{script}");
    }
}

#[test]
fn what_is_wrong_with_a_script_is_never_taken_for_an_agent() {
    for (script, complaint) in [
        ("text hello\nhum", "line 2: no command is called `hum`"),
        ("\nfill big -1", "line 2: a number from 0 is wanted, not -1"),
        ("wait_at nowhere", "line 1: there is no gate `nowhere`"),
        ("\n\nbackground { say 7 }\nsleep_forever", "line 3: a message is an object, not 7"),
        ("if $ENV.NO_SUCH_VARIABLE != null { exit 1 }\ntext $ENV.NO_SUCH_VARIABLE", "line 2: `ENV` has no `NO_SUCH"),
        ("repeat 1 {\nexit 70\n}", "line 2: 70 is the exit code of a script that is wrong"),
        ("repeat 1 {\nexit 256\n}", "line 2: an exit code is at most 255"),
        ("long_line 5", "line 1: a line with a text has "),
        ("if $RUN != 1 { hear as x }\nreply x {}", "line 2: nothing was called `x` yet"),
    ] {
        let mut client = Client::of(script);
        let (status, said) = client.end();
        assert_eq!((status.code(), said.as_str()), (Some(70), ""), "{script}");
        let (stderr, note) = (client.stderr(), client.note("script_error"));
        assert!(note.contains(complaint), "{script}: {note}");
        assert_eq!(stderr, format!("scripted agent: {note}"));
    }
    // What the client does wrong is told in the same way.
    let mut client = Client::of("listen");
    client.stdin.as_mut().unwrap().write_all(b"{no json\n").unwrap();
    assert_eq!(client.end().0.code(), Some(70));
    assert!(client.note("script_error").contains("line 1: the client said what is no JSON"), "{}", client.stderr());
}

/// What is not waited for yet is heard by whoever waits for it later.
#[test]
fn messages_may_come_in_any_order() {
    let mut client = Client::of(
        r#"
open_session
request 0 fs/read_text_file path="/a"
request 1 terminal/create command=ls
ask 2 c1
hear_answer 2 as permission
hear_answer 0 as file
hear session/cancel
hear_answer 1 as terminal
text "$permission.result $file.result.content $terminal.result.terminalId"
"#,
    );
    let session = client.open_session();
    let params = json!({"sessionId": session, "path": "/a"});
    assert_eq!(client.hear(), json!({"jsonrpc": "2.0", "id": 0, "method": "fs/read_text_file", "params": params}));
    assert_eq!(client.hear()["params"], json!({"sessionId": session, "command": "ls"}));
    assert_eq!(client.hear()["id"], 2);
    client.say(&json!({"method": "session/cancel", "params": {"sessionId": session}}));
    client.say(&json!({"id": 1, "result": {"terminalId": "t1"}}));
    client.say(&json!({"id": 0, "result": {"content": "words"}}));
    client.say(&json!({"id": 2, "result": null}));
    assert_eq!(client.hear_text().0, "null words t1");
}

#[test]
fn sessions_of_one_process_are_served_at_the_same_time() {
    let mut client = Client::of(
        r#"
initialize
repeat 3 {
    new_session as session
    background {
        hear session/prompt session=$session as prompt
        text "to $prompt.params.sessionId"
        hear session/cancel session=$session
        text "cancelled" session="child of $session"
        finish prompt cancelled
    }
}
listen
"#,
    );
    client.ask(1, "initialize", &json!({}));
    client.hear();
    let sessions: Vec<_> = (0..3).map(|_| client.new_session()).collect();
    assert!(sessions[0] != sessions[1] && sessions[1] != sessions[2] && sessions[0] != sessions[2], "{sessions:?}");
    for (number, session) in (10..13).zip(&sessions).rev() {
        client.prompt(number, session);
        assert_eq!(client.hear_text(), (format!("to {session}"), session.clone()));
    }
    for (number, session) in (10..13).zip(&sessions) {
        client.say(&json!({"method": "session/cancel", "params": {"sessionId": session}}));
        assert_eq!(client.hear_text(), ("cancelled".to_owned(), format!("child of {session}")));
        assert_eq!(client.hear(), json!({"jsonrpc": "2.0", "id": number, "result": {"stopReason": "cancelled"}}));
    }
    assert_eq!(client.end().0.code(), Some(0));
}

/// Without a name in between, the session of what was heard last is the one that is spoken of.
#[test]
fn a_session_is_spoken_of_once_it_is_heard_of() {
    let mut client =
        Client::of("open_session as one\nnew_session\nhear session/prompt\ntext a\ntext b session=$one\nlisten");
    let sessions = [client.open_session(), client.new_session()];
    for session in ["elsewhere", &sessions[0]] {
        client.prompt(3, session);
    }
    assert_eq!(client.hear_text(), ("a".to_owned(), "elsewhere".to_owned()));
    assert_eq!(client.hear_text(), ("b".to_owned(), sessions[0].clone()));
}

#[test]
fn a_clock_ticks_so_often_and_not_faster() {
    let begun = Instant::now();
    let mut client = Client::of("every 10ms for 200ms { text \"$i $NOW\" }\nlisten");
    let mut times = Vec::new();
    for round in 0..20 {
        let (text, _) = client.hear_text();
        let (number, time) = text.split_once(' ').unwrap();
        assert_eq!(number, round.to_string());
        times.push(time.parse::<u64>().unwrap());
    }
    assert!(begun.elapsed() >= Duration::from_millis(190), "{:?}", begun.elapsed());
    assert!(times.is_sorted() && times[0] > 1_000_000_000_000_000, "{times:?}");
    assert_eq!(client.end().1, "");
}

#[test]
fn a_clock_ticks_until_a_message_comes() {
    let mut client = Client::of(
        "open_session\nhear session/prompt as prompt\nevery 1ms until session/cancel as cancel { text word }\n\
         text $cancel.method\nfinish prompt cancelled\nlisten",
    );
    let session = client.open_session();
    client.prompt(3, &session);
    assert_eq!(client.hear_text().0, "word");
    client.say(&json!({"method": "session/cancel", "params": {"sessionId": session}}));
    let last = std::iter::repeat_with(|| client.hear_text().0).find(|text| text != "word").unwrap();
    assert_eq!(last, "session/cancel");
    assert_eq!(client.hear()["result"]["stopReason"], "cancelled");
}

#[test]
fn loops_know_their_rounds() {
    let mut client = Client::of("repeat 2 { repeat 2 { text \"in $i\" }; text \"out $i\" }\ntext \"$ARGUMENTS.0\"");
    let texts = std::iter::repeat_with(|| client.hear_text().0).take(7);
    assert_eq!(texts.collect::<Vec<_>>(), ["in 0", "in 1", "out 0", "in 0", "in 1", "out 1", "first"]);
}

#[test]
fn lines_can_be_as_long_as_is_wanted() {
    let mut client = Client::of(
        "long_line 65537\nfill big 8388608\ntext $big\ntext 5\nstdout 'no {\"json\"} $PID\\r\\n'\nstdout 70000",
    );
    assert_eq!(client.line().trim_end_matches('\n').len(), 65_537);
    assert_eq!(client.hear_text().0.len(), 8_388_608);
    assert_eq!(client.hear_text().0, "5");
    assert_eq!(client.line(), format!("no {{\"json\"}} {}\r\n", client.agent.id()));
    assert_eq!(client.end().1, "x".repeat(70_000));
}

#[test]
fn a_line_need_not_end() {
    let mut client = Client::of("repeat { stdout 65536 }");
    let mut piece = vec![0; 3_000_000];
    client.stdout.as_mut().unwrap().read_exact(&mut piece).unwrap();
    assert!(piece.iter().all(|byte| *byte == b'x'));
}

/// Whoever does not wait for a message does not read, so that the pipe is full in the end.
#[test]
fn nothing_is_read_that_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    assert!(Command::new("mkfifo").arg(folder.path().join("gate")).status().unwrap().success());
    let mut client = Client::in_folder(folder, "wait_at gate\nlisten");
    let mut stdin = client.stdin.take().unwrap();
    let line = format!("{}\n", json!({"method": "x".repeat(1000)}));
    stdin.write_all(line.as_bytes()).unwrap();
    let lines = line.repeat(1000);
    let writer = thread::spawn(move || stdin.write_all(lines.as_bytes()));
    let heard_before = client.note("heard");
    client.open_gate();
    writer.join().unwrap().unwrap();
    assert_eq!(client.end().0.code(), Some(0));
    assert_eq!((heard_before.as_str(), client.note("heard").lines().count()), ("", 1001));
}

#[test]
fn an_agent_whose_client_is_gone_ends() {
    let mut client = Client::of("text up\nhear\ntext on");
    assert_eq!(client.hear_text().0, "up");
    client.stdout = None;
    client.say(&json!({}));
    assert_eq!(client.end().0.code(), Some(1));
    assert!(client.stderr().contains("the client is gone"));
    assert_eq!(client.note("script_error"), "");
}

#[test]
fn a_child_outlives_the_agent() {
    let mut client = Client::of("spawn \"exec sleep 1000 >/dev/null 2>&1\"\nexit 3");
    assert_eq!(client.end().0.code(), Some(3));
    let child = client.note("children").trim().to_owned();
    assert!(runs(&child));
    assert!(Command::new("kill").args(["-s", "KILL", &child]).status().unwrap().success());
}

#[test]
fn agents_of_one_folder_are_counted() {
    let script = "text \"$RUN of $PID in $CWD with $ENV.PLAYER_KEY\"\nlisten";
    let mut folder = tempfile::tempdir().unwrap();
    for run in 1..=3 {
        let mut client = Client::in_folder(folder, script);
        let place = client.folder.path().display();
        let expected = format!("{run} of {} in {place} with s3cret", client.agent.id());
        assert_eq!(client.hear_text().0, expected);
        folder = std::mem::replace(&mut client.folder, tempfile::tempdir().unwrap());
    }
}

/// What the documentation says of signals.
#[test]
fn a_shell_can_make_it_ignore_sigterm() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("agent.script"), "text up\nhear as x\ntext on").unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' TERM; exec \"$0\" agent.script"]).arg(scripted_agent::program());
    let mut client = Client::start(command, folder);
    assert_eq!(client.hear_text().0, "up");
    assert!(Command::new("kill").arg(client.agent.id().to_string()).status().unwrap().success());
    client.say(&json!({}));
    assert_eq!(client.hear_text().0, "on");
}

#[test]
fn a_script_that_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(scripted_agent::program());
    command.arg("nowhere.script");
    let mut client = Client::start(command, folder);
    assert_eq!(client.end().0.code(), Some(70));
    assert!(client.note("script_error").starts_with("nowhere.script: it cannot be read: "), "{}", client.stderr());
}

//! What an agent has Pleat do for it: files and terminals.

use crate::stage::{Stage, calls, said};
use pleat_transcript::session::TurnState::Completed;
use serde_json::Value;

/// B40: nothing outside of the session's directory is read, and nothing of it is told.
#[tokio::test]
async fn b40_files_stay_inside() {
    let stage = Stage::with(
        r#"
open_session
hear session/prompt as prompt
request ok fs/read_text_file path="$CWD/ok.txt"
request part fs/read_text_file path="$CWD/ok.txt" line=2 limit=1
request twin fs/read_text_file path="$CWD-evil/x"
request up fs/read_text_file path="$CWD/../y"
request link fs/read_text_file path="$CWD/link/secret"
request windows fs/read_text_file path="D:\\evil"
request missing fs/read_text_file path="$CWD/AGENTS.md"
request write fs/write_text_file path="$CWD/new/file.txt" content="written\n"
request written fs/read_text_file path="$CWD/new/file.txt"
hear_answer written
finish prompt
listen
"#,
    )
    .await;
    let root = stage.root();
    std::fs::write(root.join("ok.txt"), "one\r\ntwo\nthree").unwrap();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret"), "secret").unwrap();
    std::os::unix::fs::symlink(outside.path(), root.join("link")).unwrap();
    stage.prompt("read").await;
    stage.until_turns(&[Completed]).await;
    let answer = |request: &str| stage.heard_answers(request).remove(0);
    assert_eq!(answer("ok")["result"]["content"], "one\r\ntwo\nthree");
    assert_eq!(answer("part")["result"]["content"], "two\n");
    for refused in ["twin", "up", "link", "windows", "missing"] {
        let answer = answer(refused);
        assert!(answer["error"]["message"].is_string() && answer.get("result").is_none(), "{refused}: {answer}");
        assert!(!answer.to_string().contains("secret\""), "{answer}");
    }
    assert_eq!(answer("written")["result"]["content"], "written\n");
    assert_eq!(std::fs::read_to_string(root.join("new/file.txt")).unwrap(), "written\n");
}

/// What a terminal printed stays on the call when it is released.
#[tokio::test]
async fn a_terminal_stays_on_its_call() {
    let stage = Stage::with(
        r#"
open_session
hear session/prompt as prompt
request make terminal/create command="/bin/sh" args=["-c", "echo out; echo err >&2; exit 3"]
hear_answer make as made
call c1 kind=execute status=in_progress content=[{"type": "terminal", "terminalId": "$made.result.terminalId"}]
request wait terminal/wait_for_exit terminalId=$made.result.terminalId
hear_answer wait as ended
request out terminal/output terminalId=$made.result.terminalId
hear_answer out
request free terminal/release terminalId=$made.result.terminalId
hear_answer free
call_update c1 status=completed
text "done"
finish prompt
listen
"#,
    )
    .await;
    stage.prompt("run").await;
    let document = stage.until_turns(&[Completed]).await;
    assert_eq!(said(&document), "done");
    assert_eq!(stage.heard_answers("wait")[0]["result"]["exitCode"], 3);
    assert_eq!(stage.heard_answers("out")[0]["result"]["output"], "out\nerr\n");
    let document = stage.until(|document| terminal(document).is_some_and(|block| block["exit"] == 3)).await;
    let block = terminal(&document).expect("a terminal");
    assert_eq!((block["output"].as_str(), block["exit"].as_i64()), (Some("out\nerr\n"), Some(3)));
}

fn terminal(document: &pleat_transcript::document::Document) -> Option<Value> {
    calls(document).first()?.output.iter().find(|block| block["type"] == "terminal").cloned()
}

/// An agent may read files before it has told the id of its session (Kimi looks for AGENTS.md).
#[tokio::test]
async fn files_are_served_before_the_session_is_known() {
    let stage = Stage::with(
        r#"
initialize
hear session/new as request
request early fs/read_text_file path="$CWD/ok.txt" sessionId="not known yet"
hear_answer early
reply request {"sessionId": "not known yet"}
hear session/prompt as prompt
finish prompt
listen
"#,
    )
    .await;
    std::fs::write(stage.root().join("ok.txt"), "here").unwrap();
    stage.prompt("read").await;
    stage.until_turns(&[Completed]).await;
    assert_eq!(stage.heard_answers("early")[0]["result"]["content"], "here");
}

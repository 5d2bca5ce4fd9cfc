//! Agents that cannot be used, or stop being usable: each gives one clear sentence, and loses nothing.

use crate::stage::{Stage, agent, call_states, notice_codes, notices, prompts, runs, said, store_in};
use pleat_host::{HostError, HostSettings};
use pleat_transcript::call::CallState;
use pleat_transcript::document::Document;
use pleat_transcript::session::TurnState;
use std::time::Duration;

/// The one notice of a turn that failed before it began.
fn failure(document: &Document) -> &str {
    assert_eq!(notice_codes(document), ["failed"]);
    assert_eq!(prompts(document), ["hello"], "the prompt is lost");
    &notices(document)[0].text
}

/// Prompts, waits for the failure, and looks for words in it.
async fn check(stage: Stage, words: &[&str]) {
    stage.prompt("hello").await;
    let document = stage.until_turns(&[TurnState::Failed]).await;
    let text = failure(&document);
    for word in words {
        assert!(text.contains(word), "`{word}` is not in: {text}");
    }
    // Nothing is left of it, and the session can be used again.
    stage.host.shut_down().await;
    assert!(stage.pids().into_iter().all(|pid| !runs(pid)));
}

async fn check_script(script: &str, words: &[&str]) {
    check(Stage::with(script).await, words).await;
}

async fn check_shell(script: &str, words: &[&str]) {
    check(Stage::with_command("sh", &["-c", script], HostSettings::default()).await, words).await;
}

#[tokio::test]
async fn a_missing_command() {
    let folder = tempfile::tempdir().unwrap();
    let mut missing = agent("pleat-no-such-agent", &["--acp"]);
    missing.install = Some("npm install --global no-such-agent".to_owned());
    let stage = Stage::start(folder.path(), store_in(folder.path()), missing, HostSettings::default()).await;
    let words = ["The Player", "pleat-no-such-agent", "not found", "Install it with: npm install --global no-such"];
    check(stage, &words).await;
}

#[tokio::test]
async fn a_missing_command_that_nobody_knows_how_to_install() {
    let stage = Stage::with_command("/no/such/agent", &[], HostSettings::default()).await;
    check(stage, &["/no/such/agent", "was not found", "[agents.player] in pleat.toml"]).await;
}

#[tokio::test]
async fn a_file_that_is_no_program() {
    let stage = Stage::with_command("/etc/passwd", &[], HostSettings::default()).await;
    check(stage, &["/etc/passwd is not executable"]).await;
}

#[tokio::test]
async fn a_working_directory_that_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("work");
    std::fs::create_dir(&root).unwrap();
    let stage = Stage::start(&root, store_in(folder.path()), agent("sh", &[]), HostSettings::default()).await;
    std::fs::remove_dir(&root).unwrap();
    let place = root.display().to_string();
    check(stage, &[&place, "is not a directory"]).await;
}

#[tokio::test]
async fn an_agent_that_ends_at_once_is_shown_with_its_last_words() {
    let words = ["The Player ended as soon as it was started", "exit code 7", "no API key", "set PLAYER_KEY"];
    check_shell("echo no API key >&2; echo set PLAYER_KEY >&2; exit 7", &words).await;
}

#[tokio::test]
async fn an_agent_that_prints_no_json() {
    check_shell("echo 'usage: player [--acp]'; read line", &["ended", "usage: player [--acp]"]).await;
}

#[tokio::test]
async fn an_agent_that_says_back_what_it_hears() {
    check_shell("exec cat", &["The Player cannot be used", "initialize"]).await;
}

/// It neither ends nor answers.
#[tokio::test]
async fn an_agent_that_never_opens_a_session() {
    let settings = HostSettings { opening_patience: Duration::from_millis(100), ..HostSettings::default() };
    for script in ["cat >/dev/null", "read line; echo '{\"jsonrpc\":\"2.0\",\"method\":\"hello\"}'; cat >/dev/null"] {
        let stage = Stage::with_command("sh", &["-c", script], settings.clone()).await;
        check(stage, &["The Player cannot be used", "no session within 0.1 s", "Agent Client Protocol"]).await;
    }
}

#[tokio::test]
async fn an_agent_that_refuses_to_begin() {
    let script = r#"hear initialize as request; refuse request -32603 "The licence has run out""#;
    check_script(script, &["The Player cannot be used", "refused to begin", "The licence has run out"]).await;
}

#[tokio::test]
async fn an_agent_of_another_protocol_version() {
    let words = ["speaks version 2", "Pleat speaks version 1", "install a version"];
    check_script("initialize protocolVersion=2\nlisten", &words).await;
    check_script("initialize protocolVersion=one\nlisten", &["names no protocol version"]).await;
    check_script("hear as request\nreply request null\nlisten", &["names no protocol version"]).await;
}

#[tokio::test]
async fn an_agent_that_names_no_session() {
    let script = "initialize\nhear session/new as request\nreply request {}\nlisten";
    check_script(script, &["names no session"]).await;
}

/// The words that came before the error stay, and the process too.
#[tokio::test]
async fn a_prompt_that_is_answered_with_an_error() {
    let stage = Stage::with(
        r#"
open_session
hear session/prompt as prompt
text "I begin"
refuse prompt 529 "Overloaded"
hear session/prompt as again
finish again
listen
"#,
    )
    .await;
    stage.prompt("hello").await;
    let document = stage.until_turns(&[TurnState::Failed]).await;
    assert_eq!(said(&document), "I begin");
    assert!(failure(&document).contains("Overloaded"), "{}", failure(&document));
    stage.prompt("again").await;
    stage.until_turns(&[TurnState::Failed, TurnState::Completed]).await;
    assert_eq!(stage.pids().len(), 1);
}

#[tokio::test]
async fn an_agent_that_dies_at_work() {
    let stage = Stage::with(
        r#"
open_session
hear session/prompt as prompt
if $RUN == 1 {
    text "I begin"
    call c1 status=in_progress
    call c2
    wait_at gate
    stderr "out of memory\n"
    abort
}
finish prompt
listen
"#,
    )
    .await;
    stage.make_gate("gate");
    stage.prompt("hello").await;
    stage.until(|document| call_states(document) == [CallState::Running, CallState::Pending]).await;
    stage.open_gate("gate").await;
    let document = stage.until_turns(&[TurnState::Interrupted]).await;
    assert_eq!(call_states(&document), [CallState::Interrupted, CallState::Interrupted]);
    assert_eq!(said(&document), "I begin");
    assert_eq!(notice_codes(&document), ["interrupted"]);
    let text = &notices(&document)[0].text;
    for word in ["The Player ended before it had answered", "signal 6", "out of memory", "no known outcome"] {
        assert!(text.contains(word), "`{word}` is not in: {text}");
    }
    stage.prompt("again").await;
    let document = stage.until_turns(&[TurnState::Interrupted, TurnState::Completed]).await;
    assert_eq!(notice_codes(&document)[..2], ["interrupted", "context_lost"]);
    assert_eq!(stage.pids().len(), 2);
}

#[tokio::test]
async fn a_session_of_an_agent_that_nobody_knows() {
    let mut stage = Stage::with("open_session").await;
    let unknown = pleat_host::AgentName("somebody".to_owned());
    let refused = stage.host.new_session(&unknown, "/".into()).await;
    assert!(matches!(refused, Err(HostError::UnknownAgent(name)) if name == "somebody"));
    let known = pleat_host::AgentName("player".to_owned());
    let refused = stage.host.new_session(&known, "/no/such/place".into()).await;
    assert!(matches!(refused, Err(HostError::NoDirectory(_))));
    // An agent that was taken out of the configuration since.
    let store = stage.host.store().clone();
    stage.host = pleat_host::Host::start(store, pleat_host::AgentRegistry::default()).await.unwrap();
    stage.prompt("hello").await;
    let document = stage.until_turns(&[TurnState::Failed]).await;
    assert!(failure(&document).contains("`player`"), "{}", failure(&document));
    assert!(failure(&document).contains("pleat.toml"));
}

/// A start that failed fails its prompt alone; the next one is tried anew.
#[tokio::test]
async fn the_prompt_after_a_failed_start_is_not_held() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("agent");
    let agent = agent(program.to_str().unwrap(), &[]);
    let stage = Stage::start(folder.path(), store_in(folder.path()), agent, HostSettings::default()).await;
    stage.prompt("hello").await;
    stage.until_turns(&[TurnState::Failed]).await;
    stage.prompt("again").await;
    let document = stage.until_turns(&[TurnState::Failed, TurnState::Failed]).await;
    assert!(document.session.waiting.is_empty());
    stage.host.shut_down().await;
}

/// An agent that dies whenever it is told what was chosen fails the prompt, and is not started for ever.
#[tokio::test]
async fn an_agent_that_dies_of_a_choice_is_not_started_for_ever() {
    let stage = Stage::with(
        r#"
open_session modes={"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "plan", "name": "Plan"}]}
hear session/set_mode
abort
"#,
    )
    .await;
    stage.host.choose(&stage.session, pleat_host::Setting::Mode("plan".to_owned())).await.unwrap();
    stage.prompt("hello").await;
    let document = stage.until_turns(&[TurnState::Failed]).await;
    assert!(failure(&document).contains("ended before it could be asked"), "{}", failure(&document));
    assert_eq!(stage.pids().len(), 1);
}

//! Several sessions: apart from each other, and on one process where the agent can.

use crate::stage::{Stage, registry, said, scripted, store_in, turns};
use pleat_host::{AgentName, Host, HostSettings};
use pleat_transcript::session::TurnState::{Completed, Interrupted, Running};
use std::path::Path;

/// Answers whoever asks; dies when it is told to, and hangs when it is told to.
const SERVES_MANY: &str = r#"
initialize agentCapabilities={"sessionCapabilities": {"close": {}}}
background {
    repeat {
        hear session/new as request
        update available_commands_update availableCommands=[] session="s$i"
        reply request {"sessionId": "s$i"}
    }
}
background {
    repeat {
        hear session/close as request
        reply request {}
    }
}
repeat {
    hear session/prompt as prompt
    if $prompt.params.prompt.0.text == die { abort }
    text "$prompt.params.sessionId says $prompt.params.prompt.0.text" session=$prompt.params.sessionId
    if $prompt.params.prompt.0.text != hang { finish prompt }
}
"#;

async fn two_sessions(folder: &Path, script: &str, shared: bool) -> (Stage, Stage) {
    let mut agent = scripted(folder, script);
    agent.shared = shared;
    let name: AgentName = agent.name.clone();
    let settings = HostSettings { stop_grace: std::time::Duration::from_millis(100), ..HostSettings::default() };
    let host = Host::start_with(store_in(folder), registry(agent), settings).await.expect("a host with its sessions");
    let first = host.new_session(&name, folder.to_owned()).await.expect("a host with its sessions");
    let second = host.new_session(&name, folder.to_owned()).await.expect("a host with its sessions");
    (Stage::over(host.clone(), first, folder), Stage::over(host, second, folder))
}

async fn opened(stage: &Stage) {
    stage.prompt("hello").await;
    stage.until_turns(&[Completed]).await;
}

#[tokio::test]
async fn one_process_serves_several_sessions_where_it_can() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = two_sessions(folder.path(), SERVES_MANY, true).await;
    opened(&first).await;
    opened(&second).await;
    assert_eq!(first.pids().len(), 1);
    assert_eq!(said(&first.document().await), "s0 says hello");
    assert_eq!(said(&second.document().await), "s1 says hello");
    first.host.shut_down().await;
    assert!(first.heard_methods().contains(&"session/close".to_owned()));
}

/// The configuration alone is not enough: the agent must say that its sessions have lives of their own.
#[tokio::test]
async fn an_agent_that_cannot_gets_a_process_a_session() {
    let folder = tempfile::tempdir().unwrap();
    let script = SERVES_MANY.replace(r#"agentCapabilities={"sessionCapabilities": {"close": {}}}"#, "");
    let (first, second) = two_sessions(folder.path(), &script, true).await;
    opened(&first).await;
    opened(&second).await;
    assert_eq!(first.pids().len(), 2);
    first.host.shut_down().await;
}

/// One that dies or hangs hurts no other session.
#[tokio::test]
async fn a_session_is_not_hurt_by_another_ones_agent() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = two_sessions(folder.path(), SERVES_MANY, false).await;
    opened(&first).await;
    opened(&second).await;
    first.prompt("die").await;
    first.until_turns(&[Completed, Interrupted]).await;
    second.prompt("again").await;
    let document = second.until_turns(&[Completed, Completed]).await;
    assert_eq!(document.session.turns.len(), 2);
    assert_eq!(first.pids().len(), 2);
    first.host.shut_down().await;
}

/// Whoever leaves a shared process leaves none of its questions without an answer.
#[tokio::test]
async fn a_session_that_leaves_answers_what_it_was_asked() {
    let folder = tempfile::tempdir().unwrap();
    let script = SERVES_MANY.replace(
        "    if $prompt.params.prompt.0.text != hang",
        "    if $prompt.params.prompt.0.text == ask { call c1 session=$prompt.params.sessionId; \
         ask r1 c1 session=$prompt.params.sessionId; hear_answer r1 }\n    if $prompt.params.prompt.0.text != hang",
    );
    let (first, second) = two_sessions(folder.path(), &script, true).await;
    opened(&first).await;
    opened(&second).await;
    first.prompt("ask").await;
    first.until_asked(1).await;
    first.host.end_agent(&first.session).await.unwrap();
    second.prompt("again").await;
    second.until_turns(&[Completed, Completed]).await;
    assert_eq!(first.heard_answers("r1")[0]["result"]["outcome"]["outcome"], "cancelled");
    assert_eq!(first.pids().len(), 1);
    first.host.shut_down().await;
}

/// On a shared process a session that hangs is let go alone: the others keep theirs.
#[tokio::test]
async fn a_session_that_hangs_leaves_a_shared_process() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = two_sessions(folder.path(), SERVES_MANY, true).await;
    opened(&first).await;
    opened(&second).await;
    first.prompt("hang").await;
    first.until(|document| turns(document) == [Completed, Running] && said(document).ends_with("hang")).await;
    first.stop().await;
    first.until_turns(&[Completed, pleat_transcript::session::TurnState::Cancelled]).await;
    second.prompt("again").await;
    second.until_turns(&[Completed, Completed]).await;
    assert_eq!(first.pids().len(), 1, "the process that the other session works on was replaced");
    first.prompt("anew").await;
    first.until(|document| turns(document).len() == 3 && turns(document)[2] == Completed).await;
    assert_eq!(first.pids().len(), 2);
    first.host.shut_down().await;
}

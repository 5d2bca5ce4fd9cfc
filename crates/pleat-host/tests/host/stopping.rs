//! Stop: at any moment of a turn, and whatever the agent makes of it.

use crate::stage::{Stage, call_states, calls, notice_codes, notices, open_requests, prompts, runs, said, turns};
use pleat_host::{HostError, HostSettings};
use pleat_transcript::call::{CallState, PermissionState};
use pleat_transcript::session::TurnState;
use std::time::Duration;

/// B10, B58: the question is answered, the agent told, and the same process goes on.
#[tokio::test]
async fn stop_with_an_open_question() {
    let answers = [
        "finish prompt cancelled",
        "refuse prompt -32800 'Request cancelled'",
        "refuse prompt -32603 'The operation was aborted'",
    ];
    for answer in answers {
        let stage = Stage::with(&format!(
            r"
open_session
hear session/prompt as prompt
call c1
ask r1 c1
call c2 status=in_progress
hear session/cancel
hear_answer r1
call_update c2 status=failed
{answer}
hear session/prompt as again
finish again
listen
"
        ))
        .await;
        stage.prompt("edit").await;
        stage.until(|document| call_states(document).len() == 2).await;
        let request = stage.until_asked(1).await.remove(0);
        stage.stop().await;
        // What Stop says is stored when it returns.
        let document = stage.document().await;
        assert!(open_requests(&document).is_empty(), "{answer}");
        assert_eq!(call_states(&document)[0], CallState::Cancelled, "{answer}");
        assert!(matches!(stage.host.answer(&stage.session, &request, "yes").await, Err(HostError::NotOpen)));

        let document = stage.until_turns(&[TurnState::Cancelled]).await;
        assert_eq!(call_states(&document), [CallState::Cancelled, CallState::Cancelled], "{answer}");
        assert_eq!(calls(&document)[0].permission.as_ref().unwrap().state, Some(PermissionState::Expired));
        assert!(notices(&document).is_empty(), "{answer}: {:?}", notices(&document));
        let answers = stage.heard_answers("r1");
        assert_eq!(answers.len(), 1, "{answer}");
        assert_eq!(answers[0]["result"], serde_json::json!({"outcome": {"outcome": "cancelled"}}), "{answer}");

        stage.prompt("again").await;
        stage.until_turns(&[TurnState::Cancelled, TurnState::Completed]).await;
        assert_eq!(stage.pids().len(), 1, "{answer}");
        let methods = stage.heard_methods();
        assert_eq!(
            methods,
            ["initialize", "session/new", "session/prompt", "session/cancel", "session/prompt"],
            "{answer}"
        );
    }
}

/// A question that crosses Stop on the wire is answered too: nobody would see it any more.
#[tokio::test]
async fn a_question_that_crosses_stop_is_cancelled() {
    let stage = Stage::with(
        r#"
open_session
hear session/prompt as prompt
text "at work"
hear session/cancel
call c1
ask r1 c1
hear_answer r1
finish prompt cancelled
listen
"#,
    )
    .await;
    stage.prompt("edit").await;
    stage.until(|document| said(document) == "at work").await;
    stage.stop().await;
    // A second press changes nothing.
    stage.stop().await;
    let document = stage.until_turns(&[TurnState::Cancelled]).await;
    assert_eq!(call_states(&document), [CallState::Cancelled]);
    assert_eq!(stage.heard_answers("r1")[0]["result"]["outcome"]["outcome"], "cancelled");
    assert_eq!(stage.heard_methods().iter().filter(|method| *method == "session/cancel").count(), 1);
}

/// The agent never gets a prompt that was stopped before it could take it (it is held), and is there for the next one, whether that
/// comes before its session is open or after.
#[tokio::test]
async fn stop_while_the_agent_starts() {
    for opening in ["wait_at gate\ninitialize", "initialize\nwait_at gate"] {
        for prompt_first in [true, false] {
            stop_while_it_starts(opening, prompt_first).await;
        }
    }
}

async fn stop_while_it_starts(opening: &str, prompt_first: bool) {
    let stage = Stage::with(&format!(
        r"
{opening}
new_session
update usage_update used=1 size=2
hear session/prompt as prompt
finish prompt
listen
"
    ))
    .await;
    stage.make_gate("gate");
    stage.prompt("one").await;
    stage.stop().await;
    let document = stage.document().await;
    assert!(turns(&document).is_empty() && notices(&document).is_empty(), "{document:?}");
    assert!(document.session.waiting[0].held.as_ref().is_some_and(|why| why.contains("Stop")));
    if prompt_first {
        stage.prompt("two").await;
        stage.open_gate("gate").await;
    } else {
        stage.open_gate("gate").await;
        stage.until(|document| document.session.context.is_some()).await;
        stage.prompt("two").await;
    }
    let document = stage.until_turns(&[TurnState::Completed]).await;
    assert_eq!((prompts(&document), document.session.waiting.len()), (vec!["two"], 1));
    assert_eq!(stage.heard_methods(), ["initialize", "session/new", "session/prompt"]);
    assert_eq!(stage.heard()[2]["params"]["prompt"][0]["text"], "two");
    assert_eq!(stage.pids().len(), 1);
}

/// An agent that ignores Stop loses its turn and its process; the next one is told apart by a notice.
#[tokio::test]
async fn an_agent_that_ignores_stop_is_replaced() {
    let settings = HostSettings { stop_grace: Duration::from_millis(100), ..HostSettings::default() };
    let stage = Stage::with_settings(
        r#"
open_session
hear session/prompt as prompt
if $RUN != 1 {
    text "fresh"
    finish prompt
}
call c1 status=in_progress
ask r1 c1
call c2 status=in_progress
listen
"#,
        settings,
    )
    .await;
    stage.prompt("one").await;
    stage.until_asked(1).await;
    stage.stop().await;
    let document = stage.until_turns(&[TurnState::Cancelled]).await;
    assert!(call_states(&document).iter().all(|state| *state == CallState::Cancelled), "{document:?}");
    assert!(notices(&document).is_empty(), "{:?}", notices(&document));
    stage.prompt("two").await;
    let document = stage.until_turns(&[TurnState::Cancelled, TurnState::Completed]).await;
    assert_eq!(said(&document), "fresh");
    assert_eq!(notice_codes(&document), ["context_lost"]);
    let pids = stage.pids();
    assert_eq!(pids.len(), 2);
    assert!(!runs(pids[0]), "the agent that ignored Stop runs on");
}

#[tokio::test]
async fn stop_without_a_turn_does_nothing() {
    let stage = Stage::with("open_session").await;
    stage.stop().await;
    assert!(stage.document().await.messages.is_empty());
    assert!(stage.pids().is_empty());
}

/// An agent that answers Stop by ending has stopped.
#[tokio::test]
async fn an_agent_that_ends_on_stop_has_stopped() {
    let stage =
        Stage::with("open_session\nhear session/prompt\ncall c1 status=in_progress\nhear session/cancel\nexit 0").await;
    stage.prompt("one").await;
    stage.until(|document| call_states(document) == [CallState::Running]).await;
    stage.stop().await;
    let document = stage.until_turns(&[TurnState::Cancelled]).await;
    assert_eq!(call_states(&document), [CallState::Cancelled]);
    assert!(notices(&document).is_empty(), "{:?}", notices(&document));
}

/// What an agent still says of a turn that was ended without it stays with that turn.
#[tokio::test]
async fn late_words_of_an_abandoned_turn_stay_with_it() {
    let settings = HostSettings { stop_grace: Duration::from_millis(100), ..HostSettings::default() };
    let script = r#"
open_session
hear session/prompt
call c1 status=in_progress
hear session/cancel
wait_at gate
call_update c1 status=completed output="done after all"
listen
"#;
    let stage = Stage::with_settings(script, settings).await;
    stage.make_gate("gate");
    stage.prompt("one").await;
    stage.until(|document| call_states(document) == [CallState::Running]).await;
    stage.stop().await;
    stage.until_turns(&[TurnState::Cancelled]).await;
    stage.open_gate("gate").await;
    let document = stage.until(|document| call_states(document) == [CallState::Completed]).await;
    assert_eq!(turns(&document), [TurnState::Cancelled]);
    assert_eq!(crate::stage::calls(&document)[0].output[0]["content"]["text"], "done after all");
}

//! A turn from its prompt to its end, and what agents say that is no part of it.

use crate::stage::{PATIENCE, Stage, call_states, calls, notice_codes, said, turns};
use crate::switched_store::{Switch, SwitchedStore};
use pleat_host::{HostError, NewPrompt};
use pleat_store::StoreError;
use pleat_transcript::call::CallState;
use pleat_transcript::session::{ContextGauge, TurnState};
use std::sync::Arc;
use std::sync::atomic::Ordering;

#[tokio::test]
async fn a_turn_with_text_and_calls() {
    let stage = Stage::with(
        r#"
open_session
hear session/prompt as prompt
text "I shall "
text "look."
call c1 title="Look" kind=read status=in_progress
call_update c1 status=completed output="found"
call_update c2 status=failed
text " Done."
finish prompt
listen
"#,
    )
    .await;
    stage.prompt("  look\n\tplease ").await;
    let document = stage.until_turns(&[TurnState::Completed]).await;
    assert_eq!(said(&document), "I shall look. Done.");
    assert_eq!(call_states(&document), [CallState::Completed, CallState::Failed]);
    assert_eq!(calls(&document)[0].title.as_deref(), Some("Look"));
    assert_eq!(document.session.turns[0].stop_reason.as_deref(), Some("end_turn"));
    assert_eq!(stage.heard_methods(), ["initialize", "session/new", "session/prompt"]);
    // As it was typed (B17).
    assert_eq!(stage.heard()[2]["params"]["prompt"][0]["text"], "  look\n\tplease ");
}

/// B04: a chunk without text neither makes a row nor stops what follows it.
#[tokio::test]
async fn an_empty_chunk_changes_nothing() {
    let stage = Stage::with(
        r#"
open_session
hear session/prompt as prompt
text ""
text "ok"
call c1 status=completed
finish prompt
hear session/prompt as again
finish again
listen
"#,
    )
    .await;
    stage.prompt("one").await;
    let document = stage.until_turns(&[TurnState::Completed]).await;
    assert_eq!((said(&document).as_str(), document.messages.len()), ("ok", 2));
    stage.prompt("two").await;
    stage.until_turns(&[TurnState::Completed, TurnState::Completed]).await;
}

/// B16: what is said of a session before its id is known belongs to it.
#[tokio::test]
async fn what_comes_before_the_session_is_open_is_kept() {
    let stage = Stage::with(
        r#"
initialize
hear session/new as request
update available_commands_update availableCommands=[{"name": "help", "description": ""}]
update usage_update used=53 size=200
reply request {"sessionId": "$SESSION"}
hear session/prompt as prompt
finish prompt
listen
"#,
    )
    .await;
    stage.prompt("hello").await;
    let document = stage.until_turns(&[TurnState::Completed]).await;
    assert_eq!(document.session.context, Some(ContextGauge { used: 53, size: 200 }));
    assert_eq!(notice_codes(&document), ["nothing_said"]);
}

/// B18: what is no message is no row either, wherever it stands.
#[tokio::test]
async fn noise_on_stdout_is_not_shown() {
    let stage = Stage::with(
        r#"
stdout "credentials are cached\n"
open_session
hear session/prompt as prompt
text "one "
stdout "a line between\n\n[1]\n"
text "two"
stdout '{"method": "session/update", "params": {"sessionId": "$SESSION", "update": {'
stdout '"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": " three"}}}}\r\n'
finish prompt
stdout "bye\n"
"#,
    )
    .await;
    stage.prompt("hello").await;
    let document = stage.until_turns(&[TurnState::Completed]).await;
    assert_eq!((said(&document).as_str(), document.messages.len()), ("one two three", 2));
}

/// B22, B07, B05: nothing that we do not know ends a turn, and every request is answered.
#[tokio::test]
async fn what_is_unknown_ends_nothing() {
    let stage = Stage::with(
        r#"
open_session
hear session/prompt as prompt
request f _vendor/something path="/etc/passwd"
say {"id": "x", "method": "_vendor/anything"}
hear_answer f
hear_answer x
say {"method": "_vendor/notification", "params": 7}
update brand_new_kind content=[null]
say {"method": "session/update", "params": {"update": "no object"}}
update tool_call_update status=completed
text "still here"
finish prompt
listen
"#,
    )
    .await;
    stage.prompt("hello").await;
    let document = stage.until_turns(&[TurnState::Completed]).await;
    assert_eq!((said(&document).as_str(), document.messages.len()), ("still here", 2));
    for request in ["f", "x"] {
        let answers = stage.heard_answers(request);
        assert_eq!((answers.len(), answers[0]["error"]["code"].as_i64()), (1, Some(-32601)), "{request}");
    }
}

#[tokio::test]
async fn an_empty_prompt_is_refused_and_starts_nothing() {
    let stage = Stage::with("open_session\nlisten").await;
    for text in ["", " \n\t"] {
        let refused = stage.host.prompt(&stage.session, NewPrompt::text(text)).await;
        assert!(matches!(refused, Err(HostError::EmptyPrompt)));
    }
    assert!(stage.document().await.session.waiting.is_empty() && stage.pids().is_empty());
}

/// Commit before show: whoever is told of a revision finds it committed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_told_before_it_is_committed() {
    let script = r#"
open_session
hear session/prompt as prompt
repeat 200 {
    text "word "
    call c$i status=completed
}
finish prompt
listen
"#;
    let stage = Stage::with(script).await;
    let mut watching = stage.host.signals(&stage.session);
    let watched = tokio::spawn({
        let (store, session) = (stage.host.store().clone(), stage.session.clone());
        async move {
            let mut signals = 0;
            loop {
                watching.changed().await.expect("the host lives");
                let told = watching.borrow_and_update().revision;
                let stored = store.document(session.clone()).await.expect("the session");
                assert!(told <= stored.revision, "told of {told:?} at {:?}", stored.revision);
                signals += 1;
                if turns(&stored.document) == [TurnState::Completed] {
                    return signals;
                }
            }
        }
    });
    stage.prompt("hello").await;
    let signals = tokio::time::timeout(PATIENCE, watched).await.expect("an end").expect("no panic");
    assert!(signals >= 2, "{signals} signals");
    assert_eq!(calls(&stage.document().await).len(), 200);
}

/// What cannot be stored is not done, and the session is there again when it can be.
#[tokio::test]
async fn a_prompt_that_cannot_be_stored_is_not_sent() {
    let switch = Arc::new(Switch::default());
    let script = r"
open_session
hear session/prompt as prompt
finish prompt
listen
";
    let stage = Stage::with_store(script, |store| SwitchedStore::around(store, &switch)).await;
    switch.refuses.store(true, Ordering::SeqCst);
    let prompt = || stage.host.prompt(&stage.session, NewPrompt::text("one").with_key(Some("k".to_owned())));
    let refused = prompt().await;
    assert!(matches!(refused, Err(HostError::Store(StoreError::Closed))), "{refused:?}");
    assert!(stage.document().await.messages.is_empty());
    switch.refuses.store(false, Ordering::SeqCst);
    prompt().await.expect("it is taken now");
    stage.until_turns(&[TurnState::Completed]).await;
    assert_eq!(stage.pids().len(), 1, "the refused prompt started an agent");
}

/// A store that fails in the middle of a turn: the agent is let go, and the next command finds an interrupted turn.
#[tokio::test]
async fn a_turn_that_cannot_be_stored_is_interrupted() {
    let switch = Arc::new(Switch::default());
    let script = r"
open_session
hear session/prompt
call c1 status=in_progress
ask r1 c1
wait_at gate
call_update c1 status=completed
listen
";
    let stage = Stage::with_store(script, |store| SwitchedStore::around(store, &switch)).await;
    stage.make_gate("gate");
    stage.prompt("one").await;
    stage.until(|document| call_states(document) == [CallState::AwaitingPermission]).await;
    switch.refuses.store(true, Ordering::SeqCst);
    stage.open_gate("gate").await;
    // Until it is let go, commands still reach it or its successor; both refuse as long as nothing can be stored.
    let stopped = stage.host.stop(&stage.session).await;
    assert!(stopped.is_err(), "Stop was taken without being stored");
    switch.refuses.store(false, Ordering::SeqCst);
    let mut watching = stage.host.signals(&stage.session);
    let before = watching.borrow().revision;
    stage.stop().await;
    let told = tokio::time::timeout(PATIENCE, watching.wait_for(|signal| signal.revision > before)).await;
    told.expect("the page is told that the turn was closed").expect("the host lives");
    let document = stage.document().await;
    assert_eq!(turns(&document), [TurnState::Interrupted]);
    assert_eq!(call_states(&document), [CallState::Interrupted]);
    assert_eq!(notice_codes(&document), ["interrupted"]);
}

/// A session whose store failed is taken up again by itself, and what waits is sent.
#[tokio::test]
async fn a_session_goes_on_when_it_can_be_stored_again() {
    let switch = Arc::new(Switch::default());
    let script = r#"
open_session
hear session/prompt as prompt
if $RUN == 1 {
    text "at work"
    wait_at gate
    call c1 status=completed
    listen
}
finish prompt
listen
"#;
    let stage = Stage::with_store(script, |store| SwitchedStore::around(store, &switch)).await;
    stage.make_gate("gate");
    stage.prompt("one").await;
    stage.until(|document| said(document) == "at work").await;
    stage.prompt("two").await;
    switch.refuses.store(true, Ordering::SeqCst);
    stage.open_gate("gate").await;
    // Its agent is let go; nobody gives a command.
    crate::stage::until_gone(stage.pids()[0]).await;
    switch.refuses.store(false, Ordering::SeqCst);
    stage.until_turns(&[TurnState::Interrupted, TurnState::Completed]).await;
}

//! Permission requests: answered once, by whom they were shown to, and never left without an answer.

use crate::stage::{Stage, call_states, calls, notice_codes, open_requests, said, turns, until_gone};
use crate::switched_store::{Switch, SwitchedStore};
use pleat_host::HostError;
use pleat_transcript::call::{CallState, PermissionState};
use pleat_transcript::ids::PermissionId;
use pleat_transcript::session::TurnState;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// B14, B12, B11: the agent's own options in its order, open until they are answered, and answered exactly once.
#[tokio::test]
async fn a_request_is_answered_once_with_the_chosen_option() {
    let stage = Stage::with(
        r#"
open_session
hear session/prompt as prompt
call c1
ask r1 c1 options=[
    {"optionId": "a", "name": "Once", "kind": "allow_once"},
    {"optionId": "b", "name": "Always", "kind": "allow_always"},
    {"optionId": "c", "name": "This session", "kind": "allow_always"},
    {"optionId": "d", "name": "No", "kind": "reject_once"}
]
call_update c1 status=in_progress
text "waiting"
hear_answer r1
call_update c1 status=completed
wait_at gate
finish prompt
listen
"#,
    )
    .await;
    stage.make_gate("gate");
    stage.prompt("edit").await;
    let request = stage.until_asked(1).await.remove(0);
    let document = stage.until(|document| said(document) == "waiting").await;
    // The agent's own `in_progress` does not take the question away.
    assert_eq!(open_requests(&document), std::slice::from_ref(&request));
    assert_eq!(call_states(&document), [CallState::AwaitingPermission]);
    let permission = calls(&document)[0].permission.clone().unwrap();
    let options: Vec<_> = permission.options.iter().map(|option| option["name"].as_str().unwrap()).collect();
    assert_eq!(options, ["Once", "Always", "This session", "No"]);

    let answer = |request: PermissionId, option: &'static str| {
        let (host, session) = (stage.host.clone(), stage.session.clone());
        async move { host.answer(&session, &request, option).await }
    };
    assert!(matches!(answer(request.clone(), "e").await, Err(HostError::UnknownOption(option)) if option == "e"));
    let unknown = PermissionId::new("nobody-asked").unwrap();
    assert!(matches!(answer(unknown, "a").await, Err(HostError::NotOpen)));
    let (first, second) = tokio::join!(answer(request.clone(), "c"), answer(request.clone(), "d"));
    assert!(first.is_ok(), "{first:?}");
    assert!(matches!(second, Err(HostError::AlreadyAnswered)), "{second:?}");

    stage.until(|document| call_states(document) == [CallState::Completed]).await;
    assert!(matches!(answer(request.clone(), "a").await, Err(HostError::AlreadyAnswered)));
    stage.open_gate("gate").await;
    let document = stage.until_turns(&[TurnState::Completed]).await;
    let permission = calls(&document)[0].permission.clone().unwrap();
    assert_eq!((permission.state, permission.chosen.as_deref()), (Some(PermissionState::Answered), Some("c")));
    let answers = stage.heard_answers("r1");
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(answers[0]["result"], serde_json::json!({"outcome": {"outcome": "selected", "optionId": "c"}}));
}

#[tokio::test]
async fn a_refused_call_is_denied_whatever_the_agent_says_after() {
    let stage = Stage::with(
        r"
open_session
hear session/prompt as prompt
call c1
ask r1 c1
hear_answer r1
call_update c1 status=failed
finish prompt
listen
",
    )
    .await;
    stage.prompt("edit").await;
    let request = stage.until_asked(1).await.remove(0);
    stage.host.answer(&stage.session, &request, "no").await.unwrap();
    let document = stage.until_turns(&[TurnState::Completed]).await;
    assert_eq!(call_states(&document), [CallState::Denied]);
}

/// An answer that is not stored was not given: the agent must not act on it.
#[tokio::test]
async fn an_answer_that_cannot_be_stored_is_not_sent() {
    let switch = Arc::new(Switch::default());
    let script = r"
open_session
hear session/prompt
call c1
ask r1 c1
hear_answer r1
";
    let stage = Stage::with_store(script, |store| SwitchedStore::around(store, &switch)).await;
    stage.prompt("edit").await;
    let request = stage.until_asked(1).await.remove(0);
    switch.refuses.store(true, Ordering::SeqCst);
    let answer = stage.host.answer(&stage.session, &request, "yes").await;
    assert!(matches!(answer, Err(HostError::Store(_))), "{answer:?}");
    // It is let go, and so reads to the end of what was sent to it.
    until_gone(stage.pids()[0]).await;
    assert!(stage.heard_answers("r1").is_empty());
}

/// No agent waits for ever: a request that nobody is asked any more is answered `cancelled`.
#[tokio::test]
async fn a_request_that_is_not_asked_any_more_is_cancelled() {
    let stage = Stage::with(
        r#"
open_session
hear session/prompt as prompt
call c1
ask first c1
ask second c1
hear_answer first
text "one is answered"
hear_answer second
ask "left open" c1
finish prompt
hear_answer "left open"
ask "after the turn" c1
hear_answer "after the turn"
text ", and so are the rest"
hear session/prompt as again
finish again
listen
"#,
    )
    .await;
    stage.prompt("edit").await;
    // The second request takes the place of the first.
    let document = stage.until(|document| said(document) == "one is answered").await;
    let request = open_requests(&document).remove(0);
    stage.host.answer(&stage.session, &request, "yes").await.unwrap();
    let document = stage.until(|document| said(document).ends_with("so are the rest")).await;
    assert_eq!(turns(&document), [TurnState::Completed]);
    assert_eq!(calls(&document)[0].permission.as_ref().unwrap().state, Some(PermissionState::Expired));
    stage.prompt("again").await;
    stage.until_turns(&[TurnState::Completed, TurnState::Completed]).await;
    for (request, outcome) in
        [("first", "cancelled"), ("second", "selected"), ("left open", "cancelled"), ("after the turn", "cancelled")]
    {
        let answers = stage.heard_answers(request);
        assert_eq!((answers.len(), &answers[0]["result"]["outcome"]["outcome"]), (1, &outcome.into()), "{request}");
    }
}

/// B13: an agent that is gone asks nothing any more, and an answer to it is refused.
#[tokio::test]
async fn the_requests_of_an_agent_that_is_gone_expire() {
    let stage = Stage::with(
        r"
open_session
hear session/prompt as prompt
if $RUN == 1 {
    repeat 3 {
        call c$i
        ask r$i c$i
    }
    wait_at gate
    exit 3
}
finish prompt
listen
",
    )
    .await;
    stage.make_gate("gate");
    stage.prompt("edit").await;
    let requests = stage.until_asked(3).await;
    stage.open_gate("gate").await;
    let document = stage.until_turns(&[TurnState::Interrupted]).await;
    assert!(open_requests(&document).is_empty());
    for call in calls(&document) {
        assert_eq!(call.permission.as_ref().unwrap().state, Some(PermissionState::Expired));
        assert_eq!(call.state, CallState::Interrupted);
    }
    assert_eq!(notice_codes(&document), ["interrupted"]);
    for request in &requests {
        let answer = stage.host.answer(&stage.session, request, "yes").await;
        assert!(matches!(answer, Err(HostError::NotOpen)), "{answer:?}");
    }
    // The agent that follows hears of none of it.
    stage.prompt("again").await;
    stage.until_turns(&[TurnState::Interrupted, TurnState::Completed]).await;
    assert_eq!(stage.pids().len(), 2);
    assert!(stage.heard().iter().all(|message| message.get("method").is_some()), "{:?}", stage.heard());
}

/// Only what the configuration names, only once, and never outside: the rest is asked; and the call says who decided.
#[tokio::test]
async fn pleat_allows_by_itself_what_the_configuration_allows() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::write(root.join("inside.txt"), "x").unwrap();
    let script = r#"
open_session
hear session/prompt as prompt
call c1 kind=read rawInput={"path": "$CWD/inside.txt"}
call c2 kind=read rawInput={"path": "/etc/passwd"}
call c3 kind=read rawInput={"path": "$CWD/inside.txt"} content=[{"type": "diff", "path": "/etc/passwd", "newText": ""}]
ask r1 c1 options=[{"optionId": "ever", "name": "Always", "kind": "allow_always"}, {"optionId": "once", "name": "Once", "kind": "allow_once"}]
hear_answer r1
ask r2 c2; ask r3 c3
hear_answer r2; hear_answer r3
finish prompt
listen
"#;
    let mut agent = crate::stage::scripted(&root, script);
    agent.allow =
        vec![pleat_host::AllowRule { directory: root.clone(), kinds: vec![pleat_transcript::call::ToolKind::Read] }];
    let store = crate::stage::store_in(&root);
    let stage = Stage::start(&root, store, agent, pleat_host::HostSettings::default()).await;
    stage.prompt("go").await;
    let asked = stage.until_asked(2).await;
    for request in &asked {
        stage.host.answer(&stage.session, request, "no").await.unwrap();
    }
    let document = stage.until_turns(&[TurnState::Completed]).await;
    let decided: Vec<_> = calls(&document)
        .iter()
        .filter_map(|call| call.permission.as_ref())
        .map(|asked| (asked.chosen.as_deref().unwrap(), asked.by.as_deref().unwrap(), asked.at.is_some()))
        .collect();
    assert_eq!(decided, [("once", "configuration", true), ("no", "owner", true), ("no", "owner", true)]);
    stage.host.shut_down().await;
}

/// A sub-agent's request is asked in its parent's session, beside the parent's own.
#[tokio::test]
async fn a_sub_agent_asks_too() {
    let stage = Stage::with(
        r#"
initialize agentInfo={"name": "@agentclientprotocol/claude-agent-acp", "version": "1"}
new_session
hear session/prompt as prompt
call task kind=think status=in_progress
call inner _meta={"claudeCode": {"parentToolUseId": "task", "toolName": "Bash"}}
call own
ask r1 inner; ask r2 own
hear_answer r1; hear_answer r2
finish prompt
listen
"#,
    )
    .await;
    stage.prompt("go").await;
    let asked = stage.until_asked(2).await;
    for request in asked.iter().rev() {
        stage.host.answer(&stage.session, request, "yes").await.unwrap();
    }
    let document = stage.until_turns(&[TurnState::Completed]).await;
    let calls = calls(&document);
    let task = calls.iter().find(|call| call.title.as_deref() == Some("task")).unwrap();
    let inner = calls.iter().find(|call| call.name.as_deref() == Some("Bash")).unwrap();
    assert_eq!(inner.parent.as_ref(), Some(&task.id));
    assert_eq!((stage.heard_answers("r1").len(), stage.heard_answers("r2").len()), (1, 1));
}

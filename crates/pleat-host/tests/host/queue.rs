//! Prompts that wait: in order, once each, editable until they are sent, also after a restart.

use crate::stage::{Stage, notice_codes, prompts, registry, said, scripted, store_in, turns};
use pleat_host::{Host, HostError, HostSettings, NewPrompt};
use pleat_transcript::document::Document;
use pleat_transcript::ids::PromptId;
use pleat_transcript::session::TurnState::{Cancelled, Completed, Failed, Interrupted, Running};
use std::time::Duration;

/// Answers each prompt with its text; the first one waits at a gate.
const ECHO: &str = r#"
open_session
hear session/prompt as prompt
text "first "
wait_at gate
finish prompt
repeat {
    hear session/prompt as prompt
    text "$prompt.params.prompt.0.text "
    finish prompt
}
"#;

fn waiting(document: &Document) -> Vec<(&str, Option<&str>)> {
    document.session.waiting.iter().map(|prompt| (prompt.text.as_str(), prompt.held.as_deref())).collect()
}

fn id_of(document: &Document, text: &str) -> PromptId {
    let prompt = document.session.waiting.iter().find(|prompt| prompt.text == text);
    prompt.unwrap_or_else(|| panic!("`{text}` does not wait")).id.clone()
}

/// B15: what is sent during a turn is stored and shown at once, and delivered once each, in order.
#[tokio::test]
async fn b15_prompts_of_a_running_turn_wait_and_are_sent_in_order() {
    let stage = Stage::with(ECHO).await;
    stage.make_gate("gate");
    stage.prompt("one").await;
    stage.until(|document| said(document) == "first ").await;
    stage.prompt("second").await;
    stage.prompt("third").await;
    let document = stage.document().await;
    assert_eq!(waiting(&document), [("second", None), ("third", None)]);
    assert_eq!((prompts(&document), turns(&document)), (vec!["one"], vec![Running]));
    stage.open_gate("gate").await;
    let document = stage.until_turns(&[Completed, Completed, Completed]).await;
    assert_eq!(said(&document), "first second third ");
    assert_eq!(prompts(&document), ["one", "second", "third"]);
    assert!(waiting(&document).is_empty());
    // One at a time on the wire: each was heard after the answer to the one before, or the agent would not have echoed it.
    assert_eq!(stage.heard_methods().iter().filter(|method| *method == "session/prompt").count(), 3);
}

#[tokio::test]
async fn a_prompt_that_waits_is_edited_and_removed_until_it_is_sent() {
    let stage = Stage::with(ECHO).await;
    stage.make_gate("gate");
    stage.prompt("one").await;
    stage.until(|document| said(document) == "first ").await;
    for text in ["a", "b", "c"] {
        stage.prompt(text).await;
    }
    let document = stage.document().await;
    let (a, b) = (id_of(&document, "a"), id_of(&document, "b"));
    let (host, session) = (&stage.host, &stage.session);
    assert!(matches!(host.edit_prompt(session, &a, " \n".to_owned()).await, Err(HostError::EmptyPrompt)));
    host.edit_prompt(session, &a, "A\n  edited".to_owned()).await.unwrap();
    host.remove_prompt(session, &b).await.unwrap();
    assert!(matches!(host.remove_prompt(session, &b).await, Err(HostError::NotWaiting)));
    stage.open_gate("gate").await;
    let document = stage.until_turns(&[Completed, Completed, Completed]).await;
    assert_eq!(said(&document), "first A\n  edited c ");
    assert!(matches!(host.edit_prompt(session, &a, "late".to_owned()).await, Err(HostError::NotWaiting)));
}

/// A repeated post is the same prompt: while it waits, when it was sent, and when it was removed.
#[tokio::test]
async fn a_prompt_that_is_posted_again_is_the_same() {
    let stage = Stage::with(ECHO).await;
    stage.make_gate("gate");
    let post = |text: &str, key: &str| {
        let prompt = NewPrompt::text(text).with_key(Some(key.to_owned()));
        let (host, session) = (stage.host.clone(), stage.session.clone());
        async move { host.prompt(&session, prompt).await.expect("it is taken") }
    };
    post("one", "k1").await;
    stage.until(|document| said(document) == "first ").await;
    tokio::join!(post("two", "k2"), post("two", "k2"), post("one", "k1"));
    post("three", "k3").await;
    stage.host.remove_prompt(&stage.session, &id_of(&stage.document().await, "three")).await.unwrap();
    post("three", "k3").await;
    assert_eq!(waiting(&stage.document().await), [("two", None)]);
    stage.open_gate("gate").await;
    stage.until_turns(&[Completed, Completed]).await;
    post("two", "k2").await;
    let document = stage.document().await;
    assert_eq!((prompts(&document), waiting(&document).len()), (vec!["one", "two"], 0));
}

/// Stop does not begin the next turn; what waits is sent when a person says so.
#[tokio::test]
async fn stop_holds_what_waits() {
    let stage = Stage::with(
        r#"
open_session
hear session/prompt as prompt
text "at work "
hear session/cancel
finish prompt cancelled
repeat {
    hear session/prompt as prompt
    text "$prompt.params.prompt.0.text "
    finish prompt
}
"#,
    )
    .await;
    stage.prompt("one").await;
    stage.until(|document| said(document) == "at work ").await;
    stage.prompt("two").await;
    stage.prompt("three").await;
    stage.stop().await;
    let document = stage.until_turns(&[Cancelled]).await;
    let held = waiting(&document);
    assert!(held.iter().all(|(_, held)| held.is_some_and(|reason| reason.contains("Stop"))), "{held:?}");
    // A new prompt goes at once, what is held stays, until it is released.
    stage.prompt("four").await;
    let document = stage.until_turns(&[Cancelled, Completed]).await;
    assert_eq!(waiting(&document).len(), 2);
    stage.host.release_prompt(&stage.session, &id_of(&document, "three")).await.unwrap();
    let document = stage.until_turns(&[Cancelled, Completed, Completed]).await;
    assert_eq!((said(&document).as_str(), waiting(&document)[0].0), ("at work four three ", "two"));
}

#[tokio::test]
async fn what_waits_behind_a_failed_turn_is_held() {
    let stage = Stage::with(
        r#"
open_session
hear session/prompt as prompt
text "at work"
wait_at gate
refuse prompt 529 "Overloaded"
listen
"#,
    )
    .await;
    stage.make_gate("gate");
    stage.prompt("one").await;
    stage.until(|document| said(document) == "at work").await;
    stage.prompt("two").await;
    stage.open_gate("gate").await;
    let document = stage.until(|document| waiting(document).iter().any(|(_, held)| held.is_some())).await;
    assert_eq!(
        (turns(&document), waiting(&document)),
        (vec![Failed], vec![("two", Some("The turn before it failed."))])
    );
}

/// A person who stops before the agent is ready has nothing sent.
#[tokio::test]
async fn stop_before_the_agent_is_ready_holds_the_prompt() {
    let stage = Stage::with("wait_at gate\nopen_session\nhear session/prompt as prompt\nfinish prompt\nlisten").await;
    stage.make_gate("gate");
    stage.prompt("one").await;
    stage.stop().await;
    let document = stage.document().await;
    assert!(waiting(&document)[0].1.is_some() && turns(&document).is_empty());
    stage.open_gate("gate").await;
    stage.host.release_prompt(&stage.session, &id_of(&document, "one")).await.unwrap();
    stage.until_turns(&[Completed]).await;
}

/// A restart delivers what waits, once, and holds nothing.
#[tokio::test]
async fn what_waits_at_a_restart_is_sent_then() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"
open_session
if $RUN == 1 {
    hear session/prompt
    text "at work "
    sleep_forever
}
repeat {
    hear session/prompt as prompt
    text "$prompt.params.prompt.0.text "
    finish prompt
}
"#;
    let agent = scripted(folder.path(), script);
    let stage = Stage::start(folder.path(), store_in(folder.path()), agent.clone(), HostSettings::default()).await;
    stage.prompt("one").await;
    stage.until(|document| said(document) == "at work ").await;
    stage.prompt("two").await;
    stage.prompt("three").await;
    stage.host.shut_down().await;
    let document = stage.document().await;
    assert_eq!((turns(&document), waiting(&document).len()), (vec![Interrupted], 2));
    let session = stage.session.clone();
    drop(stage);

    let settings = HostSettings { sends_waiting_prompts: false, ..HostSettings::default() };
    let quiet = Host::start_with(store_in(folder.path()), registry(agent.clone()), settings).await.unwrap();
    quiet.shut_down().await;
    drop(quiet);

    let host = Host::start(store_in(folder.path()), registry(agent)).await.unwrap();
    let stage = Stage::over(host, session, folder.path());
    let document = stage.until_turns(&[Interrupted, Completed, Completed]).await;
    assert_eq!((said(&document).as_str(), prompts(&document)), ("at work two three ", vec!["one", "two", "three"]));
    assert_eq!(notice_codes(&document), ["interrupted", "context_lost"]);
    assert_eq!(stage.pids().len(), 2, "the quiet host started an agent");
    stage.host.shut_down().await;
}

/// "No short start time-outs": the first prompt waits, shown as waiting, with what the agent prints meanwhile.
#[tokio::test]
async fn the_first_prompt_waits_for_a_slow_start() {
    let stage = Stage::with(
        r#"
stderr "downloading the model\n"
hear initialize as hello
wait_at gate
reply hello {"protocolVersion": 1, "agentCapabilities": {}}
new_session
hear session/prompt as prompt
finish prompt
listen
"#,
    )
    .await;
    stage.make_gate("gate");
    stage.prompt("hello").await;
    let mut signals = stage.host.signals(&stage.session);
    let says = async {
        loop {
            if let pleat_host::AgentState::Starting { says: Some(says), .. } = stage.host.live(&stage.session).0.agent {
                return says;
            }
            signals.changed().await.unwrap();
        }
    };
    let says = tokio::time::timeout(Duration::from_secs(20), says).await.expect("what it prints is shown");
    assert_eq!(says, "downloading the model");
    assert_eq!(waiting(&stage.document().await), [("hello", None)]);
    stage.open_gate("gate").await;
    stage.until_turns(&[Completed]).await;
}

/// An agent that ends between two turns is started again for the next one.
#[tokio::test]
async fn an_agent_that_ends_after_its_turn_is_started_again() {
    let script = r"
open_session
hear session/prompt as prompt
if $RUN == 1 { wait_at gate }
finish prompt
exit 0
";
    let stage = Stage::with(script).await;
    stage.make_gate("gate");
    stage.prompt("one").await;
    stage.until_turns(&[Running]).await;
    stage.prompt("two").await;
    stage.open_gate("gate").await;
    // Where the second prompt was on its way when the agent ended, its turn is interrupted: nobody knows what became of it.
    let is_over = |document: &Document| turns(document).len() == 2 && !turns(document)[1].is_open();
    let document = stage.until(is_over).await;
    assert!(matches!(turns(&document)[1], Completed | Interrupted), "{:?}", turns(&document));
}

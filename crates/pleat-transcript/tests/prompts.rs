//! Prompts that wait, and what was chosen in a session: what changes make of a document.

#![allow(clippy::unwrap_used, reason = "the helpers of tests may panic too")]

use pleat_transcript::change::{Change, ChangeError, PromptUpdate, SessionUpdate};
use pleat_transcript::document::Document;
use pleat_transcript::ids::{CountedIds, PromptId, SessionId};
use pleat_transcript::session::{ChosenSettings, Session, WaitingPrompt};
use serde_json::json;

fn id(id: &str) -> PromptId {
    PromptId::new(id).unwrap()
}

fn queue(name: &str, key: Option<&str>) -> Change {
    Change::QueuePrompt(Box::new(WaitingPrompt {
        id: id(name),
        key: key.map(str::to_owned),
        text: format!("do {name}"),
        attachments: Vec::new(),
        created_at: Some(1),
        held: None,
    }))
}

fn edit(prompt: &str, text: &str) -> Change {
    let update = PromptUpdate { text: Some(text.to_owned()), ..PromptUpdate::default() };
    Change::UpdatePrompt { prompt: id(prompt), update }
}

fn hold(prompt: &str, held: Option<&str>) -> Change {
    let update = PromptUpdate { held: Some(held.map(str::to_owned)), ..PromptUpdate::default() };
    Change::UpdatePrompt { prompt: id(prompt), update }
}

/// Applies the changes to an empty session and tells what waits: id, text and why it is held.
fn waiting(changes: &[Change]) -> Result<Vec<String>, ChangeError> {
    let mut document = Document::new(Session::new(SessionId::new("s").unwrap()));
    for change in changes {
        document.apply(change)?;
    }
    let told = |prompt: &WaitingPrompt| format!("{}: {} {:?}", prompt.id, prompt.text, prompt.held);
    Ok(document.session.waiting.iter().map(told).collect())
}

#[test]
fn prompts_wait_in_order_until_they_are_removed() {
    let remove = |prompt: &str, sent| Change::RemovePrompt { prompt: id(prompt), sent };
    let three = [queue("a", Some("k")), queue("b", None), queue("c", Some("l"))];
    let after = |changes: &[Change]| waiting(&[&three, changes].concat());
    assert_eq!(after(&[]), Ok(vec!["a: do a None".into(), "b: do b None".into(), "c: do c None".into()]));
    let gone = after(&[remove("a", true), remove("c", false), queue("d", None)]);
    assert_eq!(gone, Ok(vec!["b: do b None".into(), "d: do d None".into()]));
    // The same key is the same prompt; none is like no other.
    assert_eq!(after(&[queue("d", Some("l"))]).unwrap().len(), 3);
    assert_eq!(after(&[queue("d", None), queue("e", None)]).unwrap().len(), 5);
    for misfit in [edit("x", ""), remove("x", false)] {
        assert_eq!(after(&[misfit]), Err(ChangeError::UnknownPrompt(id("x"))));
    }
    assert_eq!(after(&[remove("a", true), remove("a", true)]), Err(ChangeError::UnknownPrompt(id("a"))));
}

#[test]
fn prompts_are_edited_held_and_released() {
    let after = |changes: Vec<Change>| waiting(&[vec![queue("a", None)], changes].concat()).unwrap().remove(0);
    assert_eq!(after(vec![edit("a", "else")]), "a: else None");
    assert_eq!(after(vec![hold("a", Some("Wait."))]), "a: do a Some(\"Wait.\")");
    assert_eq!(after(vec![hold("a", Some("Wait.")), edit("a", "")]), "a:  Some(\"Wait.\")");
    assert_eq!(after(vec![hold("a", Some("Wait.")), hold("a", None)]), "a: do a None");
}

#[test]
fn what_is_chosen_is_replaced_whole() {
    let mut document = Document::new(Session::new(SessionId::new("s").unwrap()));
    let mut set = |update| document.apply(&Change::UpdateSession(update)).map(|()| document.session.clone());
    let mode = ChosenSettings { mode: Some("plan".to_owned()), ..ChosenSettings::default() };
    let options = ChosenSettings { options: [("a".to_owned(), json!(1))].into(), ..ChosenSettings::default() };
    for chosen in [mode, options, ChosenSettings::default()] {
        let session = set(SessionUpdate { chosen: Some(chosen.clone()), ..SessionUpdate::default() }).unwrap();
        assert_eq!(session.chosen, chosen);
    }
    let directories = vec!["/a".to_owned(), "/b".to_owned()];
    set(SessionUpdate { directories: Some(directories.clone()), ..SessionUpdate::default() }).unwrap();
    assert_eq!(set(SessionUpdate::default()).unwrap().directories, directories);
}

#[test]
fn ids_of_prompts_have_a_letter_of_their_own() {
    assert_eq!(PromptId::from_source(&mut CountedIds::default()), id("q1"));
}

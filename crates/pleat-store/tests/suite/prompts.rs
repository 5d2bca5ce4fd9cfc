//! Prompts that wait.

use super::sample::{self, media, message, user};
use super::{Twin, message_id, prompt_id, session_id};
use pleat_store::{Durability, IdKind, Revision, Signal, Store, StoreError};
use pleat_transcript::change::{Change, PromptUpdate};
use pleat_transcript::document::{Document, Window};
use pleat_transcript::message::{Media, MediaKind};
use pleat_transcript::session::{Session, WaitingPrompt};
use std::time::Duration;

/// A prompt that nothing holds, with a key.
fn prompt(id: &str, key: Option<&str>) -> WaitingPrompt {
    WaitingPrompt { key: key.map(str::to_owned), held: None, ..sample::prompt(id) }
}

fn queue(id: &str, key: Option<&str>) -> Change {
    Change::QueuePrompt(Box::new(prompt(id, key)))
}

fn edit(id: &str, text: &str) -> Change {
    let update = PromptUpdate { text: Some(text.to_owned()), ..PromptUpdate::default() };
    Change::UpdatePrompt { prompt: prompt_id(id), update }
}

fn hold(id: &str, held: Option<&str>) -> Change {
    let update = PromptUpdate { held: Some(held.map(str::to_owned)), ..PromptUpdate::default() };
    Change::UpdatePrompt { prompt: prompt_id(id), update }
}

fn remove(id: &str, sent: bool) -> Change {
    Change::RemovePrompt { prompt: prompt_id(id), sent }
}

/// What is committed where a prompt is sent.
fn send(id: &str) -> Vec<Change> {
    vec![Change::InsertMessage(Box::new(message(&format!("of {id}"), user("said")))), remove(id, true)]
}

async fn create<'a>(store: &'a dyn Store, id: &str) -> Twin<'a> {
    Twin::create(store, Session::new(session_id(id))).await
}

fn ids(document: &Document) -> Vec<&str> {
    document.session.waiting.iter().map(|prompt| prompt.id.as_str()).collect()
}

async fn listed(store: &dyn Store, twin: &Twin<'_>) -> usize {
    let listed = store.sessions(None, usize::MAX).await.unwrap();
    listed.into_iter().find(|listing| listing.id == twin.id()).unwrap().waiting
}

pub(crate) async fn prompts_wait_in_order(store: &dyn Store) {
    let mut twin = create(store, "s").await;
    let other = create(store, "other").await;
    let mut signals = store.signals();
    for id in ["z", "a", "m"] {
        twin.commit(vec![queue(id, None)]).await;
        let changed = Signal::Changed { session: twin.id(), revision: twin.revision };
        // A signal may come twice: this one has to come.
        let told = async { while signals.next().await.unwrap() != changed {} };
        tokio::time::timeout(Duration::from_secs(30), told).await.unwrap();
    }
    assert_eq!(ids(&twin.document), ["z", "a", "m"]);
    assert_eq!((listed(store, &twin).await, listed(store, &other).await), (3, 0));
    twin.commit(send("z")).await;
    twin.commit(vec![queue("b", None), edit("a", "else\0"), remove("m", false)]).await;
    assert_eq!(ids(&twin.document), ["a", "b"]);
    assert_eq!(listed(store, &twin).await, 2);
    let excerpt = store.excerpt(twin.id(), Window::Latest).await.unwrap().excerpt;
    assert_eq!(excerpt.document.session.waiting, twin.document.session.waiting);
    assert_eq!(excerpt.document.messages.last().unwrap().id, message_id("of z"));
}

/// Whatever became of the first.
pub(crate) async fn the_same_key_is_the_same_prompt(store: &dyn Store) {
    let mut twin = create(store, "s").await;
    let mut other = create(store, "other").await;
    let has = async |twin: &Twin<'_>, key: &str| store.has_prompt(twin.id(), key.to_owned()).await.unwrap();
    for (number, key) in ["waits", "is sent", "is removed", "", "with\0NUL"].into_iter().enumerate() {
        assert!(!has(&twin, key).await);
        twin.commit(vec![queue(&format!("q{number}"), Some(key))]).await;
        assert!(has(&twin, key).await);
    }
    assert!(!has(&other, "waits").await);
    other.commit(vec![queue("q0", Some("waits"))]).await;
    twin.commit(send("q1")).await;
    twin.commit(vec![remove("q2", false)]).await;
    let before = twin.revision;
    for (number, key) in ["waits", "is sent", "is removed", "", "with\0NUL"].into_iter().enumerate() {
        assert!(has(&twin, key).await);
        // Under a new id, and under its own.
        for id in ["new", &format!("q{number}")] {
            assert_eq!(twin.try_commit(vec![queue(id, Some(key))], 9).await, Ok(before), "{key}");
        }
        twin.compare().await;
    }
    let unknown = StoreError::UnknownSession(session_id("nobody"));
    assert_eq!(store.has_prompt(session_id("nobody"), "waits".to_owned()).await, Err(unknown));
    // A change beside it is made all the same.
    let beside = vec![queue("new", Some("is sent")), edit("q0", "beside"), queue("q5", None), queue("q6", None)];
    assert_eq!(twin.try_commit(beside, 9).await, Ok(Revision(before.0 + 1)));
    let stored = store.document(twin.id()).await.unwrap().document;
    assert_eq!(ids(&stored), ["q0", "q3", "q4", "q5", "q6"]);
    assert_eq!(stored.session.waiting[0].text, "beside");
}

/// The id of one that waits no more is taken as well.
pub(crate) async fn ids_of_prompts_are_used_once(store: &dyn Store) {
    let mut twin = create(store, "s").await;
    twin.commit(vec![queue("waits", None), queue("sent", None), queue("removed", None)]).await;
    twin.commit(send("sent")).await;
    twin.commit(vec![remove("removed", false)]).await;
    for id in ["waits", "sent", "removed"] {
        let error = twin.refuse(vec![queue("new", None), queue(id, Some("new key"))]).await;
        assert_eq!(error, StoreError::IdTaken { session: twin.id(), kind: IdKind::Prompt, id: id.to_owned() });
    }
    assert!(!store.has_prompt(twin.id(), "new key".to_owned()).await.unwrap());
    let twice = Session { waiting: vec![prompt("q", None); 2], ..Session::new(session_id("twice")) };
    let error = store.create_session(twice).await.unwrap_err();
    assert!(matches!(error, StoreError::IdTaken { kind: IdKind::Prompt, .. }), "{error}");
}

pub(crate) async fn prompts_are_edited_held_and_released(store: &dyn Store) {
    let mut twin = create(store, "s").await;
    let mut held_only = create(store, "held").await;
    create(store, "without").await;
    let due = async || store.sessions_with_prompts().await.unwrap();
    assert_eq!(due().await, []);
    held_only.commit(vec![queue("q1", None), hold("q1", Some("The agent ended."))]).await;
    twin.commit(vec![queue("q1", None), queue("q2", None)]).await;
    assert_eq!(due().await, [twin.id()]);
    twin.commit(vec![hold("q1", Some("")), edit("q1", "edited"), edit("q2", "")]).await;
    assert_eq!(due().await, [twin.id()]);
    twin.commit(vec![hold("q2", Some("The agent ended.\0"))]).await;
    assert_eq!(due().await, []);
    let before = twin.revision;
    twin.commit(vec![hold("q1", Some("")), edit("q1", "edited")]).await;
    assert_eq!(twin.revision, before);
    held_only.commit(vec![hold("q1", None)]).await;
    twin.commit(vec![hold("q2", None)]).await;
    assert_eq!(due().await, [twin.id(), held_only.id()]);
    twin.commit(vec![remove("q2", false)]).await;
    held_only.commit(send("q1")).await;
    assert_eq!(due().await, []);
    for change in [edit("q2", "late"), hold("q2", None), remove("q2", true)] {
        twin.refuse(vec![queue("new", None), change]).await;
    }
}

/// A prompt and its message: both or neither.
pub(crate) async fn a_prompt_is_sent_at_once_with_its_message(store: &dyn Store) {
    let mut twin = create(store, "s").await;
    twin.commit(vec![queue("q1", Some("k")), queue("q2", None)]).await;
    let unknown = Change::RemovePrompt { prompt: prompt_id("unknown"), sent: true };
    let error = twin.refuse([send("q1"), vec![edit("q2", "x"), unknown]].concat()).await;
    assert!(matches!(error, StoreError::DoesNotFit { .. }), "{error}");
    assert_eq!(ids(&store.document(twin.id()).await.unwrap().document), ["q1", "q2"]);
    twin.commit(send("q1")).await;
    assert_eq!((twin.document.messages.len(), ids(&twin.document)), (1, vec!["q2"]));
    twin.refuse(send("q1")).await;
}

pub(crate) async fn prompts_are_not_closed_by_recovery(store: &dyn Store) {
    let turn = sample::turn("t1", pleat_transcript::session::TurnState::Running);
    let session = Session { turns: vec![turn], ..Session::new(session_id("s")) };
    let mut twin = Twin::create(store, session).await;
    twin.commit(vec![queue("q1", None)]).await;
    let waiting = twin.document.session.waiting.clone();
    assert!(store.interrupt(twin.id(), "gone".to_owned(), 9).await.unwrap().is_some());
    assert_eq!(store.document(twin.id()).await.unwrap().document.session.waiting, waiting);
    // A prompt that waits is nothing that an earlier process left open.
    assert_eq!(store.open_sessions().await, Ok(Vec::new()));
}

/// Whole where all is asked for, without data in windows.
pub(crate) async fn large_attachments_wait_whole(store: &dyn Store) {
    let mut twin = create(store, "s").await;
    let picture = |letter: &str| Media { data: Some(letter.repeat(100_000)), ..media(MediaKind::Image) };
    let with = |id: &str, attachments: Vec<Media>| WaitingPrompt { attachments, ..prompt(id, None) };
    let attachments = vec![picture("a"), media(MediaKind::Audio), picture("b"), Media { data: None, ..picture("c") }];
    let changes = [with("q1", attachments.clone()), with("q2", attachments), with("q3", vec![picture("a")])];
    twin.commit(changes.map(|prompt| Change::QueuePrompt(Box::new(prompt))).to_vec()).await;
    let excerpt = store.excerpt(twin.id(), Window::Latest).await.unwrap().excerpt;
    let shown = &excerpt.document.session.waiting[0];
    let data: Vec<_> = shown.attachments.iter().map(|media| media.data.as_deref()).collect();
    assert_eq!(data, [None, Some("aGVsbG8="), None, None]);
    assert_eq!(shown.attachments[0], Media { data: None, ..picture("a") });
    twin.commit(vec![remove("q1", true), edit("q2", "x")]).await;
    twin.commit(vec![remove("q3", false), remove("q2", true)]).await;
}

pub(crate) async fn an_imported_session_has_its_prompts(store: &dyn Store) {
    let mut document = sample::document(session_id("imported"));
    document.session.waiting.push(prompt("q3", None));
    document.prepare_import();
    store.import(document.clone(), 5).await.unwrap();
    assert_eq!(store.document(session_id("imported")).await.unwrap().document, document);
    assert!(store.has_prompt(session_id("imported"), "key of q1".to_owned()).await.unwrap());
    // Nobody here asked for them.
    assert_eq!(store.sessions_with_prompts().await, Ok(Vec::new()));
    let queued =
        store.commit(session_id("imported"), vec![queue("q4", Some("key of q1"))], 0, Durability::Person).await;
    assert_eq!(queued, Ok(Revision(1)));
}

/// Whoever opens the database next finds them.
pub(crate) async fn prompts_are_there_for_the_next(first: &dyn Store, second: &dyn Store) {
    let mut twin = create(first, "s").await;
    twin.commit(vec![queue("q1", Some("k")), queue("q2", None), edit("q2", "edited")]).await;
    twin.commit(send("q1")).await;
    assert_eq!(second.document(twin.id()).await.unwrap().document, twin.document);
    assert_eq!(second.sessions_with_prompts().await, Ok(vec![twin.id()]));
    assert_eq!(second.has_prompt(twin.id(), "k".to_owned()).await, Ok(true));
    // The same prompt, posted again to the other at the same time.
    let again = vec![queue("q9", Some("k"))];
    let new = |id: &str| vec![queue(id, Some("new"))];
    let commit = |store, changes| Store::commit(store, session_id("s"), changes, 0, Durability::Person);
    assert_eq!(commit(second, again).await, Ok(twin.revision));
    let (one, other) = tokio::join!(commit(first, new("q3")), commit(second, new("q4")));
    assert_eq!((one, other), (Ok(Revision(twin.revision.0 + 1)), Ok(Revision(twin.revision.0 + 1))));
    assert_eq!(first.document(twin.id()).await.unwrap().document.session.waiting.len(), 2);
}

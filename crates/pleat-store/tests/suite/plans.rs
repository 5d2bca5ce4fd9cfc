//! Plans that a call streams: one message for each session, turn and call, however many snapshots (docs/spec/record.md,
//! Plans 1).

use super::sample::{self, call, entries, message, notice, round, text, user};
use super::{Twin, call_id, message_id, session_id, turn_id};
use pleat_store::{Revision, Signal, Signals, Store, StoreError};
use pleat_transcript::change::{Change, ChangeError, MessageUpdate, PlanSnapshot};
use pleat_transcript::ids::MessageId;
use pleat_transcript::message::{Body, JsonObject, Message, Part, Plan, PlanContent};
use pleat_transcript::session::Session;

fn words(text: &str) -> PlanContent {
    PlanContent::Text(text.to_owned())
}

fn snapshot(turn: Option<&str>, call: &str, content: PlanContent) -> Change {
    Change::UpsertPlan(Box::new(PlanSnapshot { turn: turn.map(turn_id), call: call_id(call), content, at: Some(5) }))
}

fn insert(message: Message) -> Change {
    Change::InsertMessage(Box::new(message))
}

fn content_of(message: &Message) -> &PlanContent {
    if let Body::Plan(plan) = &message.body { &plan.content } else { panic!("no plan: {message:?}") }
}

async fn bare_twin<'a>(store: &'a dyn Store, id: &str) -> Twin<'a> {
    Twin::create(store, Session::new(session_id(id))).await
}

/// What was signalled of a session beyond a revision. A shared database's store also says that something may have been
/// missed, and may say again what it said.
fn news(signals: &mut Signals, twin: &Twin<'_>, beyond: Revision) -> Vec<Revision> {
    let mut news = Vec::new();
    while let Some(signal) = signals.try_next() {
        match signal {
            Signal::Changed { session, revision } if session == twin.id() && revision > beyond => news.push(revision),
            Signal::Changed { .. } | Signal::Command { .. } | Signal::Missed => {}
        }
    }
    news.dedup();
    news
}

/// docs/spec/record.md, Plans.1.2, record Plans.1.3.
pub(crate) async fn a_plan_that_grows_is_one_message(store: &dyn Store) {
    let mut twin = bare_twin(store, "s").await;
    let mut signals = store.signals();
    let whole = "# Plan\n\n1. do it\0\n2. say so";
    let mut snapshots: Vec<PlanContent> =
        whole.char_indices().map(|(end, _)| words(&whole[..end])).chain([words(whole)]).collect();
    snapshots.push(words(&whole.repeat(10_000)));
    snapshots.push(entries(&["pending"]));
    snapshots.push(entries(&["completed", "pending"]));
    snapshots.push(entries(&[]));
    snapshots.push(words("short again"));
    for content in &snapshots {
        twin.commit(vec![snapshot(Some("t1"), "c1", content.clone())]).await;
    }
    let accepted = u64::try_from(snapshots.len()).unwrap();
    assert_eq!(twin.revision, Revision(accepted + 1));
    assert_eq!(news(&mut signals, &twin, Revision(1)), (2..=accepted + 1).map(Revision).collect::<Vec<_>>());
    let stored = store.document(twin.id()).await.unwrap().document;
    let id = MessageId::of_plan_stream(&twin.id(), Some(&turn_id("t1")), &call_id("c1"));
    let body = Body::Plan(Plan { stream: Some(call_id("c1")), content: words("short again") });
    let expected = Message { id, turn: Some(turn_id("t1")), created_at: Some(5), body, extra: JsonObject::new() };
    assert_eq!(stored.messages, [expected]);
}

/// docs/spec/record.md, Plans.1.3.
pub(crate) async fn a_plan_that_comes_again_is_no_news(store: &dyn Store) {
    for (number, content) in
        [words(""), words("# Plan"), words(" \0 "), entries(&[]), entries(&["pending", "odd"])].into_iter().enumerate()
    {
        let mut twin = bare_twin(store, &format!("s{number}")).await;
        let again = || vec![snapshot(None, "c1", content.clone())];
        twin.commit(again()).await;
        let before = twin.revision;
        assert_eq!(before, Revision(2));
        let mut signals = store.signals();
        for _ in 0..3 {
            twin.commit(again()).await;
        }
        twin.commit([again(), again()].concat()).await;
        assert_eq!(twin.revision, before);
        assert_eq!(news(&mut signals, &twin, before), []);
        assert_eq!(twin.document.messages.len(), 1);
        // What comes with it is stored, and is one revision.
        twin.commit([again(), vec![insert(message("new", notice("n")))], again()].concat()).await;
        assert_eq!(news(&mut signals, &twin, before), [Revision(3)]);
    }
}

/// docs/spec/record.md, Plans.1.2, record Plans.1.4.
pub(crate) async fn each_call_and_turn_has_a_plan_of_its_own(store: &dyn Store) {
    let mut twin = bare_twin(store, "s").await;
    let streams = [(Some("t1"), "c1"), (Some("t1"), "c2"), (Some("t2"), "c1"), (None, "c1"), (Some("t1c"), "1")];
    for (turn, call) in streams {
        twin.commit(vec![snapshot(turn, call, words("same"))]).await;
    }
    let changes = streams.map(|(turn, call)| snapshot(turn, call, words(&format!("{turn:?} {call}"))));
    twin.commit(changes.to_vec()).await;
    let stored = store.document(twin.id()).await.unwrap().document.messages;
    let expected: Vec<_> = streams.iter().map(|(turn, call)| words(&format!("{turn:?} {call}"))).collect();
    assert_eq!(stored.iter().map(content_of).cloned().collect::<Vec<_>>(), expected);
    // The same turn and call of another session are yet another plan.
    let mut other = bare_twin(store, "other").await;
    other.commit(vec![snapshot(Some("t1"), "c1", words("theirs"))]).await;
    assert_ne!(other.document.messages[0].id, twin.document.messages[0].id);
    twin.compare().await;
}

/// docs/spec/record.md, Plans.3.
pub(crate) async fn plans_without_a_call_are_appended(store: &dyn Store) {
    let mut twin = bare_twin(store, "s").await;
    let appended = |id: &str| insert(message(id, Body::Plan(Plan { stream: None, content: words("# Plan") })));
    twin.commit(vec![appended("p1")]).await;
    twin.commit(vec![appended("p2"), snapshot(Some("t1"), "c1", words("# Plan"))]).await;
    twin.commit(vec![appended("p3"), snapshot(Some("t1"), "c1", words("# Plan, longer"))]).await;
    let stored = store.document(twin.id()).await.unwrap().document.messages;
    let contents: Vec<_> = stored.iter().map(content_of).cloned().collect();
    assert_eq!(contents, ["# Plan", "# Plan", "# Plan, longer", "# Plan"].map(words));
}

/// docs/spec/record.md, Plans.1.2.
pub(crate) async fn a_message_that_is_not_the_plan_is_left_alone(store: &dyn Store) {
    let plan_of = |stream: Option<&str>| Body::Plan(Plan { stream: stream.map(call_id), content: words("theirs") });
    let strangers = [
        (Some("t1"), user("of another role")),
        (Some("t1"), notice("of another role")),
        (Some("t1"), round(vec![text("of another role")])),
        (Some("t2"), plan_of(Some("c1"))),
        (None, plan_of(Some("c1"))),
        (Some("t1"), plan_of(Some("c2"))),
        (Some("t1"), plan_of(None)),
    ];
    for (number, (turn, body)) in strangers.into_iter().enumerate() {
        let mut twin = bare_twin(store, &format!("s{number}")).await;
        let id = MessageId::of_plan_stream(&twin.id(), Some(&turn_id("t1")), &call_id("c1"));
        let stranger = Message { turn: turn.map(turn_id), ..message(id.as_str(), body) };
        twin.commit(vec![insert(stranger)]).await;
        let mut signals = store.signals();
        for content in [words("ours"), words("theirs"), entries(&[])] {
            let before = insert(message("before", notice("goes with it")));
            let after = snapshot(Some("t9"), "c9", words("goes with it"));
            let error = twin.refuse(vec![before, snapshot(Some("t1"), "c1", content), after]).await;
            let reason = ChangeError::OtherIdentity(id.clone());
            assert_eq!(error, StoreError::DoesNotFit { session: twin.id(), reason });
        }
        assert_eq!(news(&mut signals, &twin, twin.revision), []);
    }
}

/// docs/spec/record.md, Plans.1.3.
pub(crate) async fn a_plan_keeps_its_place(store: &dyn Store) {
    let mut twin = Twin::create(store, sample::session(session_id("s"))).await;
    twin.commit(vec![insert(message("first", user("plan it")))]).await;
    twin.commit(vec![insert(message("round", round(vec![Part::Call(Box::new(call("c1")))])))]).await;
    twin.commit(vec![snapshot(Some("t1"), "c1", words("# P"))]).await;
    twin.commit(vec![insert(message("reply", round(vec![text("there")]))), insert(message("last", notice("n")))]).await;
    let order = |messages: &[Message]| messages.iter().map(|message| message.id.clone()).collect::<Vec<_>>();
    let before = twin.document.messages.clone();
    for content in [words("# Plan"), words(""), entries(&["completed"]), words("# Plan, the last")] {
        twin.commit(vec![snapshot(Some("t1"), "c1", content)]).await;
    }
    let after = store.document(twin.id()).await.unwrap().document.messages;
    assert_eq!(order(&after), order(&before));
    // Nothing else was touched.
    for (place, (before, after)) in before.iter().zip(&after).enumerate() {
        assert_eq!(before == after, place != 2, "{place}");
    }
}

/// docs/spec/record.md, Plans.1.5.
pub(crate) async fn a_plan_never_has_the_id_of_its_call(store: &dyn Store) {
    let mut twin = bare_twin(store, "c1").await;
    // The call, its message, its turn and the session have one name.
    let round = round(vec![Part::Call(Box::new(call("c1")))]);
    twin.commit(vec![insert(Message { turn: Some(turn_id("c1")), ..message("c1", round) })]).await;
    twin.commit(vec![snapshot(Some("c1"), "c1", words("# Plan"))]).await;
    twin.commit(vec![snapshot(Some("c1"), "c1", words("# Plan, longer"))]).await;
    assert_eq!(twin.document.messages.len(), 2);
    let plan = &twin.document.messages[1];
    assert_ne!(plan.id, message_id("c1"));
    // A call that has the plan's own id has another plan.
    twin.commit(vec![snapshot(Some("c1"), plan.id.clone().as_str(), words("another"))]).await;
    assert_eq!(twin.document.messages.len(), 3);
    assert_eq!(store.call(twin.id(), call_id("c1")).await.unwrap(), Some(call("c1")));
}

/// docs/spec/record.md, Plans.1.3.
pub(crate) async fn a_plan_that_was_updated_otherwise_is_compared_with_what_is_stored(store: &dyn Store) {
    let mut twin = bare_twin(store, "s").await;
    twin.commit(vec![snapshot(Some("t1"), "c1", words("first"))]).await;
    let id = twin.document.messages[0].id.clone();
    let update = MessageUpdate { plan: Some(words("second")), ..MessageUpdate::default() };
    twin.commit(vec![Change::UpdateMessage { message: id, update }]).await;
    twin.commit(vec![snapshot(Some("t1"), "c1", words("second"))]).await;
    assert_eq!(twin.revision, Revision(3));
    // There and back within one change set: the document is as it was, but it was altered on the way.
    let back = vec![snapshot(Some("t1"), "c1", words("third")), snapshot(Some("t1"), "c1", words("second"))];
    let revision = twin.try_commit(back, 0).await.unwrap();
    assert_eq!(revision, Revision(4));
    assert_eq!(store.document(twin.id()).await.unwrap().document, twin.document);
}

//! Recovery: what an earlier process left open is closed.

use super::session_id;
use crate::conversation::{
    AFTER, BEFORE, REASON, asked, assert_closed, call, call_id, heard, message, message_id, open_document, round,
    store, text, turn, turn_id, user,
};
use pleat_store::{Durability, Revision, Store, StoreError};
use pleat_transcript::call::{CallState, PermissionState};
use pleat_transcript::change::{CallUpdate, Change};
use pleat_transcript::document::{Document, Window};
use pleat_transcript::fold::{fold, fold_excerpt};
use pleat_transcript::message::{Body, Part, RoundState};
use pleat_transcript::session::{Session, TurnState};

async fn interrupt(store: &dyn Store, id: &str) -> Option<Revision> {
    store.interrupt(session_id(id), REASON.to_owned(), AFTER).await.unwrap()
}

async fn open_sessions(store: &dyn Store) -> Vec<String> {
    store.open_sessions().await.unwrap().iter().map(ToString::to_string).collect()
}

pub(crate) async fn recovery_closes_all_that_is_open_at_once(all: &dyn Store) {
    let revision = store(all, &open_document("s")).await;
    assert_eq!(open_sessions(all).await, ["s"]);
    let mut signals = all.signals();
    heard(all, &mut signals).await;
    assert_eq!(interrupt(all, "s").await, Some(Revision(revision.0 + 1)));
    let new = heard(all, &mut signals).await.into_iter().filter(|(_, heard)| *heard > revision.0);
    assert_eq!(new.collect::<Vec<_>>(), [("s".to_owned(), revision.0 + 1)]);
    let stored = all.document(session_id("s")).await.unwrap();
    assert_eq!(stored.revision, Revision(revision.0 + 1));
    assert_closed(&stored.document);
    let excerpt = all.excerpt(session_id("s"), Window::Latest).await.unwrap();
    assert_eq!(fold_excerpt(&excerpt.excerpt), fold(&stored.document, &Window::Latest).unwrap());
    let listed = all.sessions(None, 10).await.unwrap();
    assert!(!listed[0].live && !listed[0].needs_person);
    assert_eq!((listed[0].last_turn, listed[0].updated_at), (Some(TurnState::Interrupted), AFTER));
}

pub(crate) async fn recovery_again_changes_nothing(all: &dyn Store) {
    store(all, &open_document("s")).await;
    interrupt(all, "s").await.unwrap();
    assert_eq!(open_sessions(all).await, [""; 0]);
    let before = all.document(session_id("s")).await.unwrap();
    let mut signals = all.signals();
    heard(all, &mut signals).await;
    for at in [AFTER, AFTER + 1] {
        let again = all.interrupt(session_id("s"), "Another reason.".to_owned(), at).await.unwrap();
        assert_eq!(again, None);
    }
    assert!(heard(all, &mut signals).await.iter().all(|(_, revision)| *revision == before.revision.0));
    let after = all.document(session_id("s")).await.unwrap();
    assert_eq!(after.revision, before.revision);
    assert!(after.document == before.document);
}

pub(crate) async fn recovery_of_several_sessions_keeps_them_apart(all: &dyn Store) {
    for id in ["s1", "s2", "s3"] {
        store(all, &open_document(id)).await;
    }
    store(all, &Document::new(Session::new(session_id("quiet")))).await;
    assert_eq!(open_sessions(all).await, ["s1", "s2", "s3"]);
    let untouched = all.document(session_id("s1")).await.unwrap();
    assert!(interrupt(all, "s2").await.is_some());
    assert_eq!(open_sessions(all).await, ["s1", "s3"]);
    assert!(all.document(session_id("s1")).await.unwrap() == untouched);
    assert_eq!(interrupt(all, "quiet").await, None);
    // At once, as two processes that start would.
    let both = tokio::join!(interrupt(all, "s1"), interrupt(all, "s3"), interrupt(all, "s1"), interrupt(all, "s3"));
    let closed = [both.0, both.1, both.2, both.3].into_iter().flatten().count();
    assert_eq!(closed, 2);
    assert_eq!(open_sessions(all).await, [""; 0]);
    for id in ["s1", "s2", "s3"] {
        assert_closed(&all.document(session_id(id)).await.unwrap().document);
    }
}

/// Nothing but the one thing is open, in each of these sessions.
pub(crate) async fn recovery_closes_whatever_is_open(all: &dyn Store) {
    let running = || vec![turn("t", TurnState::Running)];
    let asks = Part::Call(Box::new(asked(call("c", CallState::Pending), "p")));
    let open: [(&str, Session, Vec<Part>); 4] = [
        ("a turn", Session { turns: running(), ..Session::new(session_id("a turn")) }, Vec::new()),
        (
            "a live turn",
            Session { turns: running(), live_turn: Some(turn_id("t")), ..Session::new(session_id("a live turn")) },
            vec![text("half a wo")],
        ),
        (
            "a queued turn",
            Session { turns: vec![turn("t", TurnState::Queued)], ..Session::new(session_id("a queued turn")) },
            Vec::new(),
        ),
        (
            "a question",
            Session { turns: vec![turn("t", TurnState::Completed)], ..Session::new(session_id("a question")) },
            vec![asks],
        ),
    ];
    for (id, session, parts) in open {
        let body = round(RoundState::Streaming, None, parts);
        let document = Document { messages: vec![message("m", "t", body)], ..Document::new(session) };
        store(all, &document).await;
        assert_eq!(open_sessions(all).await, [id]);
        assert!(interrupt(all, id).await.is_some(), "{id}");
        assert_eq!(open_sessions(all).await, [""; 0], "{id}");
        assert_eq!(interrupt(all, id).await, None, "{id}");
        let document = all.document(session_id(id)).await.unwrap().document;
        assert!(document.session.turns.iter().all(|turn| !turn.state.is_open()), "{id}");
        assert_eq!(document.session.live_turn, None);
        let Body::Assistant(round) = &document.messages[0].body else { panic!("it is no round") };
        assert_eq!(round.state, Some(RoundState::Complete), "{id}");
        for call in round.calls() {
            assert_eq!(call.permission.as_ref().unwrap().state, Some(PermissionState::Expired));
        }
    }
}

/// A prompt that waits behind another one is an open turn too: each gets its notice.
pub(crate) async fn recovery_closes_turns_that_wait(all: &dyn Store) {
    let mut document = open_document("s");
    document.session.turns.push(turn("t3", TurnState::Queued));
    document.messages.push(message("u3", "t3", user("then that")));
    let revision = store(all, &document).await;
    assert_eq!(interrupt(all, "s").await, Some(Revision(revision.0 + 1)));
    let stored = all.document(session_id("s")).await.unwrap().document;
    let states: Vec<_> = stored.session.turns.iter().map(|turn| turn.state).collect();
    assert_eq!(states, [TurnState::Completed, TurnState::Interrupted, TurnState::Interrupted]);
    assert_eq!(stored.session.live_turn, None);
    let notices = stored.messages.iter().filter(|message| matches!(message.body, Body::Notice(_)));
    let of_turns: Vec<_> = notices.map(|message| message.turn.clone().unwrap().to_string()).collect();
    assert_eq!(of_turns, ["t2", "t3"]);
    assert_eq!(interrupt(all, "s").await, None);
}

/// What an earlier question of a call left is not asked any more, whatever came of the newest.
pub(crate) async fn recovery_leaves_no_earlier_question_open(all: &dyn Store) {
    store(all, &open_document("s")).await;
    for request in ["p4", "p5"] {
        let permission = asked(call("asks", CallState::Pending), request).permission;
        let update = CallUpdate { permission, ..CallUpdate::default() };
        let changes = vec![Change::UpdateCall { call: call_id("asks"), update: Box::new(update) }];
        all.commit(session_id("s"), changes, BEFORE, Durability::Agent).await.unwrap();
    }
    assert!(interrupt(all, "s").await.is_some());
    assert_eq!(open_sessions(all).await, [""; 0]);
    assert!(!all.sessions(None, 1).await.unwrap()[0].needs_person);
}

/// After it, work goes on where it was.
pub(crate) async fn what_was_recovered_goes_on(all: &dyn Store) {
    store(all, &open_document("s")).await;
    let closed = interrupt(all, "s").await.unwrap();
    let next = vec![
        Change::InsertTurn(turn("t4", TurnState::Running)),
        Change::InsertMessage(Box::new(message("u4", "t4", user("go on")))),
        Change::UpdateCall {
            call: call_id("running"),
            update: Box::new(CallUpdate { state: Some(CallState::Completed), ..CallUpdate::default() }),
        },
        Change::AppendText { message: message_id("r5"), part: 0, text: "en".to_owned() },
    ];
    let revision = all.commit(session_id("s"), next, AFTER, Durability::Person).await.unwrap();
    assert_eq!(revision, Revision(closed.0 + 1));
    assert_eq!(open_sessions(all).await, ["s"]);
    assert_eq!(interrupt(all, "s").await, Some(Revision(closed.0 + 2)));
    let unknown = all.interrupt(session_id("none"), REASON.to_owned(), AFTER).await;
    assert_eq!(unknown, Err(StoreError::UnknownSession(session_id("none"))));
}

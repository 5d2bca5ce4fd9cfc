//! Recovery of what several servers share, and what a failure in its middle leaves.

#![allow(clippy::unwrap_used, reason = "this is a test, its helpers too")]

#[allow(dead_code, reason = "not all of it is needed here")]
mod conversation;
mod databases;
mod raw;

use conversation::{AFTER, BEFORE, REASON, assert_closed, heard, message, open_document, session_id, store, user};
use pleat_store::{Claim, Durability, Revision, Store, StoreError};
use pleat_transcript::change::Change;
use raw::{RawDatabase, on_each_database};

on_each_database! {
    a_session_of_a_living_server_is_left_alone,
    a_session_that_was_let_go_is_closed,
    a_failure_in_the_middle_changes_nothing,
    two_servers_that_recover_at_once_do_it_once,
    every_question_is_closed_in_the_tables,
}

async fn interrupt(store: &dyn Store, id: &str) -> Result<Option<Revision>, StoreError> {
    store.interrupt(session_id(id), REASON.to_owned(), AFTER).await
}

async fn a_session_of_a_living_server_is_left_alone(database: &RawDatabase) {
    let (owner, other) = (database.open().await, database.open().await);
    let raw = database.connect().await;
    let revision = store(&*owner, &open_document("s")).await;
    assert_eq!(owner.claim(session_id("s")).await.unwrap(), Claim::Ours);
    let mut signals = other.signals();
    heard(&*other, &mut signals).await;
    assert_eq!(interrupt(&*other, "s").await, Ok(None));
    assert!(heard(&*other, &mut signals).await.iter().all(|(_, heard)| *heard <= revision.0));
    assert!(owner.document(session_id("s")).await.unwrap().document == open_document("s"));
    // Another start of the same program is another server.
    assert_eq!(other.claim(session_id("s")).await.unwrap(), Claim::Theirs(owner.server().clone()));
    raw.end_leases().await;
    assert_eq!(interrupt(&*other, "s").await, Ok(Some(Revision(revision.0 + 1))));
    assert_closed(&other.document(session_id("s")).await.unwrap().document);
    assert_eq!(interrupt(&*other, "s").await, Ok(None));
    assert_eq!(other.claim(session_id("s")).await.unwrap(), Claim::Ours);
    // The server that was taken for dead finds its session taken.
    let late = vec![Change::InsertMessage(Box::new(message("late", "t2", user("late"))))];
    let refused = owner.commit(session_id("s"), late, BEFORE, Durability::Agent).await;
    assert_eq!(refused, Err(StoreError::OwnedElsewhere(session_id("s"))));
    raw.is_consistent().await;
}

async fn a_session_that_was_let_go_is_closed(database: &RawDatabase) {
    let (owner, other) = (database.open().await, database.open().await);
    for id in ["let go", "own"] {
        store(&*owner, &open_document(id)).await;
        assert_eq!(owner.claim(session_id(id)).await.unwrap(), Claim::Ours);
    }
    owner.release(session_id("let go")).await.unwrap();
    assert!(interrupt(&*other, "let go").await.unwrap().is_some());
    // What a server owns itself it may close.
    assert!(interrupt(&*owner, "own").await.unwrap().is_some());
    assert_eq!(other.open_sessions().await.unwrap(), []);
}

async fn a_failure_in_the_middle_changes_nothing(database: &RawDatabase) {
    let all = database.open().await;
    let raw = database.connect().await;
    let revision = store(&*all, &open_document("s")).await;
    let before = all.document(session_id("s")).await.unwrap();
    let mut signals = all.signals();
    heard(&*all, &mut signals).await;
    // Some of the changes stand before each of these, some behind it.
    for (event, table, when) in [
        ("INSERT", "message", "new.role = 'notice'"),
        ("UPDATE", "permission", "new.state = 'expired'"),
        ("UPDATE", "turn", "new.state = 'interrupted'"),
        ("UPDATE", "session", "new.live_turn IS NULL"),
        ("UPDATE", "session", "new.revision <> old.revision"),
    ] {
        raw.forbid(event, table, when).await;
        let error = interrupt(&*all, "s").await.unwrap_err();
        assert!(matches!(&error, StoreError::Failed { reason, .. } if reason.contains("forbidden here")), "{error}");
        raw.allow(table).await;
        assert!(all.document(session_id("s")).await.unwrap() == before, "{event} {table}");
        assert_eq!(all.open_sessions().await.unwrap(), [session_id("s")]);
    }
    assert!(heard(&*all, &mut signals).await.iter().all(|(_, heard)| *heard <= revision.0));
    raw.is_consistent().await;
    assert_eq!(interrupt(&*all, "s").await, Ok(Some(Revision(revision.0 + 1))));
    assert_closed(&all.document(session_id("s")).await.unwrap().document);
    assert!(heard(&*all, &mut signals).await.contains(&("s".to_owned(), revision.0 + 1)));
    raw.is_consistent().await;
}

async fn two_servers_that_recover_at_once_do_it_once(database: &RawDatabase) {
    let stores = [database.open().await, database.open().await];
    let ids = ["s1", "s2", "s3", "s4"];
    for id in ids {
        store(&*stores[0], &open_document(id)).await;
    }
    let recover = async |store: &dyn Store| {
        let mut closed = 0;
        for id in store.open_sessions().await.unwrap() {
            closed += usize::from(interrupt(store, id.as_str()).await.unwrap().is_some());
        }
        closed
    };
    let (first, second) = tokio::join!(recover(&*stores[0]), recover(&*stores[1]));
    assert_eq!(first + second, ids.len());
    for id in ids {
        assert_closed(&stores[1].document(session_id(id)).await.unwrap().document);
    }
}

async fn every_question_is_closed_in_the_tables(database: &RawDatabase) {
    let all = database.open().await;
    let raw = database.connect().await;
    store(&*all, &open_document("s")).await;
    store(&*all, &open_document("other")).await;
    assert_eq!(raw.number("SELECT count(*) FROM permission WHERE state = 'open'").await, 6);
    interrupt(&*all, "s").await.unwrap();
    assert_eq!(raw.number("SELECT count(*) FROM permission WHERE state = 'open'").await, 3);
    assert_eq!(raw.number("SELECT count(*) FROM permission WHERE state = 'expired'").await, 3);
    assert_eq!(raw.number("SELECT count(*) FROM message WHERE code = 'interrupted'").await, 1);
}

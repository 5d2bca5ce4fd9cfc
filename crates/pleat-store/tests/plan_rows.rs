//! What snapshots of a plan do to rows, as triggers beside the store see it.

#![allow(clippy::unwrap_used, reason = "this is a test, its helpers too")]

mod databases;
mod raw;

use pleat_store::{Durability, Revision, Signal, Store, StoreError};
use pleat_transcript::change::{Change, PlanSnapshot};
use pleat_transcript::ids::{CallId, SessionId, TurnId};
use pleat_transcript::message::{Body, PlanContent, PlanEntry};
use pleat_transcript::session::Session;
use raw::{Raw, RawDatabase, on_each_database};
use std::collections::BTreeSet;

on_each_database! {
    a_snapshot_updates_one_row_and_an_equal_one_none,
    the_first_snapshot_inserts_one_row,
    a_snapshot_that_the_database_refuses_leaves_nothing,
}

fn session() -> SessionId {
    SessionId::new("s").unwrap()
}

fn words(text: &str) -> PlanContent {
    PlanContent::Text(text.to_owned())
}

fn entries(contents: &[&str]) -> PlanContent {
    let entry = |content: &&str| PlanEntry {
        content: (*content).to_owned(),
        status_word: Some("pending".to_owned()),
        priority: None,
        extra: pleat_transcript::message::JsonObject::new(),
    };
    PlanContent::Entries(contents.iter().map(entry).collect())
}

fn snapshot(call: &str, content: PlanContent) -> Change {
    let (turn, call) = (Some(TurnId::new("t").unwrap()), CallId::new(call).unwrap());
    Change::UpsertPlan(Box::new(PlanSnapshot { turn, call, content, at: None }))
}

async fn try_commit(store: &dyn Store, changes: Vec<Change>) -> Result<Revision, StoreError> {
    store.commit(session(), changes, 0, Durability::Agent).await
}

async fn commit(store: &dyn Store, changes: Vec<Change>) -> Revision {
    try_commit(store, changes).await.unwrap()
}

async fn contents(store: &dyn Store) -> Vec<PlanContent> {
    let messages = store.document(session()).await.unwrap().document.messages;
    let content = |body| if let Body::Plan(plan) = body { plan.content } else { panic!("no plan: {body:?}") };
    messages.into_iter().map(|message| content(message.body)).collect()
}

/// How many revisions beyond this one were told. A shared database's store may say again what it said.
async fn news(store: &dyn Store, signals: &mut pleat_store::Signals, beyond: Revision) -> usize {
    // A commit of another session stands behind all that were given before it.
    let marker = Session::new(SessionId::new(format!("marker {}", uuid::Uuid::now_v7())).unwrap());
    store.create_session(marker.clone()).await.unwrap();
    let mut news = BTreeSet::new();
    loop {
        match signals.next().await.unwrap() {
            Signal::Changed { session, .. } if session == marker.id => return news.len(),
            Signal::Changed { revision, .. } if revision > beyond => drop(news.insert(revision.0)),
            Signal::Changed { .. } | Signal::Command { .. } | Signal::Missed => {}
        }
    }
}

/// Notes down from now on whatever is inserted, updated or deleted in the tables that hold sessions.
async fn audit(raw: &Raw) {
    raw.run("CREATE TABLE audit (what text NOT NULL)").await;
    let on_postgres = match raw {
        Raw::Sqlite(_) => false,
        Raw::Postgres(_) => true,
    };
    if on_postgres {
        raw.run(
            "CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS \
             'BEGIN INSERT INTO audit VALUES (TG_OP || '' '' || TG_TABLE_NAME); RETURN NULL; END'",
        )
        .await;
    }
    for table in ["session", "message", "part", "call", "turn", "piece", "plan_identity", "blob", "search_chunk"] {
        for event in ["INSERT", "UPDATE", "DELETE"] {
            let then = if on_postgres {
                "FOR EACH ROW EXECUTE FUNCTION note()".to_owned()
            } else {
                format!("BEGIN INSERT INTO audit VALUES ('{event} {table}'); END")
            };
            raw.run(&format!("CREATE TRIGGER note_{event}_{table} AFTER {event} ON {table} {then}")).await;
        }
    }
}

/// What was done to rows since the last time, each with how often.
async fn done(raw: &Raw) -> Vec<(String, i64)> {
    let mut done = Vec::new();
    for table in ["session", "message", "part", "call", "turn", "piece", "plan_identity", "blob", "search_chunk"] {
        for event in ["INSERT", "UPDATE", "DELETE"] {
            let what = format!("{event} {table}");
            let count = raw.number(&format!("SELECT count(*) FROM audit WHERE what = '{what}'")).await;
            if count > 0 {
                done.push((what, count));
            }
        }
    }
    raw.run("DELETE FROM audit").await;
    done
}

fn counts(expected: &[(&str, i64)]) -> Vec<(String, i64)> {
    expected.iter().map(|(what, count)| ((*what).to_owned(), *count)).collect()
}

/// docs/spec/record.md, Plans.1.3.
async fn a_snapshot_updates_one_row_and_an_equal_one_none(database: &RawDatabase) {
    let store = database.open().await;
    store.create_session(Session::new(session())).await.unwrap();
    commit(&*store, vec![snapshot("c1", words("# P")), snapshot("c2", words("another"))]).await;
    let raw = database.connect().await;
    audit(&raw).await;
    let mut signals = store.signals();
    let mut revision = Revision(2);
    // More of them than are indexed together.
    let growing = (0..100).map(|number| words(&format!("# Plan\0{}", "- do it\n".repeat(number * 20))));
    let snapshots = growing.chain([entries(&["a"]), entries(&["a", "b"]), entries(&[]), words("")]);
    for content in snapshots {
        revision.0 += 1;
        assert_eq!(commit(&*store, vec![snapshot("c1", content.clone())]).await, revision);
        assert_eq!(done(&raw).await, counts(&[("UPDATE session", 1), ("UPDATE message", 1)]));
        // Again, and again beside another plan that is as it was.
        for _ in 0..2 {
            let again = vec![snapshot("c1", content.clone()), snapshot("c2", words("another"))];
            assert_eq!(commit(&*store, again).await, revision);
        }
        assert_eq!(done(&raw).await, []);
        assert_eq!(contents(&*store).await, [content, words("another")]);
    }
    assert_eq!(news(&*store, &mut signals, Revision(2)).await, 104);
    raw.is_consistent().await;
}

/// docs/spec/record.md, Plans.1.2.
async fn the_first_snapshot_inserts_one_row(database: &RawDatabase) {
    let store = database.open().await;
    store.create_session(Session::new(session())).await.unwrap();
    let raw = database.connect().await;
    audit(&raw).await;
    let first = [("UPDATE session", 1), ("INSERT message", 1), ("INSERT plan_identity", 1)];
    for (number, call) in ["c1", "c2", "c3"].into_iter().enumerate() {
        commit(&*store, vec![snapshot(call, words("# Plan"))]).await;
        assert_eq!(done(&raw).await, counts(&first));
        commit(&*store, vec![snapshot(call, words("# Plan"))]).await;
        assert_eq!(done(&raw).await, []);
        assert_eq!(contents(&*store).await.len(), number + 1);
    }
    raw.is_consistent().await;
}

/// docs/spec/record.md, Plans.1.3.
async fn a_snapshot_that_the_database_refuses_leaves_nothing(database: &RawDatabase) {
    let store = database.open().await;
    store.create_session(Session::new(session())).await.unwrap();
    commit(&*store, vec![snapshot("c1", words("stored"))]).await;
    let raw = database.connect().await;
    let longer = || vec![snapshot("c2", words("comes with it")), snapshot("c1", words("stored, and longer"))];
    // The plan itself, and what is written after it.
    for (table, when) in [("message", "NEW.role = 'plan'"), ("session", "NEW.revision > OLD.revision")] {
        let before = store.document(session()).await.unwrap();
        let mut signals = store.signals();
        raw.forbid("UPDATE", table, when).await;
        for _ in 0..2 {
            let error = try_commit(&*store, longer()).await.unwrap_err();
            assert!(matches!(error, StoreError::Failed { .. }), "{error:?}");
            assert!(error.to_string().contains("forbidden here"), "{error}");
            assert_eq!(store.document(session()).await.unwrap(), before);
        }
        // An equal one has nothing to refuse.
        assert_eq!(commit(&*store, vec![snapshot("c1", words("stored"))]).await, before.revision);
        assert_eq!(news(&*store, &mut signals, before.revision).await, 0);
        raw.allow(table).await;
        raw.is_consistent().await;
    }
    assert_eq!(commit(&*store, longer()).await, Revision(3));
    assert_eq!(contents(&*store).await, [words("stored, and longer"), words("comes with it")]);
    raw.is_consistent().await;
}

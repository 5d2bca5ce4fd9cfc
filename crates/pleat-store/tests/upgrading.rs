//! A database that an older Pleat wrote is brought up to date when it is opened, and nothing of it is lost.

#![allow(clippy::unwrap_used, reason = "this is a test, its helpers too")]

use pleat_store::search::{Query, SearchFilter, SearchOrder, SearchRequest};
use pleat_store::sqlite::SqliteStore;
use pleat_store::{Revision, Store};
use pleat_transcript::document::Window;
use pleat_transcript::fold::{fold, fold_excerpt};
use pleat_transcript::ids::{CallId, SessionId};
use pleat_transcript::message::Body;
use pleat_transcript::preview::bytes_of_output;
use refinery::Target;
use rusqlite::Connection;

mod embedded {
    refinery::embed_migrations!("migrations/sqlite");
}

/// A session as version 1 kept it: a prompt, and a round with a command whose output was appended to.
const SESSION: &str = r#"
    INSERT INTO session (key, id, revision, updated_at, live_turn) VALUES (1, 's', 9, 5, NULL);
    INSERT INTO turn (session, id, seq, state) VALUES (1, 't', 0, 'completed');
    INSERT INTO message (key, session, id, seq, role, turn, lead, text) VALUES (1, 1, 'm1', 0, 'user', 't', 0, 'build it');
    INSERT INTO message (key, session, id, seq, role, turn, lead, state) VALUES (2, 1, 'm2', 1, 'assistant', 't', 0, 'complete');
    INSERT INTO part (key, message, place, type, text) VALUES (1, 2, 0, 'text', 'building');
    INSERT INTO part (key, message, place, type) VALUES (2, 2, 1, 'call');
    INSERT INTO call (key, session, id, state, announced, closed_by_host, terminal, input, output)
        VALUES (2, 1, 'c1', 'completed', 1, 0, 1, '{"command":"make"}', '[{"type":"terminal","output":"cc ","exit":null}]');
    INSERT INTO terminal_output (call, seq, text) VALUES (2, 0, 'main.c '), (2, 1, 'linked');
    INSERT INTO permission (session, call, request, state, options) VALUES (1, 2, 'p1', 'answered', '[]');
"#;

#[tokio::test]
async fn a_database_of_version_1_is_read_searched_and_windowed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pleat.db");
    let mut old = Connection::open(&file).unwrap();
    embedded::migrations::runner().set_target(Target::Version(1)).run(&mut old).unwrap();
    old.execute_batch(SESSION).unwrap();
    let large = format!(r#"[{{"type":"content","content":{{"type":"text","text":"{}"}}}}]"#, "large ".repeat(20_000));
    let call = "INSERT INTO call (key, session, id, state, announced, closed_by_host, terminal, output) \
         VALUES (3, 1, 'c2', 'completed', 1, 0, 0, ?1)";
    old.execute("INSERT INTO part (key, message, place, type) VALUES (3, 2, 2, 'call')", []).unwrap();
    old.execute(call, [&large]).unwrap();
    drop(old);
    let store = SqliteStore::open(&file).unwrap();
    let id = || SessionId::new("s").unwrap();
    let stored = store.document(id()).await.unwrap();
    assert_eq!(stored.revision, Revision(9));
    let call = store.call(id(), CallId::new("c1").unwrap()).await.unwrap().unwrap();
    assert_eq!(call.output[0]["output"], "cc main.c linked");
    assert!(call.permission.is_some());
    let large = store.call(id(), CallId::new("c2").unwrap()).await.unwrap().unwrap();
    assert_eq!(large.output[0]["content"]["text"], "large ".repeat(20_000));
    let excerpt = store.excerpt(id(), Window::Latest).await.unwrap().excerpt;
    let rows = fold(&stored.document, &Window::Latest).unwrap();
    assert_eq!(fold_excerpt(&excerpt), rows);
    assert_eq!(rows.rows.len(), 2);
    let Body::Assistant(round) = &excerpt.document.messages[1].body else { panic!("a round") };
    let preview = round.calls().find(|call| call.id.as_str() == "c2").unwrap();
    assert_eq!(bytes_of_output(&preview.output), Some(120_056));
    for (query, message) in [("build", "m1"), ("building", "m2"), ("make", "m2"), ("linked", "m2")] {
        let query = Query::parse(query).unwrap();
        let (filter, order) = (SearchFilter::default(), SearchOrder::Newest);
        let page = store.search(SearchRequest { query, filter, order, after: None, limit: 9 }).await.unwrap();
        assert_eq!(page.hits.iter().map(|hit| hit.message.as_str()).collect::<Vec<_>>(), [message]);
    }
}

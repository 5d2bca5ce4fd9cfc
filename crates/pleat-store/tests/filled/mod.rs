//! Stores that hold something of everything, for tests of what is done with a database as a whole.

#![allow(dead_code, reason = "not every test binary needs all of it")]

use crate::databases::TestDatabase;
use crate::suite;
use pleat_store::maintenance::{AnyStore, StoreAddress};
use pleat_store::search::{SearchFilter, SearchOrder, SearchRequest};
use pleat_store::{CommandId, Durability, Revision, Store};
use pleat_transcript::change::Change;
use pleat_transcript::document::Document;
use pleat_transcript::ids::{AgentSessionId, CallId, MessageId, PromptId, SessionId};
use pleat_transcript::message::{Body, JsonObject, Media, MediaKind, Message, Notice, NoticeLevel};
use pleat_transcript::session::WaitingPrompt;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The session that [`fill`] imports.
pub(crate) const IMPORTED: &str = "imported";

/// What other tables hold, in the dialect of both databases.
const OTHER_ROWS: &str = "INSERT INTO setting (name, value) VALUES ('theme', '\"dark\"'); \
     INSERT INTO token (id, name, role, hash, created_at) VALUES ('t', 'Me', 'owner', X, 5); \
     INSERT INTO import_source (path, session, bytes, modified_at, hash, imported_at) \
     SELECT '/b', key, 1, 2, X, 3 FROM session WHERE id = 'imported'; \
     INSERT INTO import_source (path, session, bytes, modified_at, hash, imported_at) \
     SELECT '/B', key, 1, 2, X, 3 FROM session WHERE id = 'imported'; \
     INSERT INTO permission (session, call, request, state) \
     SELECT session, key, 'earlier', 'expired' FROM call WHERE id = 'c1' ORDER BY key LIMIT 1;";

pub(crate) fn id(id: &str) -> SessionId {
    SessionId::new(id).unwrap()
}

pub(crate) fn document() -> Document {
    let large = |word: &str| format!("{word} ").repeat(20_000);
    let call = |id: &str, output: Value| {
        json!({"type": "call", "call": {"id": id, "kind": "read", "title": "ls\u{0}-l", "state": "completed",
            "input": {"content": large("input")}, "output": [output]}})
    };
    let plan = |id: &str, status: &str| json!({"id": id, "turn": "t1", "role": "plan", "entries": [{"content": "Look", "status": status}]});
    let document = json!({
        "session": {"id": IMPORTED, "title": "A\u{0}\u{10FFFF}0", "created_at": 7, "odd": [1],
            "turns": [{"id": "t1", "state": "completed"}, {"id": "t2", "state": "completed"}]},
        "messages": [
            {"id": "m1", "turn": "t1", "role": "user", "text": "Find the haystack's needle"},
            plan("p1", "pending"),
            {"id": "m2", "turn": "t1", "role": "assistant", "state": "complete", "parts": [
                {"type": "text", "text": "Reading \u{0}\u{10FFFF}."},
                call("big", json!({"type": "content", "content": {"type": "text", "text": large("needle")}})),
                call("other", json!({"type": "terminal", "output": large("output"), "exit": null})),
                {"type": "image", "mime": "image/png", "data": large("picture")}]},
            plan("p2", "completed"),
            {"id": "m3", "turn": "t2", "role": "assistant", "parent": "big", "parts": [{"type": "text", "text": "In."}]},
            {"id": "m4", "turn": "t2", "role": "assistant", "parts": [{"type": "text", "text": "Done."}]},
        ]
    });
    Document::from_json(&document.to_string()).unwrap()
}

/// A prompt with a large picture.
fn prompt(id: &str) -> WaitingPrompt {
    let data = Some(format!("{id} ").repeat(20_000));
    let (mime, uri, name, message_id) = (Some("image/png".to_owned()), None, None, None);
    WaitingPrompt {
        id: PromptId::new(id).unwrap(),
        key: Some(format!("{id}\0")),
        text: "Go on.".to_owned(),
        attachments: vec![Media {
            kind: MediaKind::Image,
            mime,
            data,
            uri,
            name,
            message_id,
            extra: JsonObject::new(),
        }],
        created_at: Some(10),
        held: Some("Not now.".to_owned()),
    }
}

/// Fills a store through all that a store does.
pub(crate) async fn fill(store: &dyn Store) {
    suite::appended_output_is_joined_and_replaced(store).await;
    store.import(document(), 9).await.unwrap();
    let appended = Change::AppendOutput { call: CallId::new("other").unwrap(), text: "more needles".repeat(9_000) };
    for _ in 0..2 {
        store.commit(id(IMPORTED), vec![appended.clone()], 10, Durability::Agent).await.unwrap();
    }
    let prompts = ["waits", "is sent"].map(prompt).map(Box::new).map(Change::QueuePrompt);
    store.commit(id(IMPORTED), prompts.to_vec(), 10, Durability::Person).await.unwrap();
    let sent = Change::RemovePrompt { prompt: PromptId::new("is sent").unwrap(), sent: true };
    store.commit(id(IMPORTED), vec![sent], 10, Durability::Agent).await.unwrap();
    for name in ["first", "second", "first"] {
        store.add_agent_session(id(IMPORTED), AgentSessionId(name.to_owned()), 1).await.unwrap();
    }
    store.claim(id(IMPORTED)).await.unwrap();
    for name in ["one", "two"] {
        store.send_command(id(IMPORTED), CommandId(name.to_owned()), "{}".to_owned()).await.unwrap();
    }
    store.answer_command(id(IMPORTED), CommandId("one".to_owned()), "\"done\"".to_owned()).await.unwrap();
}

/// Adds what random changes leave.
pub(crate) async fn fill_randomly(store: &dyn Store) {
    suite::random_changes_leave_what_a_document_would_be(store).await;
}

/// A SQLite store in a folder, filled.
pub(crate) async fn filled_file(folder: &Path) -> AnyStore {
    let file = folder.join("filled.db");
    let store = AnyStore::open(&StoreAddress::Sqlite(file.clone())).await.unwrap();
    fill(store.store()).await;
    in_file(&file, &OTHER_ROWS.replace(" X", " x'00ff'"));
    store
}

/// Runs SQL beside a store, with nothing that would refuse it.
pub(crate) fn in_file(file: &Path, sql: &str) {
    let database = rusqlite::Connection::open(file).unwrap();
    database.execute_batch("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON").unwrap();
    database.execute_batch(sql).unwrap();
}

/// A PostgreSQL store, filled.
pub(crate) async fn filled_database(database: &TestDatabase) -> AnyStore {
    let store = AnyStore::Postgres(database.open().await);
    fill(store.store()).await;
    database.connect().await.batch_execute(&OTHER_ROWS.replace(" X", " '\\x00ff'")).await.unwrap();
    store
}

/// Where a test database is.
pub(crate) fn address_of(database: &TestDatabase) -> StoreAddress {
    let address = pleat_store::postgres::Address::parse(&database.address()).unwrap();
    StoreAddress::Postgres(address)
}

/// Files that do not exist yet.
pub(crate) fn file_in(folder: &Path, name: &str) -> (PathBuf, StoreAddress) {
    let file = folder.join(name);
    (file.clone(), StoreAddress::Sqlite(file))
}

/// What a store's interface tells of all its sessions.
#[derive(Debug, PartialEq)]
pub(crate) struct Told {
    document: Document,
    revision: Revision,
    names: Vec<AgentSessionId>,
    outcome: Option<String>,
    words: Option<String>,
}

pub(crate) async fn all(store: &dyn Store) -> Vec<Told> {
    let mut told = Vec::new();
    for listing in store.sessions(None, usize::MAX).await.unwrap() {
        let stored = store.document(listing.id.clone()).await.unwrap();
        told.push(Told {
            document: stored.document,
            revision: stored.revision,
            names: store.agent_sessions(listing.id.clone()).await.unwrap(),
            outcome: store.command_outcome(listing.id.clone(), CommandId("one".to_owned())).await.unwrap(),
            words: listing.last_words,
        });
    }
    told
}

/// Everything is found that was said, also in large values.
pub(crate) async fn search_finds(store: &dyn Store, query: &str) -> usize {
    let request = SearchRequest {
        query: pleat_store::search::Query::parse(query).unwrap(),
        filter: SearchFilter { session: Some(id(IMPORTED)), ..SearchFilter::default() },
        order: SearchOrder::Newest,
        after: None,
        limit: 100,
    };
    store.search(request).await.unwrap().hits.len()
}

/// Goes on with a session.
pub(crate) async fn say(store: &dyn Store, session: &str, message: &str) {
    let body = Body::Notice(Notice { level: NoticeLevel::Info, code: None, text: "said".to_owned() });
    let message =
        Message { id: MessageId::new(message).unwrap(), turn: None, created_at: None, body, extra: JsonObject::new() };
    let changes = vec![Change::InsertMessage(Box::new(message))];
    store.commit(id(session), changes, 0, Durability::Agent).await.unwrap();
}

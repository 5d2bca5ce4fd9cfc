//! What survives a hard end, and what several stores on one file do to each other.

#![allow(clippy::unwrap_used, reason = "this is a test, its helpers too")]

use pleat_store::sqlite::SqliteStore;
use pleat_store::{Durability, Revision, Store};
use pleat_transcript::change::Change;
use pleat_transcript::ids::{MessageId, SessionId};
use pleat_transcript::message::{Body, JsonObject, Message, Notice, NoticeLevel};
use pleat_transcript::session::Session;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

const FILE_NAME: &str = "pleat.db";

/// Set for the process that is killed: its data folder.
const VICTIM_FOLDER: &str = "PLEAT_STORE_TEST_VICTIM";

fn session() -> SessionId {
    SessionId::new("s").unwrap()
}

fn notice(id: &str) -> Vec<Change> {
    let body = Body::Notice(Notice { level: NoticeLevel::Info, code: None, text: "said".to_owned() });
    let id = MessageId::new(id).unwrap();
    vec![Change::InsertMessage(Box::new(Message { id, turn: None, created_at: None, body, extra: JsonObject::new() }))]
}

async fn ids(store: &SqliteStore) -> Vec<String> {
    let document = store.document(session()).await.unwrap().document;
    document.messages.iter().map(|message| message.id.to_string()).collect()
}

async fn commit(store: &SqliteStore, id: &str) -> Revision {
    store.commit(session(), notice(id), 0, Durability::Agent).await.unwrap()
}

#[tokio::test]
async fn a_store_that_was_not_closed_has_everything() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&folder.path().join(FILE_NAME)).unwrap();
    store.create_session(Session::new(session())).await.unwrap();
    commit(&store, "a").await;
    commit(&store, "b").await;
    std::mem::forget(store);
    // What is in the files alone: what another process would find after a kill.
    let copy = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        if !entry.file_name().to_string_lossy().ends_with("-shm") {
            std::fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
        }
    }
    for folder in [copy.path(), folder.path()] {
        let store = SqliteStore::open(&folder.join(FILE_NAME)).unwrap();
        assert_eq!(ids(&store).await, ["a", "b"]);
        assert_eq!(commit(&store, "c").await, Revision(4));
    }
}

/// No test of its own: the process that [`a_kill_loses_nothing_that_was_answered`] kills.
#[tokio::test]
async fn victim() {
    let Some(folder) = std::env::var_os(VICTIM_FOLDER) else { return };
    let store = SqliteStore::open(&Path::new(&folder).join(FILE_NAME)).unwrap();
    store.create_session(Session::new(session())).await.unwrap();
    for n in 0.. {
        println!("answered {}", commit(&store, &format!("m{n}")).await.0);
    }
}

#[tokio::test]
async fn a_kill_loses_nothing_that_was_answered() {
    let folder = tempfile::tempdir().unwrap();
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "victim", "--nocapture"])
        .env(VICTIM_FOLDER, folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut answered = 0;
    for line in BufReader::new(victim.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        let Some((_, revision)) = line.split_once("answered ") else { continue };
        answered = revision.parse().unwrap();
        if answered == 300 {
            victim.kill().unwrap();
        }
    }
    victim.wait().unwrap();
    assert!(answered >= 300);
    let store = SqliteStore::open(&folder.path().join(FILE_NAME)).unwrap();
    let stored = store.document(session()).await.unwrap();
    assert!(stored.revision.0 >= answered);
    assert_eq!(stored.revision.0, u64::try_from(stored.document.messages.len()).unwrap() + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_stores_on_one_file_neither_lose_nor_double() {
    let folder = tempfile::tempdir().unwrap();
    let stores = [
        SqliteStore::open(&folder.path().join(FILE_NAME)).unwrap(),
        SqliteStore::open(&folder.path().join(FILE_NAME)).unwrap(),
    ];
    stores[0].create_session(Session::new(session())).await.unwrap();
    let write = async |store: &SqliteStore, name: &str| {
        for n in 0..100 {
            commit(store, &format!("{name}{n}")).await;
        }
    };
    tokio::join!(write(&stores[0], "a"), write(&stores[1], "b"));
    for store in &stores {
        let found = ids(store).await;
        assert_eq!(found.len(), 200);
        for name in ["a", "b"] {
            let own: Vec<_> = found.iter().filter(|id| id.starts_with(name)).cloned().collect();
            assert_eq!(own, (0..100).map(|n| format!("{name}{n}")).collect::<Vec<_>>());
        }
        assert_eq!(store.document(session()).await.unwrap().revision, Revision(201));
    }
    drop(stores);
    let database = rusqlite::Connection::open(folder.path().join(FILE_NAME)).unwrap();
    let (least, most, count): (i64, i64, i64) = database
        .query_row("SELECT min(seq), max(seq), count(DISTINCT seq) FROM message", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .unwrap();
    assert_eq!((least, most, count), (0, 199, 200));
}

#[tokio::test]
async fn many_open_a_new_store_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let open = || SqliteStore::open(&folder.path().join("data").join(FILE_NAME)).map(drop);
    std::thread::scope(|scope| {
        let opened: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
        for opened in opened {
            opened.join().unwrap().unwrap();
        }
    });
}

#[tokio::test]
async fn a_temporary_store_leaves_nothing() {
    let store = SqliteStore::open_temporary().unwrap();
    let folder = store.file().parent().unwrap().to_owned();
    store.create_session(Session::new(session())).await.unwrap();
    drop(store);
    assert!(!folder.exists());
}

//! A check finds nothing wrong in what the store wrote, and every kind of damage that is done to it.

#![allow(clippy::unwrap_used, reason = "this is a test, its helpers too")]

#[allow(dead_code, unused_imports, reason = "the suite needs it")]
mod conversation;
mod databases;
mod filled;
#[allow(dead_code, unused_imports, reason = "only what fills a store is needed")]
mod suite;

use databases::TestDatabase;
use filled::{IMPORTED, filled_database, filled_file, in_file};
use pleat_store::maintenance::{AnyStore, CheckReport, ProblemKind};
use pleat_store::sqlite::SqliteStore;
use pleat_transcript::document::Document;
use serde_json::json;

async fn check(store: &AnyStore) -> CheckReport {
    store.check(&mut |_| {}).await.unwrap()
}

/// What is wrong with whom, in order and once each.
fn kinds(report: &CheckReport) -> Vec<(Option<&str>, ProblemKind)> {
    let mut kinds: Vec<_> = report
        .problems
        .iter()
        .map(|problem| (problem.session.as_ref().map(pleat_transcript::ids::SessionId::as_str), problem.kind))
        .collect();
    kinds.dedup();
    kinds
}

const MESSAGE: &str = "(SELECT message.key FROM message JOIN session ON session.key = message.session \
     WHERE session.id = 'imported' AND message.id = 'M')";

/// The key of a message of the imported session.
fn with_messages(sql: &str) -> String {
    let mut sql = sql.to_owned();
    for id in ["m1", "m2", "m3", "m4", "p1", "p2"] {
        sql = sql.replace(&format!("@{id}"), &MESSAGE.replace("'M'", &format!("'{id}'")));
    }
    sql
}

/// Damage in the dialect of both databases, and as what it is found in the imported session.
const DAMAGE: [(&str, &[ProblemKind]); 19] = {
    use ProblemKind::{FullText, Outline, Plan, Reference, Sequence, Unreadable, Value};
    [
        (
            "UPDATE turn SET seq = 7 WHERE key = (SELECT key FROM turn WHERE session = (SELECT session FROM message WHERE key = @m1) AND seq = 1)",
            &[Sequence],
        ),
        ("UPDATE message SET seq = 100 WHERE key = @m4", &[Sequence]),
        ("UPDATE part SET place = 100 WHERE message = @m2 AND place = 3", &[Sequence]),
        ("INSERT INTO piece (part, seq, text) SELECT key, 1, 'x' FROM part WHERE message = @m4", &[Sequence]),
        ("UPDATE message SET makes = 0 WHERE key = @m4", &[Outline]),
        ("UPDATE message SET shown_by = NULL, ordinal = 3 WHERE key = @m3", &[Outline]),
        ("UPDATE call SET shown_by = @m1 WHERE id = 'big'", &[Outline]),
        ("UPDATE plan_identity SET newest_message = first_message WHERE first_message = @p1", &[Plan]),
        ("DELETE FROM plan_identity WHERE first_message = @p1", &[Plan]),
        ("UPDATE message SET entries = '{' WHERE key = @p2", &[Unreadable]),
        ("UPDATE permission SET session = 0 WHERE call = (SELECT min(key) FROM call WHERE id = 'c1')", &[]),
        (
            "UPDATE blob SET uses = uses + 1 WHERE hash = (SELECT blob FROM part WHERE message = @m2 AND place = 3)",
            &[Value],
        ),
        ("UPDATE blob SET bytes = 1 WHERE hash = (SELECT blob FROM part WHERE message = @m2 AND place = 3)", &[Value]),
        (
            "UPDATE blob SET content = (SELECT other.content FROM blob AS other JOIN call ON call.input_blob = other.hash \
             WHERE call.id = 'big') WHERE hash = (SELECT blob FROM part WHERE message = @m2 AND place = 3)",
            &[Value],
        ),
        (
            "UPDATE blob SET uses = uses + 1 WHERE hash = (SELECT attachments_blob FROM prompt WHERE id = 'waits')",
            &[Value],
        ),
        ("UPDATE prompt SET attachments = '{' WHERE id = 'waits'", &[Unreadable]),
        ("DELETE FROM search_chunk WHERE message = @m1", &[FullText]),
        ("UPDATE search_chunk SET field = 4 WHERE message = @m4", &[FullText]),
        ("DELETE FROM call WHERE id = 'other'", &[Reference, Unreadable, Value]),
    ]
};

#[tokio::test]
async fn nothing_is_wrong_with_what_random_changes_leave_in_a_file() {
    let store = AnyStore::Sqlite(SqliteStore::open_temporary().unwrap());
    filled::fill_randomly(store.store()).await;
    assert_eq!(kinds(&check(&store).await), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_wrong_with_what_random_changes_leave_on_a_server() {
    let Some(database) = TestDatabase::create().await else { return };
    let store = AnyStore::Postgres(database.open().await);
    filled::fill_randomly(store.store()).await;
    assert_eq!(kinds(&check(&store).await), []);
    database.remove().await;
}

/// Does one kind of damage after the other, each to a store of its own.
#[tokio::test]
async fn every_kind_of_damage_to_a_file_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled_file(folder.path()).await;
    let sound = check(&store).await;
    assert_eq!(kinds(&sound), []);
    assert_eq!(sound.sessions, 2);
    drop(store);
    for (number, (sql, expected)) in DAMAGE.iter().enumerate() {
        let (file, address) = filled::file_in(folder.path(), &format!("{number}.db"));
        std::fs::copy(folder.path().join("filled.db"), &file).unwrap();
        in_file(&file, &with_messages(sql));
        let report = check(&AnyStore::open(&address).await.unwrap()).await;
        is_found(&report, sql, expected);
    }
}

#[track_caller]
fn is_found(report: &CheckReport, sql: &str, expected: &[ProblemKind]) {
    let found = kinds(report);
    assert!(!found.is_empty(), "{sql} is not found");
    let of_session: Vec<_> =
        found.iter().filter(|(session, _)| *session == Some(IMPORTED)).map(|(_, kind)| *kind).collect();
    for kind in expected.iter().filter(|kind| **kind != ProblemKind::Value || expected.len() == 1) {
        assert!(of_session.contains(kind), "{sql}: {report:#?}");
    }
    assert!(report.problems.iter().all(|problem| problem.count > 0 && !problem.place.is_empty()));
    assert!(found.len() <= expected.len() + 2, "{sql}: {report:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_kind_of_damage_to_a_server_s_database_is_found() {
    let Some(database) = TestDatabase::create().await else { return };
    let store = filled_database(&database).await;
    let sound = check(&store).await;
    assert_eq!(kinds(&sound), []);
    let client = database.connect().await;
    client.batch_execute("SET session_replication_role TO replica").await.unwrap();
    for (sql, expected) in DAMAGE {
        // What is damaged is put back after the look.
        client.batch_execute("CREATE SCHEMA kept").await.unwrap();
        let tables = [
            "turn",
            "message",
            "part",
            "piece",
            "call",
            "plan_identity",
            "permission",
            "blob",
            "prompt",
            "search_chunk",
        ];
        for table in tables {
            client.batch_execute(&format!("CREATE TABLE kept.{table} AS TABLE {table}")).await.unwrap();
        }
        client.batch_execute(&with_messages(sql)).await.unwrap();
        is_found(&check(&store).await, sql, expected);
        for table in tables {
            let put_back = format!("TRUNCATE {table} CASCADE");
            client.batch_execute(&put_back).await.unwrap();
        }
        for table in tables {
            client.batch_execute(&format!("INSERT INTO {table} SELECT * FROM kept.{table}")).await.unwrap();
        }
        client.batch_execute("DROP SCHEMA kept CASCADE").await.unwrap();
    }
    assert_eq!(kinds(&check(&store).await), []);
    client.batch_execute("DELETE FROM part WHERE message = (SELECT max(key) FROM message)").await.unwrap();
    let lost = "DELETE FROM session WHERE id = 'imported'";
    client.batch_execute(lost).await.unwrap();
    assert!(kinds(&check(&store).await).contains(&(None, ProblemKind::Reference)));
    database.remove().await;
}

#[tokio::test]
async fn what_sqlite_finds_is_told() {
    let folder = tempfile::tempdir().unwrap();
    drop(filled_file(folder.path()).await);
    for (number, (sql, expected)) in [
        ("UPDATE message SET role = 'x' WHERE role = 'notice'", ProblemKind::Damage),
        ("DELETE FROM session WHERE id = 'imported'", ProblemKind::Reference),
        ("DELETE FROM search_text_data WHERE id > 10", ProblemKind::Damage),
    ]
    .into_iter()
    .enumerate()
    {
        let (file, address) = filled::file_in(folder.path(), &format!("{number}.db"));
        std::fs::copy(folder.path().join("filled.db"), &file).unwrap();
        in_file(&file, sql);
        let report = check(&AnyStore::open(&address).await.unwrap()).await;
        assert!(kinds(&report).contains(&(None, expected)), "{sql}: {report:#?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_server_finds_is_told() {
    let Some(database) = TestDatabase::create().await else { return };
    let store = AnyStore::Postgres(database.open().await);
    filled::fill(store.store()).await;
    assert_eq!(check(&store).await.remarks.len(), 1);
    let client = database.connect().await;
    if client.batch_execute("CREATE EXTENSION amcheck").await.is_err() {
        eprintln!("SKIPPED: the server has no amcheck");
        return;
    }
    let report = check(&store).await;
    assert_eq!(kinds(&report), []);
    assert!(report.remarks.is_empty(), "{report:?}");
    // A row that is not in its index.
    let is_kept_up = |is: bool| {
        format!(
            "UPDATE pg_index SET indisready = {is}, indisvalid = {is} WHERE indexrelid = 'agent_session_of'::regclass"
        )
    };
    client.batch_execute(&is_kept_up(false)).await.unwrap();
    let lost = "INSERT INTO agent_session (session, id, at) SELECT key, 'lost', 1 FROM session";
    client.batch_execute(lost).await.unwrap();
    client.batch_execute(&is_kept_up(true)).await.unwrap();
    let report = check(&store).await;
    assert_eq!(kinds(&report), [(None, ProblemKind::Damage)]);
    assert!(report.problems[0].place.starts_with("`agent_session_of`: "), "{report:?}");
    database.remove().await;
}

#[tokio::test]
async fn what_was_left_open_is_told_and_is_no_damage() {
    let store = AnyStore::Sqlite(SqliteStore::open_temporary().unwrap());
    for id in ["left", "owned", "closed"] {
        let is_live = id != "closed";
        let mut document = json!({"session": {"id": id, "turns": [
            {"id": "t", "state": if is_live { "running" } else { "completed" }}]}, "messages": []});
        if is_live {
            document["session"]["live_turn"] = json!("t");
        }
        store.store().import(Document::from_json(&document.to_string()).unwrap(), 1).await.unwrap();
    }
    store.store().claim(filled::id("owned")).await.unwrap();
    let report = check(&store).await;
    assert_eq!(report.left_open, [filled::id("left")]);
    assert_eq!((report.sessions, kinds(&report)), (3, Vec::new()));
}

async fn is_counted_and_vacuumed(store: &AnyStore) {
    let before = store.stats().await.unwrap();
    let rows = |name: &str| before.tables.iter().find(|(table, _)| *table == name).unwrap().1;
    assert_eq!(before.version, store.version().await.unwrap());
    assert_eq!((before.sessions, before.messages, before.calls), (rows("session"), rows("message"), rows("call")));
    assert!(before.bytes > 10_000 && before.chunks > 10 && before.turns > 1, "{before:?}");
    // Two calls ask for the same, and one value is used by nothing.
    assert_eq!(before.blobs.references, before.blobs.count, "{:?}", before.blobs);
    assert!(before.blobs.stored_bytes * 10 < before.blobs.value_bytes, "{:?}", before.blobs);
    let told = filled::all(store.store()).await;
    let done = store.vacuum().await.unwrap();
    assert_eq!((done.freed_values, done.after > 0), (1, true));
    let after = store.stats().await.unwrap();
    assert_eq!(after.blobs.count + 1, before.blobs.count);
    assert_eq!(filled::all(store.store()).await, told);
    assert_eq!(kinds(&check(store).await), []);
    assert!(filled::search_finds(store.store(), "needle").await > 0);
}

const UNUSED: &str = "INSERT INTO blob (hash, bytes, uses, content) VALUES (X, 1, 0, X)";

#[tokio::test]
async fn a_file_is_counted_and_vacuumed() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled_file(folder.path()).await;
    in_file(&folder.path().join("filled.db"), &UNUSED.replace('X', "x'00'"));
    let much = "CREATE TABLE much AS WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT 20000) \
         SELECT n, randomblob(100) FROM n; DROP TABLE much";
    in_file(&folder.path().join("filled.db"), much);
    is_counted_and_vacuumed(&store).await;
    let again = store.vacuum().await.unwrap();
    assert!(again.after < 8_000_000, "{again:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_s_database_is_counted_and_vacuumed() {
    let Some(database) = TestDatabase::create().await else { return };
    let store = filled_database(&database).await;
    database.connect().await.batch_execute(&UNUSED.replace('X', "'\\x00'")).await.unwrap();
    is_counted_and_vacuumed(&store).await;
    database.remove().await;
}

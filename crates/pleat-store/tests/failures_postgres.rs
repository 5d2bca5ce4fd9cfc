//! Servers that are not there, that refuse, or that end a transaction in its middle: each is told in a sentence that
//! names the database and never a password, nothing is half stored, and afterwards the same call works.

#![allow(clippy::unwrap_used, reason = "this is a test, its helpers too")]

#[allow(dead_code, reason = "not all of it is needed here")]
mod conversation;
mod databases;
mod raw;

use conversation::{AFTER, BEFORE, REASON, assert_closed, heard, message, open_document, session_id, store, user};
use databases::{TestDatabase, address, connect};
use pleat_store::postgres::{Address, PostgresStore};
use pleat_store::{Durability, Revision, Store, StoreError};
use pleat_transcript::change::Change;
use pleat_transcript::session::Session;
use raw::Raw;
use std::sync::Arc;
use std::time::Duration;
use throwaway_postgres::{Cluster, Stop};
use tokio_postgres::{Client, Config};

const PASSWORD: &str = "s3cret-of-mine";

/// The error of opening a database; it names the database, and no password.
async fn refused(address: &str) -> StoreError {
    let address = Address::parse(address).unwrap();
    let error = PostgresStore::open(address.clone()).await.map(drop).unwrap_err();
    let told = format!("{error} {error:?} {address:?} {}", address.name());
    assert!(!told.contains(PASSWORD), "{told}");
    assert!(error.to_string().contains(address.name()), "{error}");
    error
}

/// A cluster of its own; `None` where there is none to be had.
fn cluster() -> Option<Cluster> {
    if !throwaway_postgres::is_installed() {
        eprintln!("SKIPPED: PostgreSQL is not installed; `cargo xtask test` installs it");
        return None;
    }
    Some(Cluster::start().unwrap())
}

fn said(id: &str) -> Vec<Change> {
    vec![Change::InsertMessage(Box::new(message(id, "t", user("said"))))]
}

async fn ids(store: &dyn Store, session: &str) -> Vec<String> {
    let document = store.document(session_id(session)).await.unwrap().document;
    document.messages.iter().map(|message| message.id.to_string()).collect()
}

/// What tells whether a database was touched.
async fn tables(client: &Client) -> Vec<String> {
    let statement = "SELECT schemaname || '.' || relname || ' ' || n_tup_ins FROM pg_stat_user_tables ORDER BY 1";
    client.query(statement, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_not_there_is_told() {
    let Some(database) = TestDatabase::create().await else { return };
    let mut config = database.config();
    config.dbname("pleat_of_nobody");
    let error = refused(&address(&config)).await;
    assert!(matches!(&error, StoreError::Unreachable { reason, .. } if reason.contains("does not exist")), "{error}");
    database.remove().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_of_another_program_is_left_alone() {
    let Some(database) = TestDatabase::create().await else { return };
    let client = database.connect().await;
    client
        .batch_execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public; CREATE TABLE theirs (n int)")
        .await
        .unwrap();
    client.batch_execute("INSERT INTO theirs VALUES (1)").await.unwrap();
    let error = refused(&database.address()).await;
    assert!(matches!(error, StoreError::NotADatabase { .. }), "{error}");
    let names = "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace";
    let left: i64 = client.query_one(names, &[]).await.unwrap().get(0);
    assert_eq!(left, 1);
    database.remove().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_of_a_newer_pleat_is_left_alone() {
    let Some(database) = TestDatabase::create().await else { return };
    let client = database.connect().await;
    let newer = "UPDATE refinery_schema_history SET version = 9999 \
         WHERE version = (SELECT max(version) FROM refinery_schema_history)";
    client.execute(newer, &[]).await.unwrap();
    let before = tables(&client).await;
    let error = refused(&database.address()).await;
    assert!(matches!(error, StoreError::NewerVersion { found: 9999, .. }), "{error}");
    assert_eq!(tables(&client).await, before);
    database.remove().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_may_not_be_written_is_told() {
    let Some(database) = TestDatabase::create().await else { return };
    let all = database.open().await;
    all.create_session(Session::new(session_id("s"))).await.unwrap();
    let client = database.connect().await;
    let name: String = client.query_one("SELECT current_database()", &[]).await.unwrap().get(0);
    let set = async |value: &str| {
        let statement = format!("ALTER DATABASE {name} SET default_transaction_read_only TO {value}");
        client.batch_execute(&format!("SET default_transaction_read_only TO off; {statement}")).await.unwrap();
        end_others(&client).await;
    };
    set("on").await;
    let error = refused(&database.address()).await;
    assert!(matches!(&error, StoreError::Unwritable { reason, .. } if reason.contains("read-only")), "{error}");
    let error = until_connected(|| all.commit(session_id("s"), said("m"), BEFORE, Durability::Person)).await;
    let error = error.unwrap_err();
    assert!(matches!(error, StoreError::Unwritable { .. }), "{error}");
    assert_eq!(ids(&all, "s").await, [""; 0]);
    set("off").await;
    let commit = until_connected(|| all.commit(session_id("s"), said("m"), BEFORE, Durability::Person)).await;
    assert_eq!(commit, Ok(Revision(2)));
    assert_eq!(ids(&all, "s").await, ["m"]);
    database.remove().await;
}

/// Ends all other connections to the database, and waits until they are gone.
async fn end_others(client: &Client) {
    let statement = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity \
         WHERE datname = current_database() AND pid <> pg_backend_pid()";
    client.query(statement, &[]).await.unwrap();
}

/// What a call answers once the store has noticed that its connections were ended.
async fn until_connected<F: Future<Output = Result<Revision, StoreError>>>(
    call: impl Fn() -> F,
) -> Result<Revision, StoreError> {
    for _ in 0..20 {
        match call().await {
            Err(StoreError::Unreachable { .. }) => {}
            other => return other,
        }
    }
    panic!("the store does not connect again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_password_that_is_wrong_is_told_and_never_shown() {
    let Some(cluster) = cluster() else { return };
    let superuser: Config = cluster.url("postgres").parse().unwrap();
    let client = connect(&superuser).await;
    let make = format!("CREATE ROLE me LOGIN PASSWORD '{PASSWORD}'");
    client.batch_execute(&make).await.unwrap();
    client.batch_execute("CREATE DATABASE mine OWNER me").await.unwrap();
    let hba = cluster.folder().join("data/pg_hba.conf");
    std::fs::write(hba, "local all postgres trust\nlocal all all scram-sha-256\n").unwrap();
    client.query("SELECT pg_reload_conf()", &[]).await.unwrap();
    let folder = cluster.folder().display().to_string();
    let of = |user: &str, password: &str| format!("host='{folder}' user='{user}' dbname='mine' {password}");
    let right = format!("password='{PASSWORD}'");
    let wrong = format!("password='{PASSWORD} but wrong'");
    // The server reads its configuration when it comes to it.
    while PostgresStore::open(Address::parse(&of("me", &wrong)).unwrap()).await.is_ok() {}
    for (user, password) in [("me", &wrong), ("nobody", &right), ("me", &String::new())] {
        let error = refused(&of(user, password)).await;
        assert!(matches!(&error, StoreError::Unreachable { reason, .. } if reason.contains("password")), "{error}");
    }
    let url = format!("postgres://me:{PASSWORD}@%2Fnowhere/mine?host={folder}");
    let error = PostgresStore::open(Address::parse(&url).unwrap()).await.map(drop);
    assert!(!format!("{error:?}").contains(PASSWORD));
    let all = PostgresStore::open(Address::parse(&of("me", &right)).unwrap()).await.unwrap();
    all.create_session(Session::new(session_id("s"))).await.unwrap();
    assert!(!all.name().contains(PASSWORD));
    // What a store says that had the right one.
    client.batch_execute("ALTER ROLE me PASSWORD 'another'").await.unwrap();
    let others = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE usename = 'me'";
    client.query(others, &[]).await.unwrap();
    for _ in 0..3 {
        let error = all.commit(session_id("s"), said("m"), BEFORE, Durability::Person).await.unwrap_err();
        assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
        assert!(!format!("{error} {error:?}").contains(PASSWORD));
    }
    client.batch_execute(&format!("ALTER ROLE me PASSWORD '{PASSWORD}'")).await.unwrap();
    let commit = until_connected(|| all.commit(session_id("s"), said("m"), BEFORE, Durability::Person)).await;
    assert_eq!(commit, Ok(Revision(2)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_does_not_run_is_told() {
    let Some(mut cluster) = cluster() else { return };
    let address = cluster.url("postgres");
    let all = PostgresStore::open(Address::parse(&address).unwrap()).await.unwrap();
    all.create_session(Session::new(session_id("s"))).await.unwrap();
    cluster.stop(Stop::Fast).unwrap();
    let error = refused(&address).await;
    assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
    for _ in 0..20 {
        let error = all.document(session_id("s")).await.unwrap_err();
        assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
        assert!(error.to_string().contains(all.name()), "{error}");
    }
    let error = all.commit(session_id("s"), said("m"), BEFORE, Durability::Agent).await.unwrap_err();
    assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
    cluster.start_again().unwrap();
    // Nobody had to do anything to it.
    let commit = all.commit(session_id("s"), said("m"), BEFORE, Durability::Agent).await;
    assert_eq!(commit, Ok(Revision(2)));
    assert_eq!(ids(&all, "s").await, ["m"]);
}

/// The lock on which transactions wait in their middle.
const GATE: i64 = 42;

/// Lets every insertion of a message wait, until the one who holds the gate opens it.
async fn set_up_gate(client: &Client) {
    let statements = format!(
        "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql \
         AS 'BEGIN PERFORM pg_advisory_xact_lock_shared({GATE}); RETURN new; END'; \
         CREATE TRIGGER waits BEFORE INSERT ON message FOR EACH ROW EXECUTE FUNCTION wait()"
    );
    client.batch_execute(&statements).await.unwrap();
}

/// The process on the server that waits in the middle of its transaction.
async fn who_waits(client: &Client) -> i32 {
    let statement = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = 42 AND NOT granted \
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    loop {
        if let Some(row) = client.query_opt(statement, &[]).await.unwrap() {
            return row.get(0);
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_that_is_ended_in_its_middle_leaves_nothing() {
    let Some(database) = TestDatabase::create().await else { return };
    let all = Arc::new(database.open().await);
    let client = database.connect().await;
    all.create_session(Session::new(session_id("s"))).await.unwrap();
    store(&*all, &open_document("open")).await;
    set_up_gate(&client).await;
    let mut signals = all.signals();
    for (word, how) in [("terminated", "pg_terminate_backend(pid)"), ("cancelled", "pg_cancel_backend(pid)")] {
        client.query("SELECT pg_advisory_lock($1)", &[&GATE]).await.unwrap();
        let before = all.document(session_id("s")).await.unwrap();
        let commit = {
            let all = Arc::clone(&all);
            let changes = [said(&format!("{word} 1")), said(&format!("{word} 2"))].concat();
            async move { all.commit(session_id("s"), changes, BEFORE, Durability::Person).await }
        };
        let commit = tokio::spawn(commit);
        let pid = who_waits(&client).await;
        client.query(&format!("SELECT {how} FROM (SELECT {pid} AS pid) AS waiting"), &[]).await.unwrap();
        let error = commit.await.unwrap().unwrap_err();
        assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
        assert!(all.document(session_id("s")).await.unwrap() == before);
        client.query("SELECT pg_advisory_unlock($1)", &[&GATE]).await.unwrap();
        let changes = [said(&format!("{word} 1")), said(&format!("{word} 2"))].concat();
        let again = all.commit(session_id("s"), changes, BEFORE, Durability::Person).await;
        assert_eq!(again, Ok(Revision(before.revision.0 + 1)));
    }
    let expected = ["terminated 1", "terminated 2", "cancelled 1", "cancelled 2"];
    assert_eq!(ids(&*all, "s").await, expected);
    let of_s = heard(&*all, &mut signals).await.into_iter().filter(|(id, _)| id == "s").map(|(_, revision)| revision);
    assert_eq!(of_s.filter(|revision| *revision > 1).collect::<Vec<_>>(), [2, 3]);
    interrupt_is_ended(&all, &client).await;
    Raw::Postgres(client).is_consistent().await;
    drop(all);
    database.remove().await;
}

/// Recovery, too, is all or nothing.
async fn interrupt_is_ended(all: &Arc<PostgresStore>, client: &Client) {
    client.query("SELECT pg_advisory_lock($1)", &[&GATE]).await.unwrap();
    let interrupt = {
        let all = Arc::clone(all);
        async move { all.interrupt(session_id("open"), REASON.to_owned(), AFTER).await }
    };
    let interrupt = tokio::spawn(interrupt);
    let pid = who_waits(client).await;
    client.query("SELECT pg_terminate_backend($1)", &[&pid]).await.unwrap();
    assert!(matches!(interrupt.await.unwrap(), Err(StoreError::Unreachable { .. })));
    assert!(all.document(session_id("open")).await.unwrap().document == open_document("open"));
    client.query("SELECT pg_advisory_unlock($1)", &[&GATE]).await.unwrap();
    assert!(all.interrupt(session_id("open"), REASON.to_owned(), AFTER).await.unwrap().is_some());
    assert_closed(&all.document(session_id("open")).await.unwrap().document);
}

/// Whoever asked may go away in the middle: what was begun is ended, and nobody waits for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_caller_that_goes_away_holds_nobody_up() {
    let Some(database) = TestDatabase::create().await else { return };
    let all = Arc::new(database.open().await);
    let client = database.connect().await;
    all.create_session(Session::new(session_id("s"))).await.unwrap();
    set_up_gate(&client).await;
    client.query("SELECT pg_advisory_lock($1)", &[&GATE]).await.unwrap();
    let gone = {
        let all = Arc::clone(&all);
        tokio::spawn(async move { all.commit(session_id("s"), said("gone"), BEFORE, Durability::Person).await })
    };
    who_waits(&client).await;
    gone.abort();
    assert!(gone.await.unwrap_err().is_cancelled());
    client.query("SELECT pg_advisory_unlock($1)", &[&GATE]).await.unwrap();
    let next = all.commit(session_id("s"), said("next"), BEFORE, Durability::Person).await;
    assert_eq!(next, Ok(Revision(3)));
    assert_eq!(ids(&*all, "s").await, ["gone", "next"]);
    drop(all);
    database.remove().await;
}

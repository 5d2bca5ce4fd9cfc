//! Servers that share a database: leases that end, and what they hear of each other.

#![allow(clippy::unwrap_used, reason = "this is a test, its helpers too")]

mod databases;
mod raw;

use databases::TestDatabase;
use pleat_store::postgres::{Address, PostgresStore};
use pleat_store::{Claim, CommandId, Durability, ProcessMark, Revision, Signal, Signals, Store, StoreError};
use pleat_transcript::change::{Change, SessionUpdate};
use pleat_transcript::ids::SessionId;
use pleat_transcript::session::{Session, Turn, TurnState};
use raw::{Raw, RawDatabase, on_each_database};
use std::time::Duration;
use tokio::time::timeout;

on_each_database! {
    a_session_whose_owner_is_dead_is_taken,
    the_dead_hold_nothing_up_and_a_beat_revives,
    a_server_whose_process_runs_keeps_its_processes,
    a_server_of_no_known_process_keeps_its_processes_for_a_lease,
}

/// Far more than anything here takes.
const PATIENCE: Duration = Duration::from_secs(30);

fn session() -> SessionId {
    SessionId::new("s").unwrap()
}

fn title(title: &str) -> Vec<Change> {
    let title = Some(title.to_owned());
    vec![Change::UpdateSession(SessionUpdate { title, ..SessionUpdate::default() })]
}

async fn commit(store: &dyn Store, named: &str) -> Result<Revision, StoreError> {
    store.commit(session(), title(named), 0, Durability::Agent).await
}

/// The server gives no sign of life from now on, and its lease is over.
async fn kill(raw: &Raw, server: &dyn Store) {
    let server = server.server();
    match raw {
        // Beats are only given on demand there.
        Raw::Sqlite(_) => {}
        Raw::Postgres(_) => {
            raw.run(&format!(
                "CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.beat_at := 0; RETURN NEW; END'; \
                 CREATE TRIGGER dead BEFORE UPDATE ON server FOR EACH ROW WHEN (NEW.id = '{server}') EXECUTE FUNCTION die()"
            ))
            .await;
        }
    }
    raw.run(&format!("UPDATE server SET beat_at = 0 WHERE id = '{server}'")).await;
}

async fn revive(raw: &Raw, server: &dyn Store) {
    match raw {
        Raw::Sqlite(_) => {}
        Raw::Postgres(_) => raw.run("DROP TRIGGER dead ON server").await,
    }
    server.beat().await.unwrap();
}

async fn a_session_whose_owner_is_dead_is_taken(database: &RawDatabase) {
    let (first, second) = (database.open().await, database.open().await);
    let raw = database.connect().await;
    first.create_session(Session::new(session())).await.unwrap();
    assert_eq!(first.claim(session()).await, Ok(Claim::Ours));
    assert_eq!(second.claim(session()).await, Ok(Claim::Theirs(first.server().clone())));
    kill(&raw, &*first).await;
    // As long as nobody took it, it stays what it was.
    assert_eq!(commit(&*first, "by the dead").await, Ok(Revision(2)));
    assert_eq!(commit(&*second, "by nobody").await, Err(StoreError::OwnedElsewhere(session())));
    second.claim(session()).await.unwrap();
    assert_eq!(commit(&*first, "too late").await, Err(StoreError::OwnedElsewhere(session())));
    assert_eq!(commit(&*second, "by the living").await, Ok(Revision(3)));
    let title = second.document(session()).await.unwrap().document.session.title;
    assert_eq!(title.as_deref(), Some("by the living"));
    // Back among the living, it is not its own any more.
    revive(&raw, &*first).await;
    assert_eq!(first.claim(session()).await, Ok(Claim::Theirs(second.server().clone())));
    first.release(session()).await.unwrap();
    assert_eq!(first.take_commands(session()).await, Ok(Vec::new()));
    assert_eq!(commit(&*first, "too late").await, Err(StoreError::OwnedElsewhere(session())));
    assert_eq!(commit(&*second, "still").await, Ok(Revision(4)));
}

async fn the_dead_hold_nothing_up_and_a_beat_revives(database: &RawDatabase) {
    let (first, second) = (database.open().await, database.open().await);
    let raw = database.connect().await;
    let running = Turn {
        id: pleat_transcript::ids::TurnId::new("t").unwrap(),
        state: TurnState::Running,
        stop_reason: None,
        started_at: None,
        ended_at: None,
        usage: None,
        extra: pleat_transcript::message::JsonObject::new(),
    };
    let open = Session { turns: vec![running], ..Session::new(session()) };
    first.create_session(open).await.unwrap();
    assert_eq!(first.claim(session()).await, Ok(Claim::Ours));
    assert_eq!(second.interrupt(session(), "why".to_owned(), 0).await, Ok(None));
    kill(&raw, &*first).await;
    revive(&raw, &*first).await;
    assert_eq!(second.claim(session()).await, Ok(Claim::Theirs(first.server().clone())));
    if let Raw::Postgres(_) = raw {
        raw.run("DROP FUNCTION die").await;
    }
    kill(&raw, &*first).await;
    assert_eq!(second.interrupt(session(), "why".to_owned(), 0).await, Ok(Some(Revision(2))));
    assert_eq!(second.open_sessions().await, Ok(Vec::new()));
}

/// `None` where the system tells nothing of processes.
fn this_process() -> Option<ProcessMark> {
    ProcessMark::of(std::process::id())
}

/// One that gave no sign of life for a while loses its sessions, but goes on with its processes when it wakes up.
async fn a_server_whose_process_runs_keeps_its_processes(database: &RawDatabase) {
    let Some(process) = this_process() else { return };
    let (first, second) = (database.open().await, database.open().await);
    let raw = database.connect().await;
    first.create_session(Session::new(session())).await.unwrap();
    assert_eq!(first.claim(session()).await, Ok(Claim::Ours));
    first.add_process(process.clone()).await.unwrap();
    kill(&raw, &*first).await;
    assert_eq!(second.left_processes().await, Ok(Vec::new()));
    assert_eq!(second.claim(session()).await, Ok(Claim::Ours));
    raw.run(&format!("UPDATE server SET process_start = process_start + 1 WHERE id = '{}'", first.server())).await;
    assert_eq!(second.left_processes().await, Ok(vec![process]));
}

/// As where the system does not tell what a process is.
async fn a_server_of_no_known_process_keeps_its_processes_for_a_lease(database: &RawDatabase) {
    let Some(process) = this_process() else { return };
    let (first, second) = (database.open().await, database.open().await);
    let raw = database.connect().await;
    first.create_session(Session::new(session())).await.unwrap();
    assert_eq!(first.claim(session()).await, Ok(Claim::Ours));
    first.add_process(process.clone()).await.unwrap();
    for machine in ["NULL", "'another'"] {
        raw.run(&format!("UPDATE server SET machine = {machine}, pid = 1, process_start = 0")).await;
        assert_eq!(second.left_processes().await, Ok(Vec::new()));
        assert_eq!(second.claim(session()).await, Ok(Claim::Theirs(first.server().clone())));
    }
    kill(&raw, &*first).await;
    assert_eq!(second.left_processes().await, Ok(vec![process]));
    assert_eq!(second.claim(session()).await, Ok(Claim::Ours));
}

async fn open_as(database: &TestDatabase, name: &str) -> PostgresStore {
    let address = format!("{} application_name='{name}'", database.address());
    PostgresStore::open(Address::parse(&address).unwrap()).await.unwrap()
}

async fn next(signals: &mut Signals) -> Signal {
    timeout(PATIENCE, signals.next()).await.unwrap().unwrap()
}

/// Whether the session at this revision was told; `Missed`: it must be looked for.
async fn heard(signals: &mut Signals, revision: Revision) -> bool {
    loop {
        match next(signals).await {
            Signal::Changed { session: id, revision: told } if id == session() && told >= revision => return true,
            Signal::Missed => return false,
            Signal::Changed { .. } | Signal::Command { .. } => {}
        }
    }
}

/// Commits until it is heard elsewhere: from then on whoever listens is connected.
async fn until_heard(store: &dyn Store, signals: &mut Signals, name: &str) {
    for number in 0.. {
        let revision = commit(store, &format!("{name} {number}")).await.unwrap();
        if heard(signals, revision).await {
            return;
        }
    }
}

async fn until_missed(signals: &mut Signals) {
    while next(signals).await != Signal::Missed {}
}

async fn until_commanded(signals: &mut Signals) {
    let commanded = Signal::Command { session: session() };
    while next(signals).await != commanded {}
}

/// Ends the connection on which a store listens.
async fn end_listening(raw: &tokio_postgres::Client, name: &str) {
    // Connections of the pool have ended a transaction last.
    let end = "SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity WHERE datname = current_database() \
         AND application_name = $1 AND query NOT IN ('COMMIT', 'ROLLBACK')";
    let ended: i64 = raw.query_one(end, &[&name]).await.unwrap().get(0);
    assert_eq!(ended, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_commits_the_other_hears() {
    let Some(database) = TestDatabase::create().await else { return };
    let (first, second) = (open_as(&database, "first").await, open_as(&database, "second").await);
    let raw = database.connect().await;
    let mut signals = second.signals();
    first.create_session(Session::new(session())).await.unwrap();
    until_heard(&first, &mut signals, "before").await;
    for number in 0..20 {
        let revision = commit(&first, &format!("{number}")).await.unwrap();
        assert!(heard(&mut signals, revision).await);
    }
    for _ in 0..2 {
        end_listening(&raw, "second").await;
        // It says so at once, and once more when it listens again.
        until_missed(&mut signals).await;
        until_missed(&mut signals).await;
        until_heard(&first, &mut signals, "after").await;
        let revision = commit(&first, "heard").await.unwrap();
        assert!(heard(&mut signals, revision).await);
    }
    database.remove().await;
}

/// What is committed and asked for while the sender has no connection to tell of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_could_not_be_told_is_heard_all_the_same() {
    let Some(database) = TestDatabase::create().await else { return };
    let (owner, sender) = (open_as(&database, "owner").await, open_as(&database, "sender").await);
    let raw = database.connect().await;
    let (mut heard_by_owner, mut heard_by_sender) = (owner.signals(), sender.signals());
    owner.create_session(Session::new(session())).await.unwrap();
    until_heard(&sender, &mut heard_by_owner, "before").await;
    until_heard(&owner, &mut heard_by_sender, "before").await;
    end_listening(&raw, "sender").await;
    until_missed(&mut heard_by_sender).await;
    // It waits for a moment before it connects again.
    let revision = commit(&sender, "unheard").await.unwrap();
    assert!(heard(&mut heard_by_owner, revision).await);
    assert_eq!(owner.claim(session()).await, Ok(Claim::Ours));
    until_missed(&mut heard_by_sender).await;
    end_listening(&raw, "sender").await;
    until_missed(&mut heard_by_sender).await;
    sender.send_command(session(), CommandId("c".to_owned()), "null".to_owned()).await.unwrap();
    until_commanded(&mut heard_by_owner).await;
    assert_eq!(owner.take_commands(session()).await.unwrap().len(), 1);
    database.remove().await;
}

//! A server that is killed hard: what it had is free at once for the next one of the same machine, which finds what it
//! left running.

#![allow(clippy::unwrap_used, reason = "this is a test, its helpers too")]
#![cfg(target_os = "linux")]

mod databases;
mod raw;

use pleat_store::postgres::{Address, PostgresStore};
use pleat_store::sqlite::SqliteStore;
use pleat_store::{Claim, Durability, ProcessMark, Revision, Store, StoreError};
use pleat_transcript::change::{Change, SessionUpdate};
use pleat_transcript::ids::{SessionId, TurnId};
use pleat_transcript::session::{Session, Turn, TurnState};
use raw::{RawDatabase, on_each_database};
use std::io::{BufRead, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

on_each_database! {
    what_a_killed_server_had_is_free_at_once,
    what_a_killed_server_left_open_is_closed_at_once,
}

/// Set for the process that is killed: its file, or its database's address.
const VICTIM_FILE: &str = "PLEAT_STORE_TEST_VICTIM_FILE";
const VICTIM_ADDRESS: &str = "PLEAT_STORE_TEST_VICTIM_ADDRESS";

/// Less than a lease: who waits for that is too late.
const AT_ONCE: Duration = Duration::from_secs(5);

fn session() -> SessionId {
    SessionId::new("s").unwrap()
}

/// No test of its own: the process that the others kill. It owns a session and has started a process.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn victim() {
    let store: Box<dyn Store> = match (std::env::var_os(VICTIM_FILE), std::env::var(VICTIM_ADDRESS)) {
        (Some(file), _) => Box::new(SqliteStore::open(Path::new(&file)).unwrap()),
        (None, Ok(address)) => Box::new(PostgresStore::open(Address::parse(&address).unwrap()).await.unwrap()),
        (None, Err(_)) => return,
    };
    assert_eq!(store.claim(session()).await, Ok(Claim::Ours));
    let mut child = Command::new("sleep")
        .arg("600")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    store.add_process(ProcessMark::of(child.id()).unwrap()).await.unwrap();
    println!("started {}", child.id());
    child.wait().unwrap();
}

struct Victim {
    process: Running,
    output: Lines<BufReader<ChildStdout>>,
    /// What it started.
    child: LeftBehind,
}

/// Killed hard at the end, whatever that is.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Victim {
    fn start(database: &RawDatabase) -> Self {
        let (variable, value) = match database {
            RawDatabase::Sqlite(folder) => (VICTIM_FILE, folder.path().join("pleat.db").to_str().unwrap().to_owned()),
            RawDatabase::Postgres(database) => (VICTIM_ADDRESS, database.address()),
        };
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "victim", "--nocapture"])
            .env(variable, value)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap()).lines();
        let pid = output.by_ref().find_map(|line| line.unwrap().split_once("started ")?.1.parse().ok()).unwrap();
        Self { process: Running(process), output, child: LeftBehind(ProcessMark::of(pid).unwrap()) }
    }

    /// Kills it hard; what it started goes on.
    fn kill(self) -> LeftBehind {
        drop(self.process);
        assert_eq!(self.output.count(), 0);
        self.child
    }
}

/// Ended with the test, however that ends.
struct LeftBehind(ProcessMark);

impl LeftBehind {
    fn end(&self) {
        let killed = Command::new("kill").args(["-9", &self.0.pid.to_string()]).status().unwrap();
        assert!(killed.success());
        // Whoever waits for it now is no process of ours.
        while self.0.is_running() {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for LeftBehind {
    fn drop(&mut self) {
        if self.0.is_running() {
            self.end();
        }
    }
}

async fn what_a_killed_server_had_is_free_at_once(database: &RawDatabase) {
    let store = database.open().await;
    store.create_session(Session::new(session())).await.unwrap();
    let victim = Victim::start(database);
    assert!(matches!(store.claim(session()).await, Ok(Claim::Theirs(_))));
    assert_eq!(store.left_processes().await, Ok(Vec::new()));
    let start = Instant::now();
    let left = victim.kill();
    assert_eq!(store.claim(session()).await, Ok(Claim::Ours));
    assert_eq!(store.left_processes().await, Ok(vec![left.0.clone()]));
    assert!(left.0.is_running());
    assert!(start.elapsed() < AT_ONCE);
    left.end();
    store.remove_process(left.0.clone()).await.unwrap();
    assert_eq!(store.left_processes().await, Ok(Vec::new()));
    // The next one beside this, which lives.
    let other = database.open().await;
    assert_eq!(other.claim(session()).await, Ok(Claim::Theirs(store.server().clone())));
}

async fn what_a_killed_server_left_open_is_closed_at_once(database: &RawDatabase) {
    let store = database.open().await;
    let running = Turn {
        id: TurnId::new("t").unwrap(),
        state: TurnState::Running,
        stop_reason: None,
        started_at: None,
        ended_at: None,
        usage: None,
        extra: pleat_transcript::message::JsonObject::new(),
    };
    store.create_session(Session { turns: vec![running], ..Session::new(session()) }).await.unwrap();
    let victim = Victim::start(database);
    assert_eq!(store.interrupt(session(), "gone".to_owned(), 1).await, Ok(None));
    let title = SessionUpdate { title: Some("theirs".to_owned()), ..SessionUpdate::default() };
    let refused = store.commit(session(), vec![Change::UpdateSession(title)], 1, Durability::Agent).await;
    assert_eq!(refused, Err(StoreError::OwnedElsewhere(session())));
    let start = Instant::now();
    let left = victim.kill();
    assert_eq!(store.interrupt(session(), "gone".to_owned(), 1).await, Ok(Some(Revision(2))));
    assert!(start.elapsed() < AT_ONCE);
    left.end();
}

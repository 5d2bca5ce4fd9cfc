//! A server that crashes while a store writes to it, and comes back: the store tells it clearly and goes on by itself,
//! nothing is there twice, and what was answered as a person's is there.

#![allow(clippy::unwrap_used, reason = "this is a test, its helpers too")]

#[allow(dead_code, reason = "not all of it is needed here")]
mod conversation;
mod databases;
mod raw;

use conversation::{AFTER, BEFORE, REASON, assert_closed, message, open_document, session_id, store, user};
use databases::connect;
use pleat_store::postgres::{Address, PostgresStore};
use pleat_store::{Durability, IdKind, Signal, Store, StoreError};
use pleat_transcript::change::Change;
use pleat_transcript::document::Document;
use pleat_transcript::session::Session;
use raw::Raw;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use throwaway_postgres::{Cluster, Stop};
use tokio::sync::watch;

/// So many sessions are written at once for each durability.
const WRITERS: usize = 3;

/// How often the server was about to crash, and how often it was back.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Server {
    crashes: usize,
    starts: usize,
    ends: bool,
}

/// What came of a message that was to be stored.
#[derive(Debug, Clone, PartialEq)]
struct Told {
    id: String,
    /// How often the server had been back before it was asked.
    starts: usize,
    /// How often the server had been about to crash when it was answered.
    crashes: usize,
}

/// Commits numbered messages to a session until the end, each as often as it takes.
struct Writer {
    store: Arc<PostgresStore>,
    session: String,
    durability: Durability,
    server: watch::Receiver<Server>,
    answers: watch::Sender<usize>,
}

impl Writer {
    async fn write(mut self) -> Vec<Told> {
        let mut told = Vec::new();
        for number in 0.. {
            if self.server.borrow().ends {
                break;
            }
            let id = format!("m{number}");
            let starts = self.write_one(&id).await;
            let crashes = self.server.borrow().crashes;
            told.push(Told { id, starts, crashes });
            self.answers.send_modify(|answers| *answers += 1);
        }
        told
    }

    /// Tells how often the server had been back before it was asked.
    async fn write_one(&mut self, id: &str) -> usize {
        let mut failed = false;
        loop {
            let starts = self.server.borrow_and_update().starts;
            let changes = vec![Change::InsertMessage(Box::new(message(id, "t", user(id))))];
            match self.store.commit(session_id(&self.session), changes, BEFORE, self.durability).await {
                Ok(_) => return starts,
                // The server had committed it and could not tell any more.
                Err(StoreError::IdTaken { kind: IdKind::Message, .. }) if failed => return starts,
                Err(error) => self.wait_for_the_next_start(&error, starts).await,
            }
            failed = true;
        }
    }

    async fn wait_for_the_next_start(&mut self, error: &StoreError, starts: usize) {
        assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
        assert!(error.to_string().contains(self.store.name()), "{error}");
        // What fails once does not fail again when the server is back.
        self.server.wait_for(|server| server.starts > starts).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_crashes_keeps_what_was_told() {
    if !throwaway_postgres::is_installed() {
        return eprintln!("SKIPPED: PostgreSQL is not installed; `cargo xtask test` installs it");
    }
    let crashes = if std::env::var_os("PLEAT_TEST_HEAVY").is_some() { 20 } else { 3 };
    let mut cluster = Cluster::start().unwrap();
    let config = cluster.url("postgres").parse().unwrap();
    let all = Arc::new(PostgresStore::open(Address::parse(&cluster.url("postgres")).unwrap()).await.unwrap());
    store(&*all, &open_document("open")).await;
    let mut signals = all.signals();
    let (tell, server) = watch::channel(Server { crashes: 0, starts: 0, ends: false });
    let (answers, mut answered) = watch::channel(0);
    let mut writers = BTreeMap::new();
    for place in 0..WRITERS {
        for (word, durability) in [("person", Durability::Person), ("agent", Durability::Agent)] {
            let session = format!("{word} {place}");
            all.create_session(Session::new(session_id(&session))).await.unwrap();
            let (store, server, answers) = (Arc::clone(&all), server.clone(), answers.clone());
            let writer = Writer { store, session: session.clone(), durability, server, answers };
            writers.insert(session, tokio::spawn(writer.write()));
        }
    }
    let start = Instant::now();
    for crash in 1..=crashes {
        let enough = *answered.borrow() + 100;
        answered.wait_for(|answers| *answers >= enough).await.unwrap();
        tell.send_modify(|server| server.crashes = crash);
        cluster = crash_and_start(cluster).await;
        tell.send_modify(|server| server.starts = crash);
    }
    let enough = *answered.borrow() + 100;
    answered.wait_for(|answers| *answers >= enough).await.unwrap();
    tell.send_modify(|server| server.ends = true);
    for (session, writer) in writers {
        let told = writer.await.unwrap();
        let stored = all.document(session_id(&session)).await.unwrap();
        let ids = numbered(&stored.document);
        // Each is one revision, so what is there was not written twice either.
        assert_eq!(stored.revision.0, 1 + u64::try_from(ids.len()).unwrap());
        if session.starts_with("person") {
            assert_eq!(ids, told.iter().map(|told| told.id.clone()).collect::<Vec<_>>());
        } else {
            assert_only_the_last_are_lost(&told, &ids);
        }
    }
    println!("{crashes} crashes in {:.1?}: {} answers", start.elapsed(), *answered.borrow());
    let missed = std::iter::from_fn(|| signals.try_next()).any(|signal| signal == Signal::Missed);
    assert!(missed, "whoever listens is told to look");
    assert!(all.interrupt(session_id("open"), REASON.to_owned(), AFTER).await.unwrap().is_some());
    assert_closed(&all.document(session_id("open")).await.unwrap().document);
    Raw::Postgres(connect(&config).await).is_consistent().await;
}

async fn crash_and_start(mut cluster: Cluster) -> Cluster {
    let crash = move || {
        cluster.stop(Stop::Immediate).unwrap();
        cluster.start_again().unwrap();
        cluster
    };
    tokio::task::spawn_blocking(crash).await.unwrap()
}

/// The ids of a session's messages, each of which is there once and in its order.
fn numbered(document: &Document) -> Vec<String> {
    let ids: Vec<String> = document.messages.iter().map(|message| message.id.to_string()).collect();
    let numbers: Vec<usize> = ids.iter().map(|id| id[1..].parse().unwrap()).collect();
    assert!(numbers.is_sorted_by(|earlier, later| earlier < later), "{numbers:?}");
    ids
}

/// What an agent said may be lost with a crash of the server: the last of what was told before it, and no more.
fn assert_only_the_last_are_lost(told: &[Told], ids: &[String]) {
    let lost = |told: &Told| !ids.contains(&told.id);
    for pair in told.windows(2) {
        if lost(&pair[0]) && !lost(&pair[1]) {
            assert!(pair[0].starts < pair[1].crashes, "{pair:?}");
        }
    }
    let newest = told.last().unwrap();
    assert!(!lost(newest), "{newest:?}");
}

/// The server ends its clients and everything it began, without a crash.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_restarted_loses_nothing() {
    if !throwaway_postgres::is_installed() {
        return eprintln!("SKIPPED: PostgreSQL is not installed; `cargo xtask test` installs it");
    }
    let mut cluster = Cluster::start().unwrap();
    let all = PostgresStore::open(Address::parse(&cluster.url("postgres")).unwrap()).await.unwrap();
    all.create_session(Session::new(session_id("s"))).await.unwrap();
    for number in 0..3 {
        for durability in [Durability::Agent, Durability::Stream, Durability::Person] {
            let id = format!("m{number} {durability:?}");
            let changes = vec![Change::InsertMessage(Box::new(message(&id, "t", user(&id))))];
            all.commit(session_id("s"), changes, BEFORE, durability).await.unwrap();
        }
        cluster.stop(Stop::Fast).unwrap();
        let error = all.open_sessions().await.unwrap_err();
        assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
        cluster.start_again().unwrap();
    }
    let stored = all.document(session_id("s")).await.unwrap();
    assert_eq!((stored.revision.0, stored.document.messages.len()), (10, 9));
    // Its signs of life go on as well, and reach whoever asks.
    let mut signals = all.signals();
    let listens = async { while signals.next().await != Some(Signal::Missed) {} };
    tokio::time::timeout(Duration::from_secs(30), listens).await.unwrap();
}

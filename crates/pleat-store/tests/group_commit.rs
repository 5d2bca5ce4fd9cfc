//! Commits that share a transaction in SQLite, counted in its write-ahead log.

#![allow(clippy::unwrap_used, reason = "this is a test, its helpers too")]

use futures::future::join_all;
use pleat_store::sqlite::SqliteStore;
use pleat_store::{Durability, LONGEST_WAIT, Revision, Signal, Store, StoreError};
use pleat_transcript::change::{Change, ChangeError, SessionUpdate};
use pleat_transcript::ids::{CallId, SessionId};
use pleat_transcript::session::Session;
use std::time::{Duration, Instant};

const SESSIONS: usize = 30;

fn session(number: usize) -> SessionId {
    SessionId::new(format!("s{number}")).unwrap()
}

fn title(title: &str) -> Vec<Change> {
    vec![Change::UpdateSession(SessionUpdate { title: Some(title.to_owned()), ..SessionUpdate::default() })]
}

async fn store() -> SqliteStore {
    let store = SqliteStore::open_temporary().unwrap();
    join_all((0..SESSIONS).map(|number| store.create_session(Session::new(session(number))))).await;
    store
}

/// How many transactions are in the write-ahead log: the last frame of each tells the size of the database after it.
fn transactions(store: &SqliteStore) -> usize {
    let mut name = store.file().as_os_str().to_owned();
    name.push("-wal");
    let log = std::fs::read(name).unwrap();
    let (header, frames) = log.split_at(32);
    let number = |bytes: &[u8]| u32::from_be_bytes(bytes.try_into().unwrap());
    let page = usize::try_from(number(&header[8..12])).unwrap();
    // Frames of an earlier round of the log have another salt.
    let of_this_round = |frame: &&[u8]| frame.len() == page + 24 && frame[8..16] == header[16..24];
    let frames = frames.chunks(page + 24).take_while(of_this_round);
    frames.filter(|frame| number(&frame[4..8]) > 0).count()
}

#[tokio::test]
async fn growing_texts_of_many_sessions_share_a_transaction() {
    let store = store().await;
    let before = transactions(&store);
    let commits = (0..SESSIONS).map(|number| store.commit(session(number), title("a"), 0, Durability::Stream));
    assert_eq!(join_all(commits).await, vec![Ok(Revision(2)); SESSIONS]);
    let shared = transactions(&store) - before;
    // Two where this test itself was held up for longer than they wait.
    assert!((1..=2).contains(&shared), "{shared}");
    // Several of one session, too.
    let before = transactions(&store);
    let commits = ["b", "c", "d"].map(|text| store.commit(session(0), title(text), 0, Durability::Stream));
    assert_eq!(join_all(commits).await, [3, 4, 5].map(|revision| Ok(Revision(revision))));
    assert!((1..=2).contains(&(transactions(&store) - before)));
    // Those that wait for each other cannot.
    let before = transactions(&store);
    for number in 1..4 {
        store.commit(session(number), title("b"), 0, Durability::Agent).await.unwrap();
    }
    assert_eq!(transactions(&store) - before, 3);
}

#[tokio::test]
async fn growing_text_waits_for_others_a_moment_only() {
    let store = store().await;
    let begun = Instant::now();
    store.commit(session(0), title("a"), 0, Durability::Stream).await.unwrap();
    let alone = begun.elapsed();
    // Much longer only where the machine is busy.
    assert!(alone >= LONGEST_WAIT && alone < LONGEST_WAIT + Duration::from_secs(2), "{alone:?}");
    // One that never ends does not hold it up: all that came before its moment was over went with it.
    let commits = (1..SESSIONS).map(|number| store.commit(session(number), title("a"), 0, Durability::Stream));
    let begun = Instant::now();
    join_all(commits).await;
    assert!(begun.elapsed() < LONGEST_WAIT + Duration::from_secs(2));
}

#[tokio::test]
async fn what_cannot_wait_takes_growing_text_along() {
    let store = store().await;
    for durability in [Durability::Agent, Durability::Person] {
        let mut shared = 0;
        // Once is enough: the writer may have been held up until the wait was over.
        for _ in 0..50 {
            let before = transactions(&store);
            let name = uuid::Uuid::now_v7().to_string();
            let text = store.commit(session(0), title(&name), 0, Durability::Stream);
            let other = store.commit(session(1), title(&name), 0, durability);
            let begun = Instant::now();
            tokio::try_join!(text, other).unwrap();
            shared += usize::from(transactions(&store) - before == 1 && begun.elapsed() < LONGEST_WAIT);
        }
        assert!(shared > 0, "{durability:?}");
    }
}

#[tokio::test]
async fn what_does_not_fit_fails_alone() {
    let store = store().await;
    let unknown = CallId::new("unknown").unwrap();
    let misfit = Change::AppendOutput { call: unknown.clone(), text: "x".to_owned() };
    let before = transactions(&store);
    let mut signals = store.signals();
    let commits = (0..SESSIONS).map(|number| {
        let misfit = (number % 3 == 1).then(|| misfit.clone());
        store.commit(session(number), title("a").into_iter().chain(misfit).collect(), 0, Durability::Stream)
    });
    let outcomes = join_all(commits).await;
    let shared = transactions(&store) - before;
    assert!((1..=2).contains(&shared), "{shared}");
    let mut told = Vec::new();
    while let Some(Signal::Changed { session, revision: Revision(2) }) = signals.try_next() {
        told.push(session);
    }
    let fits = |number: &usize| number % 3 != 1;
    assert_eq!(told, (0..SESSIONS).filter(fits).map(session).collect::<Vec<_>>());
    for (number, outcome) in outcomes.into_iter().enumerate() {
        let stored = store.document(session(number)).await.unwrap();
        if fits(&number) {
            assert_eq!(outcome, Ok(Revision(2)));
            assert_eq!(stored.document.session.title.as_deref(), Some("a"));
        } else {
            let reason = ChangeError::UnknownCall(unknown.clone());
            assert_eq!(outcome, Err(StoreError::DoesNotFit { session: session(number), reason }));
            assert_eq!((stored.document.session.title, stored.revision), (None, Revision(1)));
        }
    }
}

#[tokio::test]
async fn nothing_is_signalled_of_a_transaction_that_fails_in_the_end() {
    let store = store().await;
    let raw = rusqlite::Connection::open(store.file()).unwrap();
    // What is refused only when the transaction ends.
    raw.execute_batch(
        "CREATE TABLE refused (key INTEGER REFERENCES session (key) DEFERRABLE INITIALLY DEFERRED); \
         CREATE TRIGGER refuse AFTER UPDATE OF title ON session WHEN NEW.title = 'refused' \
         BEGIN INSERT INTO refused VALUES (-1); END",
    )
    .unwrap();
    let mut signals = store.signals();
    let commits = (0..SESSIONS).map(|number| {
        let named = if number == SESSIONS - 1 { "refused" } else { "fine" };
        store.commit(session(number), title(named), 0, Durability::Stream)
    });
    let outcomes = join_all(commits).await;
    let failed = |outcome: &Result<Revision, StoreError>| matches!(outcome, Err(StoreError::Failed { .. }));
    assert!(failed(outcomes.last().unwrap()));
    for (number, outcome) in outcomes.iter().enumerate() {
        let revision = store.document(session(number)).await.unwrap().revision;
        assert_eq!(revision, if failed(outcome) { Revision(1) } else { Revision(2) });
    }
    let mut told = Vec::new();
    while let Some(signal) = signals.try_next() {
        told.push(signal);
    }
    assert_eq!(told.len(), outcomes.iter().filter(|outcome| !failed(outcome)).count());
    // The writer goes on.
    assert_eq!(store.commit(session(SESSIONS - 1), title("fine"), 0, Durability::Agent).await, Ok(Revision(2)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_is_told_of_a_revision_finds_it() {
    const COMMITS: usize = 10;
    let store = store().await;
    let file = store.file().to_owned();
    let mut signals = store.signals();
    // Another connection, as another process would have it.
    let watching = tokio::spawn(async move {
        let raw = rusqlite::Connection::open(file).unwrap();
        for _ in 0..SESSIONS * COMMITS {
            let Some(Signal::Changed { session, revision }) = signals.next().await else { panic!("no signal") };
            let query = "SELECT revision FROM session WHERE id = ?1";
            let found: i64 = raw.query_row(query, [session.as_str()], |row| row.get(0)).unwrap();
            assert!(found.cast_unsigned() >= revision.0, "{session} {found} {revision:?}");
        }
    });
    for commit in 0..COMMITS {
        let name = commit.to_string();
        join_all((0..SESSIONS).map(|number| store.commit(session(number), title(&name), 0, Durability::Stream))).await;
    }
    watching.await.unwrap();
}

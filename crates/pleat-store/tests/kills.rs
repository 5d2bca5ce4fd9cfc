//! Processes that are killed while they write, again and again over one database. What they told is there, nothing is
//! there twice, and what they left open is closed once.

#![allow(clippy::unwrap_used, reason = "this is a test, its helpers too")]

mod busy;
#[allow(dead_code, reason = "not all of it is needed here")]
mod conversation;
mod databases;
mod raw;

use busy::{Dice, Printed, notices, write_forever};
use conversation::{AFTER, REASON};
use databases::TestDatabase;
use pleat_store::Store;
use pleat_store::postgres::{Address, PostgresStore};
use pleat_store::sqlite::SqliteStore;
use pleat_transcript::document::Window;
use pleat_transcript::fold::{fold, fold_excerpt};
use raw::Raw;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Set for the process that is killed: its file, or its database's address.
const VICTIM_FILE: &str = "PLEAT_STORE_TEST_VICTIM_FILE";
const VICTIM_ADDRESS: &str = "PLEAT_STORE_TEST_VICTIM_ADDRESS";
/// Which of its runs this is.
const VICTIM_RUN: &str = "PLEAT_STORE_TEST_VICTIM_RUN";

/// Set to see again what happened with one seed.
const SEED: &str = "PLEAT_TEST_SEED";

/// A victim is killed when it has printed fewer lines than this.
const MAX_LINES: u64 = 600;

fn is_heavy() -> bool {
    std::env::var_os("PLEAT_TEST_HEAVY").is_some()
}

fn seed() -> u64 {
    let given = std::env::var(SEED).ok().and_then(|seed| seed.parse().ok());
    let seed = given.unwrap_or_else(|| u64::from(std::process::id()) * 1_000_003);
    println!("{SEED}={seed} does the same again, as far as the machine does");
    seed
}

/// No test of its own: the process that the others kill.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn victim() {
    let Some(run) = std::env::var(VICTIM_RUN).ok().and_then(|run| run.parse().ok()) else { return };
    let store: Arc<dyn Store> = match (std::env::var_os(VICTIM_FILE), std::env::var(VICTIM_ADDRESS)) {
        (Some(file), _) => Arc::new(SqliteStore::open(Path::new(&file)).unwrap()),
        (None, Ok(address)) => Arc::new(PostgresStore::open(Address::parse(&address).unwrap()).await.unwrap()),
        (None, Err(_)) => return,
    };
    write_forever(store, run).await;
}

/// Runs a victim, kills it at a random moment, and tells what it had printed.
fn kill_one((variable, value): (&str, &str), run: u64, dice: &mut Dice) -> Printed {
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "victim", "--nocapture"])
        .env(variable, value)
        .env(VICTIM_RUN, run.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = dice.below(MAX_LINES);
    let moment = Duration::from_micros(dice.below(4_000));
    let mut printed = Printed::default();
    let mut killed = false;
    for line in BufReader::new(victim.stdout.take().unwrap()).lines() {
        printed.take(&line.unwrap());
        if !killed && printed.lines > lines {
            // Not always where a line was just printed.
            std::thread::sleep(moment);
            victim.kill().unwrap();
            killed = true;
        }
    }
    let status = victim.wait().unwrap();
    assert!(killed, "the victim ended by itself: {status}");
    printed
}

/// What a victim left is whole, and is closed once.
async fn recover(store: &dyn Store, raw: &Raw, printed: &Printed) -> usize {
    raw.is_consistent().await;
    printed.is_all_in(store).await;
    raw.end_leases().await;
    let open = store.open_sessions().await.unwrap();
    for id in &open {
        let before = store.document(id.clone()).await.unwrap();
        let revision = store.interrupt(id.clone(), REASON.to_owned(), AFTER).await.unwrap();
        let after = store.document(id.clone()).await.unwrap();
        assert_eq!(revision, Some(after.revision));
        assert_eq!(after.revision.0, before.revision.0 + 1);
        assert_eq!(notices(&after.document), notices(&before.document) + 1);
        let again = store.interrupt(id.clone(), REASON.to_owned(), AFTER).await.unwrap();
        assert_eq!(again, None);
        assert!(store.document(id.clone()).await.unwrap() == after);
    }
    assert_eq!(store.open_sessions().await.unwrap(), []);
    raw.none("SELECT count(*) FROM permission WHERE state = 'open'").await;
    raw.none("SELECT count(*) FROM turn WHERE state IN ('queued', 'running')").await;
    raw.none("SELECT count(*) FROM call WHERE state IN ('pending', 'awaiting_permission', 'running')").await;
    raw.none("SELECT count(*) FROM message WHERE state = 'streaming'").await;
    raw.is_consistent().await;
    for id in printed.sessions() {
        let document = store.document(id.clone()).await.unwrap().document;
        let excerpt = store.excerpt(id, Window::Latest).await.unwrap().excerpt;
        assert!(fold_excerpt(&excerpt) == fold(&document, &Window::Latest).unwrap());
    }
    // What was closed here is ours now; the next victim needs it.
    store.leave().await.unwrap();
    open.len()
}

/// What happened in all runs: nothing is tested where too little did.
#[derive(Debug, Default)]
struct Tally {
    lines: u64,
    left_open: usize,
}

impl Tally {
    fn tell(&self, runs: u64, start: Instant) {
        let Self { lines, left_open } = self;
        println!("{runs} kills in {:.1?}: {lines} lines, {left_open} sessions left open", start.elapsed());
        assert!(*lines > runs * 20 && *left_open > 0, "hardly anything was written");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kills_leave_what_was_told_in_a_file() {
    let runs = if is_heavy() { 200 } else { 20 };
    let (mut dice, start) = (Dice::new(seed()), Instant::now());
    let folder = tempfile::tempdir().unwrap();
    let file: PathBuf = folder.path().join("pleat.db");
    let mut tally = Tally::default();
    for run in 0..runs {
        let printed = kill_one((VICTIM_FILE, file.to_str().unwrap()), run, &mut dice);
        let store = SqliteStore::open(&file).unwrap();
        tally.lines += printed.lines;
        tally.left_open += recover(&store, &Raw::sqlite(&file), &printed).await;
    }
    tally.tell(runs, start);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kills_leave_what_was_told_on_a_server() {
    let Some(database) = TestDatabase::create().await else { return };
    let runs = if is_heavy() { 50 } else { 5 };
    let (mut dice, start) = (Dice::new(seed()), Instant::now());
    let raw = Raw::Postgres(database.connect().await);
    let mut tally = Tally::default();
    for run in 0..runs {
        let printed = kill_one((VICTIM_ADDRESS, &database.address()), run, &mut dice);
        wait_until_alone(&raw).await;
        let store = database.open().await;
        tally.lines += printed.lines;
        tally.left_open += recover(&store, &raw, &printed).await;
        drop(store);
        wait_until_alone(&raw).await;
    }
    tally.tell(runs, start);
    database.remove().await;
}

/// Waits until the server has ended what a process that is gone had begun.
async fn wait_until_alone(raw: &Raw) {
    let others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() \
         AND backend_type = 'client backend'";
    while raw.number(others).await > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

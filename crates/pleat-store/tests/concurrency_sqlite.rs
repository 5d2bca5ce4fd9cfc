//! Other processes that write to the file, and much that happens at once.

#![allow(clippy::unwrap_used, reason = "this is a test, its helpers too")]

mod databases;
mod raw;

use futures::future::join_all;
use pleat_store::sqlite::SqliteStore;
use pleat_store::{Durability, Revision, Signal, Store};
use pleat_transcript::change::{Change, PlanSnapshot};
use pleat_transcript::document::Window;
use pleat_transcript::ids::{CallId, MessageId, SessionId, TurnId};
use pleat_transcript::message::{Body, JsonObject, Message, Notice, NoticeLevel, PlanContent};
use pleat_transcript::session::Session;
use raw::Raw;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// Set for the process that holds the write lock: the database file.
const HELD_FILE: &str = "PLEAT_STORE_TEST_HELD_FILE";

/// What it does while it holds it, as SQL.
const HELD_WORK: &str = "PLEAT_STORE_TEST_HELD_WORK";

/// How long it holds it, in milliseconds; without it, until it is told to let go.
const HELD_FOR: &str = "PLEAT_STORE_TEST_HELD_FOR";

fn session(id: &str) -> SessionId {
    SessionId::new(id).unwrap()
}

fn notice(id: &str) -> Change {
    let body = Body::Notice(Notice { level: NoticeLevel::Info, code: None, text: id.to_owned() });
    let id = MessageId::new(id).unwrap();
    Change::InsertMessage(Box::new(Message { id, turn: None, created_at: None, body, extra: JsonObject::new() }))
}

fn snapshot(text: &str) -> Vec<Change> {
    let (turn, call) = (Some(TurnId::new("t").unwrap()), CallId::new("c").unwrap());
    let content = PlanContent::Text(text.to_owned());
    vec![Change::UpsertPlan(Box::new(PlanSnapshot { turn, call, content, at: None }))]
}

/// Another store on the file is to this one what another process is.
#[tokio::test]
async fn what_others_commit_is_told_as_missed() {
    let store = SqliteStore::open_temporary().unwrap();
    let other = SqliteStore::open(store.file()).unwrap();
    let mut signals = store.signals();
    let next = async |signals: &mut pleat_store::Signals| {
        tokio::time::timeout(Duration::from_secs(30), signals.next()).await.unwrap().unwrap()
    };
    let changed = |revision| Signal::Changed { session: session("s"), revision: Revision(revision) };
    other.create_session(Session::new(session("s"))).await.unwrap();
    assert_eq!(next(&mut signals).await, Signal::Missed);
    // Our own commits are told as what they are.
    for (number, revision) in [("a", 2), ("b", 3)] {
        store.commit(session("s"), vec![notice(number)], 1, Durability::Person).await.unwrap();
        assert_eq!(next(&mut signals).await, changed(revision));
    }
    for number in ["c", "d"] {
        other.commit(session("s"), vec![notice(number)], 1, Durability::Agent).await.unwrap();
        assert_eq!(next(&mut signals).await, Signal::Missed);
    }
    assert_eq!(store.document(session("s")).await.unwrap().revision, Revision(5));
}

/// Another process that holds the write lock.
struct Holder {
    child: Child,
    orders: ChildStdin,
    told: BufReader<ChildStdout>,
}

impl Holder {
    /// Starts it; it has the lock, and has done its work, afterwards.
    fn start(file: &Path, work: &str, time: Option<Duration>) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "holder", "--nocapture"]).env(HELD_FILE, file).env(HELD_WORK, work);
        if let Some(time) = time {
            command.env(HELD_FOR, time.as_millis().to_string());
        }
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (orders, told) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut holder = Self { child, orders, told };
        holder.wait_for("holding");
        holder
    }

    fn wait_for(&mut self, word: &str) {
        for line in self.told.by_ref().lines() {
            if line.unwrap().ends_with(word) {
                return;
            }
        }
        panic!("the holder ended without a word");
    }

    fn let_go(&mut self) {
        self.orders.write_all(b"let go\n").unwrap();
    }

    /// Waits until it has committed and ended.
    fn end(mut self) {
        self.wait_for("committed");
        let mut rest = String::new();
        self.told.read_to_string(&mut rest).unwrap();
        assert!(self.child.wait().unwrap().success());
    }
}

/// No test of its own: the process that holds the write lock.
#[test]
fn holder() {
    let Some(file) = std::env::var_os(HELD_FILE) else { return };
    let database = rusqlite::Connection::open(file).unwrap();
    database.execute_batch("BEGIN IMMEDIATE").unwrap();
    database.execute_batch(&std::env::var(HELD_WORK).unwrap()).unwrap();
    println!("\nholding");
    match std::env::var(HELD_FOR) {
        Ok(time) => std::thread::sleep(Duration::from_millis(time.parse().unwrap())),
        Err(_) => drop(std::io::stdin().lines().next().unwrap().unwrap()),
    }
    database.execute_batch("COMMIT").unwrap();
    println!("committed");
}

/// docs/spec/record.md, Plans.1.2.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_snapshot_of_another_process_is_written_over_not_lost() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pleat.db");
    let store = SqliteStore::open(&file).unwrap();
    store.create_session(Session::new(session("s"))).await.unwrap();
    let commit = |text: &str| store.commit(session("s"), snapshot(text), 0, Durability::Agent);
    commit("oldest").await.unwrap();
    let older = "UPDATE message SET text = 'older' WHERE role = 'plan'; UPDATE session SET revision = revision + 1";
    for (text, before, after) in [("newer", 2, 4), ("older", 4, 5)] {
        let mut holder = Holder::start(&file, older, None);
        let mut committing = commit(text);
        // It is sent, and cannot be done before the other process lets go.
        assert!(futures::poll!(&mut committing).is_pending());
        assert_eq!(store.document(session("s")).await.unwrap().revision, Revision(before));
        assert!(futures::poll!(&mut committing).is_pending());
        holder.let_go();
        // An equal one is no change, whoever brought it.
        assert_eq!(committing.await, Ok(Revision(after)));
        holder.end();
        let stored = store.document(session("s")).await.unwrap();
        assert_eq!(stored.revision, Revision(after));
        let [message] = &stored.document.messages[..] else { panic!("{:?}", stored.document.messages) };
        let Body::Plan(plan) = &message.body else { panic!("{message:?}") };
        assert_eq!(plan.content, PlanContent::Text(text.to_owned()));
    }
    Raw::sqlite(&file).is_consistent().await;
}

/// An agent: an event each 5 ms, whatever the store does meanwhile.
async fn speak(events: mpsc::UnboundedSender<Change>, over: &AtomicBool) {
    let mut ticks = tokio::time::interval(Duration::from_millis(5));
    for number in 0.. {
        if over.load(Ordering::Relaxed) {
            return;
        }
        ticks.tick().await;
        events.send(notice(&format!("m{number}"))).unwrap();
    }
}

/// Stores what an agent says, in its order; tells how much that was.
async fn write(store: &SqliteStore, id: &str, mut events: mpsc::UnboundedReceiver<Change>) -> usize {
    let (mut count, mut gathered) = (0, Vec::new());
    while events.recv_many(&mut gathered, 100).await > 0 {
        count += gathered.len();
        store.commit(session(id), std::mem::take(&mut gathered), 0, Durability::Stream).await.unwrap();
    }
    count
}

/// A person who opens histories; a reader never waits for a writer.
async fn read(store: &SqliteStore, id: &str, over: &AtomicBool) -> (usize, Duration) {
    let (mut count, mut longest) = (0, Duration::ZERO);
    while !over.load(Ordering::Relaxed) {
        let begun = Instant::now();
        store.excerpt(session(id), Window::Latest).await.unwrap();
        store.sessions(None, 10).await.unwrap();
        store.open_sessions().await.unwrap();
        let found = store.document(session(id)).await.unwrap();
        // What is there is all there is up to a moment.
        for (place, message) in found.document.messages.iter().enumerate() {
            assert_eq!(message.id.as_str(), format!("m{place}"));
        }
        longest = longest.max(begun.elapsed());
        count += 1;
    }
    (count, longest)
}

/// Case B36.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_of_three_seconds_hurts_nobody() {
    // Where the tests may take long, for longer than SQLite itself is told to wait.
    let held_for = Duration::from_secs(if std::env::var_os("PLEAT_TEST_HEAVY").is_some() { 7 } else { 3 });
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pleat.db");
    let store = SqliteStore::open(&file).unwrap();
    for id in ["a", "b"] {
        store.create_session(Session::new(session(id))).await.unwrap();
    }
    let over = AtomicBool::new(false);
    let agent = async |id: &str| {
        let (sender, receiver) = mpsc::unbounded_channel();
        let ((), count) = tokio::join!(speak(sender, &over), write(&store, id, receiver));
        count
    };
    let person = async |id: &str| read(&store, id, &over).await;
    let outside = async {
        // The agents are at work.
        let mut signals = store.signals();
        for _ in 0..10 {
            signals.next().await.unwrap();
        }
        let work = "INSERT INTO setting (name, value) VALUES ('theirs', '1')".to_owned();
        let (held_file, begun) = (file.clone(), Instant::now());
        let holder =
            tokio::task::spawn_blocking(move || Holder::start(&held_file, &work, Some(held_for))).await.unwrap();
        let held = tokio::task::spawn_blocking(move || holder.end());
        // A person's wish waits as long, and no longer.
        store.commit(session("a"), Vec::new(), 0, Durability::Person).await.unwrap();
        assert!(begun.elapsed() < 3 * held_for);
        held.await.unwrap();
        // And they go on after it.
        let mut signals = store.signals();
        for _ in 0..10 {
            signals.next().await.unwrap();
        }
        over.store(true, Ordering::Relaxed);
    };
    let ((), a, b, first, second, third) =
        tokio::join!(outside, agent("a"), agent("b"), person("a"), person("b"), person("a"));
    for (id, count) in [("a", a), ("b", b)] {
        assert!(count >= 500, "{count}");
        let stored = store.document(session(id)).await.unwrap().document.messages;
        let ids: Vec<String> = stored.iter().map(|message| message.id.to_string()).collect();
        assert_eq!(ids, (0..count).map(|number| format!("m{number}")).collect::<Vec<_>>());
    }
    for (count, longest) in [first, second, third] {
        // None of the reads took as long as the lock was held.
        assert!(count > 3 && longest < held_for, "{count} {longest:?}");
    }
    let raw = Raw::sqlite(&file);
    assert_eq!(raw.number("SELECT count(*) FROM setting WHERE name = 'theirs'").await, 1);
    raw.is_consistent().await;
}

/// Two processes' worth of stores on one file, each with many sessions at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_stores_with_many_sessions_lose_nothing() {
    const SESSIONS: usize = 20;
    const COMMITS: usize = 20;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pleat.db");
    let stores = [SqliteStore::open(&file).unwrap(), SqliteStore::open(&file).unwrap()];
    for number in 0..SESSIONS {
        stores[0].create_session(Session::new(session(&format!("s{number}")))).await.unwrap();
    }
    let write = async |store: &SqliteStore, name: &str, number: usize| {
        for commit in 0..COMMITS {
            let id = session(&format!("s{number}"));
            let durability = [Durability::Person, Durability::Agent, Durability::Stream][commit % 3];
            store.commit(id, vec![notice(&format!("{name}{commit}"))], 0, durability).await.unwrap();
        }
    };
    let all = stores.iter().zip(["a", "b"]).flat_map(|(store, name)| {
        let write = &write;
        (0..SESSIONS).map(move |number| write(store, name, number))
    });
    join_all(all).await;
    for number in 0..SESSIONS {
        let found = stores[1].document(session(&format!("s{number}"))).await.unwrap();
        assert_eq!(found.revision, Revision(1 + 2 * COMMITS as u64));
        assert_eq!(found.document.messages.len(), 2 * COMMITS);
    }
    Raw::sqlite(&file).is_consistent().await;
}

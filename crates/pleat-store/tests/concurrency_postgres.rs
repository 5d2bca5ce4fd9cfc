//! Several servers that write at once, each with a store of its own.

#![allow(clippy::unwrap_used, reason = "this is a test, its helpers too")]

mod databases;
mod raw;

use databases::TestDatabase;
use pleat_store::postgres::{Address, PostgresStore};
use pleat_store::{Claim, Durability, Revision, Store, StoreError};
use pleat_transcript::call::Call;
use pleat_transcript::change::{CallUpdate, Change, PlanSnapshot, SessionUpdate};
use pleat_transcript::ids::{CallId, MessageId, SessionId, TurnId};
use pleat_transcript::message::{
    Assistant, Body, JsonObject, Media, MediaKind, Message, Notice, NoticeLevel, Part, PlanContent, TextPart, User,
};
use pleat_transcript::session::Session;
use raw::Raw;
use serde_json::json;
use std::time::Duration;
use tokio::time::timeout;
use tokio_postgres::Client;

/// Far more than anything here takes.
const PATIENCE: Duration = Duration::from_mins(1);

/// The lock at which whoever writes `older` waits.
const GATE: i64 = 42;

fn session(id: &str) -> SessionId {
    SessionId::new(id).unwrap()
}

fn call_id(id: &str) -> CallId {
    CallId::new(id).unwrap()
}

fn snapshot(text: &str) -> Vec<Change> {
    let (turn, call) = (Some(TurnId::new("t").unwrap()), call_id("c"));
    let content = PlanContent::Text(text.to_owned());
    vec![Change::UpsertPlan(Box::new(PlanSnapshot { turn, call, content, at: None }))]
}

fn insert(id: &str, body: Body) -> Change {
    let id = MessageId::new(id).unwrap();
    Change::InsertMessage(Box::new(Message { id, turn: None, created_at: None, body, extra: JsonObject::new() }))
}

fn notice(id: &str) -> Vec<Change> {
    vec![insert(id, Body::Notice(Notice { level: NoticeLevel::Info, code: None, text: id.to_owned() }))]
}

async fn open_as(database: &TestDatabase, name: &str) -> PostgresStore {
    let address = format!("{} application_name='{name}'", database.address());
    PostgresStore::open(Address::parse(&address).unwrap()).await.unwrap()
}

async fn try_commit(store: &PostgresStore, id: &str, changes: Vec<Change>) -> Result<Revision, StoreError> {
    timeout(PATIENCE, store.commit(session(id), changes, 0, Durability::Agent)).await.unwrap()
}

async fn commit(store: &PostgresStore, id: &str, changes: Vec<Change>) -> Revision {
    try_commit(store, id, changes).await.unwrap()
}

/// Whether the server rolled back anything because of a deadlock. Statistics are written when a backend ends.
async fn deadlocks(database: &TestDatabase) -> i64 {
    let raw = database.connect().await;
    let end = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity \
         WHERE datname = current_database() AND pid <> pg_backend_pid()";
    raw.query(end, &[]).await.unwrap();
    let count = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    raw.query_one(count, &[]).await.unwrap().get(0)
}

/// Waits until every one of these waits for a lock, each behind the other.
async fn until_blocked(observer: &Client, names: [&str; 2], behind: [&str; 2]) {
    let waits = "SELECT EXISTS (SELECT 1 FROM pg_stat_activity AS waiting, pg_stat_activity AS holding \
         WHERE waiting.application_name = $1 AND holding.application_name = $2 \
         AND waiting.datname = current_database() AND holding.datname = current_database() \
         AND holding.pid = ANY (pg_blocking_pids(waiting.pid)))";
    let looking = async {
        for (name, holder) in names.iter().zip(behind) {
            while !observer.query_one(waits, &[name, &holder]).await.unwrap().get::<_, bool>(0) {
                tokio::task::yield_now().await;
            }
        }
    };
    timeout(PATIENCE, looking).await.unwrap();
}

/// Holds the transaction of whoever writes a message with the text `older` until [`open_gate`].
async fn close_gate(database: &TestDatabase) -> Client {
    let mut config = database.config();
    config.application_name("observer");
    let observer = databases::connect(&config).await;
    let gate = format!(
        "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql \
         AS 'BEGIN PERFORM pg_advisory_xact_lock({GATE}); RETURN NULL; END'; \
         CREATE TRIGGER gate AFTER INSERT OR UPDATE ON message FOR EACH ROW WHEN (NEW.text = 'older') \
         EXECUTE FUNCTION wait(); SELECT pg_advisory_lock({GATE})"
    );
    observer.batch_execute(&gate).await.unwrap();
    observer
}

async fn open_gate(observer: &Client) {
    let was_closed: bool = observer.query_one("SELECT pg_advisory_unlock($1)", &[&GATE]).await.unwrap().get(0);
    assert!(was_closed);
}

/// Two servers commit to one session; the first one's transaction is held open until the second one waits for it.
async fn one_behind_the_other(database: &TestDatabase, changes: [Vec<Change>; 2]) -> (PostgresStore, [Revision; 2]) {
    let (a, b) = (open_as(database, "a").await, open_as(database, "b").await);
    let observer = close_gate(database).await;
    let [first, second] = changes;
    let older = tokio::spawn(async move {
        let revision = commit(&a, "s", first).await;
        (a, revision)
    });
    until_blocked(&observer, ["a", "a"], ["observer", "observer"]).await;
    let newer = tokio::spawn(async move {
        let revision = commit(&b, "s", second).await;
        (b, revision)
    });
    until_blocked(&observer, ["a", "b"], ["observer", "a"]).await;
    assert!(!older.is_finished() && !newer.is_finished());
    open_gate(&observer).await;
    let ((a, older), (_b, newer)) = tokio::try_join!(older, newer).unwrap();
    (a, [older, newer])
}

async fn the_newer_snapshot_stays(database: &TestDatabase, is_there_before: bool) {
    let store = database.open().await;
    let mut before = store.create_session(Session::new(session("s"))).await.unwrap();
    if is_there_before {
        before = commit(&store, "s", snapshot("oldest")).await;
    }
    let (store, revisions) = one_behind_the_other(database, [snapshot("older"), snapshot("newer")]).await;
    assert_eq!(revisions, [Revision(before.0 + 1), Revision(before.0 + 2)]);
    let stored = store.document(session("s")).await.unwrap();
    assert_eq!(stored.revision, revisions[1]);
    let [message] = &stored.document.messages[..] else { panic!("{:?}", stored.document.messages) };
    let Body::Plan(plan) = &message.body else { panic!("{message:?}") };
    assert_eq!(plan.content, PlanContent::Text("newer".to_owned()));
}

/// docs/spec/record.md, Plans.1.2.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_snapshots_at_once_the_newer_stays() {
    for is_there_before in [true, false] {
        let Some(database) = TestDatabase::create().await else { return };
        the_newer_snapshot_stays(&database, is_there_before).await;
        assert_eq!(deadlocks(&database).await, 0);
        database.remove().await;
    }
}

/// Case B37.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_append_while_a_third_updates() {
    const EACH: usize = 200;
    let Some(database) = TestDatabase::create().await else { return };
    let stores = [open_as(&database, "a").await, open_as(&database, "b").await, open_as(&database, "c").await];
    stores[0].create_session(Session::new(session("s"))).await.unwrap();
    let append = async |store: &PostgresStore, name: &str| {
        let mut last = Revision(0);
        for number in 0..EACH {
            let revision = commit(store, "s", notice(&format!("{name}{number}"))).await;
            assert!(revision > last);
            last = revision;
        }
    };
    let update = async |store: &PostgresStore| {
        for number in 0..EACH {
            let live_turn = Some((number % 2 == 0).then(|| TurnId::new("t").unwrap()));
            let update = SessionUpdate { live_turn, title: Some(number.to_string()), ..SessionUpdate::default() };
            commit(store, "s", vec![Change::UpdateSession(update)]).await;
        }
    };
    tokio::join!(append(&stores[0], "a"), append(&stores[1], "b"), update(&stores[2]));
    let found = stores[0].document(session("s")).await.unwrap();
    assert_eq!(found.revision, Revision(1 + 3 * EACH as u64));
    let ids: Vec<String> = found.document.messages.iter().map(|message| message.id.to_string()).collect();
    assert_eq!(ids.len(), 2 * EACH);
    for name in ["a", "b"] {
        let own: Vec<_> = ids.iter().filter(|id| id.starts_with(name)).cloned().collect();
        assert_eq!(own, (0..EACH).map(|number| format!("{name}{number}")).collect::<Vec<_>>());
    }
    Raw::Postgres(database.connect().await).is_consistent().await;
    assert_eq!(deadlocks(&database).await, 0);
    database.remove().await;
}

const LONG: usize = 500;

/// A session with a text that has been growing for a while.
async fn with_long_text(store: &PostgresStore) {
    store.create_session(Session::new(session("s"))).await.unwrap();
    let part = TextPart { text: "x".repeat(LONG), message_id: None, extra: JsonObject::new() };
    let round = Assistant { parts: vec![Part::Text(part)], ..Assistant::default() };
    commit(store, "s", vec![insert("round", Body::Assistant(round))]).await;
}

fn append(text: &str) -> Change {
    Change::AppendText { message: MessageId::new("round").unwrap(), part: 0, text: text.to_owned() }
}

/// What was appended to the long text.
async fn appended(store: &PostgresStore) -> String {
    let stored = store.document(session("s")).await.unwrap().document;
    let Body::Assistant(round) = &stored.messages[0].body else { panic!("{:?}", stored.messages) };
    let Part::Text(part) = &round.parts[0] else { panic!("{round:?}") };
    part.text[LONG..].to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn text_that_two_append_to_is_kept_whole() {
    for second in [vec![append("b")], vec![append("b"), append("c")]] {
        let Some(database) = TestDatabase::create().await else { return };
        with_long_text(&database.open().await).await;
        let older = insert("older", Body::User(User { text: "older".to_owned(), ..User::default() }));
        let expected = format!("a{}", if second.len() == 1 { "b" } else { "bc" });
        let changes = [vec![append("a"), older], second];
        let (store, revisions) = one_behind_the_other(&database, changes).await;
        assert_eq!(revisions, [3, 4].map(Revision));
        assert_eq!(appended(&store).await, expected);
        assert_eq!(store.claim(session("s")).await, Ok(Claim::Ours));
        let refused = try_commit(&database.open().await, "s", vec![append("d")]).await;
        assert_eq!(refused, Err(StoreError::OwnedElsewhere(session("s"))));
        assert_eq!(commit(&store, "s", vec![append("e")]).await, Revision(5));
        assert_eq!(appended(&store).await, format!("{expected}e"));
        database.remove().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn text_that_many_append_to_is_kept_whole() {
    const EACH: usize = 100;
    let Some(database) = TestDatabase::create().await else { return };
    let stores = [open_as(&database, "a").await, open_as(&database, "b").await, open_as(&database, "c").await];
    with_long_text(&stores[0]).await;
    let write = async |store: &PostgresStore, name: char, together: usize| {
        for number in 0..EACH {
            let deltas = (0..together).map(|_| append(&format!("{name}{number} ")));
            commit(store, "s", deltas.collect()).await;
        }
    };
    let update = async |store: &PostgresStore| {
        for number in 0..EACH {
            let update = SessionUpdate { title: Some(number.to_string()), ..SessionUpdate::default() };
            commit(store, "s", vec![Change::UpdateSession(update)]).await;
        }
    };
    tokio::join!(write(&stores[0], 'a', 1), write(&stores[1], 'b', 1), write(&stores[2], 'c', 2), update(&stores[0]));
    let text = appended(&stores[1]).await;
    for (name, together) in [('a', 1), ('b', 1), ('c', 2)] {
        let own: Vec<&str> = text.split_terminator(' ').filter(|word| word.starts_with(name)).collect();
        let expected = (0..EACH).flat_map(|number| std::iter::repeat_n(format!("{name}{number}"), together));
        assert_eq!(own, expected.collect::<Vec<_>>());
    }
    let revision = stores[1].document(session("s")).await.unwrap().revision;
    assert_eq!(revision, Revision(2 + 4 * EACH as u64));
    Raw::Postgres(database.connect().await).is_consistent().await;
    assert_eq!(deadlocks(&database).await, 0);
    database.remove().await;
}

/// A store in a thread that stands still: what a server is whose machine is suspended or cut off.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_hangs_in_a_transaction_lets_go_in_the_end() {
    let Some(database) = TestDatabase::create().await else { return };
    let other = database.open().await;
    other.create_session(Session::new(session("s"))).await.unwrap();
    let observer = close_gate(&database).await;
    let address = format!("{} application_name='hanging'", database.address());
    let (hang, told_to_hang) = std::sync::mpsc::channel::<()>();
    let (resume, told_to_resume) = std::sync::mpsc::channel::<()>();
    let hanging = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let store = PostgresStore::open(Address::parse(&address).unwrap()).await.unwrap();
            let mut committing = store.commit(session("s"), snapshot("older"), 0, Durability::Agent);
            while told_to_hang.try_recv().is_err() {
                assert!(futures::poll!(&mut committing).is_pending());
                tokio::task::yield_now().await;
            }
            told_to_resume.recv().unwrap();
            committing.await
        })
    });
    until_blocked(&observer, ["hanging"; 2], ["observer"; 2]).await;
    hang.send(()).unwrap();
    open_gate(&observer).await;
    // Its transaction is open, and nobody goes on with it.
    assert_eq!(commit(&other, "s", snapshot("newer")).await, Revision(2));
    resume.send(()).unwrap();
    let error = hanging.join().unwrap().unwrap_err();
    assert!(matches!(error, StoreError::Unreachable { .. }), "{error:?}");
    assert_eq!(other.document(session("s")).await.unwrap().revision, Revision(2));
    database.remove().await;
}

/// A text that is kept as a large value of its own.
fn large(number: usize) -> String {
    format!("{number} ").repeat(40_000)
}

/// Stores large values in this order, and replaces those that were stored before.
fn with_large_values(name: &str, order: &[usize]) -> Vec<Change> {
    let media = |number: &usize| Media {
        kind: MediaKind::Image,
        mime: None,
        data: Some(large(*number)),
        uri: None,
        name: None,
        message_id: None,
        extra: JsonObject::new(),
    };
    let attachments = order.iter().map(media).collect();
    let calls = order.iter().map(|number| {
        let id = call_id(&format!("{name} {number}"));
        Part::Call(Box::new(Call { input: Some(json!(large(*number))), ..Call::new(id) }))
    });
    let round = Assistant { parts: calls.collect(), ..Assistant::default() };
    let mut changes = vec![
        insert(&format!("{name} user"), Body::User(User { attachments, ..User::default() })),
        insert(&format!("{name} round"), Body::Assistant(round)),
    ];
    for (number, next) in order.iter().zip(order.iter().cycle().skip(1)) {
        let update = CallUpdate { input: Some(json!(large(*next))), ..CallUpdate::default() };
        changes.push(Change::UpdateCall { call: call_id(&format!("{name} {number}")), update: Box::new(update) });
    }
    changes
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn opposite_orders_never_wait_for_each_other() {
    const ROUNDS: usize = 5;
    let Some(database) = TestDatabase::create().await else { return };
    let stores = [open_as(&database, "a").await, open_as(&database, "b").await, open_as(&database, "c").await];
    let sessions = ["s0", "s1", "s2"];
    for id in sessions {
        stores[0].create_session(Session::new(session(id))).await.unwrap();
    }
    // All three write to all three sessions, each in another order, the same values in another order.
    let write = async |store: &PostgresStore, name: &str, first: usize, backwards: bool| {
        let mut order = [0, 1, 2, 3];
        if backwards {
            order.reverse();
        }
        for round in 0..ROUNDS {
            for place in 0..sessions.len() {
                let place = if backwards { sessions.len() - 1 - place } else { place };
                let id = sessions[(first + place) % sessions.len()];
                commit(store, id, with_large_values(&format!("{name} {round}"), &order)).await;
            }
        }
    };
    tokio::join!(
        write(&stores[0], "a", 0, false),
        write(&stores[1], "b", 1, true),
        write(&stores[2], "c", 2, false),
        write(&stores[1], "d", 0, true),
    );
    for id in sessions {
        let found = stores[0].document(session(id)).await.unwrap();
        assert_eq!(found.revision, Revision(1 + 4 * ROUNDS as u64));
        assert_eq!(found.document.messages.len(), 2 * 4 * ROUNDS);
    }
    let raw = Raw::Postgres(database.connect().await);
    raw.is_consistent().await;
    let uses = 2 * 4 * 4 * ROUNDS * sessions.len();
    assert_eq!(raw.number("SELECT sum(uses) FROM blob").await, i64::try_from(uses).unwrap());
    // Four texts as data of media, and as JSON of requests.
    assert_eq!(raw.number("SELECT count(*) FROM blob").await, 8);
    assert_eq!(deadlocks(&database).await, 0);
    database.remove().await;
}

//! How large values stand in the tables: once by their content, counted, freed with the last that refers to them, with a
//! bounded preview; and what it costs to append to a long text.

#![allow(clippy::unwrap_used, reason = "this is a test, its helpers too")]

#[allow(dead_code, reason = "not all of it is needed here")]
mod conversation;
mod databases;
mod raw;

use conversation::{BEFORE, call, call_id, message, message_id, round, session_id, text, user};
use futures::future::join_all;
use pleat_store::sqlite::SqliteStore;
use pleat_store::{Durability, Store};
use pleat_transcript::call::{Call, CallState};
use pleat_transcript::change::{CallUpdate, Change, MessageUpdate};
use pleat_transcript::document::{Document, Window};
use pleat_transcript::message::{Body, JsonObject, Media, MediaKind, Part, RoundState, User};
use pleat_transcript::session::Session;
use raw::{Raw, RawDatabase, on_each_database};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

on_each_database! {
    equal_values_of_several_sessions_are_kept_once,
    a_value_is_freed_with_the_last_that_refers_to_it,
    previews_on_rows_are_bounded,
    equal_values_come_and_go_at_once,
    a_long_output_becomes_a_value_when_its_call_ends,
    pieces_of_a_long_text_are_bounded,
    a_refused_commit_leaves_no_value,
}

/// The most that a preview has on a row.
const MOST_ON_A_ROW: i64 = 16 * 1024;

fn lines(name: &str, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 32);
    for line in 0.. {
        if text.len() >= bytes {
            break;
        }
        writeln!(text, "{name} {line}").unwrap();
    }
    text
}

fn insert(id: &str, body: Body) -> Change {
    Change::InsertMessage(Box::new(message(id, "t", body)))
}

fn calls(calls: Vec<Call>) -> Body {
    round(RoundState::Streaming, None, calls.into_iter().map(|call| Part::Call(Box::new(call))).collect())
}

fn with_values(id: &str, input: &Value, output: &[Value]) -> Call {
    Call { input: Some(input.clone()), output: output.to_vec(), ..call(id, CallState::Running) }
}

fn update(id: &str, update: CallUpdate) -> Change {
    Change::UpdateCall { call: call_id(id), update: Box::new(update) }
}

fn set_output(id: &str, output: Vec<Value>) -> Change {
    update(id, CallUpdate { output: Some(output), ..CallUpdate::default() })
}

fn terminal(output: &str) -> Value {
    json!({"type": "terminal", "output": output})
}

fn picture(data: &str) -> Media {
    Media {
        kind: MediaKind::Image,
        mime: None,
        data: Some(data.to_owned()),
        uri: None,
        name: None,
        message_id: None,
        extra: JsonObject::new(),
    }
}

async fn create(store: &dyn Store, id: &str) {
    store.create_session(Session::new(session_id(id))).await.unwrap();
}

async fn commit(store: &dyn Store, session: &str, changes: Vec<Change>) {
    store.commit(session_id(session), changes, BEFORE, Durability::Agent).await.unwrap();
}

/// The blobs there are: how many, how often they are used, and how long they are together.
async fn blobs(raw: &Raw) -> (i64, i64, i64) {
    raw.is_consistent().await;
    let number = async |what| raw.number(what).await;
    (
        number("SELECT count(*) FROM blob").await,
        number("SELECT coalesce(sum(uses), 0) FROM blob").await,
        number("SELECT coalesce(sum(bytes), 0) FROM blob").await,
    )
}

async fn equal_values_of_several_sessions_are_kept_once(database: &RawDatabase) {
    let (store, raw) = (database.open().await, database.connect().await);
    let input = json!(lines("request", 70_000));
    let output = [terminal(&lines("result", 80_000))];
    let data = lines("picture", 90_000);
    for session in ["s1", "s2"] {
        create(&*store, session).await;
        let both = vec![with_values("c1", &input, &output), with_values("c2", &input, &output)];
        let attached = User { attachments: vec![picture(&data), picture(&data)], ..User::default() };
        // Twice in one list of changes, and then once more.
        commit(&*store, session, vec![insert("r", calls(both)), insert("u", Body::User(attached))]).await;
        commit(&*store, session, vec![insert("r2", calls(vec![with_values("c3", &input, &[])]))]).await;
    }
    let output_bytes = Value::Array(output.to_vec()).to_string().len();
    let bytes = input.to_string().len() + output_bytes + data.len();
    assert_eq!(blobs(&raw).await, (3, 14, i64::try_from(bytes).unwrap()));
    for (bytes, uses) in [(input.to_string().len(), 6), (output_bytes, 4), (data.len(), 4)] {
        assert_eq!(raw.number(&format!("SELECT uses FROM blob WHERE bytes = {bytes}")).await, uses);
    }
    // A request that is the same text as a result is the same value.
    let both_ways = json!([lines("either way", 70_000)]);
    let same = with_values("c4", &both_ways, both_ways.as_array().unwrap());
    commit(&*store, "s1", vec![insert("r3", calls(vec![same]))]).await;
    assert_eq!(raw.number("SELECT uses FROM blob WHERE uses < 4").await, 2);
    // It is compressed, and the row has no more of media than that.
    raw.none("SELECT count(*) FROM blob WHERE octet_length(content) * 2 > bytes").await;
    raw.none("SELECT count(*) FROM part WHERE blob IS NOT NULL AND text IS NOT NULL").await;
}

async fn a_value_is_freed_with_the_last_that_refers_to_it(database: &RawDatabase) {
    let (store, raw) = (database.open().await, database.connect().await);
    let value = json!(lines("value", 70_000));
    let other = json!(lines("another", 70_000));
    for session in ["s1", "s2"] {
        create(&*store, session).await;
        let call = with_values("c", &value, std::slice::from_ref(&value));
        commit(&*store, session, vec![insert("r", calls(vec![call]))]).await;
    }
    assert_eq!(blobs(&raw).await.0, 2);
    let set_input = |input: &Value| update("c", CallUpdate { input: Some(input.clone()), ..CallUpdate::default() });
    commit(&*store, "s1", vec![set_input(&other)]).await;
    // As a result, the value stands in a list.
    let bytes = 2 * value.to_string().len() + "[]".len() + other.to_string().len();
    assert_eq!(blobs(&raw).await, (3, 4, i64::try_from(bytes).unwrap()));
    // The same again, and to and fro in one list of changes.
    commit(&*store, "s1", vec![set_input(&other)]).await;
    commit(&*store, "s1", vec![set_input(&value), set_input(&other), set_input(&json!(1)), set_input(&other)]).await;
    assert_eq!(blobs(&raw).await.0, 3);
    commit(&*store, "s2", vec![set_input(&json!({"small": true}))]).await;
    assert_eq!(blobs(&raw).await.0, 2);
    for session in ["s1", "s2"] {
        commit(&*store, session, vec![set_output("c", Vec::new()), set_input(&json!(null))]).await;
    }
    assert_eq!(blobs(&raw).await, (0, 0, 0));
}

async fn previews_on_rows_are_bounded(database: &RawDatabase) {
    let (store, raw) = (database.open().await, database.connect().await);
    create(&*store, "s").await;
    let many: Vec<Value> = (0..5_000).map(|n| json!({"type": "content", "n": n, "path": lines("p", 40)})).collect();
    let deep = (0..100).fold(json!(lines("deep", 70_000)), |inner, _| json!({"a": inner, "b": [1]}));
    let values = [
        (json!({"command": lines("long", 5_000_000)}), vec![terminal(&lines("long", 5_000_000))]),
        (json!(many), many.clone()),
        (deep.clone(), vec![deep]),
        (json!({"a": "\u{0}".repeat(70_000)}), vec![json!("👩‍👩‍👧‍👦".repeat(7_000))]),
    ];
    for (number, (input, output)) in values.iter().enumerate() {
        let call = with_values(&format!("c{number}"), input, output);
        commit(&*store, "s", vec![insert(&format!("r{number}"), calls(vec![call.clone()]))]).await;
        assert!(store.call(session_id("s"), call.id.clone()).await.unwrap() == Some(call));
    }
    for column in ["input", "output"] {
        assert_eq!(raw.number(&format!("SELECT count(*) FROM call WHERE {column}_blob IS NOT NULL")).await, 4);
        let longest = raw.number(&format!("SELECT max(octet_length({column})) FROM call")).await;
        assert!(longest < MOST_ON_A_ROW, "{column}: {longest}");
    }
    blobs(&raw).await;
}

/// Two stores that use and free the same values at the same time, in sessions of their own.
async fn equal_values_come_and_go_at_once(database: &RawDatabase) {
    let stores = [database.open().await, database.open().await];
    let raw = database.connect().await;
    let values: Vec<Vec<Value>> = (0..3).map(|n| vec![json!(lines(&format!("value {n}"), 66_000))]).collect();
    let write = async |place: usize| {
        let (store, session) = (&*stores[place % 2], format!("s{place}"));
        create(store, &session).await;
        let both = ["c", "d"].map(|id| call(id, CallState::Running)).to_vec();
        commit(store, &session, vec![insert("r", calls(both))]).await;
        for step in 0..12 {
            // Those of one session go through them in the other order than those of another.
            let turn = if place < 2 { step } else { 12 - step };
            let (first, second) = (values[turn % 3].clone(), values[(turn + 1) % 3].clone());
            commit(store, &session, vec![set_output("c", first), set_output("d", second)]).await;
        }
    };
    join_all((0..4).map(write)).await;
    blobs(&raw).await;
    for place in 0..4 {
        let last = if place < 2 { 11 } else { 1 };
        let call = stores[0].call(session_id(&format!("s{place}")), call_id("c")).await.unwrap().unwrap();
        assert!(call.output == values[last % 3]);
        let changes = vec![set_output("c", Vec::new()), set_output("d", Vec::new())];
        commit(&*stores[1], &format!("s{place}"), changes).await;
    }
    assert_eq!(blobs(&raw).await, (0, 0, 0));
}

async fn a_long_output_becomes_a_value_when_its_call_ends(database: &RawDatabase) {
    let (store, raw) = (database.open().await, database.connect().await);
    create(&*store, "s").await;
    let both = ["long", "short"].map(|id| Call { output: vec![terminal("$ ")], ..call(id, CallState::Running) });
    commit(&*store, "s", vec![insert("r", calls(both.to_vec()))]).await;
    let mut whole = String::from("$ ");
    for number in 0..50 {
        let text = lines(&format!("step {number}"), 2_000);
        whole += &text;
        commit(&*store, "s", vec![Change::AppendOutput { call: call_id("long"), text }]).await;
    }
    commit(&*store, "s", vec![Change::AppendOutput { call: call_id("short"), text: "done".to_owned() }]).await;
    assert_eq!(blobs(&raw).await, (0, 0, 0));
    let longest = raw.number("SELECT max(octet_length(text)) FROM piece").await;
    assert!(longest <= 32 * 1024 + 2_100, "{longest}");
    let pieces = raw.number("SELECT count(*) FROM piece").await;
    assert!((3..=5).contains(&pieces), "{pieces}");
    let end = |id| update(id, CallUpdate { state: Some(CallState::Completed), ..CallUpdate::default() });
    commit(&*store, "s", vec![end("long"), end("short")]).await;
    assert_eq!(blobs(&raw).await.0, 1);
    assert_eq!(raw.number("SELECT count(*) FROM piece").await, 1);
    assert!(raw.number("SELECT max(octet_length(output)) FROM call").await < MOST_ON_A_ROW);
    let late = Change::AppendOutput { call: call_id("long"), text: "late\n".to_owned() };
    commit(&*store, "s", vec![late]).await;
    whole += "late\n";
    let stored = store.call(session_id("s"), call_id("long")).await.unwrap().unwrap();
    assert!(stored.output == [terminal(&whole)]);
    // Ended once more, nothing is joined twice.
    let again = CallUpdate { state: Some(CallState::Failed), closed_by_host: Some(false), ..CallUpdate::default() };
    commit(&*store, "s", vec![update("long", again)]).await;
    assert!(store.call(session_id("s"), call_id("long")).await.unwrap().unwrap().output == [terminal(&whole)]);
    commit(&*store, "s", vec![set_output("long", vec![terminal("")])]).await;
    assert_eq!(blobs(&raw).await, (0, 0, 0));
    assert_eq!(raw.number("SELECT count(*) FROM piece").await, 1);
}

async fn pieces_of_a_long_text_are_bounded(database: &RawDatabase) {
    let (store, raw) = (database.open().await, database.connect().await);
    create(&*store, "s").await;
    let body = round(RoundState::Streaming, None, vec![text("begins "), text(&lines("long from the start", 40_000))]);
    commit(&*store, "s", vec![insert("r", body)]).await;
    for number in 0..200 {
        let text = lines(&format!("step {number}"), 1_000);
        let appends = [0, 1].map(|part| Change::AppendText { message: message_id("r"), part, text: text.clone() });
        commit(&*store, "s", appends.to_vec()).await;
    }
    let longest = raw.number("SELECT max(octet_length(text)) FROM piece").await;
    assert!(longest <= 32 * 1024 + 1_100, "{longest}");
    assert!(raw.number("SELECT max(octet_length(text)) FROM part").await <= 41_000);
    raw.is_consistent().await;
    let whole = MessageUpdate { state: Some(RoundState::Complete), ..MessageUpdate::default() };
    commit(&*store, "s", vec![Change::UpdateMessage { message: message_id("r"), update: whole }]).await;
    let Document { messages, .. } = store.document(session_id("s")).await.unwrap().document;
    let excerpt = store.excerpt(session_id("s"), Window::Latest).await.unwrap().excerpt;
    assert!(excerpt.messages().eq(&messages));
}

async fn a_refused_commit_leaves_no_value(database: &RawDatabase) {
    let (store, raw) = (database.open().await, database.connect().await);
    create(&*store, "s").await;
    let value = json!(lines("value", 70_000));
    let kept = with_values("kept", &value, &[]);
    commit(&*store, "s", vec![insert("r", calls(vec![kept]))]).await;
    let new = json!(lines("new", 70_000));
    let misfits = [
        vec![
            insert("n", calls(vec![with_values("c", &new, std::slice::from_ref(&value))])),
            set_output("none", Vec::new()),
        ],
        vec![insert("n", calls(vec![with_values("kept", &new, std::slice::from_ref(&value))]))],
        vec![set_output("kept", vec![new]), insert("r", user("taken"))],
    ];
    for misfit in misfits {
        store.commit(session_id("s"), misfit, BEFORE, Durability::Agent).await.unwrap_err();
        assert_eq!(blobs(&raw).await, (1, 1, i64::try_from(value.to_string().len()).unwrap()));
    }
}

/// How many bytes of the log commits write that append to a text, counted in tens of pages.
#[tokio::test]
async fn an_append_costs_the_same_however_long_the_text_is() {
    let store = SqliteStore::open_temporary().unwrap();
    let log = Path::new(&format!("{}-wal", store.file().display())).to_owned();
    create(&store, "s").await;
    let call = Call { output: vec![terminal("")], ..call("c", CallState::Running) };
    let parts = vec![text(""), Part::Call(Box::new(call))];
    commit(&store, "s", vec![insert("r", round(RoundState::Streaming, None, parts))]).await;
    // The log only grows while somebody reads an old state of the database.
    let reader = rusqlite::Connection::open(store.file()).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM session").unwrap();
    let grows = async |appends: usize, change: &dyn Fn(String) -> Change| {
        let before = log.metadata().unwrap().len();
        for number in 0..appends {
            commit(&store, "s", vec![change(format!("{number:099} "))]).await;
        }
        log.metadata().unwrap().len() - before
    };
    let said = |text| Change::AppendText { message: message_id("r"), part: 0, text };
    let printed = |text| Change::AppendOutput { call: call_id("c"), text };
    for change in [&said as &dyn Fn(String) -> Change, &printed] {
        // A text is written whole until it has 32 KiB, and every piece after it is.
        let first = grows(330, change).await;
        let mut later = Vec::new();
        for _ in 0..3 {
            later.push(grows(330, change).await);
            let many = vec![change("x".repeat(300_000))];
            commit(&store, "s", many).await;
        }
        println!("330 appends write {first} bytes to the log, later {later:?}");
        for bytes in later {
            assert!(bytes < first * 13 / 10, "{first} {bytes}");
        }
    }
}

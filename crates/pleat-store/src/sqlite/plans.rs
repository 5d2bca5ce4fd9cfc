//! How SQLite finds the rows of each statement: by an index, never by reading a table from end to end.

use super::SqliteStore;
use super::connection::SqliteConnection;
use super::now::now;
use super::open::open_reader;
use crate::search::{Query, SearchFilter, SearchOrder, SearchRequest};
use crate::tables::{session, window};
use crate::{CommandId, Durability, ProcessMark, Store};
use pleat_transcript::call::{Call, CallState, Permission, PermissionState};
use pleat_transcript::change::{
    CallUpdate, Change, MessageUpdate, PlanSnapshot, PromptUpdate, SessionUpdate, TurnUpdate,
};
use pleat_transcript::document::{Document, Window};
use pleat_transcript::ids::{AgentSessionId, CallId, MessageId, PermissionId, PromptId, SessionId, TurnId};
use pleat_transcript::message::{
    Assistant, Body, JsonObject, Media, MediaKind, Message, Part, Plan, PlanContent, RoundState, TextPart, ToolResult,
    User,
};
use pleat_transcript::session::{Session, Turn, TurnState, WaitingPrompt};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// What statements did: counted, so that nothing depends on how fast a machine is.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(super) struct Cost {
    rows: usize,
    /// Of SQLite's virtual machine: about the rows and index entries that were looked at.
    steps: i32,
}

impl Cost {
    pub(super) fn add(&mut self, statement: &rusqlite::Statement<'_>, rows: usize) {
        self.rows += rows;
        self.steps += statement.reset_status(rusqlite::StatementStatus::VmStep);
    }
}

/// What was asked of any connection of this process.
static STATEMENTS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// Remembers a statement.
pub(super) fn remember(statement: &'static str) {
    STATEMENTS.lock().unwrap_or_else(PoisonError::into_inner).insert(statement);
}

fn id<T, E: std::fmt::Debug>(new: fn(&'static str) -> Result<T, E>, id: &'static str) -> T {
    new(id).unwrap()
}

fn message(key: &str, body: Body) -> Change {
    let (turn, extra) = (Some(id(TurnId::new, "t")), JsonObject::new());
    let id = MessageId::new(key).unwrap();
    Change::InsertMessage(Box::new(Message { id, turn, created_at: Some(5), body, extra }))
}

fn text(text: &str) -> Part {
    Part::Text(TextPart { text: text.to_owned(), message_id: None, extra: JsonObject::new() })
}

fn call(key: &str) -> Call {
    Call {
        state: CallState::Running,
        input: Some(json!({"command": "x".repeat(70_000)})),
        output: vec![json!({"type": "terminal", "output": "", "exit": null})],
        ..Call::new(CallId::new(key).unwrap())
    }
}

fn image() -> Media {
    let data = Some("x".repeat(70_000));
    let (mime, uri, name) = (Some("image/png".to_owned()), None, None);
    Media { kind: MediaKind::Image, mime, data, uri, name, message_id: None, extra: JsonObject::new() }
}

fn queue(key: &'static str) -> Change {
    Change::QueuePrompt(Box::new(WaitingPrompt {
        id: id(PromptId::new, key),
        key: Some(key.to_owned()),
        text: "next".to_owned(),
        attachments: vec![image()],
        created_at: None,
        held: None,
    }))
}

/// Changes of every kind, each a commit.
fn changes() -> Vec<Change> {
    let turn = Turn {
        id: id(TurnId::new, "t"),
        state: TurnState::Running,
        stop_reason: None,
        started_at: None,
        ended_at: None,
        usage: None,
        extra: JsonObject::new(),
    };
    let round = |parts| Assistant { parts, state: Some(RoundState::Streaming), ..Assistant::default() };
    let plan = |text: &str| Plan { stream: None, content: PlanContent::Text(text.to_owned()) };
    let snapshot = |text: &str| PlanSnapshot {
        turn: Some(id(TurnId::new, "t")),
        call: id(CallId::new, "c1"),
        content: PlanContent::Text(text.to_owned()),
        at: None,
    };
    let asked = |request: &'static str| Permission {
        request: Some(id(PermissionId::new, request)),
        options: Vec::new(),
        chosen: None,
        by: None,
        at: None,
        state: Some(PermissionState::Open),
        extra: JsonObject::new(),
    };
    let update = |update: CallUpdate| Change::UpdateCall { call: id(CallId::new, "c1"), update: Box::new(update) };
    let live = |turn| SessionUpdate { live_turn: Some(turn), ..SessionUpdate::default() };
    let append = |text: String| Change::AppendText { message: id(MessageId::new, "round"), part: 0, text };
    let inside = Assistant { parent: Some(id(CallId::new, "c1")), ..round(vec![text("inside")]) };
    let user_update = MessageUpdate {
        append_text: Some("more".to_owned()),
        append_attachments: vec![image()],
        ..MessageUpdate::default()
    };
    vec![
        Change::InsertTurn(turn),
        Change::UpdateSession(live(Some(id(TurnId::new, "t")))),
        message("user", Body::User(User { text: "do it".to_owned(), ..User::default() })),
        message("round", Body::Assistant(round(vec![text(""), text("x")]))),
        append("word ".repeat(10_000)),
        append("more".to_owned()),
        append("and more".to_owned()),
        Change::InsertPart { message: id(MessageId::new, "round"), part: Part::Call(Box::new(call("c1"))) },
        Change::InsertPart { message: id(MessageId::new, "round"), part: Part::Media(image()) },
        message("inside", Body::Assistant(inside)),
        message("tool", Body::Tool(ToolResult { call: Some(id(CallId::new, "c1")), text: "result".to_owned() })),
        message("plan", Body::Plan(plan("a"))),
        message("copy", Body::Plan(plan("ab"))),
        Change::UpsertPlan(Box::new(snapshot("a"))),
        Change::UpsertPlan(Box::new(snapshot("ab"))),
        Change::UpdateMessage { message: id(MessageId::new, "user"), update: user_update },
        Change::UpdateMessage {
            message: id(MessageId::new, "round"),
            update: MessageUpdate { error: Some("e".to_owned()), ..MessageUpdate::default() },
        },
        Change::SetPartMessageId { message: id(MessageId::new, "round"), part: 0, message_id: "m".to_owned() },
        Change::AppendOutput { call: id(CallId::new, "c1"), text: "y".repeat(70_000) },
        update(CallUpdate { permission: Some(asked("p1")), ..CallUpdate::default() }),
        update(CallUpdate { permission: Some(asked("p2")), ..CallUpdate::default() }),
        update(CallUpdate {
            permission: Some(Permission { by: Some("me".to_owned()), ..asked("p2") }),
            ..CallUpdate::default()
        }),
        update(CallUpdate { state: Some(CallState::Completed), input: Some(json!({})), ..CallUpdate::default() }),
        update(CallUpdate { output: Some(vec![json!({"text": "z".repeat(70_000)})]), ..CallUpdate::default() }),
        update(CallUpdate { parent: Some(id(CallId::new, "nobody")), ..CallUpdate::default() }),
        Change::UpdateTurn { turn: id(TurnId::new, "t"), update: TurnUpdate::default() },
        Change::UpdateSession(live(None)),
        append("late".to_owned()),
        queue("q1"),
        queue("q2"),
        Change::UpdatePrompt { prompt: id(PromptId::new, "q1"), update: PromptUpdate::default() },
        Change::RemovePrompt { prompt: id(PromptId::new, "q2"), sent: true },
        Change::UpdateSession(SessionUpdate { title: Some("title".to_owned()), ..live(Some(id(TurnId::new, "t"))) }),
    ]
}

/// Does all that a store does.
async fn exercise(store: &SqliteStore) {
    let session = id(SessionId::new, "s");
    store.create_session(Session::new(session.clone())).await.unwrap();
    for change in changes() {
        store.commit(session.clone(), vec![change], 1, Durability::Agent).await.unwrap();
    }
    let first = || id(MessageId::new, "user");
    let last = || id(MessageId::new, "copy");
    let windows =
        [Window::Latest, Window::At(first()), Window::Earlier(last()), Window::Range { from: first(), to: last() }];
    for window in windows {
        store.excerpt(session.clone(), window).await.unwrap();
    }
    let document = store.document(session.clone()).await.unwrap().document;
    let other = id(SessionId::new, "imported");
    let imported = Document { session: Session { id: other, ..document.session.clone() }, ..document };
    store.import(imported, 2).await.unwrap();
    store.call(session.clone(), id(CallId::new, "c1")).await.unwrap();
    store.media(session.clone(), first(), 0).await.unwrap();
    let page = store.sessions(None, 1).await.unwrap();
    store.sessions(Some(page[0].cursor()), 1).await.unwrap();
    store.open_sessions().await.unwrap();
    store.add_agent_session(session.clone(), AgentSessionId("a".to_owned()), 1).await.unwrap();
    store.agent_sessions(session.clone()).await.unwrap();
    for (query, order) in [("word", SearchOrder::Newest), ("word more", SearchOrder::Best), ("%", SearchOrder::Newest)]
    {
        let query = Query::parse(query).unwrap();
        let mut request = SearchRequest { query, filter: SearchFilter::default(), order, after: None, limit: 1 };
        while let Some(next) = store.search(request.clone()).await.unwrap().next {
            request.after = Some(next);
        }
    }
    store.has_prompt(session.clone(), "q2".to_owned()).await.unwrap();
    store.sessions_with_prompts().await.unwrap();
    store.beat().await.unwrap();
    let process = ProcessMark { machine: "m".to_owned(), pid: 1, start: 1 };
    store.add_process(process.clone()).await.unwrap();
    store.left_processes().await.unwrap();
    store.remove_process(process).await.unwrap();
    store.claim(session.clone()).await.unwrap();
    let command = || CommandId("c".to_owned());
    store.send_command(session.clone(), command(), "{}".to_owned()).await.unwrap();
    store.sessions_with_commands().await.unwrap();
    store.take_commands(session.clone()).await.unwrap();
    store.answer_command(session.clone(), command(), "{}".to_owned()).await.unwrap();
    store.command_outcome(session.clone(), command()).await.unwrap();
    store.interrupt(session.clone(), "gone".to_owned(), 3).await.unwrap();
    store.release(session).await.unwrap();
    store.leave().await.unwrap();
}

/// Whether a step of a plan reads a whole table. What is small by what it is may be read whole: the marks of the
/// full-text index and what is open (partial indexes), and what the statement made itself.
fn reads_a_table(step: &str) -> bool {
    let own = ["SCAN CONSTANT ROW", "SCAN found", "SCAN search_text VIRTUAL TABLE"];
    let small = [
        "message_unindexed",
        "part_unindexed",
        "session_live",
        "turn_open",
        "permission_open",
        "prompt_waiting",
        "session_by_activity",
    ];
    step.starts_with("SCAN")
        && !own.iter().any(|own| step.starts_with(own))
        && !small.iter().any(|index| step.contains(index))
}

#[tokio::test]
async fn every_statement_finds_its_rows_by_an_index() {
    let store = SqliteStore::open_temporary().unwrap();
    exercise(&store).await;
    let connection = rusqlite::Connection::open(store.file()).unwrap();
    let statements = STATEMENTS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    assert!(statements.len() > 80, "only {} statements were asked", statements.len());
    let mut faults = Vec::new();
    for statement in statements.iter().filter(|statement| !statement.starts_with("PRAGMA")) {
        let mut explained = connection.prepare(&format!("EXPLAIN QUERY PLAN {statement}")).unwrap();
        let values = vec![rusqlite::types::Null; explained.parameter_count()];
        let steps = explained.query_map(rusqlite::params_from_iter(values), |row| row.get::<_, String>(3)).unwrap();
        let steps: Vec<_> = steps.map(Result::unwrap).collect();
        // Everything of a session that is searched is read where the query has nothing that an index knows.
        let of_everything = statement.contains("FROM search_chunk AS chunk CROSS JOIN message");
        if !of_everything && steps.iter().any(|step| reads_a_table(step) || step.contains("AUTOMATIC")) {
            faults.push(format!("{statement}\n    {}", steps.join("\n    ")));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

/// Rounds of one call each, all of one run.
fn long_session(key: &'static str, messages: usize) -> (Session, Vec<Change>) {
    let session = Session { live_turn: Some(id(TurnId::new, "t")), ..Session::new(id(SessionId::new, key)) };
    let round = |number: usize| {
        let call = Call { input: None, ..call(&format!("c{number}")) };
        let parts = vec![text("word"), Part::Call(Box::new(call))];
        message(&format!("m{number}"), Body::Assistant(Assistant { parts, ..Assistant::default() }))
    };
    (session, (0..messages).map(round).collect())
}

#[tokio::test]
async fn a_window_costs_the_same_in_a_long_session() {
    let store = SqliteStore::open_temporary().unwrap();
    let mut costs = Vec::new();
    for (key, messages) in [("short", 100), ("long", 5_000)] {
        let (session, changes) = long_session(key, messages);
        let session_id = session.id.clone();
        store.create_session(session).await.unwrap();
        store.commit(session_id.clone(), changes, 1, Durability::Agent).await.unwrap();
        let connection = SqliteConnection::new(open_reader(store.file()).unwrap());
        let middle = || MessageId::new(format!("m{}", messages / 2)).unwrap();
        for window in [Window::Latest, Window::At(middle()), Window::Earlier(middle()), Window::Later(middle())] {
            let row = now(session::find(&connection, &session_id)).unwrap().unwrap();
            *connection.cost.lock().unwrap() = Cost::default();
            let excerpt = now(window::read(&connection, &row, &window)).unwrap().unwrap();
            assert_eq!(excerpt.around.before + excerpt.around.after + excerpt.document.messages.len(), messages);
            costs.push(*connection.cost.lock().unwrap());
        }
    }
    let (short, long) = costs.split_at(costs.len() / 2);
    for (short, long) in short.iter().zip(long) {
        assert_eq!(short.rows, long.rows, "{short:?} {long:?}");
        // A tree that is a level deeper, and no more.
        assert!(long.steps <= short.steps + short.steps / 20, "{short:?} {long:?}");
    }
}

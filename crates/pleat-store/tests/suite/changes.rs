//! Commits, and what is read after them.

use super::sample::{self, call, entries, media, message, notice, permission, plan, round, terminal, text, turn, user};
use super::{Twin, call_id, message_id, pretty_eq, prompt_id, round_of, session_id, turn_id};
use pleat_store::{Durability, IdKind, Revision, Store, StoreError};
use pleat_transcript::call::{Call, CallState, Lines, PermissionState};
use pleat_transcript::change::{
    CallUpdate, Change, ChangeError, MessageUpdate, PromptUpdate, SessionUpdate, TurnUpdate,
};
use pleat_transcript::document::{Document, Window};
use pleat_transcript::ids::MessageId;
use pleat_transcript::message::{Body, MediaKind, Part, Plan, PlanContent, RoundState};
use pleat_transcript::session::{ChosenSettings, ContextGauge, Session, TurnState, WaitingPrompt};
use serde_json::json;

fn insert(message: pleat_transcript::message::Message) -> Change {
    Change::InsertMessage(Box::new(message))
}

fn update_message(id: &str, update: MessageUpdate) -> Change {
    Change::UpdateMessage { message: message_id(id), update }
}

fn update_call(id: &str, update: CallUpdate) -> Change {
    Change::UpdateCall { call: call_id(id), update: Box::new(update) }
}

fn append_text(id: &str, part: usize, text: &str) -> Change {
    Change::AppendText { message: message_id(id), part, text: text.to_owned() }
}

fn append_output(id: &str, text: &str) -> Change {
    Change::AppendOutput { call: call_id(id), text: text.to_owned() }
}

async fn sample_twin<'a>(store: &'a dyn Store, id: &str) -> Twin<'a> {
    let mut twin = Twin::create(store, sample::session(session_id(id))).await;
    twin.commit(sample::messages().into_iter().map(insert).collect()).await;
    twin
}

pub(crate) async fn a_created_session_is_read_back(store: &dyn Store) {
    let bare = Session::new(session_id("bare"));
    Twin::create(store, bare.clone()).await;
    Twin::create(store, sample::session(session_id("full"))).await;
    let again = store.create_session(bare.clone()).await;
    assert_eq!(again, Err(StoreError::SessionExists(bare.id)));
}

pub(crate) async fn every_kind_of_message_is_read_back(store: &dyn Store) {
    let twin = sample_twin(store, "s").await;
    assert_eq!(store.call(twin.id(), call_id("c1")).await.unwrap(), Some(call("c1")));
    assert_eq!(store.call(twin.id(), call_id("c2")).await.unwrap(), Some(Call::new(call_id("c2"))));
    assert_eq!(store.call(twin.id(), call_id("c3")).await.unwrap(), None);
}

fn full_call_update() -> CallUpdate {
    CallUpdate {
        name: Some("Read".to_owned()),
        server: Some(String::new()),
        kind_word: Some("read".to_owned()),
        title: Some("a title".to_owned()),
        state: Some(CallState::Failed),
        input: Some(json!(null)),
        output: Some(vec![json!({"type": "diff"})]),
        locations: Some(Vec::new()),
        parent: Some(call_id("p")),
        ended_at: Some(70),
        waited_ms: Some(71),
        feedback: Some("why".to_owned()),
        lines: Some(Lines { added: 8, removed: 9 }),
        permission: Some(permission("p1", PermissionState::Answered)),
        announced: Some(false),
        closed_by_host: Some(false),
    }
}

pub(crate) async fn every_change_is_applied(store: &dyn Store) {
    let mut twin = sample_twin(store, "s").await;
    let gauge = Some(ContextGauge { used: 1, size: 2 });
    let update = SessionUpdate {
        live_turn: Some(None),
        title: Some("new".to_owned()),
        context: gauge,
        chosen: Some(sample::chosen("code")),
        directories: Some(vec!["/d".to_owned()]),
    };
    twin.commit(vec![Change::UpdateSession(update)]).await;
    let nothing =
        SessionUpdate { chosen: Some(ChosenSettings::default()), directories: Some(Vec::new()), ..Default::default() };
    twin.commit(vec![Change::UpdateSession(nothing)]).await;
    twin.commit(vec![Change::InsertTurn(turn("t3", TurnState::Queued))]).await;
    let update = TurnUpdate {
        state: Some(TurnState::Failed),
        stop_reason: Some("refusal".to_owned()),
        ended_at: Some(9),
        usage: Some(json!({"inputTokens": 3})),
    };
    twin.commit(vec![Change::UpdateTurn { turn: turn_id("t2"), update }]).await;
    let update = MessageUpdate {
        state: Some(RoundState::Complete),
        error: Some("e".to_owned()),
        parent: Some(call_id("c2")),
        ..MessageUpdate::default()
    };
    twin.commit(vec![update_message("round", update)]).await;
    let update = MessageUpdate {
        append_text: Some(" now\0".to_owned()),
        append_attachments: vec![media(MediaKind::Audio)],
        ..MessageUpdate::default()
    };
    twin.commit(vec![update_message("user", update.clone()), update_message("bare", update)]).await;
    for content in [entries(&["pending"]), PlanContent::Text("# Plan".to_owned()), entries(&[])] {
        let update = MessageUpdate { plan: Some(content), ..MessageUpdate::default() };
        twin.commit(vec![update_message("plan", update)]).await;
    }
    for part in [text("more"), sample::thinking(""), Part::Media(media(MediaKind::Image))] {
        twin.commit(vec![Change::InsertPart { message: message_id("bare round"), part }]).await;
    }
    let part = Part::Call(Box::new(call("c3")));
    twin.commit(vec![Change::InsertPart { message: message_id("round"), part }]).await;
    twin.commit(vec![append_text("round", 0, " é\0"), append_text("round", 1, "…"), append_text("round", 1, "\0!")])
        .await;
    let set = Change::SetPartMessageId { message: message_id("round"), part: 1, message_id: String::new() };
    twin.commit(vec![set]).await;
    twin.commit(vec![append_output("c1", "a"), append_output("c3", "b\0"), append_output("c1", "c")]).await;
    twin.commit(vec![update_call("c1", full_call_update()), update_call("c2", full_call_update())]).await;
    twin.commit(vec![update_call("c2", CallUpdate { input: Some(json!([1, 2])), ..CallUpdate::default() })]).await;
}

pub(crate) async fn changes_that_alter_nothing_write_nothing(store: &dyn Store) {
    let mut twin = sample_twin(store, "s").await;
    twin.commit(vec![update_call("c2", full_call_update()), append_output("c1", "some")]).await;
    let mut output = call("c1").output;
    output[1] = terminal("$ some");
    let plan = MessageUpdate { plan: Some(entries(&["completed", "odd"])), ..MessageUpdate::default() };
    let stale = SessionUpdate {
        title: twin.document.session.title.clone(),
        chosen: Some(twin.document.session.chosen.clone()),
        directories: Some(twin.document.session.directories.clone()),
        ..SessionUpdate::default()
    };
    let same_prompt = PromptUpdate { text: Some("do q1\0".to_owned()), held: Some(Some("Not now.".to_owned())) };
    let same_turn = TurnUpdate { usage: Some(json!(null)), state: Some(TurnState::Running), ..TurnUpdate::default() };
    let ignored = MessageUpdate { plan: Some(entries(&[])), ..MessageUpdate::default() };
    let nothing = vec![
        Change::UpdateSession(stale),
        Change::UpdatePrompt { prompt: prompt_id("q1"), update: same_prompt },
        Change::UpdatePrompt { prompt: prompt_id("q2"), update: PromptUpdate::default() },
        Change::QueuePrompt(Box::new(WaitingPrompt { key: Some("key of q1".to_owned()), ..sample::prompt("q9") })),
        Change::UpdateTurn { turn: turn_id("t2"), update: same_turn },
        Change::UpdateTurn { turn: turn_id("t1"), update: TurnUpdate::default() },
        update_message("plan", plan),
        update_message("round", ignored),
        update_message("user", MessageUpdate { append_text: Some(String::new()), ..MessageUpdate::default() }),
        update_message("round", MessageUpdate { state: Some(RoundState::Streaming), ..MessageUpdate::default() }),
        append_text("round", 0, ""),
        append_output("c1", ""),
        Change::SetPartMessageId { message: message_id("round"), part: 0, message_id: "tm".to_owned() },
        update_call("c2", full_call_update()),
        update_call("c1", CallUpdate { output: Some(output), ..CallUpdate::default() }),
    ];
    let before = twin.revision;
    twin.commit_at(nothing, 1_900_000_000_000).await;
    assert_eq!(twin.revision, before);
    let listed = store.sessions(None, usize::MAX).await.unwrap();
    let listed = listed.iter().find(|listing| listing.id == twin.id()).unwrap();
    assert!(listed.updated_at < 1_900_000_000_000);
}

pub(crate) async fn a_change_that_does_not_fit_leaves_nothing(store: &dyn Store) {
    let twin = sample_twin(store, "s").await;
    let unknown_message = |id: &str| ChangeError::UnknownMessage(message_id(id));
    let unknown_part = |part| ChangeError::UnknownPart { message: message_id("round"), part };
    let part = || text("more");
    let misfits = [
        (
            Change::UpdateTurn { turn: turn_id("t9"), update: TurnUpdate::default() },
            ChangeError::UnknownTurn(turn_id("t9")),
        ),
        (update_message("m9", MessageUpdate::default()), unknown_message("m9")),
        (update_message("tool", MessageUpdate::default()), unknown_message("tool")),
        (update_message("notice", MessageUpdate::default()), unknown_message("notice")),
        (Change::InsertPart { message: message_id("m9"), part: part() }, unknown_message("m9")),
        (Change::InsertPart { message: message_id("user"), part: part() }, unknown_message("user")),
        (append_text("plan", 0, "x"), unknown_message("plan")),
        (append_text("user", 0, "x"), unknown_message("user")),
        (append_text("round", 2, ""), unknown_part(2)),
        (append_text("round", 4, "x"), unknown_part(4)),
        (append_text("round", usize::MAX, "x"), unknown_part(usize::MAX)),
        (
            Change::SetPartMessageId { message: message_id("round"), part: 5, message_id: "x".to_owned() },
            unknown_part(5),
        ),
        (update_call("c9", CallUpdate::default()), ChangeError::UnknownCall(call_id("c9"))),
        (
            Change::UpdatePrompt { prompt: prompt_id("q9"), update: PromptUpdate::default() },
            ChangeError::UnknownPrompt(prompt_id("q9")),
        ),
        (Change::RemovePrompt { prompt: prompt_id("q9"), sent: true }, ChangeError::UnknownPrompt(prompt_id("q9"))),
        (append_output("c9", "x"), ChangeError::UnknownCall(call_id("c9"))),
        (append_output("c2", "x"), ChangeError::UnknownCall(call_id("c2"))),
    ];
    for (change, reason) in misfits {
        assert_eq!(twin.document.clone().apply(&change), Err(reason.clone()));
        // What fits, before and after, goes with it.
        let changes =
            vec![insert(message("new", notice("n"))), append_output("c1", "x"), change, append_text("round", 0, "x")];
        let error = twin.refuse(changes).await;
        assert_eq!(error, StoreError::DoesNotFit { session: twin.id(), reason });
    }
}

pub(crate) async fn an_id_that_is_taken_leaves_nothing(store: &dyn Store) {
    let mut twin = sample_twin(store, "s").await;
    let plan_id = MessageId::of_plan_stream(&twin.id(), Some(&turn_id("t1")), &call_id("c1"));
    let snapshot = |text: &str| insert(message(plan_id.as_str(), plan(PlanContent::Text(text.to_owned()))));
    twin.commit(vec![snapshot("a")]).await;
    let known_call = || Part::Call(Box::new(Call::new(call_id("c1"))));
    let taken = [
        (snapshot("b"), IdKind::Message, plan_id.as_str()),
        (insert(message("tool", user("x"))), IdKind::Message, "tool"),
        (Change::InsertTurn(turn("t1", TurnState::Queued)), IdKind::Turn, "t1"),
        (Change::InsertPart { message: message_id("round"), part: known_call() }, IdKind::Call, "c1"),
        (Change::QueuePrompt(Box::new(WaitingPrompt { key: None, ..sample::prompt("q1") })), IdKind::Prompt, "q1"),
        (insert(message("new", round(vec![text("x"), known_call()]))), IdKind::Call, "c1"),
    ];
    for (change, kind, id) in taken {
        let error = twin.refuse(vec![append_text("round", 0, "x"), change]).await;
        assert_eq!(error, StoreError::IdTaken { session: twin.id(), kind, id: id.to_owned() });
    }
}

pub(crate) async fn appended_output_is_joined_and_replaced(store: &dyn Store) {
    let mut twin = sample_twin(store, "s").await;
    let piece = "0123456789abcdef".repeat(1024);
    for _ in 0..9 {
        twin.commit(vec![append_output("c1", &piece), append_output("c1", "\n")]).await;
    }
    let expected = round_of(&twin.document.messages[1]).unwrap().calls().next().cloned();
    assert_eq!(store.call(twin.id(), call_id("c1")).await.unwrap(), expected);
    let whole = CallUpdate { output: Some(vec![terminal("whole"), terminal("second")]), ..CallUpdate::default() };
    twin.commit(vec![update_call("c1", whole.clone())]).await;
    twin.commit(vec![append_output("c1", " again")]).await;
    // Back to what was stored before the append.
    twin.commit(vec![update_call("c1", whole)]).await;
    twin.commit(vec![update_call("c1", CallUpdate { output: Some(Vec::new()), ..CallUpdate::default() })]).await;
    twin.refuse(vec![append_output("c1", "x")]).await;
}

pub(crate) async fn sessions_are_kept_apart(store: &dyn Store) {
    let mut first = sample_twin(store, "s1").await;
    let mut second = sample_twin(store, "s2").await;
    first.commit(vec![append_text("round", 0, "1"), append_output("c1", "1")]).await;
    second.commit(vec![append_text("round", 0, "2"), update_call("c1", full_call_update())]).await;
    first.compare().await;
}

pub(crate) async fn unknown_sessions_are_errors(store: &dyn Store) {
    let id = session_id("nobody");
    let unknown = StoreError::UnknownSession(id.clone());
    let commit = store.commit(id.clone(), Vec::new(), 0, Durability::Person).await;
    assert_eq!(commit.unwrap_err(), unknown);
    assert_eq!(store.document(id.clone()).await.unwrap_err(), unknown);
    assert_eq!(store.call(id.clone(), call_id("c")).await.unwrap_err(), unknown);
    assert_eq!(store.agent_sessions(id.clone()).await.unwrap_err(), unknown);
    let name = pleat_transcript::ids::AgentSessionId("a".to_owned());
    assert_eq!(store.add_agent_session(id, name, 0).await.unwrap_err(), unknown);
}

pub(crate) async fn an_imported_document_is_read_back(store: &dyn Store) {
    let document = sample::document(session_id("imported"));
    let asked = Document { window: Window::At(message_id("user")), ..document.clone() };
    assert_eq!(store.import(asked.clone(), 5).await, Ok(Revision(1)));
    let stored = store.document(session_id("imported")).await.unwrap();
    assert_eq!(stored.revision, Revision(1));
    pretty_eq(&stored.document, &document);
    assert_eq!(store.import(asked, 5).await, Err(StoreError::SessionExists(session_id("imported"))));
    let mut doubled = sample::document(session_id("doubled"));
    doubled.messages.push(message("tool", notice("x")));
    let error = store.import(doubled, 5).await.unwrap_err();
    assert!(matches!(error, StoreError::IdTaken { kind: IdKind::Message, .. }), "{error}");
    let gone = store.document(session_id("doubled")).await.unwrap_err();
    assert_eq!(gone, StoreError::UnknownSession(session_id("doubled")));
}

/// What a person is asked is told with every window.
pub(crate) async fn questions_are_told_with_any_window(store: &dyn Store) {
    let mut twin = sample_twin(store, "s").await;
    let asked = async |window| -> Vec<String> {
        let questions = store.excerpt(session_id("s"), window).await.unwrap().questions;
        questions.iter().map(|call| call.id.to_string()).collect()
    };
    let far = |n: usize| insert(message(&format!("later {n}"), user("more")));
    twin.commit((0..100).map(far).collect()).await;
    for window in [Window::Latest, Window::At(message_id("user"))] {
        assert_eq!(asked(window).await, ["c1"]);
    }
    let answered = Some(permission("p1", PermissionState::Answered));
    twin.commit(vec![update_call("c1", CallUpdate { permission: answered, ..CallUpdate::default() })]).await;
    assert_eq!(asked(Window::Latest).await, [""; 0]);
}

/// Something stands between two copies of a plan later than the second of them.
pub(crate) async fn copies_of_a_plan_come_back(store: &dyn Store) {
    let mut twin = Twin::create(store, sample::session(session_id("s"))).await;
    let copy = |id: &str, text: &str| {
        let plan = Plan { stream: None, content: PlanContent::Text(text.to_owned()) };
        insert(message(id, Body::Plan(plan)))
    };
    twin.commit(vec![copy("a", "A"), insert(message("blank", round(vec![text(" ")]))), copy("ab", "AB")]).await;
    for _ in 0..4 {
        // Each compares some of the windows.
        twin.commit(vec![append_text("blank", 0, "hi")]).await;
    }
}

/// An append of any size is whole, in pieces of bounded size.
pub(crate) async fn huge_appends_come_back(store: &dyn Store) {
    let mut twin = sample_twin(store, "s").await;
    let huge = "é\u{0}x".repeat(70_000);
    for _ in 0..2 {
        twin.commit(vec![append_text("round", 1, &huge), append_output("c1", &huge)]).await;
        twin.commit(vec![append_text("round", 1, "more"), append_output("c1", "more")]).await;
    }
}

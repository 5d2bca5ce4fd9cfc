//! Lists of sessions.

use super::sample::{call, message, permission, round, text, thinking, turn};
use super::{Twin, call_id, message_id, session_id, turn_id};
use pleat_store::{Durability, Revision, SessionListing, Store};
use pleat_transcript::call::PermissionState;
use pleat_transcript::change::{CallUpdate, Change, MessageUpdate, SessionUpdate, TurnUpdate};
use pleat_transcript::document::Document;
use pleat_transcript::ids::AgentSessionId;
use pleat_transcript::message::{Assistant, Body, JsonObject, Message, Part, User};
use pleat_transcript::session::{Session, TurnState};

fn said(id: &str, body: Body) -> Change {
    Change::InsertMessage(Box::new(Message { extra: JsonObject::new(), turn: None, ..message(id, body) }))
}

fn user(text: &str) -> Body {
    Body::User(User { text: text.to_owned(), ..User::default() })
}

fn reply(parts: Vec<Part>) -> Body {
    Body::Assistant(Assistant { parts, ..Assistant::default() })
}

async fn listing(store: &dyn Store, twin: &Twin<'_>) -> SessionListing {
    let listed = store.sessions(None, usize::MAX).await.unwrap();
    listed.into_iter().find(|listing| listing.id == twin.id()).unwrap()
}

pub(crate) async fn sessions_are_listed_by_activity(store: &dyn Store) {
    let mut twins = Vec::new();
    for (id, created_at) in [("a", 10), ("b", 30), ("c", 20)] {
        let session = Session { created_at: Some(created_at), ..Session::new(session_id(id)) };
        twins.push(Twin::create(store, session).await);
    }
    let order = async |limit| -> Vec<String> {
        store.sessions(None, limit).await.unwrap().iter().map(|listing| listing.id.to_string()).collect()
    };
    assert_eq!(order(10).await, ["b", "c", "a"]);
    twins[0].commit_at(vec![said("m", user("hi"))], 40).await;
    assert_eq!(order(10).await, ["a", "b", "c"]);
    // A clock that was set back.
    twins[0].commit_at(vec![said("n", user("hi"))], 1).await;
    assert_eq!(order(2).await, ["a", "b"]);
    assert_eq!(order(0).await, [""; 0]);
    store.import(Document::new(Session::new(session_id("d"))), 35).await.unwrap();
    assert_eq!(order(10).await, ["a", "d", "b", "c"]);
}

pub(crate) async fn the_list_shows_the_last_words(store: &dyn Store) {
    let session = Session {
        title: Some("T".to_owned()),
        agent: Some("A".to_owned()),
        root: Some("/r".to_owned()),
        ..Session::new(session_id("s"))
    };
    let mut twin = Twin::create(store, session).await;
    let expected = SessionListing {
        id: twin.id(),
        title: Some("T".to_owned()),
        agent: Some("A".to_owned()),
        root: Some("/r".to_owned()),
        updated_at: 0,
        last_turn: None,
        live: false,
        needs_person: false,
        waiting: 0,
        last_words: None,
    };
    assert_eq!(listing(store, &twin).await, expected);
    twin.commit(vec![said("m1", user(" \n do\n  it "))]).await;
    assert_eq!(listing(store, &twin).await.last_words.as_deref(), Some("do it"));
    twin.commit(vec![said("m2", reply(vec![thinking("hm"), text("\n")]))]).await;
    assert_eq!(listing(store, &twin).await.last_words.as_deref(), Some("do it"));
    let append = Change::AppendText { message: message_id("m2"), part: 1, text: "well…".repeat(100) };
    twin.commit(vec![append]).await;
    assert_eq!(listing(store, &twin).await.last_words, Some("well…".repeat(40)));
    twin.commit(vec![Change::InsertPart { message: message_id("m2"), part: text("and") }]).await;
    assert_eq!(listing(store, &twin).await.last_words.as_deref(), Some("and"));
    // What a sub-agent says is not the session's.
    twin.commit(vec![said("m3", round(vec![text("inside")]))]).await;
    assert_eq!(listing(store, &twin).await.last_words.as_deref(), Some("and"));
    twin.commit(vec![said("m4", reply(vec![text("mine?")]))]).await;
    let update = MessageUpdate { parent: Some(call_id("c")), ..MessageUpdate::default() };
    twin.commit(vec![Change::UpdateMessage { message: message_id("m4"), update }]).await;
    assert_eq!(listing(store, &twin).await.last_words.as_deref(), Some("and"));
    let imported = Document { session: Session::new(session_id("copy")), ..twin.document.clone() };
    store.import(imported, 0).await.unwrap();
    let words = store.sessions(None, usize::MAX).await.unwrap().into_iter().map(|listing| listing.last_words);
    assert_eq!(words.collect::<Vec<_>>(), vec![Some("and".to_owned()); 2]);
}

fn ask(request: &str, state: PermissionState) -> Change {
    let update = CallUpdate { permission: Some(permission(request, state)), ..CallUpdate::default() };
    Change::UpdateCall { call: call_id("c1"), update: Box::new(update) }
}

fn set_live(turn: Option<&str>) -> Change {
    Change::UpdateSession(SessionUpdate { live_turn: Some(turn.map(turn_id)), ..SessionUpdate::default() })
}

pub(crate) async fn the_list_shows_who_waits(store: &dyn Store) {
    let mut twin = Twin::create(store, Session::new(session_id("s"))).await;
    let begin = vec![Change::InsertTurn(turn("t1", TurnState::Running)), set_live(Some("t1"))];
    twin.commit(begin).await;
    let shown = listing(store, &twin).await;
    assert_eq!((shown.last_turn, shown.live, shown.needs_person), (Some(TurnState::Running), true, false));
    twin.commit(vec![said("m", reply(vec![Part::Call(Box::new(call("c1")))]))]).await;
    assert!(listing(store, &twin).await.needs_person);
    for (change, needs_person) in [
        (ask("p1", PermissionState::Answered), false),
        (ask("p2", PermissionState::Open), true),
        // Another request takes the place of one that is open.
        (ask("p3", PermissionState::Expired), false),
        (ask("p1", PermissionState::Open), true),
        (ask("p1", PermissionState::Expired), false),
    ] {
        twin.commit(vec![change]).await;
        assert_eq!(listing(store, &twin).await.needs_person, needs_person);
    }
    let end = TurnUpdate { state: Some(TurnState::Cancelled), ..TurnUpdate::default() };
    twin.commit(vec![Change::UpdateTurn { turn: turn_id("t1"), update: end }, set_live(None)]).await;
    let shown = listing(store, &twin).await;
    assert_eq!((shown.last_turn, shown.live), (Some(TurnState::Cancelled), false));
}

pub(crate) async fn open_sessions_are_found(store: &dyn Store) {
    let create = async |id: &str| Twin::create(store, Session::new(session_id(id))).await;
    let mut live = create("live").await;
    let mut queued = create("queued").await;
    let mut asking = create("asking").await;
    let mut closed = create("closed").await;
    create("empty").await;
    assert_eq!(store.open_sessions().await, Ok(Vec::new()));
    live.commit(vec![set_live(Some("t1"))]).await;
    queued.commit(vec![Change::InsertTurn(turn("t1", TurnState::Queued))]).await;
    asking.commit(vec![said("m", reply(vec![Part::Call(Box::new(call("c1")))]))]).await;
    closed.commit(vec![Change::InsertTurn(turn("t1", TurnState::Completed))]).await;
    closed.commit(vec![said("m", reply(vec![Part::Call(Box::new(call("c1")))]))]).await;
    closed.commit(vec![ask("p1", PermissionState::Answered)]).await;
    let open = ["live", "queued", "asking"].map(session_id).to_vec();
    assert_eq!(store.open_sessions().await, Ok(open));
}

pub(crate) async fn names_that_agents_give_are_kept(store: &dyn Store) {
    let twin = Twin::create(store, Session::new(session_id("s"))).await;
    let other = Twin::create(store, Session::new(session_id("other"))).await;
    let name = |name: &str| AgentSessionId(name.to_owned());
    for (at, given) in ["a", "b", "b", "a", ""].into_iter().enumerate() {
        let at = i64::try_from(at).unwrap();
        store.add_agent_session(twin.id(), name(given), at).await.unwrap();
    }
    assert_eq!(store.agent_sessions(twin.id()).await, Ok(vec![name("b"), name("a"), name("")]));
    assert_eq!(store.agent_sessions(other.id()).await, Ok(Vec::new()));
    twin.compare().await;
}

pub(crate) async fn commits_at_once_are_all_counted(store: &dyn Store) {
    let mut first = Twin::create(store, Session::new(session_id("s1"))).await;
    let second = Twin::create(store, Session::new(session_id("s2"))).await;
    first.commit(vec![said("m", reply(vec![text("")]))]).await;
    let append = || vec![Change::AppendText { message: message_id("m"), part: 0, text: "x".to_owned() }];
    let mut commits = Vec::new();
    for n in 0..200 {
        let durability = if n % 7 == 0 { Durability::Person } else { Durability::Agent };
        commits.push(store.commit(first.id(), append(), n, durability));
        // One that is refused beside it.
        commits.push(store.commit(second.id(), append(), n, durability));
    }
    let answers = join(commits).await;
    // Commits that are asked for at once may be made in any order.
    let mut revisions: Vec<_> = answers.iter().flatten().copied().collect();
    revisions.sort();
    assert_eq!(revisions, (3..203).map(Revision).collect::<Vec<_>>());
    let stored = store.document(first.id()).await.unwrap().document;
    let Body::Assistant(assistant) = &stored.messages[0].body else { panic!("a round") };
    assert_eq!(assistant.parts, [text(&"x".repeat(200))]);
    second.compare().await;
}

/// Waits for all, polling each from the beginning.
async fn join<T>(mut futures: Vec<pleat_store::StoreFuture<'_, T>>) -> Vec<Result<T, pleat_store::StoreError>> {
    let mut answers: Vec<_> = futures.iter().map(|_| None).collect();
    std::future::poll_fn(move |context| {
        for (future, answer) in futures.iter_mut().zip(&mut answers) {
            if answer.is_none()
                && let std::task::Poll::Ready(ready) = future.as_mut().poll(context)
            {
                *answer = Some(ready);
            }
        }
        if answers.iter().all(Option::is_some) {
            return std::task::Poll::Ready(std::mem::take(&mut answers).into_iter().flatten().collect());
        }
        std::task::Poll::Pending
    })
    .await
}

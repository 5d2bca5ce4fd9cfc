//! Searches.

use super::sample::{self, entries, message, plan, round, text, thinking, user};
use super::{Twin, call_id, message_id, session_id, turn_id};
use pleat_store::Store;
use pleat_store::search::{Query, SearchField, SearchFilter, SearchHit, SearchOrder, SearchPage, SearchRequest};
use pleat_transcript::call::{Call, CallState, ToolKind};
use pleat_transcript::change::{CallUpdate, Change, MessageUpdate, SessionUpdate};
use pleat_transcript::ids::SessionId;
use pleat_transcript::message::{Message, Part, PlanContent};
use pleat_transcript::session::Session;
use serde_json::json;

fn request(query: &str) -> SearchRequest {
    SearchRequest {
        query: Query::parse(query).unwrap(),
        filter: SearchFilter::default(),
        order: SearchOrder::Newest,
        after: None,
        limit: 100,
    }
}

async fn page(store: &dyn Store, request: SearchRequest) -> SearchPage {
    store.search(request).await.unwrap()
}

async fn hits(store: &dyn Store, query: &str) -> Vec<SearchHit> {
    page(store, request(query)).await.hits
}

fn ids(hits: &[SearchHit]) -> Vec<&str> {
    hits.iter().map(|hit| hit.message.as_str()).collect()
}

fn insert(message: Message) -> Change {
    Change::InsertMessage(Box::new(message))
}

fn said(id: &str, said: &str) -> Change {
    insert(message(id, user(said)))
}

/// A turn ends: what was marked is indexed now.
fn rest() -> Change {
    Change::UpdateSession(SessionUpdate { live_turn: Some(None), ..SessionUpdate::default() })
}

async fn twin<'a>(store: &'a dyn Store, id: &str) -> Twin<'a> {
    Twin::create(store, Session { live_turn: Some(turn_id("t")), ..Session::new(session_id(id)) }).await
}

/// Checks before the index is written and after.
async fn before_and_after(twin: &mut Twin<'_>, store: &dyn Store, checks: &[(&str, &[&str])]) {
    for step in ["marked", "indexed"] {
        for (query, expected) in checks {
            assert_eq!(ids(&hits(store, query).await), *expected, "{query} {step}");
        }
        twin.commit(vec![rest()]).await;
    }
}

/// Case B51.
pub(crate) async fn searches_find_any_script(store: &dyn Store) {
    let mut twin = twin(store, "s").await;
    let texts = [("m1", "修复了登录页面的重定向循环"), ("m2", "部署xyz-task前先备份"), ("m3", "xyz-task failed")];
    twin.commit(texts.map(|(id, text)| said(id, text)).to_vec()).await;
    let checks: [(&str, &[&str]); 6] =
        [("重定向", &["m1"]), ("xyz", &["m3", "m2"]), ("部署 xyz", &["m2"]), ("备份", &["m2"]), ("%", &[]), ("_", &[])];
    before_and_after(&mut twin, store, &checks).await;
}

pub(crate) async fn searches_take_what_is_typed_literally(store: &dyn Store) {
    let mut twin = twin(store, "s").await;
    let texts = [
        ("m1", "it is 100% done"),
        ("m2", "100 foo_bar"),
        ("m3", "foo bar, Café au lait"),
        ("m4", "cafes AND NEAR(\"x\") -y :z ^w o'clock \\ 'q'"),
    ];
    twin.commit(texts.map(|(id, text)| said(id, text)).to_vec()).await;
    let checks: [(&str, &[&str]); 14] = [
        ("100%", &["m1"]),
        ("%", &["m1"]),
        ("foo_bar", &["m2"]),
        ("_", &["m2"]),
        // A space in a phrase stands for whatever is between two words.
        ("\"foo bar\"", &["m3", "m2"]),
        ("cafe", &["m3"]),
        ("caf*", &["m4", "m3"]),
        ("foo 100", &["m2"]),
        ("AND", &["m4"]),
        ("NEAR(\"x\")", &["m4"]),
        ("-y", &["m4"]),
        ("o'clock", &["m4"]),
        ("'q'", &["m4"]),
        ("nothing", &[]),
    ];
    before_and_after(&mut twin, store, &checks).await;
}

fn shell(id: &str, command: &str, output: &str) -> Call {
    Call {
        kind_word: Some("execute".to_owned()),
        title: Some(format!("title{id}")),
        state: CallState::Completed,
        input: Some(json!({"command": command, "timeout": 4711})),
        output: vec![sample::terminal(output)],
        ..Call::new(call_id(id))
    }
}

pub(crate) async fn searches_look_into_everything(store: &dyn Store) {
    let mut twin = twin(store, "s").await;
    let parts = vec![
        thinking("pondering"),
        text("replying"),
        Part::Call(Box::new(shell("c1", "requesting", "resulting\nin two lines"))),
    ];
    twin.commit(vec![said("user", "asking"), insert(message("round", round(parts)))]).await;
    twin.commit(vec![insert(message("plan", plan(PlanContent::Text("planning".to_owned()))))]).await;
    twin.commit(vec![insert(message("list", plan(entries(&["pending"]))))]).await;
    let expected: [(&str, SearchField, &str, bool); 9] = [
        ("asking", SearchField::User, "user", false),
        ("pondering", SearchField::Thinking, "round", false),
        ("replying", SearchField::Reply, "round", false),
        ("titlec1", SearchField::Title, "round", true),
        ("requesting", SearchField::Request, "round", true),
        ("4711", SearchField::Request, "round", true),
        ("resulting", SearchField::Result, "round", true),
        ("planning", SearchField::Plan, "plan", false),
        ("\"do it\"", SearchField::Plan, "list", false),
    ];
    for step in ["marked", "indexed"] {
        for (query, field, message, in_call) in expected {
            let found = hits(store, query).await;
            let [hit] = &found[..] else { panic!("{query} {step}: {found:?}") };
            assert_eq!((hit.field, hit.message.as_str(), hit.call.is_some()), (field, message, in_call), "{query}");
            let mark = hit.snippet.marks[0].clone();
            assert_eq!(hit.snippet.text[mark].to_lowercase(), query.trim_matches('"'), "{step}");
        }
        twin.commit(vec![rest()]).await;
    }
}

/// What is indexed follows what is stored.
pub(crate) async fn searches_follow_changes(store: &dyn Store) {
    let mut twin = twin(store, "s").await;
    let call = Part::Call(Box::new(Call { state: CallState::Running, ..shell("c1", "first", "") }));
    let rounds = vec![text("hal"), call];
    twin.commit(vec![insert(message("round", round(rounds))), rest()]).await;
    assert_eq!(ids(&hits(store, "first").await), ["round"]);
    let append = Change::AppendText { message: message_id("round"), part: 0, text: "ted".to_owned() };
    let update = CallUpdate { input: Some(json!({"command": "second"})), ..CallUpdate::default() };
    let update = Change::UpdateCall { call: call_id("c1"), update: Box::new(update) };
    let output = Change::AppendOutput { call: call_id("c1"), text: "streamed".to_owned() };
    twin.commit(vec![append, update, output]).await;
    let checks: [(&str, &[&str]); 5] =
        [("hal", &[]), ("halted", &["round"]), ("first", &[]), ("second", &["round"]), ("streamed", &["round"])];
    before_and_after(&mut twin, store, &checks).await;
    let plan_of =
        |text: &str| MessageUpdate { plan: Some(PlanContent::Text(text.to_owned())), ..MessageUpdate::default() };
    twin.commit(vec![insert(message("plan", plan(PlanContent::Text("draft".to_owned())))), rest()]).await;
    twin.commit(vec![Change::UpdateMessage { message: message_id("plan"), update: plan_of("final") }]).await;
    before_and_after(&mut twin, store, &[("draft", &[]), ("final", &["plan"])]).await;
}

pub(crate) async fn searches_find_what_long_texts_hold_once(store: &dyn Store) {
    let mut twin = twin(store, "s").await;
    let filler = "filler words that say nothing ".repeat(200);
    let long = format!("needle {filler} pin, cushion {filler} needle end");
    twin.commit(vec![said("long", &long), said("short", "needle and pin"), said("other", "needle")]).await;
    let checks: [(&str, &[&str]); 5] = [
        ("needle", &["other", "short", "long"]),
        ("needle pin", &["short", "long"]),
        ("\"pin, cushion\" end", &["long"]),
        ("\"say nothing filler words that say\"", &["long"]),
        ("cushion missing", &[]),
    ];
    before_and_after(&mut twin, store, &checks).await;
    for order in [SearchOrder::Newest, SearchOrder::Best] {
        let mut found = every_page(store, SearchRequest { order, limit: 1, ..request("needle") }).await;
        found.sort();
        assert_eq!(found, ["long", "other", "short"], "{order:?}");
    }
}

async fn every_page(store: &dyn Store, mut request: SearchRequest) -> Vec<String> {
    let mut found = Vec::new();
    loop {
        let page = page(store, request.clone()).await;
        assert!(page.hits.len() <= request.limit, "{} hits", page.hits.len());
        found.extend(page.hits.iter().map(|hit| hit.message.to_string()));
        let Some(next) = page.next else { return found };
        request.after = Some(next);
    }
}

/// A text is found once, also where its first words match better than its last.
pub(crate) async fn searches_find_long_texts_wherever_they_match_best(store: &dyn Store) {
    let mut twin = twin(store, "s").await;
    let filler = "filler words that say nothing ".repeat(250);
    twin.commit(vec![said("long", &format!("{} {filler} needle", "needle ".repeat(5))), rest()]).await;
    for order in [SearchOrder::Newest, SearchOrder::Best] {
        let found = every_page(store, SearchRequest { order, limit: 10, ..request("needle") }).await;
        assert_eq!(found, ["long"], "{order:?}");
    }
}

/// Pages that are read one after the other hold every hit once, whatever waits for the index.
pub(crate) async fn searches_are_paged(store: &dyn Store) {
    let mut twin = twin(store, "s").await;
    let texts =
        (0..300).map(|n| said(&format!("m{n}"), &format!("common{} word{n}", if n % 3 == 0 { "er" } else { "" })));
    twin.commit(texts.collect()).await;
    let more = (300..310).map(|n| said(&format!("m{n}"), "common"));
    twin.commit(more.collect()).await;
    let expected: Vec<String> = (0..310).rev().filter(|n| *n >= 300 || n % 3 != 0).map(|n| format!("m{n}")).collect();
    for limit in [1, 7, 100, 1000] {
        let newest = every_page(store, SearchRequest { limit, ..request("common") }).await;
        assert_eq!(newest, expected, "{limit}");
    }
    let mut best = every_page(store, SearchRequest { limit: 40, order: SearchOrder::Best, ..request("common") }).await;
    let mut sorted = expected.clone();
    best.sort();
    sorted.sort();
    assert_eq!(best, sorted);
    let none = every_page(store, SearchRequest { limit: 10, ..request("%") }).await;
    assert_eq!(none, [""; 0]);
}

pub(crate) async fn searches_are_filtered(store: &dyn Store) {
    let session = |id: &str, agent: &str, root: &str| Session {
        agent: Some(agent.to_owned()),
        root: Some(root.to_owned()),
        live_turn: Some(turn_id("t")),
        ..Session::new(session_id(id))
    };
    let mut first = Twin::create(store, session("s1", "claude", "/home/me/app")).await;
    let mut second = Twin::create(store, session("s2", "codex", "/home/me/app/inner")).await;
    let mut third = Twin::create(store, session("s3", "codex", "/home/me/apple")).await;
    let at = |id: &str, at: i64| insert(Message { created_at: Some(at), ..message(id, user("word")) });
    first.commit(vec![at("a", 1_000_000)]).await;
    second.commit(vec![at("b", 2_000_000)]).await;
    let failed = Call { state: CallState::Failed, ..shell("c1", "word", "") };
    let read = Call { kind_word: Some("read".to_owned()), title: Some("word".to_owned()), ..Call::new(call_id("c2")) };
    let parts = vec![Part::Call(Box::new(failed)), Part::Call(Box::new(read))];
    let calls = Message { created_at: Some(3_000_000), ..message("c", round(parts)) };
    third.commit(vec![insert(calls)]).await;
    let all = SearchFilter::default();
    let checks: [(SearchFilter, &[&str]); 10] = [
        (all.clone(), &["c", "c", "b", "a"]),
        (SearchFilter { session: Some(session_id("s2")), ..all.clone() }, &["b"]),
        (SearchFilter { agent: Some("codex".to_owned()), ..all.clone() }, &["c", "c", "b"]),
        (SearchFilter { directory: Some("/home/me/app/".to_owned()), ..all.clone() }, &["b", "a"]),
        (SearchFilter { fields: vec![SearchField::User], ..all.clone() }, &["b", "a"]),
        (SearchFilter { fields: vec![SearchField::Title, SearchField::Request], ..all.clone() }, &["c", "c"]),
        (SearchFilter { kind: Some(ToolKind::Read), ..all.clone() }, &["c"]),
        (SearchFilter { state: Some(CallState::Failed), ..all.clone() }, &["c"]),
        (SearchFilter { since: Some(2_000_000), ..all.clone() }, &["c", "c", "b"]),
        (SearchFilter { since: Some(1_000_000), until: Some(2_000_000), ..all.clone() }, &["a"]),
    ];
    for step in ["marked", "indexed"] {
        for (filter, expected) in &checks {
            for order in [SearchOrder::Newest, SearchOrder::Best] {
                let found = page(store, SearchRequest { filter: filter.clone(), order, ..request("word") }).await;
                let mut found = ids(&found.hits);
                if order == SearchOrder::Best {
                    found.sort_unstable_by(|left, right| right.cmp(left));
                }
                assert_eq!(found, *expected, "{filter:?} {order:?} {step}");
            }
        }
        for twin in [&mut first, &mut second, &mut third] {
            twin.commit(vec![rest()]).await;
        }
    }
}

/// An imported transcript is found at once, and has its outline.
pub(crate) async fn imports_are_searched(store: &dyn Store) {
    let id: SessionId = session_id("imported");
    let document = sample::document(id.clone());
    store.import(document, 5).await.unwrap();
    assert_eq!(ids(&hits(store, "well").await), ["round"]);
    let filter = SearchFilter { session: Some(id), ..SearchFilter::default() };
    let result = page(store, SearchRequest { filter, ..request("done") }).await;
    assert_eq!((ids(&result.hits), result.hits[0].field), (vec!["tool"], SearchField::Result));
}

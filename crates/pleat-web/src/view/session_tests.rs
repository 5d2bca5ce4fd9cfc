//! What a session is at, what waits in it, and how its agent is.

use super::block::{Block, Content};
use super::samples::{document, everything, find, page, page_at, page_live, patched, round, session};
use pleat_host::{
    AgentState, Choice, ConfigOption, ConfigValue, LiveState, Login, LoginMethod, Selection, SessionOffers,
};
use pleat_transcript::document::{Document, Window};
use pleat_transcript::ids::MessageId;
use pleat_transcript::session::ContextGauge;
use serde_json::{Value, json};

fn html(page: &Block, key: &str) -> String {
    find(page, key).unwrap_or_else(|| panic!("no {key}")).html()
}

fn title(page: &Block) -> &str {
    let title = page.attributes().iter().find(|(name, _)| *name == "data-title");
    title.map_or("", |(_, title)| title)
}

fn agent(agent: AgentState) -> LiveState {
    LiveState { agent, ..LiveState::default() }
}

fn stopping() -> LiveState {
    LiveState { agent: AgentState::Ready, stopping_since: Some(1_767_607_872_000), ..LiveState::default() }
}

/// A session at rest with prompts that wait.
fn waiting(prompts: &Value) -> Document {
    document(&json!({"session": {"id": "s1", "title": "Mend it", "waiting": prompts}, "messages": []}))
}

fn two_waiting(first: &str) -> Document {
    waiting(&json!([
        {"id": "q/1", "text": first},
        {"id": "q2", "text": "Then <b>commit</b>", "held": "The turn before it failed.", "attachments": [
            {"type": "image", "mime": "image/png", "name": "a.png", "data": "AQID"},
            {"type": "resource", "uri": "file:///notes.md"}
        ]}
    ]))
}

#[test]
fn prompts_that_wait() {
    insta::assert_snapshot!(html(&page(&two_waiting("Run the tests")), "queue").replace("><", ">\n<"));
}

#[test]
fn prompts_that_wait_stand_behind_what_was_said_and_only_where_the_end_is_shown() {
    let messages: Vec<_> = (0..100).map(|n| json!({"id": format!("m{n}"), "role": "user", "text": "x"})).collect();
    let mut document =
        document(&json!({"session": {"id": "s1", "waiting": [{"id": "q1", "text": "Next"}]}, "messages": messages}));
    let Content::Children(main) = find(&page(&document), "main").unwrap().content().clone() else {
        panic!("no blocks")
    };
    let keys: Vec<_> = main.iter().map(Block::key).collect();
    assert_eq!(keys, ["earlier", "rows", "queue", "end"]);
    assert!(find(&page_at(&document, &Window::At(MessageId::new("m3").unwrap())), "queue").is_none());
    document.session.waiting.clear();
    assert!(find(&page(&document), "queue").is_none());
}

#[test]
fn an_open_form_stays_whatever_becomes_of_the_prompts_around_it() {
    let both = page(&two_waiting("Run the tests"));
    // Its own text was changed elsewhere: the page's script keeps what was typed into the field.
    let changed = page(&two_waiting("Run all tests"));
    assert_eq!(patched(&both, &changed), ["=w:q~11/text", "=w:q~11/edit/text"]);
    // The one before it is gone.
    let mut document = two_waiting("Run the tests");
    document.session.waiting.remove(0);
    assert_eq!(
        patched(&both, &page(&document)),
        ["-w:q~11", "-composer/stop", "=queue/head", "@composer", "=composer/send/word"]
    );
    // It is held no more.
    let mut document = two_waiting("Run the tests");
    document.session.waiting[1].held = None;
    assert_eq!(patched(&both, &page(&document)), ["-w:q2/send", "=w:q2/who"]);
}

#[test]
fn a_prompt_is_queued_where_something_is_before_it() {
    let words = |page: &Block| {
        let word = if html(page, "composer/send").contains(">Queue<") { "Queue" } else { "Send" };
        (word, find(page, "composer/stop").is_some(), find(page, "composer/force").is_some())
    };
    let running = session(true, &json!([{"id": "m1", "turn": "t1", "role": "user", "text": "Go"}]));
    assert_eq!(words(&page(&session(false, &json!([])))), ("Send", false, false));
    assert_eq!(words(&page(&running)), ("Queue", true, false));
    assert_eq!(words(&page(&waiting(&json!([{"id": "q", "text": "x"}])))), ("Queue", true, false));
    // What is held is not before anything.
    assert_eq!(words(&page(&waiting(&json!([{"id": "q", "text": "x", "held": "No."}])))), ("Send", false, false));
    assert_eq!(words(&page_live(&running, &stopping())), ("Queue", true, true));
}

#[test]
fn stop_is_shown_at_once_with_a_way_to_insist() {
    let running = session(true, &json!([{"id": "m1", "turn": "t1", "role": "user", "text": "Go"}]));
    let page = page_live(&running, &stopping());
    assert_eq!(title(&page), "Stopping · Make the tests pass");
    assert!(html(&page, "head/state").contains("□</span> stopping<"));
    let stop = html(&page, "composer/stop");
    assert!(stop.contains(" disabled>") && stop.contains(">Stopping…<"), "{stop}");
    let force = html(&page, "composer/force");
    assert!(force.contains("form=\"force\"") && force.contains("aria-describedby=\"hint\""), "{force}");
    assert!(html(&page, "composer/hint").contains("Claude Code was told to stop. Force ends its process at once"));
    assert!(html(&page, "force").contains("action=\"/s/s1/stop/force\""));
    assert!(html(&page, "stopping").contains("data-since=\"1767607872000\""));
    // Where the turn has ended meanwhile, nothing is stopping.
    let page = page_live(&session(false, &json!([])), &stopping());
    assert!(find(&page, "composer/stop").is_none() && find(&page, "stopping").is_none());
    assert_eq!(title(&page), "Make the tests pass");
}

#[test]
fn an_agent_that_starts_says_since_when_and_what_it_printed_last() {
    let starting = AgentState::Starting { since: 1_767_607_872_000, says: Some("npm: 3 <packages>".to_owned()) };
    let page = page_live(&waiting(&json!([{"id": "q", "text": "x"}])), &agent(starting));
    assert_eq!(title(&page), "Starting · Mend it");
    let line = html(&page, "starting/line");
    assert!(line.contains("Claude Code starts… ") && line.contains("data-since=\"1767607872000\""), "{line}");
    assert!(line.contains(">(since 5 Jan 2026, 10:11 UTC)<"), "{line}");
    assert!(html(&page, "starting/says").contains(">npm: 3 &lt;packages&gt;<"));
    assert!(find(&page, "composer/stop").is_some());
}

#[test]
fn time_goes_by_without_a_patch() {
    let at = |says: &str| {
        let starting = AgentState::Starting { since: 0, says: Some(says.to_owned()) };
        page_live(&session(false, &json!([])), &agent(starting))
    };
    assert_eq!(patched(&at("one"), &at("two")), ["=starting/says"]);
    assert!(patched(&at("one"), &at("one")).is_empty());
}

#[test]
fn an_agent_that_cannot_be_used_says_why_once() {
    let reason = "Claude Code ended as soon as it was started, with exit code 3. It wrote last:\nno <key>";
    let failed = agent(AgentState::Failed { reason: reason.to_owned() });
    let page = page_live(&session(false, &json!([])), &failed);
    assert_eq!(title(&page), "Failed · Make the tests pass");
    let why = html(&page, "failed/reason");
    assert!(why.contains("with exit code 3. It wrote last:</span>") && why.contains(">no &lt;key&gt;</pre>"), "{why}");
    assert!(html(&page, "failed/again").contains("action=\"/s/s1/agent/start\""));
    // The prompt that waited for it failed, and its notice says it.
    let notice =
        json!({"id": "m2", "turn": "t1", "role": "notice", "level": "error", "code": "failed", "text": reason});
    let said =
        page_live(&session(false, &json!([{"id": "m1", "turn": "t1", "role": "user", "text": "Go"}, notice])), &failed);
    let why = html(&said, "failed/reason");
    assert!(!why.contains("exit code") && why.contains("for the reason above"), "{why}");
}

#[test]
fn an_agent_that_wants_a_login_offers_its_ways() {
    let method = |id: &str, name: &str, command: Option<&str>| LoginMethod {
        id: id.to_owned(),
        name: name.to_owned(),
        description: Some(format!("About {name}")),
        command: command.map(str::to_owned),
    };
    let methods =
        vec![method("key", "An API key", None), method("web", "Your account", Some("claude-agent-acp --login"))];
    let login = Login { said: "Authentication <required>".to_owned(), methods };
    let page = page_live(&waiting(&json!([{"id": "q", "text": "x"}])), &agent(AgentState::NeedsLogin(login)));
    assert_eq!(title(&page), "Needs you · Mend it");
    insta::assert_snapshot!(html(&page, "login").replace("><", ">\n<"));
    let none = Login { said: "No".to_owned(), methods: Vec::new() };
    let page = page_live(&session(false, &json!([])), &agent(AgentState::NeedsLogin(none)));
    assert!(html(&page, "login/none").contains("It names no way to log in."));
}

#[test]
fn an_answer_says_who_gave_it_and_when() {
    for (by, at, words) in [
        (json!("owner"), json!(1_767_607_872_000_i64), "You chose <q>Yes</q>, <time"),
        (json!("configuration"), json!(0), "Pleat allowed it by pleat.toml with <q>Yes</q>, <time"),
        (json!("al<ice"), Value::Null, "Al&lt;ice chose <q>Yes</q></p>"),
        (Value::Null, Value::Null, "The answer was <q>Yes</q></p>"),
    ] {
        let permission = json!({"request": "p1", "state": "answered", "chosen": "yes", "by": by, "at": at, "options": [
            {"optionId": "yes", "name": "Yes", "kind": "allow_once"}
        ]});
        let call = json!({"id": "c1", "kind": "execute", "state": "completed", "permission": permission});
        let html = html(&page(&session(false, &json!([round("m1", &[call])]))), "c:c1/answer");
        assert!(html.contains(words), "{html}");
    }
}

#[test]
fn the_head_tells_context_usage_mode_and_model() {
    let mut document = session(false, &json!([]));
    document.session.context = Some(ContextGauge { used: 218_000, size: 512_000 });
    document.session.turns[0].usage = Some(json!({"totalTokens": 2_000_000, "inputTokens": 1_900_000}));
    let choice = |id: &str, name: &str| Choice { id: id.to_owned(), name: name.to_owned(), description: None };
    let of = |current: &str, choices| Selection { current: current.to_owned(), choices };
    let model = ConfigOption {
        id: "m".to_owned(),
        name: "Model".to_owned(),
        description: None,
        category: Some("model".to_owned()),
        value: ConfigValue::Select(of("big", vec![choice("big", "Big <One>")])),
    };
    let offers = SessionOffers {
        modes: Some(of("other", vec![choice("plan", "Plan")])),
        options: vec![model],
        ..SessionOffers::default()
    };
    let page = page_live(&document, &LiveState { agent: AgentState::Ready, offers, ..LiveState::default() });
    let facts = html(&page, "head/facts");
    assert!(facts.contains("<span>Model: Big &lt;One&gt;</span><span>Mode: other</span>"), "{facts}");
    let used = html(&page, "head/used");
    assert!(used.contains("<span>43 % of the context used: 218,000 of 512,000</span>"), "{used}");
    assert!(used.contains("<span>Last turn: 2,000,000 tokens (1,900,000 in)</span>"), "{used}");
    assert!(find(&super::samples::page(&everything()), "head/used").is_none());
}

#[test]
fn a_hundred_prompts_have_a_block_each() {
    let prompts: Vec<_> = (0..100).map(|n| json!({"id": format!("q{n}"), "text": format!("Prompt {n}")})).collect();
    let page = page(&waiting(&json!(prompts)));
    assert!(html(&page, "queue/head").contains("100 prompts wait"));
    let Content::Children(items) = find(&page, "queue/list").unwrap().content() else { panic!("no blocks") };
    assert_eq!(
        items.iter().map(Block::key).collect::<Vec<_>>(),
        (0..100).map(|n| format!("w:q{n}")).collect::<Vec<_>>()
    );
}

#[test]
fn nothing_that_waits_or_that_an_agent_says_of_itself_becomes_markup() {
    let bad = "<img src=x onerror=alert(1)></textarea><script>x</script>";
    let prompts = json!([{"id": bad, "text": bad, "held": bad, "attachments": [
        {"type": "resource", "uri": bad, "name": bad, "mime": bad}
    ]}]);
    let method = |command: Option<&str>| LoginMethod {
        id: bad.to_owned(),
        name: bad.to_owned(),
        description: Some(bad.to_owned()),
        command: command.map(str::to_owned),
    };
    let login = Login { said: bad.to_owned(), methods: vec![method(None), method(Some(bad))] };
    let choices = vec![Choice { id: bad.to_owned(), name: bad.to_owned(), description: None }];
    let modes = Some(Selection { current: bad.to_owned(), choices });
    let offers = SessionOffers { modes, ..SessionOffers::default() };
    for agent in [
        AgentState::Starting { since: 0, says: Some(bad.to_owned()) },
        AgentState::Failed { reason: format!("{bad}: it wrote last:\n{bad}") },
        AgentState::NeedsLogin(login),
    ] {
        let live = LiveState { agent, offers: offers.clone(), ..LiveState::default() };
        let html = page_live(&waiting(&prompts), &live).html();
        // A field and its end, and no more of either.
        assert_eq!(html.matches("</textarea>").count(), 2, "{html}");
        for markup in ["<img", "<script"] {
            assert!(!html.contains(markup), "{markup}: {html}");
        }
    }
}

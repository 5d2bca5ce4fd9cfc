use super::block::{Block, Content};
use super::samples::{document, everything, find, over, page, page_at, page_live, patched, session};
use pleat_transcript::document::Window;
use pleat_transcript::ids::MessageId;
use serde_json::{Value, json};
use std::collections::HashSet;

/// The HTML of the rows, a tag on each line.
fn rows(page: &Block) -> String {
    find(page, "rows").unwrap().html().replace("><", ">\n<")
}

fn keys(block: &Block, out: &mut Vec<String>) {
    out.push(block.key().to_owned());
    if let Content::Children(children) = block.content() {
        for child in children {
            keys(child, out);
        }
    }
}

#[test]
fn a_prompt_and_a_reply() {
    let document = session(
        false,
        &json!([
            {"id": "m1", "turn": "t1", "role": "user", "text": "Hello <b>there</b>"},
            {"id": "m2", "turn": "t1", "role": "assistant", "state": "complete", "parts": [{"type": "text", "text": "Hi.\n\n```sh\nls\n```"}]}
        ]),
    );
    insta::assert_snapshot!(rows(&page(&document)));
}

#[test]
fn a_live_group_with_a_question() {
    let page = page(&everything());
    insta::assert_snapshot!(find(&page, "a:m8").unwrap().html().replace("><", ">\n<"));
}

#[test]
fn a_group_with_a_failure_and_a_sub_agent() {
    let page = page(&everything());
    insta::assert_snapshot!(find(&page, "a:m4").unwrap().html().replace("><", ">\n<"));
}

#[test]
fn a_plan_and_a_notice() {
    let (live, over) = (page(&everything()), page(&over()));
    let html = |page: &Block, key: &str| find(page, key).unwrap().html().replace("><", ">\n<");
    insta::assert_snapshot!([html(&live, "p:m3"), html(&over, "p:m3"), html(&live, "n:m7")].join("\n\n"));
}

#[test]
fn keys_are_unique() {
    let mut all = Vec::new();
    keys(&page(&everything()), &mut all);
    let unique: HashSet<_> = all.iter().collect();
    assert_eq!(unique.len(), all.len());
}

#[test]
fn options_stand_in_the_agents_order_and_words_wherever_the_question_is() {
    let page = page(&everything());
    for key in ["c:c6/ask:p1", "a:m8/beside/ask:p1"] {
        let html = find(&page, &format!("{key}/form")).unwrap().html();
        let names = ["Yes<", "don&#39;t ask again", "for this session", "No, and tell"];
        let places: Vec<_> =
            names.iter().map(|name| html.find(name).or(html.find(&name.replace("&#39;", "'"))).unwrap()).collect();
        assert!(places.is_sorted(), "{html}");
        assert_eq!(html.matches("<button").count(), 4);
        assert!(html.contains("action=\"/s/s1/permissions/p1\"") && html.contains("value=\"c\""), "{html}");
        assert!(find(&page, &format!("{key}/request")).unwrap().html().contains("rm -rf target/tmp"));
    }
}

#[test]
fn a_streaming_reply_changes_only_its_last_block() {
    let reply = |text: &str| {
        page(&session(
            true,
            &json!([
                {"id": "m1", "turn": "t1", "role": "user", "text": "Go"},
                {"id": "m2", "turn": "t1", "role": "assistant", "state": "streaming", "parts": [{"type": "text", "text": text}]}
            ]),
        ))
    };
    let steps = [reply("One.\n\nTw"), reply("One.\n\nTwo."), reply("One.\n\nTwo.\n\nThree")];
    assert_eq!(patched(&steps[0], &steps[1]), ["=m:m2/0/1"]);
    assert_eq!(patched(&steps[1], &steps[2]), ["+m:m2/0/2"]);
}

#[test]
fn a_growing_group_keeps_its_details_and_its_calls() {
    let group = |calls: &[(&str, &str)], live: bool| {
        let parts: Vec<Value> = calls
            .iter()
            .map(|(id, state)| json!({"type": "call", "call": {"id": id, "name": "Bash", "state": state, "input": {"command": "ls"}}}))
            .collect();
        page(&session(
            live,
            &json!([{"id": "m1", "turn": "t1", "role": "assistant", "state": "complete", "parts": parts}]),
        ))
    };
    let steps = [
        group(&[("c1", "running")], true),
        group(&[("c1", "completed"), ("c2", "running")], true),
        group(&[("c1", "completed"), ("c2", "completed")], false),
    ];
    for (old, new) in [(0, 1), (1, 2)] {
        for change in patched(&steps[old], &steps[new]) {
            let key = change.trim_start_matches(['-', '+', '>', '=', '@']);
            let is_details = find(&steps[new], key).is_some_and(|block| block.tag() == "details");
            assert!(!is_details || change.starts_with('@'), "{change}");
        }
    }
}

#[test]
fn nothing_an_agent_or_a_person_wrote_becomes_markup() {
    let bad = "<img src=x onerror=alert(1)><script>location='//e'</script><b>bold</b>";
    let mut document = session(
        true,
        &json!([
            {"id": "m1", "turn": "t1", "role": "user", "text": bad},
            {"id": "m2", "turn": "t1", "role": "assistant", "state": "complete", "parts": [{"type": "text", "text": bad}, {"type": "thinking", "text": bad}]},
            {"id": bad, "turn": "t1", "role": "plan", "entries": [{"content": bad, "status": bad}]},
            {"id": "m4", "turn": "t1", "role": "assistant", "error": bad, "state": "complete", "parts": [
                {"type": "text", "text": bad},
                {"type": "call", "call": {"id": bad, "name": bad, "server": bad, "title": bad, "state": "awaiting_permission", "feedback": bad,
                    "input": {bad: bad}, "output": [{"type": "diff", "path": bad, "oldText": bad, "newText": "x"}, {"type": "terminal", "output": bad}],
                    "permission": {"request": bad, "state": "open", "options": [{"optionId": bad, "name": bad, "kind": bad}]}}},
                {"type": "call", "call": {"id": "c2", "title": bad, "state": "running"}}
            ]},
            {"id": "m5", "turn": "t1", "role": "notice", "level": "error", "code": bad, "text": bad},
            {"id": "m6", "turn": "t1", "role": "tool", "call": null, "text": bad}
        ]),
    );
    document.session.title = Some(bad.to_owned());
    document.session.agent = Some(bad.to_owned());
    document.session.root = Some(bad.to_owned());
    let page = page(&document).html();
    let call = document.messages.iter().flat_map(super::index::calls_of).next().unwrap();
    let details = super::details::details(&document.session.id, call, super::details::Extent::Full).into_string();
    for html in [page, details] {
        assert!(html.contains("&lt;img src=x onerror=alert(1)&gt;"));
        for markup in ["<img src=x", "<script", "<b>bold"] {
            assert!(!html.contains(markup), "{markup}");
        }
    }
}

#[test]
fn a_page_that_is_not_the_latest_leads_earlier_later_and_back() {
    let messages: Vec<_> = (0..100).map(|n| json!({"id": format!("m{n}"), "role": "user", "text": "x"})).collect();
    let document = session(false, &json!(messages));
    let page = page_at(&document, &Window::At(MessageId::new("m50").unwrap()));
    let link = |key: &str| find(&page, key).unwrap().html();
    assert!(link("earlier").contains("/s/s1?earlier=m30#m:m30"), "{}", link("earlier"));
    assert!(
        link("later").contains("/s/s1?later=m69#m:m69") && link("later").contains("/s/s1#end"),
        "{}",
        link("later")
    );
}

#[test]
fn on_a_phone_or_a_desk_the_hint_gives_way_to_a_question() {
    let hint = |document| find(&page(&document), "composer/hint").unwrap().html();
    assert!(!hint(everything()).contains("at work"));
    let working = session(true, &json!([{"id": "m1", "turn": "t1", "role": "user", "text": "Go"}]));
    assert!(hint(working).contains("at work"));
}

#[test]
fn what_a_program_printed_is_apart_from_the_notice() {
    let text = "Codex ended before it had answered (exit code 1). It wrote last:\nthread <main> panicked\nnote";
    let messages =
        json!([{"id": "m1", "turn": "t1", "role": "notice", "level": "error", "code": "agent_gone", "text": text}]);
    let page = page(&session(false, &messages));
    assert!(find(&page, "n:m1/text").unwrap().html().ends_with("It wrote last:</span></p>"));
    let printed = find(&page, "n:m1/printed").unwrap().html();
    assert!(printed.starts_with("<pre") && printed.ends_with(">thread &lt;main&gt; panicked\nnote</pre>"), "{printed}");
}

#[test]
fn a_large_image_is_shown_by_its_own_address_and_other_media_are_named() {
    let image = |data: Option<&str>, mime: &str| json!({"type": "image", "mime": mime, "data": data});
    let shown = |attachment: &Value| {
        let messages = json!([{"id": "m/1", "turn": "t1", "role": "user", "text": "", "attachments": [attachment]}]);
        find(&page(&session(false, &messages)), "m:m~11/file/0").unwrap().html()
    };
    let small = shown(&image(Some("AQID"), "image/png"));
    assert!(small.contains("src=\"data:image/png;base64,AQID\""), "{small}");
    let large = shown(&image(None, "image/png"));
    assert!(large.contains("src=\"/s/s1/messages/m%2F1/media/0\"") && !large.contains("figcaption"), "{large}");
    let elsewhere = shown(&json!({"type": "image", "mime": "image/png", "uri": "file:///a.png"}));
    assert!(elsewhere.contains("media/0") && elsewhere.contains("image · file:///a.png"), "{elsewhere}");
    for other in [image(None, "image/svg+xml"), json!({"type": "audio", "mime": "image/png"})] {
        let html = shown(&other);
        assert!(!html.contains("<img") && html.contains("figcaption"), "{html}");
    }
}

#[test]
fn an_image_whose_place_is_not_known_is_named() {
    let call = |id: &str| json!({"type": "call", "call": {"id": id, "name": "Task", "state": "completed"}});
    let mut moved = call("c2");
    moved["call"]["parent"] = json!("c1");
    let mut messages = vec![json!({"id": "m0", "role": "assistant", "state": "complete", "parts": [call("c1")]})];
    messages.extend((1..60).map(|n| json!({"id": format!("m{n}"), "role": "user", "text": "x"})));
    let image = json!({"type": "image", "mime": "image/png"});
    messages.push(json!({"id": "last", "role": "assistant", "state": "complete", "parts": [moved, image, call("c3")]}));
    let html = page(&session(false, &json!(messages))).html();
    assert!(html.contains("<figcaption>image · Image · image/png") && !html.contains("<img"), "{html}");
}

#[test]
fn a_session_without_a_title_is_called_by_its_first_prompt_alone() {
    let messages: Vec<_> =
        (0..100).map(|n| json!({"id": format!("m{n}"), "role": "user", "text": format!("p{n}")})).collect();
    let mut document = session(false, &json!(messages));
    document.session.title = None;
    let title = |window: &Window| find(&page_at(&document, window), "head/title").unwrap().html();
    assert!(title(&Window::At(MessageId::new("m3").unwrap())).contains(">p0<"));
    assert!(title(&Window::Latest).contains(">A session without a title<"));
}

#[test]
fn a_plan_is_drawn_with_what_it_says_behind_the_window() {
    let plan = |id: &str, status: &str| json!({"id": id, "turn": "t1", "role": "plan", "entries": [{"content": "Mend it", "status": status}]});
    let mut messages = vec![plan("m0", "pending")];
    messages.extend((1..80).map(|n| json!({"id": format!("m{n}"), "turn": "t1", "role": "user", "text": "x"})));
    messages.push(plan("m80", "completed"));
    let page = page_at(&session(false, &json!(messages)), &Window::At(MessageId::new("m0").unwrap()));
    let html = find(&page, "p:m0").unwrap().html();
    assert!(html.contains("1 of 1 done") && html.contains("✓"), "{html}");
}

/// Writes pages that can be looked at: `target/gallery/*.html`.
#[test]
fn gallery() {
    use pleat_host::{AgentState, LiveState};
    let gallery = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/gallery");
    std::fs::create_dir_all(&gallery).unwrap();
    let waiting = document(&json!({
        "session": {"id": "s1", "title": "Mend it", "waiting": [
            {"id": "q1", "text": "Run the tests"},
            {"id": "q2", "text": "Commit", "held": "The turn before it failed."}
        ]},
        "messages": []
    }));
    let opened = page(&everything()).html().replace("<details ", "<details open ");
    let starting = AgentState::Starting { since: 1_767_607_872_000, says: Some("npm: fetching 3 packages".into()) };
    let failed = AgentState::Failed { reason: "Claude Code ended. It wrote last:\nno key".into() };
    let agent = |agent| LiveState { agent, ..LiveState::default() };
    let pages = [
        ("starting", page_live(&waiting, &agent(starting)).html()),
        ("failed", page_live(&waiting, &agent(failed)).html()),
        ("live", page(&everything()).html()),
        ("open", opened),
        ("over", page(&over()).html()),
        ("front", front()),
    ];
    for (name, html) in pages {
        let style = include_str!("../../assets/pleat.css");
        let html = format!(
            "<!DOCTYPE html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'><style>{style}</style><body>{html}"
        );
        std::fs::write(gallery.join(format!("{name}.html")), html).unwrap();
    }
}

fn front() -> String {
    use pleat_host::{Activity, AgentListing, AgentName, Availability};
    use pleat_store::SessionListing;
    use pleat_transcript::ids::SessionId;
    use pleat_transcript::session::TurnState;
    let agent = |name: &str, title: &str, availability| AgentListing {
        name: AgentName(name.into()),
        title: title.into(),
        description: name.starts_with("demo").then(|| "A recorded conversation with a failure and a question.".into()),
        availability,
    };
    let found = |command: &str| Availability::Found { command: command.into() };
    let missing = |install: &str| Availability::Missing { command: "x".into(), install: Some(install.into()) };
    let agents = [
        agent("claude", "Claude Code", found("claude-agent-acp")),
        agent("demo-tools", "Tool rounds with permissions", found("pleat agent replay tools")),
        agent("demo-plan", "A plan that grows", found("pleat agent replay plan")),
        agent("codex", "Codex", missing("npm install -g @zed-industries/codex-acp")),
        agent("gemini", "Gemini CLI", missing("npm install -g @google/gemini-cli")),
    ];
    let session = |id: &str, title: &str, words: &str, last_turn: TurnState, activity: Activity| {
        let listing = SessionListing {
            id: SessionId::new(id).unwrap(),
            title: Some(title.into()),
            agent: Some("claude".into()),
            root: Some("/home/me/app".into()),
            updated_at: 1_767_607_872_000,
            last_turn: Some(last_turn),
            live: last_turn.is_open(),
            needs_person: activity == Activity::NeedsYou,
            waiting: if activity == Activity::NeedsYou { 2 } else { 0 },
            last_words: Some(words.into()),
        };
        (listing, activity)
    };
    let sessions = [
        session("s1", "Make the tests pass", "Now the whole suite.", TurnState::Running, Activity::NeedsYou),
        session(
            "s2",
            "Explain the build",
            "The build has three steps, of which the second one is cached. Each of them writes into its own folder, so they can run side by side.",
            TurnState::Completed,
            Activity::Idle,
        ),
        session("s3", "Rename the crate", "error: the agent ended", TurnState::Failed, Activity::Failed),
    ];
    let (sessions, agents) = (&sessions, &agents);
    super::front::Front { sessions, is_first: true, goes_on: false, agents, directory: "/home/me/app" }.page().html()
}

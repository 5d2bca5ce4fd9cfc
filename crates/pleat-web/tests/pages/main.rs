//! The pages over a real store: what they read, and what they say.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking, in its helpers too")]

mod agents;
mod counting_store;
mod stage;
mod waiting;

use axum::http::StatusCode;
use serde_json::{Value, json};
use stage::Stage;

/// A session `s`, live in its turn `t` or at rest.
fn session(is_live: bool, messages: &Value) -> Value {
    let state = if is_live { "running" } else { "completed" };
    json!({
        "session": {
            "id": "s", "title": "Long", "live_turn": is_live.then_some("t"), "turns": [{"id": "t", "state": state}]
        },
        "messages": messages
    })
}

fn prompts(numbers: std::ops::Range<usize>) -> Vec<Value> {
    let prompt = |n| json!({"id": format!("m{n}"), "turn": "t", "role": "user", "text": format!("prompt {n}")});
    numbers.map(prompt).collect()
}

fn asking(id: &str, call: &Value) -> Value {
    let mut call = call.clone();
    call["id"] = json!(format!("call-{id}"));
    call["state"] = json!("awaiting_permission");
    call["permission"] = json!({"request": format!("ask-{id}"), "state": "open", "options": [
        {"optionId": "yes", "name": "Yes", "kind": "allow_once"}
    ]});
    json!({"id": id, "turn": "t", "role": "assistant", "state": "streaming", "parts": [{"type": "call", "call": call}]})
}

#[tokio::test]
async fn a_page_of_a_long_session_reads_its_window_alone() {
    let stage = Stage::new().await;
    stage.import(&session(false, &json!(prompts(0..1000))), 1).await;
    for (path, shown, hidden) in [
        ("/s/s", "prompt 999<", "prompt 959<"),
        ("/s/s?at=m500", "prompt 480<", "prompt 520<"),
        ("/s/s?earlier=m480", "prompt 461<", "prompt 501<"),
        ("/s/s?later=m519", "prompt 499<", "prompt 539<"),
    ] {
        let html = stage.page(path).await;
        assert!(html.contains(shown) && !html.contains(hidden), "{path}");
        assert_eq!(stage.store.take_reads(), ["excerpt"], "{path}");
    }
    let html = stage.page("/s/s").await;
    assert!(html.contains("960 more") && html.contains("/s/s?earlier=m960#m:m960"), "the way to earlier ones");
    assert_eq!(stage.get("/s/s?at=nobody").await.status, StatusCode::NOT_FOUND);
    assert_eq!(stage.get("/s/nobody").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn what_is_asked_at_the_end_is_asked_on_an_earlier_page_too() {
    let stage = Stage::new().await;
    let mut messages = prompts(0..100);
    messages.push(asking("last", &json!({"kind": "execute", "input": {"command": "make"}})));
    stage.import(&session(true, &json!(messages)), 1).await;
    let html = stage.page("/s/s?at=m3").await;
    assert!(html.contains("Needs you · Long") && html.contains("action=\"/s/s/permissions/ask-last\""), "{html}");
    assert_eq!(stage.store.take_reads(), ["excerpt"]);
    let html = stage.page("/s/s").await;
    assert!(html.contains("href=\"#c:call-last%2Fask:ask-last\""), "{html}");
    assert_eq!(stage.store.take_reads(), ["excerpt"]);
}

#[tokio::test]
async fn a_large_request_is_told_as_a_preview_and_its_page_shows_all_of_it() {
    let stage = Stage::new().await;
    let command = format!("printf {} && echo the-end", "a".repeat(200 * 1024));
    let diff =
        json!({"type": "diff", "path": "/a.rs", "oldText": "old\n".repeat(30_000), "newText": "new\n".repeat(30_000)});
    let messages = json!([
        asking("m1", &json!({"kind": "execute", "input": {"command": command}})),
        asking("m2", &json!({"kind": "edit", "output": [diff]})),
    ]);
    stage.import(&session(true, &messages), 1).await;
    let html = stage.page("/s/s").await;
    assert_eq!(stage.store.take_reads(), ["excerpt"]);
    assert!(html.contains("This is only the beginning of the request, which has 200 KiB."), "{html}");
    assert!(html.contains("This is only the beginning of what it would do, which has 293 KiB."), "{html}");
    assert!(!html.contains("<ins>") && !html.contains("<del>") && !html.contains("the-end"), "{html}");

    assert!(html.contains("href=\"/s/s/calls/call-m1?full\""), "{html}");
    let whole = stage.page("/s/s/calls/call-m1?full").await;
    assert_eq!(stage.store.take_reads(), ["call"]);
    assert!(whole.contains("&amp;&amp; echo the-end"));
    assert!(stage.page("/s/s/calls/call-m2?full").await.contains("<ins>+new</ins>"));
}

#[tokio::test]
async fn a_large_image_is_served_by_an_address_of_its_own() {
    let stage = Stage::new().await;
    // 96 KiB of 0x4d, 0x34, 0xd3.
    let data = "TTTT".repeat(32 * 1024);
    let image = |mime: &str| json!({"type": "image", "mime": mime, "data": data});
    let messages = json!([
        {"id": "m1", "turn": "t", "role": "user", "text": "Look", "attachments": [image("image/svg+xml"), image("image/png")]},
        {"id": "m2", "turn": "t", "role": "assistant", "state": "complete", "parts": [{"type": "text", "text": "So"}, image("image/webp")]}
    ]);
    stage.import(&session(false, &messages), 1).await;
    let html = stage.page("/s/s").await;
    for (address, mime) in [("/s/s/messages/m1/media/1", "image/png"), ("/s/s/messages/m2/media/1", "image/webp")] {
        assert!(html.contains(&format!("<img src=\"{address}\"")), "{address}: {html}");
        let image = stage.get(address).await;
        assert_eq!((image.status, image.header("content-type")), (StatusCode::OK, mime));
        assert_eq!(image.header("x-content-type-options"), "nosniff");
        assert!(image.header("content-security-policy").contains("default-src 'none'"));
        assert_eq!(image.body, [0x4d, 0x34, 0xd3].repeat(32 * 1024));
        assert_eq!(stage.store.take_reads(), ["media"]);
    }
    assert!(!html.contains("TTTT") && !html.contains("media/0"), "{html}");
    // No SVG, no text, nothing that is not there.
    for path in ["m1/media/0", "m2/media/0", "m1/media/2", "nobody/media/0"] {
        let answer = stage.get(&format!("/s/s/messages/{path}")).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
    }
}

#[tokio::test]
async fn the_list_of_sessions_goes_on_over_pages() {
    let stage = Stage::new().await;
    for n in 0..120_i64 {
        let title = format!("title-{n:03}");
        stage.import(&json!({"session": {"id": format!("s:{n}"), "title": title}, "messages": []}), n).await;
    }
    let titles = |html: &str| html.split("title-").skip(1).map(|rest| rest[..3].parse().unwrap()).collect::<Vec<u32>>();
    let next = |html: &str| {
        let (before, _) = html.split_once("\">Earlier sessions")?;
        Some(before.rsplit_once("href=\"")?.1.to_owned())
    };
    let first = stage.page("/").await;
    assert_eq!(titles(&first), (70..120).rev().collect::<Vec<_>>());
    assert!(!first.contains("Newest sessions") && first.contains("data-stream=\"/events\""));
    assert_eq!(stage.store.take_reads(), ["sessions"]);

    let address = next(&first).expect("a way on");
    let second = stage.page(&address).await;
    assert_eq!(titles(&second), (20..70).rev().collect::<Vec<_>>());
    assert!(
        second.contains("<a href=\"/\">Newest sessions") && second.contains("data-stream=\"/events?after=70:s:70\"")
    );

    let last = stage.page(&next(&second).expect("a way on")).await;
    assert_eq!((titles(&last), next(&last)), ((0..20).rev().collect::<Vec<_>>(), None));
    let behind = stage.page("/?after=0:s:0").await;
    assert!(behind.contains("There are no earlier ones.") && behind.contains("Newest sessions"), "{behind}");
    for after in ["x", "1", "1:", "x:s"] {
        assert_eq!(stage.get(&format!("/?after={after}")).await.status, StatusCode::BAD_REQUEST, "{after}");
    }
}

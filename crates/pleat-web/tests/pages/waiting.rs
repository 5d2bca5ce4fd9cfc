//! Prompts that wait, over the pages' own addresses.

use crate::stage::Stage;
use axum::http::StatusCode;
use serde_json::{Value, json};

/// A session `s` in which two prompts are held.
fn two_held() -> Value {
    let held = |id: &str, text: &str| json!({"id": id, "text": text, "held": "You pressed Stop before it was sent."});
    json!({
        "session": {"id": "s", "title": "Held", "agent": "gone", "waiting": [held("q1", "First"), held("q/2", "Second")]},
        "messages": []
    })
}

#[tokio::test]
async fn a_prompt_that_waits_is_edited_and_removed() {
    let stage = Stage::new().await;
    stage.import(&two_held(), 1).await;
    let html = stage.page("/s/s").await;
    assert!(html.contains("Queued · Held") && html.contains("2 prompts wait"), "{html}");
    assert!(html.contains("action=\"/s/s/waiting/q%2F2/remove\""), "{html}");

    let answer = stage.post("/s/s/waiting/q1", "text=One%0D%0Amore+%3Cb%3E").await;
    assert_eq!((answer.status, answer.header("location")), (StatusCode::SEE_OTHER, "/s/s#end"));
    let html = stage.page("/s/s").await;
    assert!(html.contains(">One\nmore &lt;b&gt;</div>") && !html.contains(">First<"), "{html}");

    assert_eq!(stage.post_by_script("/s/s/waiting/q%2F2/remove", "").await.status, StatusCode::NO_CONTENT);
    assert!(!stage.page("/s/s").await.contains("Second"));
}

#[tokio::test]
async fn what_does_not_wait_any_more_is_told_in_a_sentence_and_what_was_typed_is_given_back() {
    let stage = Stage::new().await;
    stage.import(&two_held(), 1).await;
    stage.post("/s/s/waiting/q1/remove", "").await;
    for path in ["/s/s/waiting/q1", "/s/s/waiting/q1/remove", "/s/s/waiting/q1/send"] {
        let told = stage.post_by_script(path, "text=New+words").await;
        let sentence = "This prompt does not wait any more; it was sent or removed.";
        assert_eq!((told.status, told.html()), (StatusCode::CONFLICT, sentence), "{path}");
        let page = stage.post(path, "text=New+words").await;
        assert_eq!(page.status, StatusCode::CONFLICT, "{path}");
        assert!(page.html().contains(sentence), "{}", page.html());
    }
    let page = stage.post("/s/s/waiting/q1", "text=New+%3Cwords%3E").await;
    let (_, form) = page.html().split_once("<form").unwrap();
    assert!(form.contains("action=\"/s/s/prompt\"") && form.contains("New &lt;words&gt;</textarea>"), "{form}");
    assert_eq!(stage.post("/s/nobody/waiting/q1/remove", "").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_prompt_that_is_held_is_sent_when_a_person_says_so() {
    let stage = Stage::new().await;
    stage.import(&two_held(), 1).await;
    assert_eq!(stage.post("/s/s/waiting/q1/send", "").await.status, StatusCode::SEE_OTHER);
    // Nobody knows its agent any more; so it fails, and the other goes on being held.
    let html = stage.until("/s/s", |html| html.contains("Failed · Held")).await;
    assert!(html.contains("belongs to the agent `gone`, which is not known any more"), "{html}");
    assert!(html.contains("for the reason above") && html.contains("action=\"/s/s/agent/start\""), "{html}");
    assert!(!html.contains("waiting/q1") && html.contains("action=\"/s/s/waiting/q%2F2/send\""), "{html}");
    stage.end().await;
}

#[tokio::test]
async fn the_list_of_sessions_tells_what_waits() {
    let stage = Stage::new().await;
    stage.import(&two_held(), 1).await;
    let html = stage.page("/").await;
    assert!(html.contains("</span> queued</span>") && html.contains("<span>2 prompts wait</span>"), "{html}");
}

/// B15: what is written while a turn runs is queued, shown, and sent in order.
#[tokio::test]
async fn what_is_written_while_a_turn_runs_is_sent_in_order_when_it_is_over() {
    let stage = Stage::with_agent(
        r#"
open_session
repeat 3 {
    hear session/prompt as prompt
    wait_at gate
    text "Done."
    finish prompt
}
listen
"#,
    )
    .await;
    stage.make_gate("gate");
    let page = stage.begin().await;
    let post = async |text: &str, key: &str| {
        let answer = stage.post_by_script(&format!("{page}/prompt"), &format!("text={text}&key={key}")).await;
        assert_eq!(answer.status, StatusCode::NO_CONTENT, "{}", answer.html());
    };
    post("first", "k1").await;
    stage.until(&page, |html| html.contains("Running · first")).await;
    post("second", "k2").await;
    post("third", "k3").await;
    // The same again is the same prompt.
    post("second", "k2").await;
    let html = stage.page(&page).await;
    let (said, waiting) = html.split_once("class=\"queue\"").expect("a queue");
    assert!(said.contains(">first</div>") && html.contains("2 prompts wait"), "{html}");
    assert!(waiting.find(">second</div>") < waiting.find(">third</div>"), "{waiting}");
    // One after the other: a gate that is opened again at once may let the same agent through.
    let mut html = String::new();
    for turn in 1..=3 {
        stage.open_gate("gate").await;
        html = stage.until(&page, |html| html.matches("<p>Done.</p>").count() == turn).await;
    }
    let places: Vec<_> = ["first</div>", "second</div>", "third</div>"].map(|text| html.find(text)).into();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{html}");
    assert!(!html.contains("class=\"queue\""), "{html}");
    stage.end().await;
}

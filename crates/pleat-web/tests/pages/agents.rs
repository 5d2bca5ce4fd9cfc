//! How a session's agent is, and what a person does about it, over the pages' own addresses.

use crate::stage::Stage;
use axum::http::StatusCode;

/// What the page says that it shows, as its event stream does.
fn shown(html: &str) -> Vec<&str> {
    let (_, rest) = html.split_once("data-at=\"").expect("what is shown");
    rest[..rest.find('"').unwrap()].split('.').collect()
}

fn count(number: &str) -> u64 {
    number.parse().unwrap()
}

#[tokio::test]
async fn the_agent_of_a_new_session_is_started_at_once_and_each_step_is_another_page() {
    let stage =
        Stage::with_agent("stderr \"Fetching the agent\\n\"\ninitialize\nwait_at gate\nnew_session\nlisten").await;
    stage.make_gate("gate");
    let page = stage.begin().await;
    let starting = stage.until(&page, |html| html.contains(">Fetching the agent<")).await;
    assert!(starting.contains("<title>Starting · New session · Pleat</title>"), "{starting}");
    assert!(starting.contains("The Player starts… ") && starting.contains("data-since="), "{starting}");
    assert!(stage.page("/").await.contains("</span> starting</span>"));

    stage.open_gate("gate").await;
    let ready = stage.until(&page, |html| !html.contains("The Player starts")).await;
    assert!(ready.contains("<title>New session · Pleat</title>"), "{ready}");
    let (before, after) = (shown(&starting), shown(&ready));
    assert_eq!((before.len(), after.len(), before[0]), (3, 3, after[0]), "an epoch, a revision and a live state");
    assert!(count(before[2]) < count(after[2]), "{before:?} {after:?}");
    stage.end().await;
}

#[tokio::test]
async fn an_agent_that_cannot_be_used_is_told_of_and_started_again() {
    let stage = Stage::with_agent("if $RUN == 1 { stderr \"no licence\\n\"; exit 3 }\nopen_session\nlisten").await;
    let page = stage.begin().await;
    let failed = stage.until(&page, |html| html.contains("Failed · ")).await;
    assert!(failed.contains("The Player ended as soon as it was started, with exit code 3."), "{failed}");
    assert!(failed.contains("<pre class=\"printed\">no licence</pre>"), "{failed}");
    assert!(stage.page("/").await.contains("</span> failed</span>"));
    assert_eq!(stage.post(&format!("{page}/agent/start"), "").await.status, StatusCode::SEE_OTHER);
    stage.until(&page, |html| html.contains("<title>New session · Pleat</title>") && !html.contains("starts…")).await;
    stage.end().await;
}

#[tokio::test]
async fn an_agent_that_wants_a_login_gets_one() {
    let stage = Stage::with_agent(
        r#"
initialize authMethods=[{"id": "key", "name": "An API key", "description": "From its settings"}]
hear session/new as request
refuse request -32000 "Log in first"
authenticate
new_session
listen
"#,
    )
    .await;
    let page = stage.begin().await;
    let card = stage.until(&page, |html| html.contains("wants you to log in")).await;
    assert!(card.contains("Needs you · New session") && card.contains(">From its settings<"), "{card}");
    assert!(card.contains("name=\"method\" value=\"key\">An API key</button>"), "{card}");
    assert!(stage.page("/").await.contains("1 need you · Sessions"));
    let log_in = format!("{page}/agent/login");
    assert_eq!(stage.post_by_script(&log_in, "method=key").await.status, StatusCode::NO_CONTENT);
    stage.until(&page, |html| html.contains("<title>New session · Pleat</title>") && !html.contains("starts…")).await;
    let late = stage.post_by_script(&log_in, "method=key").await;
    assert_eq!(late.status, StatusCode::CONFLICT);
    assert_eq!(late.html(), "The agent does not wait for a login; send a prompt to start it.");
    stage.end().await;
}

/// B11: the second answer is told who was first.
#[tokio::test]
async fn a_second_answer_is_told_what_the_first_was() {
    let stage = Stage::with_agent(
        r#"
open_session
hear session/prompt as prompt
call c1
ask r1 c1 options=[{"optionId": "a", "name": "Once <only>", "kind": "allow_once"}, {"optionId": "d", "name": "No", "kind": "reject_once"}]
hear_answer r1
call_update c1 status=completed
finish prompt
listen
"#,
    )
    .await;
    let page = stage.begin().await;
    stage.post(&format!("{page}/prompt"), "text=Go").await;
    let asking = stage.until(&page, |html| html.contains("/permissions/")).await;
    let (_, address) = asking.split_once("/permissions/").unwrap();
    let address = format!("{page}/permissions/{}", &address[..address.find('"').unwrap()]);
    assert_eq!(stage.post_by_script(&address, "option=a").await.status, StatusCode::NO_CONTENT);

    let sentence = "This request was already answered: you chose “Once <only>”.";
    let told = stage.post_by_script(&address, "option=d").await;
    assert_eq!((told.status, told.html()), (StatusCode::CONFLICT, sentence));
    let shown = stage.post(&address, "option=d").await;
    assert_eq!(shown.status, StatusCode::CONFLICT);
    let html = shown.html();
    assert!(html.contains("<h1>Already answered</h1>") && !html.contains("did not work"), "{html}");
    assert!(html.contains("you chose “Once &lt;only&gt;”."), "{html}");

    let over = stage.until(&page, |html| html.contains("<title>Go · Pleat</title>")).await;
    assert!(over.contains("You chose <q>Once &lt;only&gt;</q>, <time"), "{over}");
    stage.end().await;
}

#[tokio::test]
async fn an_agent_that_does_not_stop_is_ended_by_force() {
    let stage = Stage::with_agent("open_session\nhear session/prompt as prompt\ntext \"On it.\"\nlisten").await;
    let page = stage.begin().await;
    assert!(!stage.page(&page).await.contains("composer/force"));
    stage.post(&format!("{page}/prompt"), "text=Go").await;
    stage.until(&page, |html| html.contains("On it.")).await;
    assert_eq!(stage.post(&format!("{page}/stop"), "").await.status, StatusCode::SEE_OTHER);
    let stopping = stage.page(&page).await;
    assert!(
        stopping.contains("<title>Stopping · Go · Pleat</title>") && stopping.contains(">Stopping…<"),
        "{stopping}"
    );
    assert!(stopping.contains(&format!("action=\"{page}/stop/force\"")), "{stopping}");
    assert!(stage.page("/").await.contains("</span> stopping</span>"));

    assert_eq!(stage.post_by_script(&format!("{page}/stop/force"), "").await.status, StatusCode::NO_CONTENT);
    let stopped = stage.page(&page).await;
    assert!(stopped.contains("</span> stopped</span>") && !stopped.contains("composer/force"), "{stopped}");
    stage.end().await;
}

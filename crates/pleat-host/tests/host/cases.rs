//! Cases of docs/cases.md against child processes with real pipes, those that no other file of these tests has.

use crate::stage::{PATIENCE, Stage, call_states, calls, notice_codes, open_requests, prompts, said, turns};
use pleat_host::{Activity, HostError, StoredActivity};
use pleat_transcript::call::{CallState, PermissionState};
use pleat_transcript::document::Window;
use pleat_transcript::message::Body;
use pleat_transcript::session::TurnState::{Cancelled, Completed, Interrupted, Running};
use std::time::{Duration, Instant};

/// B04: an empty chunk makes no row, and the prompt that waits is sent all the same.
#[tokio::test]
async fn b04_an_empty_chunk_and_a_prompt_that_waits() {
    let stage = Stage::with(
        r#"
open_session
hear session/prompt as prompt
text ""
text "ok"
call c1 status=completed
wait_at gate
finish prompt
hear session/prompt as prompt
text "again"
finish prompt
listen
"#,
    )
    .await;
    stage.make_gate("gate");
    stage.prompt("one").await;
    stage.until(|document| call_states(document) == [CallState::Completed]).await;
    stage.prompt("two").await;
    stage.open_gate("gate").await;
    let document = stage.until_turns(&[Completed, Completed]).await;
    assert_eq!(
        (said(&document).as_str(), prompts(&document), document.messages.len()),
        ("okagain", vec!["one", "two"], 4)
    );
}

/// B07: updates of a call that nobody announced make one card, which a late announcement fills.
#[tokio::test]
async fn b07_updates_without_a_call() {
    let stage = Stage::with(
        r#"
open_session
hear session/prompt as prompt
call_update t9 status=completed output="x"
call_update t9 output="xy"
call t9 title="Find" kind=search
text "done"
finish prompt
listen
"#,
    )
    .await;
    stage.prompt("go").await;
    let document = stage.until_turns(&[Completed]).await;
    let [call] = calls(&document)[..] else { panic!("{:?}", calls(&document)) };
    assert_eq!((call.state, call.title.as_deref()), (CallState::Completed, Some("Find")));
    assert_eq!(call.output[0]["content"]["text"], "xy");
}

/// B08: an id that comes again is another call, in the same turn and in the next one.
#[tokio::test]
async fn b08_ids_that_come_again() {
    let stage = Stage::with(
        r#"
open_session
hear session/prompt as prompt
call "edit:22" status=completed output="one"
call "edit:22" status=completed output="two"
finish prompt
hear session/prompt as prompt
call "edit:22" status=completed output="three"
finish prompt
listen
"#,
    )
    .await;
    stage.prompt("go").await;
    stage.until_turns(&[Completed]).await;
    stage.prompt("again").await;
    let document = stage.until_turns(&[Completed, Completed]).await;
    let outputs: Vec<_> = calls(&document).iter().map(|call| call.output[0]["content"]["text"].clone()).collect();
    assert_eq!(outputs, ["one", "two", "three"]);
}

/// B13: requests of an agent that is gone are expired, and refused for good; nothing reaches another agent.
#[tokio::test]
async fn b13_a_late_answer_runs_nothing() {
    let stage = Stage::with(
        r"
open_session
hear session/prompt as prompt
if $RUN == 1 {
    call c1; call c2; call c3
    ask r1 c1; ask r2 c2; ask r3 c3
    wait_at gate
    exit 0
}
finish prompt
listen
",
    )
    .await;
    stage.make_gate("gate");
    stage.prompt("go").await;
    let asked = stage.until_asked(3).await;
    stage.open_gate("gate").await;
    let document = stage.until_turns(&[Interrupted]).await;
    assert!(open_requests(&document).is_empty());
    let states: Vec<_> = calls(&document).iter().filter_map(|call| call.permission.as_ref()?.state).collect();
    assert_eq!(states, [PermissionState::Expired; 3]);
    let answer = |at: usize| stage.host.answer(&stage.session, &asked[at], "yes");
    assert!(matches!(answer(0).await, Err(HostError::NotOpen)));
    stage.prompt("again").await;
    stage.until_turns(&[Interrupted, Completed]).await;
    assert!(matches!(answer(1).await, Err(HostError::NotOpen)));
    assert!(stage.heard().iter().all(|message| message["result"]["outcome"].is_null()), "an answer reached an agent");
}

/// B19: lines far beyond any buffer are read, and what follows them too; the largest is shown as a preview.
#[tokio::test]
async fn b19_long_lines() {
    let stage = Stage::with(
        r#"
open_session
hear session/prompt as prompt
long_line 65537
long_line 135168
fill huge 8388608
call c1 status=completed output="$huge"
text "the end"
finish prompt
listen
"#,
    )
    .await;
    stage.prompt("go").await;
    let document = stage.until_turns(&[Completed]).await;
    assert!(said(&document).len() > 65537 + 135_168 - 1000 && said(&document).ends_with("the end"));
    assert_eq!(calls(&document)[0].output[0]["content"]["text"].as_str().map(str::len), Some(8_388_608));
    let shown = stage.host.store().excerpt(stage.session.clone(), Window::Latest).await.unwrap();
    let shown: usize = shown
        .excerpt
        .document
        .messages
        .iter()
        .map(|message| match &message.body {
            Body::Assistant(round) => {
                round.calls().map(|call| serde_json::to_string(&call.output).unwrap().len()).sum()
            }
            Body::User(_) | Body::Tool(_) | Body::Plan(_) | Body::Notice(_) => 0,
        })
        .sum();
    assert!(shown < 32 * 1024, "{shown} bytes of the output are shown");
}

/// B20: an agent that writes more to stderr than a pipe holds is not blocked.
#[tokio::test]
async fn b20_a_flood_on_stderr() {
    let stage =
        Stage::with("open_session\nhear session/prompt as prompt\nstderr 65537\nstderr 200000\nfinish prompt\nlisten")
            .await;
    let begun = Instant::now();
    stage.prompt("go").await;
    stage.until_turns(&[Completed]).await;
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
}

/// A peer that never ends its line is cut off by name, and the session goes on with another process.
#[tokio::test]
async fn an_endless_line_is_cut_off() {
    let stage = Stage::with(
        r"
open_session
hear session/prompt as prompt
if $RUN == 1 {
    repeat { stdout 1048576 }
}
finish prompt
listen
",
    )
    .await;
    stage.prompt("go").await;
    let document = stage.until_turns(&[Interrupted]).await;
    let notice = crate::stage::notices(&document)[0];
    assert!(notice.text.contains("without an end") && notice.text.contains("cut off"), "{}", notice.text);
    stage.prompt("again").await;
    stage.until_turns(&[Interrupted, Completed]).await;
}

/// B36: sessions that write, readers of histories and a stranger's long transaction: nothing is lost, nobody sees a lock.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b36_a_database_that_is_busy() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"
open_session
hear session/prompt as prompt
every 5ms until session/cancel { text "$i " }
finish prompt cancelled
listen
"#;
    let agent = crate::stage::scripted(folder.path(), script);
    let name = agent.name.clone();
    let store = crate::stage::store_in(folder.path());
    let first = Stage::start(folder.path(), store, agent, pleat_host::HostSettings::default()).await;
    let session = first.host.new_session(&name, folder.path().to_owned()).await.unwrap();
    let second = Stage::over(first.host.clone(), session, folder.path());
    first.prompt("go").await;
    second.prompt("go").await;
    first.until(|document| said(document).contains("20 ")).await;
    let readers: Vec<_> = (0..3)
        .map(|_| {
            let (store, session) = (first.host.store().clone(), second.session.clone());
            tokio::spawn(async move {
                for _ in 0..200 {
                    store.excerpt(session.clone(), Window::Latest).await.expect("it can be read");
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            })
        })
        .collect();
    let path = folder.path().join("pleat.db");
    let (held, holds) = tokio::sync::oneshot::channel();
    let stranger = tokio::task::spawn_blocking(move || {
        let database = rusqlite::Connection::open(path).unwrap();
        database.busy_timeout(PATIENCE).unwrap();
        database.execute_batch("BEGIN IMMEDIATE").unwrap();
        held.send(()).unwrap();
        std::thread::sleep(Duration::from_secs(3));
        database.execute_batch("COMMIT").unwrap();
    });
    holds.await.expect("the database is held");
    let begun = Instant::now();
    first.stop().await;
    first.until_turns(&[Cancelled]).await;
    assert!(begun.elapsed() < Duration::from_secs(10), "Stop took {:?}", begun.elapsed());
    stranger.await.expect("the stranger had its way");
    for reader in readers {
        reader.await.expect("no reader saw an error");
    }
    second.stop().await;
    for stage in [&first, &second] {
        let document = stage.until_turns(&[Cancelled]).await;
        let numbers: Vec<u32> = said(&document).split_whitespace().map(|word| word.parse().unwrap()).collect();
        assert!(numbers.iter().copied().eq(0..u32::try_from(numbers.len()).unwrap()), "a word is missing: {numbers:?}");
        assert!(notice_codes(&document).is_empty());
    }
    first.host.shut_down().await;
}

/// B57: the gauge is what the agent says it is; a turn's usage stands apart.
#[tokio::test]
async fn b57_gauge_and_usage_are_kept_apart() {
    let stage = Stage::with(
        r#"
open_session
hear session/prompt as prompt
update usage_update used=218000 size=512000
text "ok"
finish prompt end_turn usage={"inputTokens": 1900000, "cachedReadTokens": 1700000, "outputTokens": 100000, "totalTokens": 2000000}
listen
"#,
    )
    .await;
    stage.prompt("go").await;
    let document = stage.until_turns(&[Completed]).await;
    let gauge = document.session.context.expect("a gauge");
    assert_eq!((gauge.used * 100 + gauge.size / 2) / gauge.size, 43);
    assert_eq!(document.session.turns[0].usage.as_ref().expect("usage")["inputTokens"], 1_900_000);
}

/// B58: an error that only reports our own Stop is no failure, and the process stays.
#[tokio::test]
async fn b58_a_cancelled_request_is_no_failure() {
    let stage = Stage::with(
        r#"
open_session
hear session/prompt as prompt
text "at work"
hear session/cancel
refuse prompt -32800 "Request cancelled"
hear session/prompt as prompt
finish prompt
listen
"#,
    )
    .await;
    stage.prompt("go").await;
    stage.until(|document| said(document) == "at work").await;
    stage.stop().await;
    let document = stage.until_turns(&[Cancelled]).await;
    assert!(notice_codes(&document).is_empty());
    stage.prompt("again").await;
    stage.until_turns(&[Cancelled, Completed]).await;
    assert_eq!(stage.pids().len(), 1);
}

/// What a session is at, from the first prompt to Stop, told by the same signal as everything else.
#[tokio::test]
async fn what_a_session_is_at() {
    let stage = Stage::with(
        r#"
wait_at start
open_session
hear session/prompt as prompt
text "at work"
wait_at question
call c1
ask r1 c1
hear session/cancel
wait_at end
finish prompt cancelled
listen
"#,
    )
    .await;
    for gate in ["start", "question", "end"] {
        stage.make_gate(gate);
    }
    let mut seen = Vec::new();
    let mut signals = stage.host.signals(&stage.session);
    stage.prompt("go").await;
    let watch = async {
        loop {
            let (live, _) = stage.host.live(&stage.session);
            let document = stage.document().await;
            let activity =
                Activity::of(StoredActivity::of(&document.session, !open_requests(&document).is_empty()), &live);
            if seen.last() != Some(&activity) {
                seen.push(activity);
                match activity {
                    Activity::Starting => stage.open_gate("start").await,
                    Activity::Running if turns(&document) == [Running] => stage.open_gate("question").await,
                    Activity::NeedsYou => stage.stop().await,
                    Activity::Stopping => stage.open_gate("end").await,
                    Activity::Idle if turns(&document) == [Cancelled] => return,
                    Activity::Idle | Activity::Queued | Activity::Running | Activity::Failed => {}
                }
                continue;
            }
            signals.changed().await.expect("the host lives");
        }
    };
    tokio::time::timeout(PATIENCE, watch).await.expect("an end");
    let expected = [Activity::Starting, Activity::Running, Activity::NeedsYou, Activity::Stopping, Activity::Idle];
    seen.retain(|activity| *activity != Activity::Queued);
    assert_eq!(seen, expected);
}

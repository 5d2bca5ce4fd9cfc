//! What commands print while nobody works it off, is bounded; and makes nobody wait but the command.

use crate::{PATIENCE, Scene, running_in_group, text_of};
use pleat_acp::client::{ClientLimits, TerminalNews};
use serde_json::json;
use std::time::Duration;
use tokio::time::timeout;

const WAITING: usize = 256 * 1024;

/// More than the room and all pipes on the way.
const PRINTED: usize = 4_000_000;

/// Nothing more is expected to come in it.
const NOTHING_COMES: Duration = Duration::from_millis(200);

fn scene() -> Scene {
    Scene::with(ClientLimits { waiting_output_bytes: WAITING, ..ClientLimits::default() })
}

/// Prints much, then says in a file that it has.
fn flood() -> String {
    format!("head -c {PRINTED} /dev/zero | tr '\\0' x; echo >done")
}

/// Takes what comes, and gives nothing back.
async fn take_all(scene: &mut Scene) -> Vec<TerminalNews> {
    let mut taken = Vec::new();
    while let Ok(Some(news)) = timeout(NOTHING_COMES, scene.news.recv()).await {
        taken.push(news);
    }
    taken
}

/// A flood that has been stopped by the room.
async fn stopped(scene: &mut Scene, line: &str) -> (String, Vec<TerminalNews>) {
    let terminal = scene.shell(line).await;
    let mut taken = Vec::new();
    while text_of(&taken).len() < WAITING / 2 {
        taken.push(scene.next_news().await);
    }
    taken.extend(take_all(scene).await);
    let bytes = text_of(&taken).len();
    assert!((WAITING / 2..=WAITING).contains(&bytes), "{bytes}");
    (terminal, taken)
}

#[tokio::test]
async fn the_command_waits_and_goes_on_and_nothing_is_lost() {
    let mut scene = scene();
    let (terminal, taken) = stopped(&mut scene, &flood()).await;
    assert!(!scene.app("done").exists(), "the command waits");
    // Nobody else does.
    let quiet = scene.shell("exit 3").await;
    assert_eq!(scene.exit(&quiet).await["exitCode"], 3);
    scene.write(scene.app("file"), "x").await.unwrap();
    assert!(scene.of("output", &terminal).await.unwrap().get("exitStatus").is_none());

    let mut bytes = text_of(&taken).len();
    drop(taken);
    let mut has_exited = false;
    while !has_exited {
        match scene.next_news().await {
            TerminalNews::Output { text, .. } => bytes += text.len(),
            TerminalNews::Exited { terminal: exited, .. } => has_exited = exited == terminal,
            TerminalNews::Started { .. } | TerminalNews::Ended { .. } => {}
        }
    }
    assert_eq!(bytes, PRINTED);
    assert_eq!(scene.exit(&terminal).await["exitCode"], 0);
    assert!(scene.app("done").exists());
}

#[tokio::test]
async fn kill_and_release_do_not_wait_for_room() {
    for method in ["kill", "release"] {
        let mut scene = scene();
        let (terminal, mut taken) = stopped(&mut scene, &flood()).await;
        let TerminalNews::Started { pid, .. } = taken[0] else { panic!("{:?} is no start", taken[0]) };
        let exit = scene.client.serve("terminal/wait_for_exit", json!({"sessionId": "s", "terminalId": terminal}));
        assert_eq!(scene.of(method, &terminal).await.unwrap(), json!({}));
        assert_eq!(timeout(PATIENCE, exit).await.unwrap().unwrap()["signal"], "SIGTERM");
        // What it printed before its end is told when there is room, and its end after that.
        assert!(!take_all(&mut scene).await.iter().any(|news| matches!(news, TerminalNews::Ended { .. })));
        assert_eq!(running_in_group(pid), 0);
        taken.clear();
        assert_eq!(scene.ended().await, pid);
    }
}

/// One that has exited by itself: the agent hears of it, and the transcript in its time.
#[tokio::test]
async fn an_exit_does_not_wait_for_room() {
    let mut scene = scene();
    // The pipe holds the rest of it.
    let printed = WAITING + 32 * 1024;
    let line = format!("head -c {printed} /dev/zero | tr '\\0' x; exit 7");
    let (terminal, taken) = stopped(&mut scene, &line).await;
    assert_eq!(scene.exit(&terminal).await["exitCode"], 7);
    assert_eq!(scene.of("output", &terminal).await.unwrap()["output"].as_str().map(str::len), Some(printed));
    let mut bytes = text_of(&taken).len();
    assert!(!taken.iter().any(|news| matches!(news, TerminalNews::Exited { .. })));
    drop(taken);
    let rest = scene.news_until(|news| matches!(news, TerminalNews::Exited { .. })).await;
    bytes += text_of(&rest).len();
    assert_eq!(bytes, printed);
}

#[tokio::test]
async fn the_end_of_a_session_waits_for_no_room() {
    let mut scene = scene();
    let (_, taken) = stopped(&mut scene, &flood()).await;
    scene.shell("echo more; sleep 1000").await;
    // Much that is told last of all.
    scene.shell("head -c 1000000 /dev/zero").await;
    timeout(Duration::from_secs(4), scene.client.end()).await.expect("an end before its patience is over");
    let mut pids = Vec::new();
    let mut ended = 0;
    while let Ok(news) = scene.news.try_recv() {
        match news {
            TerminalNews::Started { pid, .. } => pids.push(pid),
            TerminalNews::Ended { .. } => ended += 1,
            TerminalNews::Output { .. } | TerminalNews::Exited { .. } => {}
        }
    }
    assert_eq!((pids.len(), ended), (2, 3));
    assert!(pids.iter().all(|pid| running_in_group(*pid) == 0));
    drop(taken);
}

#[tokio::test]
async fn where_nobody_listens_any_more_nobody_waits() {
    let mut scene = scene();
    let (terminal, _taken) = stopped(&mut scene, &flood()).await;
    scene.news.close();
    while scene.news.recv().await.is_some() {}
    assert_eq!(scene.exit(&terminal).await["exitCode"], 0);
    assert!(scene.app("done").exists());
}

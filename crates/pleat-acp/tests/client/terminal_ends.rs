//! How terminals end, and that nothing is left of them.

use crate::{PATIENCE, Scene, running_in_group};
use pleat_acp::client::TerminalNews;
use serde_json::json;
use std::fs;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// A shell that has started a long sleep, and waits for it.
const SHELL_WITH_SLEEP: &str = "sleep 1000 & echo $!; wait";

#[tokio::test]
async fn kill_ends_the_whole_group_and_the_terminal_stays() {
    let mut scene = Scene::new();
    let terminal = scene.shell(SHELL_WITH_SLEEP).await;
    let sleeper = scene.printed_so_far("\n").await;
    assert_eq!(scene.of("kill", &terminal).await.unwrap(), json!({}));
    assert_eq!(scene.exit(&terminal).await, json!({"exitCode": null, "signal": "SIGTERM"}));
    let pid = scene.ended().await;
    assert_eq!(running_in_group(pid), 0);
    let output = scene.of("output", &terminal).await.unwrap();
    assert_eq!(output["output"], sleeper);
    assert_eq!(output["exitStatus"]["signal"], "SIGTERM");
    assert_eq!(scene.of("kill", &terminal).await.unwrap(), json!({}));
}

#[tokio::test]
async fn what_ignores_sigterm_is_killed() {
    let mut scene = Scene::new();
    let terminal = scene.shell("trap '' TERM; echo ready; while :; do sleep 1000; done").await;
    scene.printed_so_far("ready\n").await;
    let begun = Instant::now();
    scene.of("kill", &terminal).await.unwrap();
    assert_eq!(scene.exit(&terminal).await["signal"], "SIGKILL");
    assert!(begun.elapsed() >= Duration::from_secs(2), "SIGTERM had no time");
    let pid = scene.ended().await;
    assert_eq!(running_in_group(pid), 0);
}

#[tokio::test]
async fn a_child_in_the_background_that_ignores_sigterm_is_killed_too() {
    let mut scene = Scene::new();
    let terminal = scene.shell("(trap '' TERM; while :; do sleep 1000; done) & echo ready").await;
    assert_eq!(scene.printed(&terminal).await, "ready\n");
    scene.of("release", &terminal).await.unwrap();
    let pid = scene.ended().await;
    assert_eq!(running_in_group(pid), 0);
}

#[tokio::test]
async fn a_child_in_the_background_does_not_hold_up_the_exit_and_is_heard() {
    let mut scene = Scene::new();
    let terminal = scene.shell("(while [ ! -e go ]; do sleep 0.01; done; echo late) & echo first; exit 5").await;
    assert_eq!(scene.exit(&terminal).await["exitCode"], 5);
    assert_eq!(scene.of("output", &terminal).await.unwrap()["output"], "first\n");
    let news = scene.news_until(|news| matches!(news, TerminalNews::Exited { .. })).await;
    assert!(!news.iter().any(|news| matches!(news, TerminalNews::Ended { .. })));
    fs::write(scene.app("go"), "").unwrap();
    let news = scene.news_until(|news| matches!(news, TerminalNews::Ended { .. })).await;
    assert_eq!(crate::text_of(&news), "late\n");
    let output = scene.of("output", &terminal).await.unwrap();
    assert_eq!(output["output"], "first\nlate\n");
    assert_eq!(output["exitStatus"]["exitCode"], 5);
}

#[tokio::test]
async fn a_flood_from_the_background_does_not_hold_up_the_exit() {
    let mut scene = Scene::new();
    let terminal = scene.shell("yes & echo first; exit 6").await;
    assert_eq!(scene.exit(&terminal).await["exitCode"], 6);
    scene.of("release", &terminal).await.unwrap();
    let pid = scene.ended().await;
    assert_eq!(running_in_group(pid), 0);
}

#[tokio::test]
async fn release_kills_and_the_terminal_is_unknown() {
    let mut scene = Scene::new();
    let terminal = scene.shell(SHELL_WITH_SLEEP).await;
    scene.printed_so_far("\n").await;
    let params = json!({"sessionId": "s", "terminalId": terminal});
    let wait = scene.client.serve("terminal/wait_for_exit", params);
    assert_eq!(scene.of("release", &terminal).await.unwrap(), json!({}));
    for method in ["output", "wait_for_exit", "kill", "release"] {
        let error = scene.of(method, &terminal).await.expect_err("it is released");
        assert!(error.code == -32002 && error.message.contains(&terminal), "{error}");
    }
    assert_eq!(timeout(PATIENCE, wait).await.unwrap().unwrap()["signal"], "SIGTERM");
    let pid = scene.ended().await;
    assert_eq!(running_in_group(pid), 0);
}

#[tokio::test]
async fn the_end_of_a_session_ends_all_its_terminals() {
    let mut scene = Scene::new();
    let mut pids = Vec::new();
    for line in [SHELL_WITH_SLEEP, "trap '' TERM; echo ready; sleep 1000 & wait", "sleep 1000 & echo gone"] {
        scene.shell(line).await;
        let TerminalNews::Started { pid, .. } = scene.next_news().await else { panic!("it did not start first") };
        pids.push(pid);
        scene.printed_so_far("\n").await;
    }
    assert!(pids.iter().all(|pid| running_in_group(*pid) > 0));
    // One that is being created comes too late, wherever it is.
    let params = json!({"sessionId": "s", "command": "sleep", "args": ["1000"]});
    let late = tokio::spawn(scene.client.serve("terminal/create", params));
    timeout(PATIENCE, scene.client.end()).await.expect("an end in time");
    let _ = late.await.unwrap();
    scene.news.close();
    while let Some(news) = scene.news.recv().await {
        if let TerminalNews::Started { pid, .. } = news {
            pids.push(pid);
        }
    }
    assert!(pids.iter().all(|pid| running_in_group(*pid) == 0));
    let error = scene.create(json!({"command": "true"})).await.expect_err("it has ended");
    assert!(error.message.contains("has ended"), "{error}");
    scene.write(scene.app("file"), "x").await.expect_err("it has ended");
    timeout(PATIENCE, scene.client.end()).await.expect("a second end is none");
}

/// So it can be recognised later, when its background children are all that is left.
#[tokio::test]
async fn the_start_of_a_command_is_told_however_soon_it_exits() {
    let mut scene = Scene::new();
    let start_in_proc = |pid: u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat.rsplit(')').next().unwrap().split_ascii_whitespace().nth(19).unwrap().parse::<u64>().unwrap()
    };
    scene.shell("sleep 1000").await;
    let TerminalNews::Started { pid, start: running, .. } = scene.next_news().await else { panic!("no start") };
    assert_eq!(running, Some(start_in_proc(pid)));
    for _ in 0..20 {
        let terminal = scene.create(json!({"command": "true"})).await.unwrap();
        scene.exit(&terminal).await;
    }
    // Only now are they looked at: all are gone.
    let news = scene.news_until(|news| matches!(news, TerminalNews::Ended { .. })).await;
    let mut starts = news.iter().filter_map(|news| match news {
        TerminalNews::Started { start, pid, .. } => Some((*start, *pid)),
        TerminalNews::Output { .. } | TerminalNews::Exited { .. } | TerminalNews::Ended { .. } => None,
    });
    let (start, pid) = starts.next().expect("a start");
    assert!(start >= running && start.is_some(), "{start:?} after {running:?}");
    assert!(!fs::exists(format!("/proc/{pid}")).unwrap(), "it was not reaped");
}

#[tokio::test]
async fn a_dropped_session_leaves_nothing_behind() {
    let Scene { client, mut news, folder } = Scene::new();
    let params = json!({"sessionId": "s", "command": "/bin/sh", "args": ["-c", SHELL_WITH_SLEEP]});
    let created = timeout(PATIENCE, client.serve("terminal/create", params)).await.unwrap().unwrap();
    let params = json!({"sessionId": "s", "terminalId": created["terminalId"]});
    let wait = client.serve("terminal/wait_for_exit", params);
    drop((client, folder));
    let mut last = None;
    while let Some(news) = timeout(PATIENCE, news.recv()).await.expect("an end in time") {
        last = Some(news);
    }
    let Some(TerminalNews::Ended { pid, .. }) = last else { panic!("{last:?} is no end") };
    assert_eq!(running_in_group(pid), 0);
    assert!(timeout(PATIENCE, wait).await.unwrap().is_ok());
}

#[tokio::test]
async fn nobody_has_to_hear_the_news() {
    let mut scene = Scene::new();
    scene.news.close();
    while scene.news.recv().await.is_some() {}
    let terminal = scene.shell("echo all the same; exit 2").await;
    assert_eq!(scene.printed(&terminal).await, "all the same\n");
    assert_eq!(scene.exit(&terminal).await["exitCode"], 2);
    scene.client.end().await;
}

#[test]
fn a_runtime_that_ends_takes_its_terminals_along() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let pid = runtime.block_on(async {
        let mut scene = Scene::new();
        scene.shell(SHELL_WITH_SLEEP).await;
        let TerminalNews::Started { pid, .. } = scene.next_news().await else { panic!("it did not start first") };
        scene.printed_so_far("\n").await;
        std::mem::forget(scene.client);
        pid
    });
    assert_eq!(running_in_group(pid), 2);
    drop(runtime);
    let begun = Instant::now();
    // SIGKILL was sent; there is no event of ours for its arrival.
    while running_in_group(pid) > 0 && begun.elapsed() < PATIENCE {
        std::thread::yield_now();
    }
    assert_eq!(running_in_group(pid), 0);
}

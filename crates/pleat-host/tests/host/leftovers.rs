//! B21: nothing of an agent is left when its conversation, or Pleat, has ended, however it did.

use crate::stage::{PATIENCE, Stage, registry, runs, scripted, store_in, until_gone};
use pleat_host::{Host, HostSettings};
use std::path::Path;
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt as _, BufReader};

/// A launcher that starts a child which outlives it, and a terminal of the client's that sleeps.
const LAUNCHER: &str = r#"
spawn "sleep 1000"
open_session
hear session/prompt as prompt
request make terminal/create command="/bin/sh" args=["-c", "echo $$$$ >> children; sleep 1000"]
hear_answer make
text "at work"
listen
"#;

const KILLED_HOST: &str = "PLEAT_TEST_LEFT_PROCESSES";
const SEEN: &str = "all of it runs";

/// Every process of it: the agent, what it spawned, and the terminal.
fn all_pids(folder: &Path) -> Vec<u32> {
    let pids = |name| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
    let lines = pids("pids") + &pids("children");
    lines.lines().map(|line| line.trim().parse().expect("a pid")).collect()
}

async fn at_work(folder: &Path) -> Stage {
    let agent = scripted(folder, LAUNCHER);
    let stage = Stage::start(folder, store_in(folder), agent, HostSettings::default()).await;
    stage.prompt("begin").await;
    stage.until(|document| crate::stage::said(document) == "at work").await;
    // The terminal's shell notes itself after it was started.
    let noted = async {
        while all_pids(folder).len() < 3 {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, noted).await.expect("three processes");
    stage
}

#[tokio::test]
async fn b21_a_conversation_that_is_closed_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let stage = at_work(folder.path()).await;
    stage.host.end_agent(&stage.session).await.unwrap();
    for pid in all_pids(folder.path()) {
        until_gone(pid).await;
    }
    stage.until_turns(&[pleat_transcript::session::TurnState::Interrupted]).await;
    stage.host.shut_down().await;
}

#[tokio::test]
async fn b21_a_shutdown_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let stage = at_work(folder.path()).await;
    stage.host.shut_down().await;
    let left: Vec<_> = all_pids(folder.path()).into_iter().filter(|pid| runs(*pid)).collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(stage.host.store().left_processes().await.unwrap().is_empty());
}

/// A stranger with the number of a noted process is left alone: the start times differ.
#[tokio::test]
async fn b21_the_next_start_ends_what_a_hard_kill_left() {
    if let Some(folder) = std::env::var_os(KILLED_HOST) {
        let _stage = at_work(folder.as_ref()).await;
        println!("{SEEN}");
        std::future::pending::<()>().await;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut stranger = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    let mut host = tokio::process::Command::new(std::env::current_exe().expect("our own program"))
        .args(["--exact", "leftovers::b21_the_next_start_ends_what_a_hard_kill_left", "--nocapture"])
        .env(KILLED_HOST, folder.path())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(host.stdout.take().expect("its stdout")).lines();
    let seen = async {
        while let Some(line) = lines.next_line().await.expect("its stdout") {
            if line.contains(SEEN) {
                return;
            }
        }
        panic!("the host ended before it was at work")
    };
    tokio::time::timeout(PATIENCE, seen).await.expect("a host at work");
    host.kill().await.expect("it is killed");

    let pids = all_pids(folder.path());
    assert!(pids.iter().any(|pid| runs(*pid)), "nothing was left to be ended: {pids:?}");
    let store = store_in(folder.path());
    let mut mark = pleat_store::ProcessMark::of(stranger.id()).expect("a mark");
    mark.start += 1;
    store.add_process(mark).await.unwrap();
    store.leave().await.unwrap();
    drop(store);
    let host = Host::start(store_in(folder.path()), registry(scripted(folder.path(), LAUNCHER))).await.unwrap();
    for pid in pids {
        until_gone(pid).await;
    }
    assert!(runs(stranger.id()), "a stranger was ended");
    assert!(host.store().left_processes().await.unwrap().is_empty());
    stranger.kill().unwrap();
    stranger.wait().unwrap();
}

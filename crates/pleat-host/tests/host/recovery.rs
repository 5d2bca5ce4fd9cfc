//! Ends of the host: in order, and by `kill -9`.

use crate::stage::{
    PATIENCE, Stage, call_states, calls, notice_codes, open_requests, pids_in, registry, runs, said, scripted,
    store_in, turns, until_gone,
};
use pleat_host::{Host, HostError, HostSettings, NewPrompt};
use pleat_store::Store;
use pleat_transcript::call::{CallState, PermissionState};
use pleat_transcript::ids::{PermissionId, SessionId};
use pleat_transcript::session::TurnState;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt as _, BufReader};

/// At work until its stdin ends; the second one, after a restart, answers.
const AT_WORK: &str = r#"
open_session
hear session/prompt as prompt
if $RUN == 1 {
    text "I begin"
    call c1 status=in_progress
    call c2
    ask r1 c2
} else {
    finish prompt
}
listen
"#;

/// The folder of the host that is to be killed, for the process that plays it.
const KILLED_HOST: &str = "PLEAT_TEST_KILLED_HOST";

/// What that process prints before the session's id when all is stored that a reader might have seen.
const SEEN: &str = "everything is seen in ";

/// B09, B13: what was running is interrupted, once, and can be neither answered nor taken for running.
#[tokio::test]
async fn a_killed_host_leaves_nothing_running() {
    if let Some(folder) = std::env::var_os(KILLED_HOST) {
        be_the_host_that_is_killed(folder.as_ref()).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let session = kill_a_host_at_work(folder.path()).await;
    let agent = pids_in(folder.path())[0];

    let (host, first) = start_again(folder.path(), &session).await;
    let document = first.document;
    assert_eq!(turns(&document), [TurnState::Interrupted]);
    assert_eq!(document.session.live_turn, None);
    assert_eq!(call_states(&document), [CallState::Interrupted, CallState::Interrupted]);
    assert!(calls(&document).iter().all(|call| call.ended_at.is_some()), "a timer goes on");
    assert_eq!(said(&document), "I begin");
    assert_eq!(notice_codes(&document), ["interrupted"]);
    let permission = calls(&document)[1].permission.clone().unwrap();
    assert_eq!(permission.state, Some(PermissionState::Expired));
    let request: PermissionId = permission.request.unwrap();
    assert!(matches!(host.answer(&session, &request, "yes").await, Err(HostError::NotOpen)));
    assert_eq!(pids_in(folder.path()), [agent], "an answer to nobody started an agent");
    host.shut_down().await;
    drop(host);

    let (host, second) = start_again(folder.path(), &session).await;
    assert_eq!((second.revision, &second.document), (first.revision, &document), "the second start changed something");

    let stage = Stage::over(host, session, folder.path());
    stage.prompt("go on").await;
    let document = stage.until(|document| turns(document).len() == 2 && !turns(document)[1].is_open()).await;
    assert_eq!(turns(&document), [TurnState::Interrupted, TurnState::Completed]);
    assert_eq!(notice_codes(&document)[..2], ["interrupted", "context_lost"]);
    until_gone(agent).await;
}

/// Starts this test again as a process of its own, and kills it as soon as everything is stored.
async fn kill_a_host_at_work(folder: &Path) -> SessionId {
    let mut host = tokio::process::Command::new(std::env::current_exe().expect("our own program"))
        .args(["--exact", "recovery::a_killed_host_leaves_nothing_running", "--nocapture"])
        .env(KILLED_HOST, folder)
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(host.stdout.take().expect("its stdout")).lines();
    let session = tokio::time::timeout(PATIENCE, async {
        while let Some(line) = lines.next_line().await.expect("its stdout") {
            // The test runner may have begun the line.
            if let Some((_, session)) = line.split_once(SEEN) {
                return SessionId::new(session).expect("an id");
            }
        }
        panic!("the host ended before it was at work")
    });
    let session = session.await.expect("a host at work");
    // SIGKILL.
    host.kill().await.expect("it is killed");
    session
}

async fn be_the_host_that_is_killed(folder: &Path) -> ! {
    let agent = scripted(folder, AT_WORK);
    let stage = Stage::start(folder, store_in(folder), agent, HostSettings::default()).await;
    stage.prompt("begin").await;
    stage.until_asked(1).await;
    println!("{SEEN}{}", stage.session);
    std::future::pending().await
}

async fn start_again(folder: &Path, session: &SessionId) -> (Host, pleat_store::StoredDocument) {
    let store: Arc<dyn Store> = store_in(folder);
    let host = Host::start(store.clone(), registry(scripted(folder, AT_WORK))).await.expect("the host starts again");
    let document = store.document(session.clone()).await.expect("the session");
    (host, document)
}

#[tokio::test]
async fn a_host_that_is_shut_down_ends_its_agents() {
    let stage = Stage::with(AT_WORK).await;
    stage.prompt("begin").await;
    stage.until_asked(1).await;
    let pids = stage.pids();
    assert!(pids.len() == 1 && runs(pids[0]));
    stage.host.shut_down().await;
    assert!(!runs(pids[0]), "the agent runs on");
    let document = stage.document().await;
    assert_eq!(turns(&document), [TurnState::Interrupted]);
    assert_eq!(call_states(&document), [CallState::Interrupted, CallState::Interrupted]);
    assert_eq!(notice_codes(&document), ["interrupted"]);
    assert!(open_requests(&document).is_empty());
    let refused = stage.host.prompt(&stage.session, NewPrompt::text("more")).await;
    assert!(matches!(refused, Err(HostError::Stopping)), "{refused:?}");
    // A start after that finds nothing to close.
    let store = stage.host.store().clone();
    let before = store.document(stage.session.clone()).await.unwrap();
    Host::start(store.clone(), registry(crate::stage::agent("sh", &[]))).await.unwrap();
    assert_eq!(store.document(stage.session.clone()).await.unwrap(), before);
}

/// Also while it has not said who it is.
#[tokio::test]
async fn a_host_that_is_shut_down_ends_an_agent_that_starts() {
    let stage = Stage::with("hear\nstdout 'up\\n'\nlisten").await;
    stage.prompt("begin").await;
    stage.host.shut_down().await;
    assert!(stage.pids().into_iter().all(|pid| !runs(pid)));
    // It was not sent, so it waits for the next start.
    let document = stage.document().await;
    assert_eq!((turns(&document).len(), document.session.waiting.len()), (0, 1));
}

/// Whoever drops the last handle ends the agents too.
#[tokio::test]
async fn a_host_that_is_dropped_ends_its_agents() {
    let stage = Stage::with(AT_WORK).await;
    stage.prompt("begin").await;
    stage.until_asked(1).await;
    let (pid, store, session) = (stage.pids()[0], stage.host.store().clone(), stage.session.clone());
    let _folder = stage.close();
    until_gone(pid).await;
    // It was not shut down, so the next start closes what is open.
    Host::start(store.clone(), registry(crate::stage::agent("sh", &[]))).await.unwrap();
    assert_eq!(turns(&store.document(session).await.unwrap().document), [TurnState::Interrupted]);
}

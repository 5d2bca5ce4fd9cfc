//! Processes that a server started, as a later one finds them. Each function tests two stores of one database.

use super::session_id;
use pleat_store::{ProcessMark, Store};
use pleat_transcript::session::Session;
use std::process::{Child, Command, Stdio};

/// A process that goes on until it is killed.
fn start() -> (Child, ProcessMark) {
    let child = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().unwrap();
    let mark = ProcessMark::of(child.id()).unwrap();
    (child, mark)
}

fn end(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// All but their order.
async fn left(store: &dyn Store) -> Vec<ProcessMark> {
    let mut left = store.left_processes().await.unwrap();
    left.sort_by_key(|mark| (mark.pid, mark.start));
    left
}

pub(crate) async fn processes_of_a_server_that_left_are_found(first: &dyn Store, second: &dyn Store) {
    // Where the system tells nothing of processes, there is nothing to note.
    let Some(ours) = ProcessMark::of(std::process::id()) else { return };
    let (child, mark) = start();
    // It may be noted before its server has said anything, and more than once.
    for _ in 0..2 {
        first.add_process(mark.clone()).await.unwrap();
    }
    second.add_process(ours.clone()).await.unwrap();
    // Their servers live.
    assert_eq!((left(first).await, left(second).await), (Vec::new(), Vec::new()));
    first.leave().await.unwrap();
    assert_eq!((left(first).await, left(second).await), (Vec::new(), vec![mark.clone()]));
    assert!(mark.is_running());
    end(child);
    // It stays noted until somebody saw to it.
    assert_eq!(left(second).await, vec![mark.clone()]);
    assert!(!mark.is_running());
    second.remove_process(ProcessMark { start: mark.start + 1, ..mark.clone() }).await.unwrap();
    assert_eq!(left(second).await, vec![mark.clone()]);
    for _ in 0..2 {
        second.remove_process(mark.clone()).await.unwrap();
        assert_eq!(left(second).await, []);
    }
    second.leave().await.unwrap();
    first.beat().await.unwrap();
    assert_eq!(left(first).await, [ours]);
}

/// What another machine left is that machine's to end.
pub(crate) async fn processes_of_another_machine_are_left_alone(first: &dyn Store, second: &dyn Store) {
    let Some(ours) = ProcessMark::of(std::process::id()) else { return };
    let theirs = ProcessMark { machine: "another".to_owned(), ..ours.clone() };
    let huge = ProcessMark { pid: u32::MAX, start: u64::MAX, ..ours.clone() };
    first.create_session(Session::new(session_id("s"))).await.unwrap();
    for mark in [&theirs, &ours, &huge] {
        first.add_process(mark.clone()).await.unwrap();
    }
    first.leave().await.unwrap();
    assert_eq!(left(second).await, [ours, huge]);
}

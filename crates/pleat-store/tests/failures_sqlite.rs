//! Disks that are full, folders that cannot be written or are gone: each is told in a sentence that names the file,
//! nothing is half stored, and once it is put right the same call works.
//!
//! Each is the real thing: a small file system, and a process without root's powers. Where the machine does not allow
//! these, the tests say that they were skipped.

#![allow(clippy::unwrap_used, reason = "this is a test, its helpers too")]

#[allow(dead_code, reason = "not all of it is needed here")]
mod conversation;
mod databases;
mod raw;

use conversation::{AFTER, BEFORE, REASON, assert_closed, heard, message, open_document, session_id, store, user};
use futures::future::join_all;
use pleat_store::sqlite::SqliteStore;
use pleat_store::{Durability, Revision, Store, StoreError};
use pleat_transcript::change::Change;
use pleat_transcript::session::Session;
use raw::Raw;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const FILE_NAME: &str = "pleat.db";

/// Set for the process that runs a test where it can fail: its folder.
const FOLDER: &str = "PLEAT_STORE_TEST_FOLDER";

/// What a shell returns here where the machine does not allow what a test needs.
const NOT_ALLOWED: i32 = 77;

/// Runs one test of this program again, by a shell command that ends with `exec "$@"`.
fn run_again(launcher: &[&str], prepare: &str, test: &str, folder: &Path) {
    let run = Command::new(launcher[0])
        .args(&launcher[1..])
        .args(["sh", "-c", &format!("{prepare} || exit {NOT_ALLOWED}; exec \"$@\"")])
        .arg("sh")
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(FOLDER, folder)
        .output();
    let output = match run {
        Ok(output) => output,
        Err(error) => return eprintln!("SKIPPED: `{}` cannot be run ({error})", launcher[0]),
    };
    let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.code() == Some(NOT_ALLOWED) || complained.starts_with(launcher[0]) {
        return eprintln!("SKIPPED: this machine does not allow it ({})", complained.trim());
    }
    assert!(output.status.success() && said.contains("reached the end"), "{said}\n{complained}");
}

/// Runs one test of this program in a folder that is a file system of 8 MB.
fn run_on_a_small_disk(test: &str, then: &str) {
    let folder = tempfile::tempdir().unwrap();
    let mount = format!("mount -t tmpfs -o size=8m,mode=700 none \"${FOLDER}\"{then}");
    run_again(&["unshare", "--map-root-user", "--mount"], &mount, test, folder.path());
}

/// Runs one test of this program so that the permissions of files count, for root as well.
fn run_without_powers(test: &str, folder: &Path) {
    let powers = "--bounding-set=-dac_override,-dac_read_search,-fowner,-chown";
    // Who is not root has no such powers, and may not give them up either.
    let is_root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
    let launcher: &[&str] = if is_root { &["setpriv", powers] } else { &["env"] };
    run_again(launcher, "true", test, folder);
}

/// The folder, in the process that runs a test where it can fail.
fn given_folder() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

fn said(id: &str, text: &str) -> Vec<Change> {
    vec![Change::InsertMessage(Box::new(message(id, "t", user(text))))]
}

async fn ids(store: &dyn Store, session: &str) -> Vec<String> {
    let document = store.document(session_id(session)).await.unwrap().document;
    document.messages.iter().map(|message| message.id.to_string()).collect()
}

/// A file that takes all the space that there is.
struct Ballast(PathBuf);

impl Ballast {
    fn load(folder: &Path) -> Self {
        let path = folder.join("ballast");
        let mut file = File::create(&path).unwrap();
        for size in [64 * 1024, 512] {
            while file.write_all(&vec![1; size]).is_ok() {}
        }
        Self(path)
    }

    fn unload(self) {
        std::fs::remove_file(self.0).unwrap();
    }
}

/// The error is that of a full disk.
fn assert_full(error: &StoreError, file: &Path) {
    assert_eq!(*error, StoreError::DiskFull { database: file.display().to_string() });
    assert!(error.to_string().contains("no space left"), "{error}");
}

#[test]
fn a_full_disk_is_told_and_loses_nothing() {
    run_on_a_small_disk("on_a_full_disk", "");
}

/// No test of its own: what happens on a small disk.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_a_full_disk() {
    let Some(folder) = given_folder() else { return };
    let file = folder.join(FILE_NAME);
    let all = SqliteStore::open(&file).unwrap();
    store(&all, &open_document("open")).await;
    all.create_session(Session::new(session_id("s"))).await.unwrap();
    let mut signals = all.signals();
    let commit = async |changes: Vec<Change>| all.commit(session_id("s"), changes, BEFORE, Durability::Person).await;
    let ballast = Ballast::load(&folder);
    // What was in the log's file already has space.
    let mut answered = Vec::new();
    let text = "a".repeat(20_000);
    let (refused, error) = loop {
        let id = format!("m{}", answered.len());
        match commit(said(&id, &text)).await {
            Ok(revision) => answered.push((id, revision)),
            Err(error) => break (id, error),
        }
    };
    assert_full(&error, &file);
    let answered_ids: Vec<_> = answered.iter().map(|(id, _)| id.clone()).collect();
    assert_eq!(ids(&all, "s").await, answered_ids);
    for durability in [Durability::Person, Durability::Agent, Durability::Stream] {
        let error = all.commit(session_id("s"), said(&refused, &text), BEFORE, durability).await.unwrap_err();
        assert_full(&error, &file);
    }
    assert_full(&all.interrupt(session_id("open"), REASON.to_owned(), AFTER).await.unwrap_err(), &file);
    assert!(all.document(session_id("open")).await.unwrap().document == open_document("open"));
    ballast.unload();
    let next = Revision(u64::try_from(answered.len()).unwrap() + 2);
    assert_eq!(commit(said(&refused, &text)).await, Ok(next));
    assert!(commit(said(&refused, &text)).await.is_err(), "an id comes once");
    assert!(all.interrupt(session_id("open"), REASON.to_owned(), AFTER).await.unwrap().is_some());
    assert_closed(&all.document(session_id("open")).await.unwrap().document);
    assert_eq!(ids(&all, "s").await, [answered_ids, vec![refused]].concat());
    // Each commit that was answered was signalled, and no other.
    let of_s = heard(&all, &mut signals).await.into_iter().filter(|(id, _)| id == "s").map(|(_, revision)| revision);
    assert_eq!(of_s.filter(|revision| *revision > 1).collect::<Vec<_>>(), (2..=next.0).collect::<Vec<_>>());
    Raw::sqlite(&file).is_consistent().await;
    drop(all);
    let all = SqliteStore::open(&file).unwrap();
    assert_eq!(all.document(session_id("s")).await.unwrap().revision, next);
    println!("reached the end");
}

#[test]
fn what_does_not_fit_on_a_disk_is_refused_whole() {
    run_on_a_small_disk("on_a_disk_that_is_too_small", "");
}

/// No test of its own: what happens on a small disk.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_a_disk_that_is_too_small() {
    let Some(folder) = given_folder() else { return };
    let file = folder.join(FILE_NAME);
    let all = SqliteStore::open(&file).unwrap();
    let sessions: Vec<String> = (0..12).map(|place| format!("s{place}")).collect();
    for id in &sessions {
        all.create_session(Session::new(session_id(id))).await.unwrap();
    }
    // The first runs full when it is committed, the second in its middle: it is more than is held in memory.
    for bytes in [8_500_000, 40_000_000] {
        let changes = [said("small", "small"), said("large", &"a".repeat(bytes)), said("after", "small")].concat();
        let error = all.commit(session_id("s0"), changes, BEFORE, Durability::Person).await.unwrap_err();
        assert_full(&error, &file);
        assert_eq!(ids(&all, "s0").await, [""; 0]);
    }
    // Many at once, which share a commit or do not. None is there without its answer.
    let text = "a".repeat(1_000_000);
    let write = async |id: &String| {
        let changes = [said("first", "small"), said("large", &text)].concat();
        all.commit(session_id(id), changes, BEFORE, Durability::Agent).await
    };
    let mut outcomes = join_all(sessions.iter().map(write)).await;
    let large = all.commit(session_id("s0"), said("too large", &text.repeat(8)), BEFORE, Durability::Agent).await;
    outcomes.push(large);
    let refused: Vec<_> = outcomes.iter().filter_map(|outcome| outcome.as_ref().err()).collect();
    assert!(!refused.is_empty(), "the disk is too large for this test");
    for error in refused {
        assert_full(error, &file);
    }
    for (id, outcome) in sessions.iter().zip(&outcomes) {
        let stored = all.document(session_id(id)).await.unwrap();
        assert_eq!(stored.revision.0, if outcome.is_ok() { 2 } else { 1 });
        assert_eq!(stored.document.messages.len(), if outcome.is_ok() { 2 } else { 0 });
    }
    Raw::sqlite(&file).is_consistent().await;
    println!("reached the end");
}

#[test]
fn a_database_is_not_made_on_a_full_disk() {
    run_on_a_small_disk("on_a_disk_without_space", "");
}

/// No test of its own: what happens on a small disk.
#[tokio::test]
async fn on_a_disk_without_space() {
    let Some(folder) = given_folder() else { return };
    let file = folder.join(FILE_NAME);
    let ballast = Ballast::load(&folder);
    for _ in 0..2 {
        let error = SqliteStore::open(&file).map(drop).unwrap_err();
        assert_full(&error, &file);
    }
    ballast.unload();
    let all = SqliteStore::open(&file).unwrap();
    all.create_session(Session::new(session_id("s"))).await.unwrap();
    drop(all);
    // One that is there can be read when the disk is full, or says that it is.
    let ballast = Ballast::load(&folder);
    match SqliteStore::open(&file) {
        Ok(all) => assert_eq!(ids(&all, "s").await, [""; 0]),
        Err(error) => assert_full(&error, &file),
    }
    ballast.unload();
    assert_eq!(ids(&SqliteStore::open(&file).unwrap(), "s").await, [""; 0]);
    println!("reached the end");
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries.map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap())).collect()
}

/// A folder with a database that was closed well.
async fn with_database() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let all = SqliteStore::open(&folder.path().join(FILE_NAME)).unwrap();
    store(&all, &open_document("open")).await;
    folder
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[tokio::test]
async fn a_folder_that_may_not_be_written_is_named() {
    let (new, old) = (tempfile::tempdir().unwrap(), with_database().await);
    for folder in [new.path(), old.path()] {
        set_mode(folder, 0o500);
        // The lock beside the database is what tells first where the folder has none.
        run_without_powers("where_nothing_may_be_written", folder);
        set_mode(folder, 0o700);
    }
    let old = with_database().await;
    set_mode(&old.path().join(FILE_NAME), 0o400);
    run_without_powers("where_nothing_may_be_written", old.path());
    let new = tempfile::tempdir().unwrap();
    set_mode(new.path(), 0o500);
    run_without_powers("where_no_folder_may_be_made", new.path());
    set_mode(new.path(), 0o700);
}

/// No test of its own: what happens where a folder or a file may not be written.
#[test]
fn where_nothing_may_be_written() {
    let Some(folder) = given_folder() else { return };
    let before = files(&folder);
    let file = folder.join(FILE_NAME);
    let error = SqliteStore::open(&file).map(drop).unwrap_err();
    assert!(matches!(error, StoreError::Unwritable { .. }), "{error}");
    assert!(error.to_string().contains(file.to_str().unwrap()), "{error}");
    let mut after = files(&folder);
    after.retain(|name, content| !(name.ends_with("-opening") && content.is_empty()));
    assert!(after.iter().all(|(name, content)| before.get(name) == Some(content)), "{:?}", after.keys());
    println!("reached the end");
}

/// No test of its own: what happens where the database's folder cannot be made.
#[test]
fn where_no_folder_may_be_made() {
    let Some(folder) = given_folder() else { return };
    let data = folder.join("data");
    let error = SqliteStore::open(&data.join(FILE_NAME)).map(drop).unwrap_err();
    assert!(matches!(error, StoreError::Unwritable { .. }), "{error}");
    assert!(error.to_string().contains(data.to_str().unwrap()), "{error}");
    println!("reached the end");
}

#[test]
fn a_disk_that_may_not_be_written_is_told() {
    run_on_a_small_disk("on_a_read_only_disk", " && mount -o remount,ro \"$PLEAT_STORE_TEST_FOLDER\"");
}

/// No test of its own: what happens on a disk that is mounted for reading.
#[test]
fn on_a_read_only_disk() {
    let Some(folder) = given_folder() else { return };
    let file = folder.join(FILE_NAME);
    let error = SqliteStore::open(&file).map(drop).unwrap_err();
    assert!(matches!(error, StoreError::Unwritable { .. }), "{error}");
    assert!(error.to_string().contains(file.to_str().unwrap()), "{error}");
    assert!(error.to_string().contains("Read-only"), "{error}");
    println!("reached the end");
}

/// What is written into a file that nobody finds any more is lost, so nothing is answered as if it were kept.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_is_removed_takes_no_commits() {
    let folder = tempfile::tempdir().unwrap();
    let (data, aside) = (folder.path().join("data"), folder.path().join("aside"));
    let file = data.join(FILE_NAME);
    let all = SqliteStore::open(&file).unwrap();
    all.create_session(Session::new(session_id("s"))).await.unwrap();
    let mut signals = all.signals();
    let commit = async |id: &str| all.commit(session_id("s"), said(id, "small"), BEFORE, Durability::Person).await;
    assert_eq!(commit("m1").await, Ok(Revision(2)));
    let refused = async |id: &str| {
        let error = commit(id).await.unwrap_err();
        assert!(matches!(error, StoreError::Unwritable { .. }), "{error}");
        assert!(error.to_string().contains(file.to_str().unwrap()), "{error}");
    };
    std::fs::rename(&data, &aside).unwrap();
    refused("m2").await;
    // Another one in its place is not it.
    drop(SqliteStore::open(&file).unwrap());
    refused("m2").await;
    std::fs::remove_dir_all(&data).unwrap();
    std::fs::rename(&aside, &data).unwrap();
    assert_eq!(commit("m2").await, Ok(Revision(3)));
    let of_s = heard(&all, &mut signals).await.into_iter().map(|(_, revision)| revision);
    assert_eq!(of_s.filter(|revision| *revision > 1).collect::<Vec<_>>(), [2, 3]);
    std::fs::remove_dir_all(&data).unwrap();
    refused("m3").await;
    drop(all);
    assert!(!data.exists());
    let anew = SqliteStore::open(&file).unwrap();
    assert_eq!(anew.sessions(None, 1).await.unwrap(), []);
}

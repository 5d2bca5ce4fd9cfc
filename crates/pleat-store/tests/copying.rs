//! Copies and backups hold what their source holds, whatever happens on the way.

#![allow(clippy::unwrap_used, reason = "this is a test, its helpers too")]

#[allow(dead_code, unused_imports, reason = "the suite needs it")]
mod conversation;
mod databases;
mod filled;
#[allow(dead_code, unused_imports, reason = "only what fills a store is needed")]
mod suite;

use databases::TestDatabase;
use filled::{
    IMPORTED, address_of, all, file_in, fill_randomly, filled_database, filled_file, in_file, say, search_finds,
};
use pleat_store::maintenance::{AnyStore, CopyReport, Progress, Step, StoreAddress};
use pleat_store::{Store, StoreError};
use std::path::Path;
use std::time::Duration;
use tokio::sync::Notify;

async fn open(address: &StoreAddress) -> AnyStore {
    AnyStore::open(address).await.unwrap()
}

async fn copy(from: &AnyStore, to: &StoreAddress) -> CopyReport {
    from.copy_to(to, &mut |_| {}).await.unwrap()
}

/// Begins a copy and gives it up after so many steps of progress.
async fn begin_copy(from: &AnyStore, to: &StoreAddress, steps: usize) {
    let enough = Notify::new();
    let mut taken = 0;
    let mut on_progress = |_: Progress| {
        taken += 1;
        if taken == steps {
            enough.notify_one();
        }
    };
    tokio::select! {
        biased;
        () = enough.notified() => {}
        copied = from.copy_to(to, &mut on_progress) => panic!("it was quicker: {copied:?}"),
    }
}

/// A copy is the same, sound, searchable, and goes on.
async fn is_whole(from: &AnyStore, to: &StoreAddress, report: &CopyReport) {
    assert!(report.is_exact(), "{report:#?}");
    for table in &report.tables {
        assert!(table.source.rows > 0, "nothing of {} is tested", table.name);
    }
    let copied = open(to).await;
    assert_eq!(all(copied.store()).await, all(from.store()).await);
    let checked = copied.check(&mut |_| {}).await.unwrap();
    assert_eq!(checked.problems, []);
    for query in ["needle", "picture OR output", "haystack's"] {
        assert_eq!(search_finds(copied.store(), query).await, search_finds(from.store(), query).await, "{query}");
    }
    assert!(search_finds(copied.store(), "needle").await > 0);
}

/// Copies into each destination, the next from the one before; the last must be the first.
async fn copies_are_whole(first: AnyStore, destinations: &[StoreAddress]) {
    let mut from = first;
    for to in destinations {
        let report = copy(&from, to).await;
        is_whole(&from, to, &report).await;
        // Once more: it is there already.
        assert_eq!(copy(&from, to).await, report);
        from = open(to).await;
    }
    say(from.store(), IMPORTED, "new").await;
    from.store()
        .add_agent_session(filled::id(IMPORTED), pleat_transcript::ids::AgentSessionId("third".into()), 3)
        .await
        .unwrap();
    say_first(from.store(), "another").await;
    from.store().send_command(filled::id(IMPORTED), pleat_store::CommandId("three".into()), "{}".into()).await.unwrap();
    assert_eq!(from.check(&mut |_| {}).await.unwrap().problems, []);
}

#[tokio::test]
async fn a_file_is_copied() {
    let folder = tempfile::tempdir().unwrap();
    let source = filled_file(folder.path()).await;
    fill_randomly(source.store()).await;
    copies_are_whole(source, &[file_in(folder.path(), "copy.db").1]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_is_copied_to_a_server_and_back() {
    let Some(database) = TestDatabase::create().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let source = filled_file(folder.path()).await;
    fill_randomly(source.store()).await;
    let before = all(source.store()).await;
    let (back, back_address) = file_in(folder.path(), "back.db");
    let report = copy(&source, &address_of(&database)).await;
    is_whole(&source, &address_of(&database), &report).await;
    copies_are_whole(open(&address_of(&database)).await, std::slice::from_ref(&back_address)).await;
    assert!(back.exists());
    assert_eq!(all(source.store()).await, before, "the source is as it was");
    database.remove().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_s_database_is_copied_to_a_file_and_back() {
    let (Some(first), Some(second)) = (TestDatabase::create().await, TestDatabase::create().await) else { return };
    let folder = tempfile::tempdir().unwrap();
    let source = filled_database(&first).await;
    fill_randomly(source.store()).await;
    copies_are_whole(source, &[file_in(folder.path(), "copy.db").1, address_of(&second)]).await;
    first.remove().await;
    second.remove().await;
}

/// A copy that was given up is opened by nobody, and goes on where it was.
async fn a_copy_goes_on(from: &AnyStore, to: &StoreAddress) {
    for steps in [1, 5, 9] {
        begin_copy(from, to, steps).await;
        let refused = AnyStore::open(to).await.err();
        assert_eq!(refused, Some(StoreError::UnfinishedCopy { database: to.name() }));
    }
    let mut first = None;
    let mut on_progress = |progress: Progress| {
        if let Step::Copying(table) = progress.step {
            first.get_or_insert((table, progress.done));
        }
    };
    let report = from.copy_to(to, &mut on_progress).await.unwrap();
    assert!(first.is_some_and(|(table, _)| table != "session"), "it began anew: {first:?}");
    is_whole(from, to, &report).await;
}

#[tokio::test]
async fn a_copy_of_a_file_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    a_copy_goes_on(&filled_file(folder.path()).await, &file_in(folder.path(), "copy.db").1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_of_a_file_to_a_server_goes_on() {
    let Some(database) = TestDatabase::create().await else { return };
    let folder = tempfile::tempdir().unwrap();
    a_copy_goes_on(&filled_file(folder.path()).await, &address_of(&database)).await;
    database.remove().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_of_a_server_s_database_goes_on() {
    let Some(database) = TestDatabase::create().await else { return };
    let folder = tempfile::tempdir().unwrap();
    a_copy_goes_on(&filled_database(&database).await, &file_in(folder.path(), "copy.db").1).await;
    database.remove().await;
}

/// Set for the process that is killed: the folder of its databases.
const VICTIM_FOLDER: &str = "PLEAT_STORE_TEST_COPY_VICTIM";

/// No test of its own: the process that [`a_copy_that_was_killed_goes_on`] kills.
#[tokio::test]
async fn victim() {
    let Some(folder) = std::env::var_os(VICTIM_FOLDER) else { return };
    let folder = Path::new(&folder);
    let source = open(&file_in(folder, "filled.db").1).await;
    let mut on_progress = |progress: Progress| {
        println!("copied {progress:?}");
        std::thread::sleep(Duration::from_millis(5));
    };
    source.copy_to(&file_in(folder, "copy.db").1, &mut on_progress).await.unwrap();
}

#[tokio::test]
async fn a_copy_that_was_killed_goes_on() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};
    let folder = tempfile::tempdir().unwrap();
    let source = filled_file(folder.path()).await;
    let to = file_in(folder.path(), "copy.db").1;
    for steps in [2, 4, 6] {
        let mut victim = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "victim", "--nocapture"])
            .env(VICTIM_FOLDER, folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(victim.stdout.take().unwrap()).lines();
        let told = lines.map(Result::unwrap).filter(|line| line.contains("copied ")).take(steps).count();
        victim.kill().unwrap();
        assert!(!victim.wait().unwrap().success());
        assert_eq!(told, steps);
        assert!(matches!(AnyStore::open(&to).await.err(), Some(StoreError::UnfinishedCopy { .. })));
    }
    let report = copy(&source, &to).await;
    is_whole(&source, &to, &report).await;
}

/// What the destination holds is never lost, nor mixed with what is copied.
async fn other_data_are_left_alone(to: &StoreAddress, folder: &Path) {
    let source = filled_file(folder).await;
    let other = open(&file_in(folder, "other.db").1).await;
    say_first(other.store(), "other").await;
    begin_copy(&source, to, 3).await;
    let refused = other.copy_to(to, &mut |_| {}).await.unwrap_err();
    assert_eq!(refused, StoreError::OtherCopy { database: to.name() });
    copy(&source, to).await;
    let copied = open(to).await;
    let before = all(copied.store()).await;
    let refused = other.copy_to(to, &mut |_| {}).await.unwrap_err();
    assert_eq!(refused, StoreError::NotEmpty { database: to.name() });
    say(copied.store(), IMPORTED, "here").await;
    let refused = source.copy_to(to, &mut |_| {}).await.unwrap_err();
    assert_eq!(refused, StoreError::NotEmpty { database: to.name() });
    assert_eq!(all(copied.store()).await.len(), before.len());
}

async fn say_first(store: &dyn Store, session: &str) {
    store.create_session(pleat_transcript::session::Session::new(filled::id(session))).await.unwrap();
    say(store, session, "first").await;
}

#[tokio::test]
async fn other_data_in_a_file_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    other_data_are_left_alone(&file_in(folder.path(), "copy.db").1, folder.path()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_data_on_a_server_are_left_alone() {
    let Some(database) = TestDatabase::create().await else { return };
    let folder = tempfile::tempdir().unwrap();
    other_data_are_left_alone(&address_of(&database), folder.path()).await;
    database.remove().await;
}

#[tokio::test]
async fn a_copy_that_differs_stays_marked() {
    let folder = tempfile::tempdir().unwrap();
    let source = filled_file(folder.path()).await;
    let (file, to) = file_in(folder.path(), "copy.db");
    begin_copy(&source, &to, 6).await;
    in_file(&file, "UPDATE turn SET stop_reason = 'odd'");
    let report = copy(&source, &to).await;
    let differing: Vec<_> = report.tables.iter().filter(|table| !table.is_same()).map(|table| table.name).collect();
    assert_eq!(differing, ["turn"]);
    assert!(matches!(AnyStore::open(&to).await.err(), Some(StoreError::UnfinishedCopy { .. })));
}

#[tokio::test]
async fn a_source_that_changed_is_not_mixed_with_what_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let source = filled_file(folder.path()).await;
    let to = file_in(folder.path(), "copy.db").1;
    begin_copy(&source, &to, 3).await;
    say(source.store(), IMPORTED, "meanwhile").await;
    let refused = source.copy_to(&to, &mut |_| {}).await.unwrap_err();
    assert_eq!(refused, StoreError::OtherCopy { database: to.name() });
}

/// A backup is one moment of a store that others go on writing.
async fn is_backed_up(store: &AnyStore, folder: &Path) {
    let file = folder.join("backup ü'.db");
    let stop = Notify::new();
    let write = async {
        let mut count = 0_u64;
        loop {
            say(store.store(), IMPORTED, &format!("while {count}")).await;
            count += 1;
            tokio::select! {
                biased;
                () = stop.notified() => return count,
                () = tokio::task::yield_now() => {}
            }
        }
    };
    let making = async {
        let bytes = store.back_up(&file, &mut |_| {}).await.unwrap();
        stop.notify_one();
        bytes
    };
    let before = all(store.store()).await.len();
    let (bytes, written) = tokio::join!(making, write);
    assert!(written > 0);
    assert_eq!(bytes, file.metadata().unwrap().len());
    #[cfg(unix)]
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&file.metadata().unwrap().permissions()) & 0o777, 0o600);

    let kept = std::fs::read(&file).unwrap();
    let refused = store.back_up(&file, &mut |_| {}).await.unwrap_err();
    assert_eq!(refused, StoreError::FileExists { file: file.display().to_string() });
    assert_eq!(std::fs::read(&file).unwrap(), kept);
    let names: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!names.iter().any(|name| name.to_string_lossy().starts_with(".pleat")), "{names:?}");

    let backup = open(&StoreAddress::Sqlite(file)).await;
    assert_eq!(backup.check(&mut |_| {}).await.unwrap().problems, []);
    assert_eq!(all(backup.store()).await.len(), before);
    assert!(search_finds(backup.store(), "needle").await > 0);
    let imported = filled::id(IMPORTED);
    let (newest, then) = tokio::join!(store.store().document(imported.clone()), backup.store().document(imported));
    let (newest, then) = (newest.unwrap(), then.unwrap());
    assert!(then.revision < newest.revision);
    let count = then.document.messages.len();
    assert_eq!(then.document.messages, newest.document.messages[..count], "it is how the session was at one moment");
    assert_eq!(newest.revision.0 - then.revision.0, (newest.document.messages.len() - count) as u64);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_is_backed_up() {
    let folder = tempfile::tempdir().unwrap();
    is_backed_up(&filled_file(folder.path()).await, folder.path()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_s_database_is_backed_up() {
    let Some(database) = TestDatabase::create().await else { return };
    let folder = tempfile::tempdir().unwrap();
    is_backed_up(&filled_database(&database).await, folder.path()).await;
    database.remove().await;
}

#[tokio::test]
async fn a_backup_without_a_place_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (_, address) = file_in(folder.path(), "small.db");
    let store = open(&address).await;
    let error = store.back_up(&folder.path().join("missing").join("b.db"), &mut |_| {}).await.unwrap_err();
    assert!(matches!(error, StoreError::Unwritable { .. }), "{error}");
}

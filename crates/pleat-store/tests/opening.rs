//! Files that cannot be opened are named, and left as they are.

#![allow(clippy::unwrap_used, reason = "this is a test, its helpers too")]

use pleat_store::sqlite::SqliteStore;
use pleat_store::{Store, StoreError};
use pleat_transcript::ids::SessionId;
use pleat_transcript::session::Session;
use std::collections::BTreeMap;
use std::path::Path;

const FILE_NAME: &str = "pleat.db";

/// Makes a database one of a version that is not known yet.
const NEWER: &str = "UPDATE refinery_schema_history SET version = 9999 \
     WHERE version = (SELECT max(version) FROM refinery_schema_history)";

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries.map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap())).collect()
}

/// Tries to open, and checks that the folder is as before and that the sentence names the file.
fn refused(folder: &Path) -> StoreError {
    let before = files(folder);
    let error = SqliteStore::open(&folder.join(FILE_NAME)).map(drop).unwrap_err();
    assert!(before == files(folder), "{error}: {:?}", files(folder).keys());
    assert!(error.to_string().contains(folder.join(FILE_NAME).to_str().unwrap()), "{error}");
    error
}

/// A folder with a database that was closed well.
async fn with_database() -> tempfile::TempDir {
    // With what has a meaning in a URI.
    let folder = tempfile::TempDir::with_prefix("pleat ü%41?#&").unwrap();
    let store = SqliteStore::open(&folder.path().join(FILE_NAME)).unwrap();
    let session = Session { title: Some("t".repeat(100_000)), ..Session::new(SessionId::new("s").unwrap()) };
    store.create_session(session).await.unwrap();
    folder
}

#[tokio::test]
async fn a_newer_database_is_refused() {
    let folder = with_database().await;
    let database = rusqlite::Connection::open(folder.path().join(FILE_NAME)).unwrap();
    database.execute(NEWER, []).unwrap();
    drop(database);
    let error = refused(folder.path());
    assert!(matches!(error, StoreError::NewerVersion { found: 9999, known: 3, .. }), "{error}");
}

#[tokio::test]
async fn a_newer_database_that_was_not_closed_is_refused() {
    let folder = with_database().await;
    let database = rusqlite::Connection::open(folder.path().join(FILE_NAME)).unwrap();
    database.execute(NEWER, []).unwrap();
    // The newer version stands in the log alone.
    let copy = tempfile::tempdir().unwrap();
    for (name, content) in files(folder.path()) {
        if !name.ends_with("-shm") {
            std::fs::write(copy.path().join(name), content).unwrap();
        }
    }
    let before = files(copy.path());
    let error = SqliteStore::open(&copy.path().join(FILE_NAME)).map(drop).unwrap_err();
    assert!(matches!(error, StoreError::NewerVersion { found: 9999, .. }), "{error}");
    let after = files(copy.path());
    assert!(before.iter().all(|(name, content)| after[name] == *content));
}

#[test]
fn a_file_of_something_else_is_refused() {
    for garbage in [&b"x"[..], b"SQLite format", &[7; 10_000]] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE_NAME), garbage).unwrap();
        let error = refused(folder.path());
        assert!(matches!(error, StoreError::NotADatabase { .. }), "{error}");
    }
}

#[test]
fn the_database_of_another_program_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let database = rusqlite::Connection::open(folder.path().join(FILE_NAME)).unwrap();
    database.execute("CREATE TABLE theirs (x)", []).unwrap();
    drop(database);
    let error = refused(folder.path());
    assert!(matches!(error, StoreError::NotADatabase { .. }), "{error}");
}

#[tokio::test]
async fn a_damaged_database_is_told() {
    let folder = with_database().await;
    let file = folder.path().join(FILE_NAME);
    let mut content = std::fs::read(&file).unwrap();
    for page in content.chunks_mut(4096).skip(1) {
        page[..8].fill(0xff);
    }
    std::fs::write(&file, &content).unwrap();
    let error = match SqliteStore::open(&folder.path().join(FILE_NAME)) {
        Ok(store) => store.document(SessionId::new("s").unwrap()).await.unwrap_err(),
        Err(error) => error,
    };
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    assert!(error.to_string().contains(file.to_str().unwrap()));
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let parent = tempfile::tempdir().unwrap();
    let file = parent.path().join("file");
    std::fs::write(&file, "text").unwrap();
    for folder in [file.join("data"), file.clone()] {
        let error = SqliteStore::open(&folder.join(FILE_NAME)).map(drop).unwrap_err();
        assert!(matches!(error, StoreError::Unwritable { .. }), "{error}");
        assert!(error.to_string().contains(folder.to_str().unwrap()), "{error}");
    }
    assert_eq!(std::fs::read(&file).unwrap(), b"text");
}

#[test]
fn a_folder_in_the_database_s_place_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(FILE_NAME);
    std::fs::create_dir(&file).unwrap();
    let error = SqliteStore::open(&folder.path().join(FILE_NAME)).map(drop).unwrap_err();
    assert!(matches!(error, StoreError::NotADatabase { .. }), "{error}");
    assert!(error.to_string().contains(file.to_str().unwrap()), "{error}");
}

#[test]
fn an_empty_file_becomes_a_database() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(FILE_NAME), "").unwrap();
    SqliteStore::open(&folder.path().join(FILE_NAME)).unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn a_new_database_is_its_owner_s_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("new").join("data");
    let store = SqliteStore::open(&data.join(FILE_NAME)).unwrap();
    store.create_session(Session::new(SessionId::new("s").unwrap())).await.unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o077;
    assert_eq!(mode(&data), 0);
    for name in files(&data).keys().filter(|name| !name.ends_with("-opening")) {
        assert_eq!(mode(&data.join(name)), 0, "{name}");
    }
}

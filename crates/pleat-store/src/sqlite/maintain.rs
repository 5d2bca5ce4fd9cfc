//! Maintenance of the file.

use super::SqliteStore;
use super::connection::SqliteConnection;
use super::failure::{into_store_error, name, sqlite_error};
use super::open::{create, log_of, open_beside, open_reader, unwritable};
use crate::failure::Failure;
use crate::maintenance::{Maintained, Problem, ProblemKind};
use crate::{StoreError, StoreFuture};
use futures::future::{BoxFuture, ready};
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

impl Maintained for SqliteStore {
    fn name(&self) -> String {
        name(&self.file)
    }

    fn told(&self, failure: Failure) -> StoreError {
        into_store_error(failure, &self.file)
    }

    fn snapshot(&self) -> StoreFuture<'_, SqliteConnection> {
        Box::pin(async move {
            let connection = open_reader(&self.file)?;
            connection.execute_batch("BEGIN").map_err(|error| sqlite_error(&error, &self.file))?;
            Ok(SqliteConnection::new(connection))
        })
    }

    fn end_snapshot(&self, snapshot: SqliteConnection) -> BoxFuture<'_, ()> {
        drop(snapshot);
        Box::pin(ready(()))
    }

    fn bytes(&self) -> StoreFuture<'_, u64> {
        let size = |file: &Path| match file.metadata() {
            Ok(metadata) => Ok(metadata.len()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(0),
            Err(error) => Err(unwritable(file, &error)),
        };
        Box::pin(async move { Ok(size(&self.file)? + size(&log_of(&self.file))?) })
    }

    fn verify(&self) -> StoreFuture<'_, (Vec<Problem>, Vec<String>)> {
        self.apart(|connection| Ok((problems(connection)?, Vec::new())))
    }

    fn compact(&self) -> StoreFuture<'_, ()> {
        self.apart(|connection| {
            connection.execute_batch("INSERT INTO search_text (search_text) VALUES ('optimize'); VACUUM;")?;
            // Whoever reads meanwhile only keeps the log from becoming empty.
            connection.query_row("PRAGMA wal_checkpoint (TRUNCATE)", [], |_| Ok(()))
        })
    }
}

impl SqliteStore {
    /// Does work on a connection of its own, on a thread that may be kept.
    fn apart<R: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<R> + Send + 'static,
    ) -> StoreFuture<'_, R> {
        let file = self.file.clone();
        let done = tokio::task::spawn_blocking(move || {
            let connection = open_beside(&file)?;
            work(&connection).map_err(|error| sqlite_error(&error, &file))
        });
        Box::pin(async move { done.await.map_err(|_| StoreError::Closed)? })
    }
}

/// What SQLite itself finds.
fn problems(connection: &Connection) -> rusqlite::Result<Vec<Problem>> {
    let mut problems = Vec::new();
    let mut check = connection.prepare("PRAGMA integrity_check")?;
    for line in check.query_map([], |row| row.get::<_, String>(0))? {
        let place = line?;
        if place != "ok" {
            problems.push(Problem { session: None, kind: ProblemKind::Damage, count: 1, place });
        }
    }
    let mut lost: BTreeMap<(String, String), u64> = BTreeMap::new();
    let mut check = connection.prepare("PRAGMA foreign_key_check")?;
    for row in check.query_map([], |row| Ok((row.get(0)?, row.get(2)?)))? {
        *lost.entry(row?).or_default() += 1;
    }
    problems.extend(lost.into_iter().map(|((child, parent), count)| {
        let place = format!("rows of `{child}` refer to rows of `{parent}` that are not there");
        Problem { session: None, kind: ProblemKind::Reference, count, place }
    }));
    Ok(problems)
}

/// Writes what a database file holds at one moment to a new file.
pub(crate) fn snapshot_into(file: &Path, to: &Path) -> Result<(), StoreError> {
    // SQLite takes an empty file; so it is its owner's alone from the start.
    create(to).map_err(|error| unwritable(to, &error))?;
    let connection = open_beside(file)?;
    let to = to.to_str().ok_or_else(|| StoreError::Unwritable {
        database: name(to),
        reason: "its name is no Unicode text".to_owned(),
    })?;
    connection.execute("VACUUM INTO ?1", [to]).map(drop).map_err(|error| sqlite_error(&error, file))
}

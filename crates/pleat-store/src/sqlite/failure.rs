//! What can go wrong inside, and how it is told outside.

use crate::StoreError;
use rusqlite::ErrorCode;
use std::path::Path;

/// Why a piece of work on a connection did not succeed.
#[derive(Debug)]
pub(super) enum Failure {
    /// In the store's own words already.
    Store(StoreError),
    /// The database refused.
    Sqlite(rusqlite::Error),
    /// A stored value is none that we write.
    Unreadable(String),
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::Unreadable(error.to_string())
    }
}

impl Failure {
    /// The failure as the caller of the store is told.
    pub(super) fn into_store_error(self, file: &Path) -> StoreError {
        match self {
            Self::Store(error) => error,
            Self::Sqlite(error) => sqlite_error(&error, file),
            Self::Unreadable(reason) => StoreError::Damaged { path: file.to_owned(), reason },
        }
    }
}

/// The database's error as the caller of the store is told.
pub(super) fn sqlite_error(error: &rusqlite::Error, file: &Path) -> StoreError {
    let path = file.to_owned();
    let reason = error.to_string();
    let Some(code) = error.sqlite_error_code() else {
        return StoreError::Failed { path, reason };
    };
    // SQLite's codes are an open list: what is not told apart is told in its own words.
    if code == ErrorCode::NotADatabase {
        StoreError::NotADatabase { path, reason: "it has another format".to_owned() }
    } else if code == ErrorCode::DatabaseCorrupt {
        StoreError::Damaged { path, reason }
    } else if code == ErrorCode::DatabaseBusy || code == ErrorCode::DatabaseLocked {
        StoreError::Locked { path }
    } else if code == ErrorCode::DiskFull {
        StoreError::DiskFull { path }
    } else if matches!(code, ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) {
        StoreError::Unwritable { path, reason }
    } else {
        StoreError::Failed { path, reason }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;
    use std::time::Duration;

    #[test]
    fn a_lock_that_another_holds_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.db");
        let [holder, waiter] = [0, 1].map(|_| Connection::open(&file).unwrap());
        waiter.busy_timeout(Duration::ZERO).unwrap();
        holder.execute_batch("BEGIN IMMEDIATE").unwrap();
        let error = waiter.execute_batch("BEGIN IMMEDIATE").unwrap_err();
        assert_eq!(sqlite_error(&error, &file), StoreError::Locked { path: file });
    }
}

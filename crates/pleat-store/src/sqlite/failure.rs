//! What can go wrong with the file, and how it is told outside.

use crate::StoreError;
use crate::failure::Failure;
use rusqlite::ErrorCode;
use std::path::Path;

/// The failure as the caller of the store is told.
pub(super) fn into_store_error(failure: Failure, file: &Path) -> StoreError {
    match failure {
        Failure::Store(error) => error,
        Failure::Sqlite(error) => sqlite_error(&error, file),
        Failure::Postgres(error) => StoreError::Failed { database: name(file), reason: error.to_string() },
        Failure::Unreachable(reason) => StoreError::Unreachable { database: name(file), reason },
        Failure::Unreadable(reason) => StoreError::Damaged { database: name(file), reason },
    }
}

/// The database's name in errors.
pub(super) fn name(file: &Path) -> String {
    file.display().to_string()
}

/// The database's error as the caller of the store is told.
pub(super) fn sqlite_error(error: &rusqlite::Error, file: &Path) -> StoreError {
    let database = name(file);
    let reason = error.to_string();
    let Some(code) = error.sqlite_error_code() else {
        return StoreError::Failed { database, reason };
    };
    // SQLite's codes are an open list: what is not told apart is told in its own words.
    if code == ErrorCode::NotADatabase {
        StoreError::NotADatabase { database, reason: "it has another format".to_owned() }
    } else if code == ErrorCode::DatabaseCorrupt {
        StoreError::Damaged { database, reason }
    } else if code == ErrorCode::DatabaseBusy || code == ErrorCode::DatabaseLocked {
        StoreError::Locked { database }
    } else if code == ErrorCode::DiskFull || has_no_space_for_shared_memory(error) {
        StoreError::DiskFull { database }
    } else if matches!(code, ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) {
        StoreError::Unwritable { database, reason }
    } else {
        StoreError::Failed { database, reason }
    }
}

/// SQLite calls it an I/O error where there is no space for the file through which connections share the log.
fn has_no_space_for_shared_memory(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|error| error.extended_code == rusqlite::ffi::SQLITE_IOERR_SHMSIZE)
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
        assert_eq!(sqlite_error(&error, &file), StoreError::Locked { database: name(&file) });
    }
}

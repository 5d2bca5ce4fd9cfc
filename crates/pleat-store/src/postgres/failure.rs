//! What can go wrong with the server, and how it is told outside.

use crate::StoreError;
use crate::failure::Failure;
use std::error::Error;
use tokio_postgres::error::SqlState;

/// The failure as the caller of the store is told.
pub(super) fn into_store_error(failure: Failure, database: &str) -> StoreError {
    let database = database.to_owned();
    match failure {
        Failure::Store(error) => error,
        Failure::Postgres(error) => postgres_error(&error, database),
        Failure::Sqlite(error) => StoreError::Failed { database, reason: error.to_string() },
        Failure::Unreadable(reason) => StoreError::Damaged { database, reason },
        Failure::Unreachable(reason) => StoreError::Unreachable { database, reason },
    }
}

/// The server's error as the caller of the store is told. It never holds values of ours: those stand in `DETAIL`.
pub(super) fn postgres_error(error: &tokio_postgres::Error, database: String) -> StoreError {
    let Some(told) = error.as_db_error() else {
        return StoreError::Unreachable { database, reason: with_source(error) };
    };
    let reason = told.message().to_owned();
    // The server's codes are an open list: what is not told apart is told in its own words.
    let code = told.code();
    if *code == SqlState::DISK_FULL || *code == SqlState::OUT_OF_MEMORY {
        StoreError::DiskFull { database }
    } else if [SqlState::READ_ONLY_SQL_TRANSACTION, SqlState::INSUFFICIENT_PRIVILEGE].contains(code) {
        StoreError::Unwritable { database, reason }
    } else if [SqlState::DATA_CORRUPTED, SqlState::INDEX_CORRUPTED].contains(code) {
        StoreError::Damaged { database, reason }
    } else if [SqlState::LOCK_NOT_AVAILABLE, SqlState::T_R_DEADLOCK_DETECTED, SqlState::T_R_SERIALIZATION_FAILURE]
        .contains(code)
    {
        StoreError::Locked { database }
    } else if is_about_the_connection(code) {
        StoreError::Unreachable { database, reason }
    } else {
        StoreError::Failed { database, reason }
    }
}

/// Classes 08 (connection), 28 (authorization), 53 (too many connections), 57 (shut down) and 3D (no such database).
fn is_about_the_connection(code: &SqlState) -> bool {
    ["08", "28", "3D", "53", "57"].iter().any(|class| code.code().starts_with(class))
}

fn with_source(error: &tokio_postgres::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// The server asks for the same transaction once more.
pub(super) fn asks_again(failure: &Failure) -> bool {
    match failure {
        Failure::Postgres(error) => error
            .code()
            .is_some_and(|code| [SqlState::T_R_DEADLOCK_DETECTED, SqlState::T_R_SERIALIZATION_FAILURE].contains(code)),
        Failure::Store(_) | Failure::Sqlite(_) | Failure::Unreadable(_) | Failure::Unreachable(_) => false,
    }
}

//! What can go wrong inside, before it is told outside.

use crate::StoreError;

/// Why a piece of work on a connection did not succeed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// In the store's own words already.
    Store(StoreError),
    /// SQLite refused.
    Sqlite(rusqlite::Error),
    /// PostgreSQL refused, or is not there.
    Postgres(tokio_postgres::Error),
    /// The server gives no connection.
    Unreachable(String),
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

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Postgres(error)
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::Unreadable(error.to_string())
    }
}

//! A store of either kind, and where it is.

use super::{CheckReport, CopyReport, Maintained, OnProgress, Stats, Vacuumed, back_up, check, copy, stats, vacuum};
use crate::database::{Database, Opening};
use crate::postgres::{Address, PostgresStore};
use crate::sqlite::SqliteStore;
use crate::{Store, StoreError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a PostgreSQL address begins with.
const POSTGRES: [&str; 2] = ["postgres://", "postgresql://"];

/// What may stand before a file.
const SQLITE: &str = "sqlite:";

/// Where a store is.
#[derive(Debug, Clone)]
pub enum StoreAddress {
    /// In a file.
    Sqlite(PathBuf),
    /// In a database on a server.
    Postgres(Address),
}

impl StoreAddress {
    /// Reads `postgres://…`, `sqlite:FILE` or a file's path. The error does not repeat it: it may hold a password.
    pub fn parse(address: &str) -> Result<Self, StoreError> {
        if Self::is_postgres(address) {
            return Address::parse(address).map(Self::Postgres);
        }
        // PostgreSQL's other form (`host=… password=…`), or the address of something else, is no name of a file.
        let has_secret = address.contains("password=");
        let file = address.strip_prefix(SQLITE).unwrap_or(address);
        if has_secret || file.is_empty() || file.contains("://") {
            return Err(StoreError::NoAddress);
        }
        Ok(Self::Sqlite(file.into()))
    }

    /// Whether it would be read as that of a PostgreSQL server.
    pub fn is_postgres(address: &str) -> bool {
        let lower = address.get(..13).unwrap_or(address).to_ascii_lowercase();
        POSTGRES.iter().any(|scheme| lower.starts_with(scheme))
    }

    /// The store's name, as errors and logs may show it.
    pub fn name(&self) -> String {
        match self {
            Self::Sqlite(file) => file.display().to_string(),
            Self::Postgres(address) => address.name().to_owned(),
        }
    }
}

/// A store of either kind.
pub enum AnyStore {
    /// In a file.
    Sqlite(SqliteStore),
    /// In a database on a server.
    Postgres(PostgresStore),
}

impl AnyStore {
    /// Opens a store; its tables are made where they are missing, and brought up to date.
    pub async fn open(address: &StoreAddress) -> Result<Self, StoreError> {
        Self::open_for(address, Opening::ToUse).await
    }

    async fn open_for(address: &StoreAddress, opening: Opening) -> Result<Self, StoreError> {
        match address {
            StoreAddress::Sqlite(file) => SqliteStore::open_for(file, opening).map(Self::Sqlite),
            StoreAddress::Postgres(address) => {
                PostgresStore::open_for(address.clone(), opening).await.map(Self::Postgres)
            }
        }
    }

    /// As what every store is.
    pub fn store(&self) -> &dyn Store {
        match self {
            Self::Sqlite(store) => store,
            Self::Postgres(store) => store,
        }
    }

    /// As what every store is, to be shared.
    pub fn into_shared(self) -> Arc<dyn Store> {
        match self {
            Self::Sqlite(store) => Arc::new(store),
            Self::Postgres(store) => Arc::new(store),
        }
    }

    /// Its name, as errors and logs may show it.
    pub fn name(&self) -> String {
        match self {
            Self::Sqlite(store) => Maintained::name(store),
            Self::Postgres(store) => Maintained::name(store),
        }
    }

    /// The version of its tables.
    pub async fn version(&self) -> Result<i64, StoreError> {
        match self {
            Self::Sqlite(store) => store.read(|sql| Box::pin(stats::version(sql))).await,
            Self::Postgres(store) => store.read(|sql| Box::pin(stats::version(sql))).await,
        }
    }

    /// Counts what it holds.
    pub async fn stats(&self) -> Result<Stats, StoreError> {
        match self {
            Self::Sqlite(store) => stats::stats(store).await,
            Self::Postgres(store) => stats::stats(store).await,
        }
    }

    /// Looks for what is wrong; nothing is altered. Others may go on working.
    pub async fn check(&self, on_progress: OnProgress<'_>) -> Result<CheckReport, StoreError> {
        match self {
            Self::Sqlite(store) => check::check(store, on_progress).await,
            Self::Postgres(store) => check::check(store, on_progress).await,
        }
    }

    /// Frees what nothing uses, gives space back and puts indexes in order.
    pub async fn vacuum(&self) -> Result<Vacuumed, StoreError> {
        match self {
            Self::Sqlite(store) => vacuum(store).await,
            Self::Postgres(store) => vacuum(store).await,
        }
    }

    /// Makes a file that opens as a store and holds what this one does at one moment, readable by its owner alone. It
    /// appears when it is whole and on the disk; a file that exists is left untouched. Others may go on working. Tells
    /// its size.
    pub async fn back_up(&self, file: &Path, on_progress: OnProgress<'_>) -> Result<u64, StoreError> {
        match self {
            Self::Sqlite(store) => back_up::of_file(store, file).await,
            Self::Postgres(store) => back_up::of_database(store, file, on_progress).await,
        }
    }

    /// Copies all that it holds at this moment into a database that is empty, or that holds a part of the same copy. Until
    /// the copy is whole, and the same on both sides, nobody else can open that.
    pub async fn copy_to(&self, to: &StoreAddress, on_progress: OnProgress<'_>) -> Result<CopyReport, StoreError> {
        let to = Self::open_for(to, Opening::ToCopyInto).await?;
        let copied = match (self, &to) {
            (Self::Sqlite(from), Self::Sqlite(to)) => copy::copy(from, to, on_progress).await,
            (Self::Sqlite(from), Self::Postgres(to)) => copy::copy(from, to, on_progress).await,
            (Self::Postgres(from), Self::Sqlite(to)) => copy::copy(from, to, on_progress).await,
            (Self::Postgres(from), Self::Postgres(to)) => copy::copy(from, to, on_progress).await,
        };
        let left = to.store().leave().await;
        copied.and_then(|report| left.map(|()| report))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_apart() {
        let kind = |address: &str| match StoreAddress::parse(address) {
            Ok(StoreAddress::Sqlite(file)) => format!("file {}", file.display()),
            Ok(StoreAddress::Postgres(address)) => address.name().to_owned(),
            Err(error) => error.to_string(),
        };
        let none = StoreError::NoAddress.to_string();
        assert_eq!(kind("sqlite:/a/b.db"), "file /a/b.db");
        assert_eq!(kind("b.db"), "file b.db");
        assert_eq!(kind("postgresql://me@host/pleat"), "postgres://host/pleat");
        for address in ["", "sqlite:", "mysql://me:s3cret@host/x", "host=h password=s3cret", "postgres://h:s3cret/x"] {
            assert_eq!(kind(address), none, "{address}");
        }
    }
}

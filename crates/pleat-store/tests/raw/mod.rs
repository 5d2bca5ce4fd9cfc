//! A database of either kind, with a way to look into it and to change it beside its store.

#![allow(dead_code, unused_macros, unused_imports, reason = "not every test binary needs all of it")]

use crate::databases::TestDatabase;
use pleat_store::Store;
use pleat_store::sqlite::SqliteStore;
use std::path::PathBuf;
use tempfile::TempDir;
use tokio_postgres::Client;

/// A database that several stores can open.
pub(crate) enum RawDatabase {
    Sqlite(TempDir),
    Postgres(Box<TestDatabase>),
}

impl RawDatabase {
    pub(crate) fn sqlite() -> Self {
        Self::Sqlite(tempfile::tempdir().unwrap())
    }

    /// `None` where no server is named.
    pub(crate) async fn postgres() -> Option<Self> {
        TestDatabase::create().await.map(|database| Self::Postgres(Box::new(database)))
    }

    fn file(folder: &TempDir) -> PathBuf {
        folder.path().join("pleat.db")
    }

    /// A store on it; the first on SQLite makes the tables.
    pub(crate) async fn open(&self) -> Box<dyn Store> {
        match self {
            Self::Sqlite(folder) => Box::new(SqliteStore::open(&Self::file(folder)).unwrap()),
            Self::Postgres(database) => Box::new(database.open().await),
        }
    }

    pub(crate) fn is_sqlite(&self) -> bool {
        match self {
            Self::Sqlite(_) => true,
            Self::Postgres(_) => false,
        }
    }

    /// A connection beside the stores.
    pub(crate) async fn connect(&self) -> Raw {
        match self {
            Self::Sqlite(folder) => Raw::sqlite(&Self::file(folder)),
            Self::Postgres(database) => Raw::Postgres(database.connect().await),
        }
    }

    pub(crate) async fn remove(self) {
        match self {
            Self::Sqlite(folder) => folder.close().unwrap(),
            Self::Postgres(database) => database.remove().await,
        }
    }
}

/// A connection beside the stores.
pub(crate) enum Raw {
    Sqlite(rusqlite::Connection),
    Postgres(Client),
}

impl Raw {
    pub(crate) fn sqlite(file: &std::path::Path) -> Self {
        let connection = rusqlite::Connection::open(file).unwrap();
        connection.busy_timeout(std::time::Duration::from_secs(10)).unwrap();
        Self::Sqlite(connection)
    }

    /// Runs statements.
    pub(crate) async fn run(&self, statements: &str) {
        match self {
            Self::Sqlite(connection) => connection.execute_batch(statements).unwrap(),
            Self::Postgres(client) => client.batch_execute(statements).await.unwrap(),
        }
    }

    /// The one number that a query gives.
    pub(crate) async fn number(&self, query: &str) -> i64 {
        match self {
            Self::Sqlite(connection) => connection.query_row(query, [], |row| row.get(0)).unwrap(),
            Self::Postgres(client) => {
                // Sums are of a type of their own there.
                let query = format!("SELECT number::bigint FROM ({query}) AS asked (number)");
                client.query_one(&query, &[]).await.unwrap().get(0)
            }
        }
    }

    /// What must be none: a query that counts what is wrong.
    pub(crate) async fn none(&self, query: &str) {
        assert_eq!(self.number(query).await, 0, "{query}");
    }

    /// Lets an insertion or update fail until [`Raw::allow`].
    pub(crate) async fn forbid(&self, event: &str, table: &str, when: &str) {
        let statements = match self {
            Self::Sqlite(_) => format!(
                "CREATE TRIGGER forbidden BEFORE {event} ON {table} WHEN {when} \
                 BEGIN SELECT RAISE(ABORT, 'forbidden here'); END"
            ),
            Self::Postgres(_) => format!(
                "CREATE OR REPLACE FUNCTION forbid() RETURNS trigger LANGUAGE plpgsql \
                 AS 'BEGIN RAISE EXCEPTION ''forbidden here''; END'; \
                 CREATE TRIGGER forbidden BEFORE {event} ON {table} FOR EACH ROW WHEN ({when}) EXECUTE FUNCTION forbid()"
            ),
        };
        self.run(&statements).await;
    }

    pub(crate) async fn allow(&self, table: &str) {
        let statement = match self {
            Self::Sqlite(_) => "DROP TRIGGER forbidden".to_owned(),
            Self::Postgres(_) => format!("DROP TRIGGER forbidden ON {table}"),
        };
        self.run(&statement).await;
    }

    /// Lets the leases of all servers be over.
    pub(crate) async fn end_leases(&self) {
        self.run("UPDATE server SET beat_at = beat_at - 60000").await;
    }

    /// What holds of every database: nothing is there twice, nothing is missing between two things, what refers to
    /// something finds it, and blobs are counted right.
    pub(crate) async fn is_consistent(&self) {
        if let Self::Sqlite(connection) = self {
            // On a connection of its own: FTS5 checks against what a connection once read, and others write.
            let fresh = rusqlite::Connection::open(connection.path().unwrap()).unwrap();
            let check: String = fresh.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
            assert_eq!(check, "ok");
            self.none("SELECT count(*) FROM pragma_foreign_key_check").await;
        }
        for (table, owner, seq) in [
            ("message", "session", "seq"),
            ("message", "session", "ordinal"),
            ("turn", "session", "seq"),
            ("part", "message", "place"),
            ("piece", "part", "seq"),
        ] {
            let holes = format!(
                "SELECT count(*) FROM (SELECT {owner} FROM {table} WHERE {seq} IS NOT NULL GROUP BY {owner} \
                 HAVING min({seq}) <> 0 OR max({seq}) <> count(*) - 1 OR count(DISTINCT {seq}) <> count(*)) AS wrong"
            );
            self.none(&holes).await;
        }
        self.none(BLOBS_COUNTED_WRONGLY).await;
    }
}

const BLOBS_COUNTED_WRONGLY: &str = "SELECT count(*) FROM blob WHERE uses <> \
     (SELECT count(*) FROM call WHERE input_blob = hash) + (SELECT count(*) FROM call WHERE output_blob = hash) \
     + (SELECT count(*) FROM part WHERE part.blob = hash) \
     + (SELECT count(*) FROM prompt WHERE prompt.attachments_blob = hash) OR uses = 0";

/// Makes a test of each function for each kind of database.
macro_rules! on_each_database {
    ($($name:ident),* $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                let database = crate::raw::RawDatabase::sqlite();
                super::$name(&database).await;
                database.remove().await;
            })*
        }

        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                let Some(database) = crate::raw::RawDatabase::postgres().await else { return };
                super::$name(&database).await;
                database.remove().await;
            })*
        }
    };
}

pub(crate) use on_each_database;

//! A PostgreSQL database for each test, made from a template that has the tables already.
//!
//! `PLEAT_TEST_POSTGRES` names the server, by the address of a database that may be connected to; `cargo xtask test` and
//! `cargo xtask postgres` start one. Without it these tests say that they were skipped.

#![allow(dead_code, reason = "not every test binary needs all of it")]

use pleat_store::postgres::{Address, PostgresStore};
use sha2::{Digest, Sha256};
use tokio_postgres::config::Host;
use tokio_postgres::{Client, Config, NoTls};

const SERVER: &str = "PLEAT_TEST_POSTGRES";

/// The lock of whoever makes the template.
const MAKING_TEMPLATE: i64 = 0x7465_6d70_6c61;

/// A database of its own, which is removed in the end.
pub(crate) struct TestDatabase {
    server: Config,
    name: String,
}

impl TestDatabase {
    /// A new database with empty tables; `None` where no server is named.
    pub(crate) async fn create() -> Option<Self> {
        let Ok(server) = std::env::var(SERVER) else {
            eprintln!("SKIPPED: {SERVER} names no PostgreSQL server; `cargo xtask postgres -- COMMAND` starts one");
            return None;
        };
        let server: Config = server.parse().unwrap();
        let admin = connect(&server).await;
        let template = template(&server, &admin).await;
        let name = format!("pleat_test_{}", uuid::Uuid::now_v7().simple());
        admin.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE {template}")).await.unwrap();
        Some(Self { server, name })
    }

    pub(crate) fn config(&self) -> Config {
        let mut config = self.server.clone();
        config.dbname(&self.name);
        config
    }

    /// The address, as a store takes it.
    pub(crate) fn address(&self) -> String {
        address(&self.config())
    }

    pub(crate) async fn open(&self) -> PostgresStore {
        PostgresStore::open(Address::parse(&self.address()).unwrap()).await.unwrap()
    }

    /// A connection beside the store's.
    pub(crate) async fn connect(&self) -> Client {
        connect(&self.config()).await
    }

    /// Removes the database, also where a store still has it open.
    pub(crate) async fn remove(self) {
        let admin = connect(&self.server).await;
        admin.batch_execute(&format!("DROP DATABASE {} WITH (FORCE)", self.name)).await.unwrap();
    }
}

/// In `key=value` form.
pub(crate) fn address(config: &Config) -> String {
    let hosts = config.get_hosts().iter().map(|host| match host {
        Host::Tcp(host) => format!("host='{host}'"),
        #[cfg(unix)]
        Host::Unix(folder) => format!("host='{}'", folder.display()),
    });
    let ports = config.get_ports().iter().map(|port| format!("port={port}"));
    let password = config.get_password().map(|password| format!("password='{}'", String::from_utf8_lossy(password)));
    let names = [("user", config.get_user().unwrap()), ("dbname", config.get_dbname().unwrap())];
    let names = names.map(|(key, name)| format!("{key}='{name}'"));
    hosts.chain(ports).chain(password).chain(names).collect::<Vec<_>>().join(" ")
}

pub(crate) async fn connect(config: &Config) -> Client {
    let (client, connection) = config.connect(NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// The name of the template, which is made where it is missing: once for all tests of these migrations.
async fn template(server: &Config, admin: &Client) -> String {
    let migrations = include_bytes!("../../migrations/postgres/V1__everything.sql");
    let hash = Sha256::digest(migrations);
    let name = format!("pleat_template_{:02x}{:02x}{:02x}{:02x}", hash[0], hash[1], hash[2], hash[3]);
    admin.execute("SELECT pg_advisory_lock($1)", &[&MAKING_TEMPLATE]).await.unwrap();
    let exists = "SELECT 1 FROM pg_database WHERE datname = $1";
    if admin.query(exists, &[&name]).await.unwrap().is_empty() {
        let draft = format!("{name}_draft");
        admin.batch_execute(&format!("DROP DATABASE IF EXISTS {draft} WITH (FORCE)")).await.unwrap();
        admin.batch_execute(&format!("CREATE DATABASE {draft}")).await.unwrap();
        let mut config = server.clone();
        config.dbname(&draft);
        drop(PostgresStore::open(Address::parse(&address(&config)).unwrap()).await.unwrap());
        // Nobody may be connected to a template: the store's connections end when they end.
        admin.batch_execute(&format!("ALTER DATABASE {draft} ALLOW_CONNECTIONS false")).await.unwrap();
        let end = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = $1";
        admin.query(end, &[&draft]).await.unwrap();
        admin.batch_execute(&format!("ALTER DATABASE {draft} RENAME TO {name}")).await.unwrap();
    }
    admin.execute("SELECT pg_advisory_unlock($1)", &[&MAKING_TEMPLATE]).await.unwrap();
    name
}

//! Opening the database on a server: what is there is looked at before anything is touched.

use super::address::Address;
use super::failure::postgres_error;
use crate::StoreError;
use refinery::Migration;
use refinery::error::Kind;
use tokio_postgres::{Client, NoTls};

/// The lock that whoever migrates holds: two servers that start at once do it one after the other.
const MIGRATING: i64 = 0x706c_6561_7401;

#[allow(unreachable_pub, missing_docs, reason = "written by refinery's macro")]
mod embedded {
    refinery::embed_migrations!("migrations/postgres");
}

/// Brings the database up to date. One that is not ours, or of a newer Pleat, is left untouched.
pub(super) async fn migrate(address: &Address) -> Result<(), StoreError> {
    let told = |error: &tokio_postgres::Error| postgres_error(error, address.name().to_owned());
    let (mut client, connection) = address.config().connect(NoTls).await.map_err(|error| told(&error))?;
    let connection = tokio::spawn(connection);
    client.execute("SELECT pg_advisory_lock($1)", &[&MIGRATING]).await.map_err(|error| told(&error))?;
    check(&client, address).await?;
    let migrated = embedded::migrations::runner().set_grouped(true).run_async(&mut client).await;
    let report = migrated.map_err(|error| migration_error(&error, address))?;
    for migration in report.applied_migrations() {
        tracing::info!(database = address.name(), %migration, "migrated the database");
    }
    // The lock ends with the connection.
    drop(client);
    // Nobody is left who could be told of an error.
    let _ = connection.await;
    Ok(())
}

/// Makes sure that the database is empty, or ours and not newer than we are.
async fn check(client: &Client, address: &Address) -> Result<(), StoreError> {
    let told = |error: tokio_postgres::Error| postgres_error(&error, address.name().to_owned());
    let look = "SELECT to_regclass('refinery_schema_history') IS NOT NULL, \
         EXISTS (SELECT 1 FROM pg_tables WHERE schemaname = current_schema())";
    let row = client.query_one(look, &[]).await.map_err(told)?;
    let (ours, has_tables): (bool, bool) = (row.get(0), row.get(1));
    if !ours {
        if !has_tables {
            return Ok(());
        }
        let reason = "it has the tables of another program".to_owned();
        return Err(StoreError::NotADatabase { database: address.name().to_owned(), reason });
    }
    let version = "SELECT coalesce(max(version), 0)::bigint FROM refinery_schema_history";
    let found: i64 = client.query_one(version, &[]).await.map_err(told)?.get(0);
    let known = known_version();
    if found > known {
        return Err(StoreError::NewerVersion { database: address.name().to_owned(), found, known });
    }
    Ok(())
}

/// The version that this program's migrations lead to.
pub(super) fn known_version() -> i64 {
    embedded::migrations::runner().get_migrations().iter().map(version).max().unwrap_or_default()
}

fn version(migration: &Migration) -> i64 {
    i64::from(migration.version())
}

fn migration_error(error: &refinery::Error, address: &Address) -> StoreError {
    let database = address.name().to_owned();
    match error.kind() {
        Kind::Connection(_, source) => match source.downcast_ref::<tokio_postgres::Error>() {
            Some(error) => postgres_error(error, database),
            None => StoreError::Failed { database, reason: source.to_string() },
        },
        Kind::MissingVersion(migration) => {
            StoreError::NewerVersion { database, found: version(migration), known: known_version() }
        }
        Kind::DivergentVersion(..)
        | Kind::RepeatedVersion(_)
        | Kind::InvalidName
        | Kind::InvalidVersion
        | Kind::InvalidMigrationPath(..)
        | Kind::InvalidMigrationFile(..)
        | Kind::ConfigError(_) => StoreError::Failed { database, reason: error.to_string() },
    }
}

//! What is done with a database as a whole: looking through it, counting, making it smaller, and copying it.
//!
//! It is for commands: some of it reads without a pause, and so keeps the thread that asks.

mod any;
mod back_up;
mod check;
mod copy;
mod report;
mod stats;
mod table;

pub use any::{AnyStore, StoreAddress};
pub use report::{
    BlobStats, CheckReport, ComparedTable, CopyReport, OnProgress, Problem, ProblemKind, Progress, Stats, Step,
    TableHash, Vacuumed,
};

use crate::database::{Database, Done};
use crate::failure::Failure;
use crate::tables::check_values;
use crate::{Durability, StoreError, StoreFuture};
use futures::future::BoxFuture;

/// A database that can be maintained.
pub(crate) trait Maintained: Database {
    /// Its name in errors, without a password.
    fn name(&self) -> String;

    /// The failure as the caller is told.
    fn told(&self, failure: Failure) -> StoreError;

    /// A connection of its own that reads, all at the moment of its first read, until it is given back.
    fn snapshot(&self) -> StoreFuture<'_, Self::Connection>;

    /// Gives such a connection back.
    fn end_snapshot(&self, snapshot: Self::Connection) -> BoxFuture<'_, ()>;

    /// Its size.
    fn bytes(&self) -> StoreFuture<'_, u64>;

    /// Looks through the database by its own means; also what could not be looked at.
    fn verify(&self) -> StoreFuture<'_, (Vec<Problem>, Vec<String>)>;

    /// Gives free space back, and puts its indexes in order.
    fn compact(&self) -> StoreFuture<'_, ()>;
}

/// Frees what nothing uses, and makes the database smaller where that can be done.
pub(crate) async fn vacuum<D: Maintained>(database: &D) -> Result<Vacuumed, StoreError> {
    let before = database.bytes().await?;
    let freed_values = database
        .write(Durability::Agent, |sql| {
            Box::pin(async move { check_values::free_unused(sql).await.map(Done::quietly) })
        })
        .await?;
    database.compact().await?;
    Ok(Vacuumed { before, after: database.bytes().await?, freed_values })
}

/// The version of the tables.
const VERSION: &str = "SELECT coalesce(max(version), 0) FROM refinery_schema_history";

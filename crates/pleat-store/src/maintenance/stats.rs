//! Counting what a database holds.

use super::table::TABLES;
use super::{BlobStats, Maintained, Stats, VERSION};
use crate::StoreError;
use crate::failure::Failure;
use crate::tables::check_values::references;
use crate::tables::sql::{Row, Sql, values};

/// Tables that are not copied, and their statements.
const OTHERS: [(&str, &str); 4] = [
    ("plan_identity", "SELECT count(*) FROM plan_identity"),
    ("search_chunk", "SELECT count(*) FROM search_chunk"),
    ("server", "SELECT count(*) FROM server"),
    ("agent_process", "SELECT count(*) FROM agent_process"),
];

const BLOBS: &str = concat!(
    "SELECT count(*), CAST(coalesce(sum(bytes), 0) AS bigint), \
     CAST(coalesce(sum(octet_length(content)), 0) AS bigint), (SELECT count(*) FROM ",
    references!(),
    ") FROM blob"
);

/// Counts what a database holds.
pub(super) async fn stats<D: Maintained>(database: &D) -> Result<Stats, StoreError> {
    let bytes = database.bytes().await?;
    database.read(move |sql| Box::pin(count(sql, bytes))).await
}

async fn count<S: Sql>(sql: &S, bytes: u64) -> Result<Stats, Failure> {
    let mut tables = Vec::new();
    let counted = TABLES.iter().map(|table| (table.name, table.count.as_str())).chain(OTHERS);
    for (name, statement) in counted {
        tables.push((name, number(&mut first(sql, statement).await?)?));
    }
    let rows = |table: &str| tables.iter().find(|(name, _)| *name == table).map_or(0, |(_, rows)| *rows);
    let mut row = first(sql, BLOBS).await?;
    let blobs = BlobStats {
        count: number(&mut row)?,
        value_bytes: number(&mut row)?,
        stored_bytes: number(&mut row)?,
        references: number(&mut row)?,
    };
    Ok(Stats {
        version: version(sql).await?,
        bytes,
        sessions: rows("session"),
        turns: rows("turn"),
        messages: rows("message"),
        calls: rows("call"),
        blobs,
        chunks: rows("search_chunk"),
        tables,
    })
}

/// The version of the tables.
pub(super) async fn version<S: Sql>(sql: &S) -> Result<i64, Failure> {
    first(sql, VERSION).await?.integer()
}

/// The one row of a statement.
pub(super) async fn first<S: Sql>(sql: &S, statement: &'static str) -> Result<Row, Failure> {
    let row = sql.query(statement, values![]).await?.into_iter().next();
    row.ok_or_else(|| Failure::Unreadable("a count is missing".to_owned()))
}

/// A column that counts.
pub(super) fn number(row: &mut Row) -> Result<u64, Failure> {
    row.count().map(|count| count as u64)
}

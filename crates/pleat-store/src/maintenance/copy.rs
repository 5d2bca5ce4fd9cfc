//! Copying a database into another, of whichever kind: row by row, in order, keys and all.
//!
//! The source is read at one moment. The destination is marked until the copy is whole and the same on both sides, so
//! that nobody works with half of it; each batch is one transaction, so a copy that was killed goes on behind the last.

use super::table::{Cursor, RowHasher, TABLES, Table};
use super::{ComparedTable, CopyReport, Maintained, OnProgress, Progress, Step, TableHash, stats};
use crate::database::Done;
use crate::failure::Failure;
use crate::tables::sql::{FullText, Sql, Value, values};
use crate::tables::{copy_mark, derived};
use crate::{Durability, StoreError};
use std::sync::Arc;

/// What a destination holds before the copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    /// Nothing, or some of the same copy.
    Part,
    /// As many sessions as the source, at the same revisions.
    Whole,
    /// A copy of something else.
    OtherCopy,
    /// Something else.
    Other,
}

/// Copies all that `from` holds. `to` is empty, or holds a part of the same copy. Where the report is not exact, `to`
/// stays marked.
pub(crate) async fn copy<A: Maintained, B: Maintained>(
    from: &A,
    to: &B,
    on_progress: OnProgress<'_>,
) -> Result<CopyReport, StoreError> {
    let snapshot = from.snapshot().await?;
    let copied = copy_snapshot(from, &snapshot, to, on_progress).await;
    from.end_snapshot(snapshot).await;
    copied
}

async fn copy_snapshot<A: Maintained, B: Maintained>(
    from: &A,
    source: &A::Connection,
    to: &B,
    on_progress: OnProgress<'_>,
) -> Result<CopyReport, StoreError> {
    let print = fingerprint(source).await.map_err(|failure| from.told(failure))?;
    let before = begin(to, print).await?;
    match before {
        Before::OtherCopy => return Err(StoreError::OtherCopy { database: to.name() }),
        Before::Other => return Err(StoreError::NotEmpty { database: to.name() }),
        Before::Whole => {}
        Before::Part => {
            for table in TABLES.iter() {
                copy_table(from, source, to, table, on_progress).await?;
            }
            to.write(Durability::Agent, |sql| Box::pin(go_on(sql))).await?;
        }
    }
    let report = compare(from, source, to, on_progress).await?;
    match before {
        Before::Part if report.is_exact() => {
            index(to, on_progress).await?;
            // Synchronous: so all before it is safe too.
            to.write(Durability::Person, |sql| Box::pin(async move { copy_mark::clear(sql).await.map(Done::quietly) }))
                .await?;
            Ok(report)
        }
        Before::Whole if !report.is_exact() => Err(StoreError::NotEmpty { database: to.name() }),
        Before::Part | Before::Whole | Before::OtherCopy | Before::Other => Ok(report),
    }
}

/// Tells one source from another, and from itself at another time.
async fn fingerprint<S: Sql>(sql: &S) -> Result<String, Failure> {
    let mut hasher = RowHasher::default();
    for mut row in sql.query("SELECT id, revision, updated_at FROM session ORDER BY key", values![]).await? {
        hasher.add(&vec![Value::from(row.text()?), Value::from(row.integer()?), Value::from(row.integer()?)]);
    }
    Ok(hasher.finish())
}

/// Looks at what the destination holds, and marks it where it is empty.
async fn begin<B: Maintained>(to: &B, print: String) -> Result<Before, StoreError> {
    to.write(Durability::Person, move |sql| {
        let print = print.clone();
        Box::pin(async move {
            if let Some(marked) = copy_mark::find(sql).await? {
                return Ok(Done::quietly(if marked == print { Before::Part } else { Before::OtherCopy }));
            }
            for table in TABLES.iter() {
                if stats::first(sql, &table.count).await?.integer()? > 0 {
                    let is_same = fingerprint(sql).await? == print;
                    return Ok(Done::quietly(if is_same { Before::Whole } else { Before::Other }));
                }
            }
            copy_mark::set(sql, &print).await?;
            Ok(Done::quietly(Before::Part))
        })
    })
    .await
}

async fn copy_table<A: Maintained, B: Maintained>(
    from: &A,
    source: &A::Connection,
    to: &B,
    table: &'static Table,
    on_progress: OnProgress<'_>,
) -> Result<(), StoreError> {
    let total = rows_of(source, table).await.map_err(|failure| from.told(failure))?;
    let (mut done, mut cursor) =
        to.read(move |sql| Box::pin(async move { Ok((rows_of(sql, table).await?, table.resume(sql).await?)) })).await?;
    loop {
        let (rows, next) = table.rows(source, cursor).await.map_err(|failure| from.told(failure))?;
        if rows.is_empty() {
            return Ok(());
        }
        done += rows.len() as u64;
        let rows = Arc::new(rows);
        to.write(Durability::Agent, move |sql| {
            let rows = Arc::clone(&rows);
            Box::pin(async move {
                for row in rows.iter() {
                    sql.post(&table.insert, row.clone()).await?;
                }
                Ok(Done::quietly(()))
            })
        })
        .await?;
        on_progress(Progress { step: Step::Copying(table.name), done: done.min(total), total });
        cursor = next;
    }
}

async fn rows_of<S: Sql>(sql: &S, table: &'static Table) -> Result<u64, Failure> {
    stats::number(&mut stats::first(sql, &table.count).await?)
}

/// New rows are numbered after those that were copied, and found as well as they will be.
async fn go_on<S: Sql>(sql: &S) -> Result<Done<()>, Failure> {
    match sql.full_text() {
        // Does so by itself.
        FullText::Fts5 => {}
        FullText::TsVector => {
            for statement in TABLES.iter().filter_map(|table| table.go_on_numbering.as_deref()) {
                sql.query(statement, values![]).await?;
            }
            let statement = "ANALYZE session, turn, message, blob, part, call, piece, permission";
            sql.post(statement, Vec::new()).await?;
        }
    }
    Ok(Done::quietly(()))
}

/// Compares each table on both sides.
async fn compare<A: Maintained, B: Maintained>(
    from: &A,
    source: &A::Connection,
    to: &B,
    on_progress: OnProgress<'_>,
) -> Result<CopyReport, StoreError> {
    let destination = to.snapshot().await?;
    let compared = compare_tables((from, source), (to, &destination), on_progress).await;
    to.end_snapshot(destination).await;
    compared.map(|tables| CopyReport { tables })
}

async fn compare_tables<A: Maintained, B: Maintained>(
    source: (&A, &A::Connection),
    destination: (&B, &B::Connection),
    on_progress: OnProgress<'_>,
) -> Result<Vec<ComparedTable>, StoreError> {
    let mut compared = Vec::new();
    for table in TABLES.iter() {
        compared.push(compare_table(source, destination, table, on_progress).await?);
    }
    Ok(compared)
}

async fn compare_table<A: Maintained, B: Maintained>(
    (from, source): (&A, &A::Connection),
    (to, destination): (&B, &B::Connection),
    table: &'static Table,
    on_progress: OnProgress<'_>,
) -> Result<ComparedTable, StoreError> {
    let total = rows_of(source, table).await.map_err(|failure| from.told(failure))?;
    let step = Step::Comparing(table.name);
    let mut on_rows = |done: u64| on_progress(Progress { step, done: done / 2, total });
    let source = hash(source, table, 0, &mut on_rows).await.map_err(|failure| from.told(failure))?;
    let destination = hash(destination, table, source.rows, &mut on_rows).await.map_err(|failure| to.told(failure))?;
    Ok(ComparedTable { name: table.name, source, destination })
}

async fn hash<S: Sql>(
    sql: &S,
    table: &'static Table,
    before: u64,
    on_rows: &mut (dyn FnMut(u64) + Send),
) -> Result<TableHash, Failure> {
    let mut hasher = RowHasher::default();
    let (mut count, mut cursor) = (0, Cursor::Start);
    loop {
        let (rows, next) = table.rows(sql, cursor).await?;
        if rows.is_empty() {
            return Ok(TableHash { rows: count, sha256: hasher.finish() });
        }
        for row in &rows {
            hasher.add(row);
        }
        count += rows.len() as u64;
        on_rows(before + count);
        cursor = next;
    }
}

/// Makes what is derived, a transaction for each session.
async fn index<B: Maintained>(to: &B, on_progress: OnProgress<'_>) -> Result<(), StoreError> {
    let statement = "SELECT count(*) FROM session WHERE derived < $1";
    let total = to
        .read(move |sql| {
            Box::pin(async move {
                let mut rows = sql.query(statement, values![derived::VERSION]).await?;
                rows.first_mut().map_or(Ok(0), stats::number)
            })
        })
        .await?;
    let mut done = 0;
    loop {
        let sessions = to.read(|sql| Box::pin(derived::outdated(sql, 100))).await?;
        if sessions.is_empty() {
            return Ok(());
        }
        for session in sessions {
            to.write(Durability::Agent, move |sql| {
                let session = session.clone();
                Box::pin(async move { derived::rebuild(sql, &session).await.map(Done::quietly) })
            })
            .await?;
            done += 1;
            on_progress(Progress { step: Step::Indexing, done, total });
        }
    }
}

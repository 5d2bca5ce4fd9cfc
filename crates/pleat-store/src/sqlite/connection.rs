//! A connection to the file, as the tables ask it.

use crate::failure::Failure;
use crate::tables::sql::{Cell, FullText, Row, Sql, Value};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ToSql, params_from_iter};
use std::future::{Ready, ready};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A connection; whatever is asked is done at once, so its futures are ready when they are made.
pub(crate) struct SqliteConnection {
    connection: Mutex<Connection>,
    /// What its statements did so far.
    #[cfg(test)]
    pub(super) cost: Mutex<super::plans::Cost>,
}

impl SqliteConnection {
    pub(super) fn new(connection: Connection) -> Self {
        Self {
            connection: Mutex::new(connection),
            #[cfg(test)]
            cost: Mutex::default(),
        }
    }

    /// The connection itself. Nobody else holds it: the lock only lets futures be sent between threads.
    pub(super) fn get(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn query_now(&self, statement: &'static str, values: &[Value<'_>]) -> Result<Vec<Row>, Failure> {
        #[cfg(test)]
        super::plans::remember(statement);
        let connection = self.get();
        let mut statement = connection.prepare_cached(statement)?;
        check_parameters(&statement);
        let columns = statement.column_count();
        let mut rows = statement.query(params_from_iter(values))?;
        let mut read = Vec::new();
        while let Some(row) = rows.next()? {
            let cells = (0..columns).map(|column| cell(row.get_ref(column)?));
            read.push(Row::new(cells.collect::<Result<_, Failure>>()?));
        }
        drop(rows);
        #[cfg(test)]
        self.cost.lock().unwrap_or_else(PoisonError::into_inner).add(&statement, read.len());
        Ok(read)
    }

    fn execute_now(&self, statement: &'static str, values: &[Value<'_>]) -> Result<u64, Failure> {
        #[cfg(test)]
        super::plans::remember(statement);
        let connection = self.get();
        let mut statement = connection.prepare_cached(statement)?;
        check_parameters(&statement);
        Ok(statement.execute(params_from_iter(values))? as u64)
    }
}

/// SQLite numbers named parameters by their first place in the statement.
fn check_parameters(statement: &rusqlite::CachedStatement<'_>) {
    debug_assert!(
        (1..=statement.parameter_count()).all(|number| statement.parameter_name(number) == Some(&format!("${number}"))),
        "the statement's parameters are not in order"
    );
}

fn cell(value: ValueRef<'_>) -> Result<Cell, Failure> {
    Ok(match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(integer) => Cell::Integer(integer),
        ValueRef::Real(real) => Cell::Real(real),
        ValueRef::Text(text) => {
            let text = std::str::from_utf8(text).map_err(|error| Failure::Unreadable(error.to_string()))?;
            Cell::Text(text.to_owned())
        }
        ValueRef::Blob(bytes) => Cell::Bytes(bytes.to_owned()),
    })
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let value = match self {
            Self::Text(Some(text)) => ValueRef::Text(text.as_bytes()),
            Self::Integer(Some(integer)) => ValueRef::Integer(*integer),
            Self::Boolean(boolean) => ValueRef::Integer(i64::from(*boolean)),
            Self::Bytes(Some(bytes)) => ValueRef::Blob(bytes),
            Self::Text(None) | Self::Integer(None) | Self::Bytes(None) => ValueRef::Null,
        };
        Ok(ToSqlOutput::Borrowed(value))
    }
}

impl Sql for SqliteConnection {
    fn query(
        &self,
        statement: &'static str,
        values: &[Value<'_>],
    ) -> impl Future<Output = Result<Vec<Row>, Failure>> + Send {
        ready(self.query_now(statement, values))
    }

    fn execute(
        &self,
        statement: &'static str,
        values: &[Value<'_>],
    ) -> impl Future<Output = Result<u64, Failure>> + Send {
        ready(self.execute_now(statement, values))
    }

    fn post(
        &self,
        statement: &'static str,
        values: Vec<Value<'static>>,
    ) -> impl Future<Output = Result<(), Failure>> + Send {
        let posted: Ready<Result<(), Failure>> = ready(self.execute_now(statement, &values).map(drop));
        posted
    }

    fn lock_session(&self) -> &'static str {
        // A transaction that writes has the whole database already.
        "SELECT key, revision, owner, unindexed FROM session WHERE id = $1"
    }

    fn lock_blobs(&self) -> Option<&'static str> {
        None
    }

    fn clock(&self) -> &'static str {
        "SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER)"
    }

    fn full_text(&self) -> FullText {
        FullText::Fts5
    }
}

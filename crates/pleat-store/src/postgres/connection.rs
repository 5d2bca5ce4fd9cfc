//! A connection to the server, as the tables ask it.

use super::nul;
use super::pool::{Pooled, PreparedClient};
use crate::failure::Failure;
use crate::tables::sql::{Cell, FullText, Row, Sql, Value};
use futures::future::{join, join_all};
use std::error::Error;
use std::sync::{Mutex, PoisonError};
use tokio_postgres::Statement;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

/// At most so many statements wait to be sent together.
const MAX_POSTED: usize = 24;

/// A connection inside a transaction. Statements that are posted are sent with the next that is asked, in one go.
pub(crate) struct PostgresConnection {
    /// Back in the pool once the transaction has ended in order: one that was left open is nobody's.
    pooled: Option<Pooled>,
    posted: Mutex<Vec<Posted>>,
}

struct Posted {
    statement: Statement,
    values: Vec<Value<'static>>,
}

impl PostgresConnection {
    /// Begins a transaction; `begin` goes out with the first statement.
    pub(super) async fn begin(pooled: Pooled, begin: &'static [&'static str]) -> Result<Self, Failure> {
        let connection = Self { pooled: Some(pooled), posted: Mutex::default() };
        for statement in begin {
            connection.post(statement, Vec::new()).await?;
        }
        Ok(connection)
    }

    /// Commits, with all that is still to be sent.
    pub(super) async fn commit(&self) -> Result<(), Failure> {
        self.execute("COMMIT", &[]).await.map(drop)
    }

    /// Puts the connection back, its transaction being over.
    pub(super) fn give_back(mut self) {
        drop(self.pooled.take());
    }

    /// Gives up the transaction; a connection that cannot do that is not used again.
    pub(super) async fn roll_back(self) {
        self.take_posted();
        if self.execute("ROLLBACK", &[]).await.is_ok() {
            self.give_back();
        }
    }

    fn client(&self) -> Result<&PreparedClient, Failure> {
        self.pooled.as_deref().ok_or_else(|| Failure::Unreachable("the connection was put back".to_owned()))
    }

    /// What is still to be sent.
    fn take_posted(&self) -> Vec<Posted> {
        std::mem::take(&mut *self.posted.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn prepare(&self, statement: &'static str, values: &[Value<'_>]) -> Result<Statement, Failure> {
        let types: Vec<Type> = values.iter().map(type_of).collect();
        Ok(self.client()?.prepare(statement, &types).await?)
    }

    /// Sends what was posted together with one more request; the first error is everyone's.
    async fn send<T>(
        &self,
        request: impl Future<Output = Result<T, tokio_postgres::Error>> + Send,
    ) -> Result<T, Failure> {
        let posted = self.take_posted();
        if posted.is_empty() {
            return Ok(request.await?);
        }
        let client = self.client()?.client();
        let values: Vec<Vec<&(dyn ToSql + Sync)>> = posted.iter().map(|posted| references(&posted.values)).collect();
        let sent = posted.iter().zip(&values).map(|(posted, values)| client.execute(&posted.statement, values));
        // Joined futures are first polled, and so sent, in their order.
        let (sent, requested) = join(join_all(sent), request).await;
        for outcome in sent {
            outcome?;
        }
        Ok(requested?)
    }
}

impl Drop for PostgresConnection {
    fn drop(&mut self) {
        if let Some(pooled) = self.pooled.take() {
            drop(Pooled::take(pooled));
        }
    }
}

fn references<'v>(values: &'v [Value<'_>]) -> Vec<&'v (dyn ToSql + Sync)> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

fn type_of(value: &Value<'_>) -> Type {
    match value {
        Value::Text(_) => Type::TEXT,
        Value::Integer(_) => Type::INT8,
        Value::Boolean(_) => Type::BOOL,
        Value::Bytes(_) => Type::BYTEA,
    }
}

impl ToSql for Value<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Text(Some(text)) => nul::written(text).as_ref().to_sql(ty, out),
            Self::Integer(Some(integer)) => integer.to_sql(ty, out),
            Self::Boolean(boolean) => boolean.to_sql(ty, out),
            Self::Bytes(Some(bytes)) => bytes.as_ref().to_sql(ty, out),
            Self::Text(None) | Self::Integer(None) | Self::Bytes(None) => Ok(IsNull::Yes),
        }
    }

    fn accepts(ty: &Type) -> bool {
        [Type::TEXT, Type::INT8, Type::BOOL, Type::BYTEA].contains(ty)
    }

    to_sql_checked!();
}

fn cells(row: &tokio_postgres::Row) -> Result<Row, Failure> {
    let cells = row.columns().iter().enumerate().map(|(index, column)| cell(row, index, column.type_()));
    Ok(Row::new(cells.collect::<Result<_, _>>()?))
}

fn cell(row: &tokio_postgres::Row, index: usize, ty: &Type) -> Result<Cell, Failure> {
    // Types are an open list: those that our statements return are told apart.
    let cell = if *ty == Type::TEXT {
        row.try_get::<_, Option<String>>(index)?.map(|text| Cell::Text(nul::read(text)))
    } else if *ty == Type::INT8 {
        row.try_get::<_, Option<i64>>(index)?.map(Cell::Integer)
    } else if *ty == Type::INT4 {
        row.try_get::<_, Option<i32>>(index)?.map(|integer| Cell::Integer(i64::from(integer)))
    } else if *ty == Type::BOOL {
        row.try_get::<_, Option<bool>>(index)?.map(Cell::Boolean)
    } else if *ty == Type::BYTEA {
        row.try_get::<_, Option<Vec<u8>>>(index)?.map(Cell::Bytes)
    } else if *ty == Type::FLOAT4 {
        row.try_get::<_, Option<f32>>(index)?.map(|real| Cell::Real(f64::from(real)))
    } else if *ty == Type::FLOAT8 {
        row.try_get::<_, Option<f64>>(index)?.map(Cell::Real)
    } else {
        return Err(Failure::Unreadable(format!("a column is of type {ty}")));
    };
    Ok(cell.unwrap_or(Cell::Null))
}

impl Sql for PostgresConnection {
    async fn query(&self, statement: &'static str, values: &[Value<'_>]) -> Result<Vec<Row>, Failure> {
        let prepared = self.prepare(statement, values).await?;
        let references = references(values);
        let rows = self.send(self.client()?.client().query(&prepared, &references)).await?;
        rows.iter().map(cells).collect()
    }

    async fn execute(&self, statement: &'static str, values: &[Value<'_>]) -> Result<u64, Failure> {
        let prepared = self.prepare(statement, values).await?;
        let references = references(values);
        self.send(self.client()?.client().execute(&prepared, &references)).await
    }

    async fn post(&self, statement: &'static str, values: Vec<Value<'static>>) -> Result<(), Failure> {
        let prepared = self.prepare(statement, &values).await?;
        let waiting = {
            let mut posted = self.posted.lock().unwrap_or_else(PoisonError::into_inner);
            posted.push(Posted { statement: prepared, values });
            posted.len()
        };
        if waiting >= MAX_POSTED { self.send(async { Ok(()) }).await } else { Ok(()) }
    }

    fn lock_session(&self) -> &'static str {
        "SELECT key, revision, owner, unindexed FROM session WHERE id = $1 FOR UPDATE"
    }

    fn lock_blobs(&self) -> Option<&'static str> {
        // 0x706c_6561_7402: beside the lock of whoever migrates.
        Some("SELECT pg_advisory_xact_lock(123610859664386)")
    }

    fn clock(&self) -> &'static str {
        "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint"
    }

    fn full_text(&self) -> FullText {
        FullText::TsVector
    }
}

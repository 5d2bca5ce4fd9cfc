//! Connections to the server, kept while they work, with the statements that each has prepared.

use crate::failure::Failure;
use deadpool::managed::{Manager, Metrics, Object, Pool, PoolError, RecycleError, RecycleResult, Timeouts};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Config, NoTls, Statement};

/// At most so many connections are open.
const MAX_CONNECTIONS: usize = 16;

/// A caller waits this long for a connection that is free.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// A connection out of the pool; it returns when it is dropped.
pub(super) type Pooled = Object<Connector>;

/// The pool.
pub(super) type ConnectionPool = Pool<Connector>;

/// Opens connections.
#[derive(Debug)]
pub(super) struct Connector {
    config: Config,
}

/// A connection with the statements that it has prepared.
pub(super) struct PreparedClient {
    client: Client,
    /// By the address of the statement's text, which lives as long as the program.
    statements: Mutex<HashMap<(usize, usize), Statement>>,
}

impl PreparedClient {
    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// The prepared form of a statement.
    pub(super) async fn prepare(
        &self,
        statement: &'static str,
        types: &[Type],
    ) -> Result<Statement, tokio_postgres::Error> {
        let key = (statement.as_ptr() as usize, statement.len());
        if let Some(known) = self.statements.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(known.clone());
        }
        let prepared = self.client.prepare_typed(statement, types).await?;
        self.statements.lock().unwrap_or_else(PoisonError::into_inner).insert(key, prepared.clone());
        Ok(prepared)
    }
}

impl Manager for Connector {
    type Type = PreparedClient;
    type Error = tokio_postgres::Error;

    async fn create(&self) -> Result<PreparedClient, tokio_postgres::Error> {
        let (client, connection) = self.config.connect(NoTls).await?;
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection to the database ended");
            }
        });
        // What a person did is committed with `on`, for its transaction alone. A server that hangs in a transaction keeps
        // its locks no longer than it keeps its sessions. Every statement finds its rows by an index whatever its values
        // are, so none is planned anew, and no plan that was made while a table was small reads it whole.
        let settings = format!(
            "SET synchronous_commit TO off; SET idle_in_transaction_session_timeout TO {}; \
             SET plan_cache_mode TO force_generic_plan; SET enable_seqscan TO off; SET jit TO off",
            crate::tables::server::LEASE_MILLIS
        );
        client.batch_execute(&settings).await?;
        Ok(PreparedClient { client, statements: Mutex::default() })
    }

    async fn recycle(&self, client: &mut PreparedClient, _: &Metrics) -> RecycleResult<tokio_postgres::Error> {
        if client.client.is_closed() { Err(RecycleError::message("it was closed")) } else { Ok(()) }
    }
}

/// A pool of connections to what the configuration names; none is opened yet.
pub(super) fn new(config: Config) -> ConnectionPool {
    let timeouts = Timeouts { wait: Some(LONGEST_WAIT), create: Some(LONGEST_WAIT), recycle: None };
    let builder = Pool::builder(Connector { config }).max_size(MAX_CONNECTIONS).timeouts(timeouts);
    match builder.runtime(deadpool::Runtime::Tokio1).build() {
        Ok(pool) => pool,
        // The builder refuses timeouts without a runtime, and there is one.
        Err(error) => unreachable!("{error}"),
    }
}

/// A connection that works.
pub(super) async fn get(pool: &ConnectionPool) -> Result<Pooled, Failure> {
    pool.get().await.map_err(|error| match error {
        PoolError::Backend(error) => Failure::Postgres(error),
        PoolError::Timeout(_) => Failure::Unreachable("no connection was free, or opened, for too long".to_owned()),
        PoolError::Closed | PoolError::NoRuntimeSpecified | PoolError::PostCreateHook(_) => {
            Failure::Unreachable("the store is closed".to_owned())
        }
    })
}

//! A database on a PostgreSQL server, which several servers of Pleat share.
//!
//! A transaction locks its session's row first (`SELECT … FOR UPDATE`), so change sets of one session follow each other
//! whoever brings them, and no two transactions wait for each other. Large values, which sessions share, are counted by
//! one transaction at a time (`Sql::lock_blobs`). A commit of what a person did is synchronous: it
//! survives the server's power cut. One of what an agent said is not (`synchronous_commit = off`): it survives the death
//! of Pleat at once, and a crash of the database server after at most three times its `wal_writer_delay` (0.6 s by
//! default). Other servers hear of changes by `NOTIFY`, outside of the write path.

mod address;
mod append;
mod connection;
mod failure;
mod maintain;
mod notices;
mod nul;
mod open;
mod pool;

use crate::database::{ChangeSet, Database, Done, Opening, Work};
use crate::sharing::Claims;
use crate::signal::{Signal, Signalling};
use crate::tables::{copy_mark, derived};
use crate::{Durability, Revision, ServerId, StoreError, StoreFuture};
use connection::PostgresConnection;
use failure::{asks_again, into_store_error};
use notices::Notices;
use pleat_transcript::session::Millis;
use pool::ConnectionPool;
use std::sync::Arc;
use tokio::sync::mpsc;

pub use address::Address;

/// A transaction that the server rolled back because of others is tried so often.
const MAX_ATTEMPTS: usize = 5;

const READ: &[&str] = &["BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"];
const WRITE: &[&str] = &["BEGIN"];
const WRITE_SYNCHRONOUSLY: &[&str] = &["BEGIN", "SET LOCAL synchronous_commit TO on"];

/// Everything in a database on a server.
pub struct PostgresStore {
    shared: Arc<Shared>,
}

struct Shared {
    address: Address,
    server: ServerId,
    claims: Claims,
    pool: ConnectionPool,
    signalling: Signalling,
    /// To those who share the database.
    notices: mpsc::UnboundedSender<Signal>,
}

impl PostgresStore {
    /// Opens a database, which must exist; its tables are created where they are missing, and brought up to date. One
    /// that is not ours, or of a newer Pleat, is an error and left untouched.
    pub async fn open(address: Address) -> Result<Self, StoreError> {
        Self::open_for(address, Opening::ToUse).await
    }

    /// Opens a database as [`PostgresStore::open`] does, for what `opening` says.
    pub(crate) async fn open_for(address: Address, opening: Opening) -> Result<Self, StoreError> {
        open::migrate(&address).await?;
        let pool = pool::new(address.config().clone());
        let (server, signalling) = (ServerId::new(), Signalling::new());
        let (notices, outgoing) = mpsc::unbounded_channel();
        let shared = Shared { address, server, claims: Claims::default(), pool, signalling, notices };
        match opening {
            Opening::ToUse => shared.bring_up_to_date().await?,
            Opening::ToCopyInto => {}
        }
        let task = Notices {
            address: shared.address.clone(),
            server: shared.server.clone(),
            signalling: shared.signalling.clone(),
            outgoing,
        };
        let store = Self { shared: Arc::new(shared) };
        crate::Store::beat(&store).await?;
        tokio::spawn(task.run());
        Ok(store)
    }

    /// The address without user and password.
    pub fn name(&self) -> &str {
        self.shared.address.name()
    }
}

impl Shared {
    async fn bring_up_to_date(&self) -> Result<(), StoreError> {
        if self.read(|sql| Box::pin(copy_mark::find(sql))).await?.is_some() {
            return Err(StoreError::UnfinishedCopy { database: self.address.name().to_owned() });
        }
        loop {
            let sessions = self.read(|sql| Box::pin(derived::outdated(sql, 100))).await?;
            if sessions.is_empty() {
                return Ok(());
            }
            for session in sessions {
                self.write(WRITE, move |sql| {
                    let session = session.clone();
                    Box::pin(async move { derived::rebuild(sql, &session).await.map(Done::quietly) })
                })
                .await?;
            }
        }
    }

    async fn read<R: Send + 'static>(&self, work: impl Work<PostgresConnection, R>) -> Result<R, StoreError> {
        let told = |failure| into_store_error(failure, self.address.name());
        let connection = PostgresConnection::begin(pool::get(&self.pool).await.map_err(told)?, READ).await;
        let connection = connection.map_err(told)?;
        let outcome = work(&connection).await;
        connection.roll_back().await;
        outcome.map_err(told)
    }

    async fn write<R: Send + 'static>(
        &self,
        begin: &'static [&'static str],
        work: impl Work<PostgresConnection, Done<R>>,
    ) -> Result<R, StoreError> {
        let told = |failure| into_store_error(failure, self.address.name());
        let mut attempts = 0;
        loop {
            attempts += 1;
            let pooled = pool::get(&self.pool).await.map_err(told)?;
            let connection = PostgresConnection::begin(pooled, begin).await.map_err(told)?;
            let outcome = match work(&connection).await {
                Ok(done) => connection.commit().await.map(|()| done),
                Err(failure) => Err(failure),
            };
            match outcome {
                Ok(done) => {
                    connection.give_back();
                    self.signal(done.signal);
                    return Ok(done.answer);
                }
                Err(failure) => {
                    connection.roll_back().await;
                    if attempts == MAX_ATTEMPTS || !asks_again(&failure) {
                        return Err(told(failure));
                    }
                }
            }
        }
    }

    async fn append(&self, changes: &ChangeSet, at: Millis) -> Result<Option<Revision>, StoreError> {
        let told = |failure| into_store_error(failure, self.address.name());
        let pooled = pool::get(&self.pool).await.map_err(told)?;
        let must_own = self.claims.has(&changes.session);
        let revision = append::at_once(&pooled, &self.server.0, changes, must_own, at).await.map_err(told)?;
        let signal = |revision| Signal::Changed { session: changes.session.clone(), revision };
        self.signal(revision.map(signal));
        Ok(revision)
    }

    fn signal(&self, signal: Option<Signal>) {
        let Some(signal) = signal else { return };
        self.signalling.give(signal.clone());
        // The task ends only with the store.
        let _ = self.notices.send(signal);
    }
}

impl Database for PostgresStore {
    type Connection = PostgresConnection;

    fn write<R: Send + 'static>(
        &self,
        durability: Durability,
        work: impl Work<PostgresConnection, Done<R>>,
    ) -> StoreFuture<'_, R> {
        let begin = match durability {
            Durability::Person => WRITE_SYNCHRONOUSLY,
            Durability::Agent | Durability::Stream => WRITE,
        };
        let shared = Arc::clone(&self.shared);
        // In a task of its own: whoever asked may go away, and what was begun is ended all the same.
        Box::pin(async move {
            let task = tokio::spawn(async move { shared.write(begin, work).await });
            task.await.map_err(|_| StoreError::Closed)?
        })
    }

    async fn append(
        &self,
        changes: &Arc<ChangeSet>,
        at: Millis,
        durability: Durability,
    ) -> Result<Option<Revision>, StoreError> {
        if durability == Durability::Person || !append::may_be_one(changes) {
            return Ok(None);
        }
        let (shared, changes) = (Arc::clone(&self.shared), Arc::clone(changes));
        let task = tokio::spawn(async move { shared.append(&changes, at).await });
        task.await.map_err(|_| StoreError::Closed)?
    }

    fn read<R: Send + 'static>(&self, work: impl Work<PostgresConnection, R>) -> StoreFuture<'_, R> {
        let shared = Arc::clone(&self.shared);
        Box::pin(async move {
            let task = tokio::spawn(async move { shared.read(work).await });
            task.await.map_err(|_| StoreError::Closed)?
        })
    }

    fn server_id(&self) -> &ServerId {
        &self.shared.server
    }

    fn claims(&self) -> &Claims {
        &self.shared.claims
    }

    fn signalling(&self) -> &Signalling {
        &self.shared.signalling
    }
}

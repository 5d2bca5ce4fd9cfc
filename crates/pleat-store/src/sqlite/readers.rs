//! A few connections that only read, opened when they are first needed. They never wait for the writer.

use super::connection::SqliteConnection;
use super::failure::into_store_error;
use super::now::now;
use super::open::open_reader;
use crate::StoreError;
use crate::database::Work;
use crate::failure::Failure;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Semaphore;

/// At most so many reads run at once.
const MAX_READERS: usize = 4;

pub(super) struct Readers {
    file: PathBuf,
    permits: Arc<Semaphore>,
    idle: Mutex<Vec<SqliteConnection>>,
}

impl Readers {
    pub(super) fn new(file: PathBuf) -> Arc<Self> {
        Arc::new(Self { file, permits: Arc::new(Semaphore::new(MAX_READERS)), idle: Mutex::default() })
    }

    /// Reads, all at one moment of the database.
    pub(super) async fn read<R: Send + 'static>(
        self: Arc<Self>,
        work: impl Work<SqliteConnection, R>,
    ) -> Result<R, StoreError> {
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(|_| StoreError::Closed)?;
        let read = tokio::task::spawn_blocking(move || {
            let result = self.read_now(&work);
            drop(permit);
            result
        });
        read.await.map_err(|_| StoreError::Closed)?
    }

    fn read_now<R>(&self, work: &impl Work<SqliteConnection, R>) -> Result<R, StoreError> {
        let idle = self.idle().pop();
        let connection = idle.map_or_else(|| open_reader(&self.file).map(SqliteConnection::new), Ok)?;
        let result = read_at_one_moment(&connection, work);
        // One that failed is not used again.
        if !matches!(result, Err(Failure::Sqlite(_))) {
            self.idle().push(connection);
        }
        result.map_err(|failure| into_store_error(failure, &self.file))
    }

    /// Closes the connections that nobody reads with.
    pub(super) fn close_idle(&self) {
        self.idle().clear();
    }

    fn idle(&self) -> MutexGuard<'_, Vec<SqliteConnection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read_at_one_moment<R>(connection: &SqliteConnection, work: &impl Work<SqliteConnection, R>) -> Result<R, Failure> {
    connection.get().execute_batch("BEGIN")?;
    let result = now(work(connection));
    // There is nothing to keep either way; a transaction that cannot be ended takes its connection along.
    connection.get().execute_batch("ROLLBACK")?;
    result?
}

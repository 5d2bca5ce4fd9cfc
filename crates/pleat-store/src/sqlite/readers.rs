//! A few connections that only read, opened when they are first needed. They never wait for the writer.

use super::failure::Failure;
use super::open::open_reader;
use crate::StoreError;
use rusqlite::Connection;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Semaphore;

/// At most so many reads run at once.
const MAX_READERS: usize = 4;

pub(super) struct Readers {
    file: PathBuf,
    permits: Arc<Semaphore>,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    pub(super) fn new(file: PathBuf) -> Arc<Self> {
        Arc::new(Self { file, permits: Arc::new(Semaphore::new(MAX_READERS)), idle: Mutex::default() })
    }

    /// Reads, all at one moment of the database.
    pub(super) async fn read<R, W>(self: Arc<Self>, work: W) -> Result<R, StoreError>
    where
        R: Send + 'static,
        W: FnOnce(&Connection) -> Result<R, Failure> + Send + 'static,
    {
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(|_| StoreError::Closed)?;
        let read = tokio::task::spawn_blocking(move || {
            let result = self.read_now(work);
            drop(permit);
            result
        });
        read.await.map_err(|_| StoreError::Closed)?
    }

    fn read_now<R>(&self, work: impl FnOnce(&Connection) -> Result<R, Failure>) -> Result<R, StoreError> {
        let idle = self.idle().pop();
        let connection = idle.map_or_else(|| open_reader(&self.file), Ok)?;
        let result = read_at_one_moment(&connection, work);
        // One that failed is not used again.
        if !matches!(result, Err(Failure::Sqlite(_))) {
            self.idle().push(connection);
        }
        result.map_err(|failure| failure.into_store_error(&self.file))
    }

    /// Closes the connections that nobody reads with.
    pub(super) fn close_idle(&self) {
        self.idle().clear();
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read_at_one_moment<R>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Result<R, Failure>,
) -> Result<R, Failure> {
    let transaction = connection.unchecked_transaction()?;
    let result = work(&transaction)?;
    transaction.finish()?;
    Ok(result)
}

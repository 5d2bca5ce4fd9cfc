//! The embedded database: one file, written by one thread, read beside it.
//!
//! It keeps a write-ahead log. A commit of what a person did is synchronised (`synchronous=FULL`): it survives a power
//! cut. One of what an agent said is not (`NORMAL`): it survives the death of the process at once, and a power cut once
//! the log was synchronised, which the next commit of a person's or a checkpoint does; a power cut never damages the file.
//! What another process commits is seen within about a second ([`Signal::Missed`](crate::Signal::Missed)).

mod connection;
mod failure;
mod maintain;
mod now;
mod open;
mod other_commits;
#[cfg(test)]
mod plans;
mod readers;
mod writer;

use crate::database::{Database, Done, Opening, Work};
use crate::sharing::Claims;
use crate::signal::Signalling;
use crate::tables::{copy_mark, derived};
use crate::{Durability, ServerId, StoreError, StoreFuture};
use connection::SqliteConnection;
use other_commits::OtherCommits;
use readers::Readers;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;
use tempfile::TempDir;
use writer::{Job, Task};

pub(crate) use maintain::snapshot_into;

/// Everything in one file. Dropping it waits for the commits that were asked for.
pub struct SqliteStore {
    file: PathBuf,
    server: ServerId,
    claims: Claims,
    signalling: Signalling,
    /// `None` only while it is dropped.
    jobs: Option<Sender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
    readers: Arc<Readers>,
    /// Removed with the store.
    temporary: Option<TempDir>,
}

impl SqliteStore {
    /// Opens a database file; it and its folder are created where they are missing, an older database is brought up to
    /// date. A file that is not ours, or of a newer Pleat, is an error and left untouched.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_for(path, Opening::ToUse)
    }

    /// Opens a database file as [`SqliteStore::open`] does, for what `opening` says.
    pub(crate) fn open_for(path: &Path, opening: Opening) -> Result<Self, StoreError> {
        let file = path.to_owned();
        open::create_folder_of(&file)?;
        let connection = SqliteConnection::new(open::open_writer(&file)?);
        match opening {
            Opening::ToUse => bring_up_to_date(&connection, &file)?,
            Opening::ToCopyInto => {}
        }
        let signalling = Signalling::new();
        let others = OtherCommits::after_now(&connection).map_err(|error| failure::into_store_error(error, &file))?;
        let (jobs, thread) = writer::start(connection, file.clone(), others, signalling.clone())
            .map_err(|error| open::unwritable(&file, &error))?;
        let readers = Readers::new(file.clone());
        let server = ServerId::new();
        let (claims, temporary) = (Claims::default(), None);
        Ok(Self { file, server, claims, signalling, jobs: Some(jobs), thread: Some(thread), readers, temporary })
    }

    /// Opens a new database in a folder of its own, which is removed with the store: for tests and demonstrations.
    pub fn open_temporary() -> Result<Self, StoreError> {
        let folder = TempDir::with_prefix("pleat-").map_err(|error| open::unwritable(&std::env::temp_dir(), &error))?;
        let mut store = Self::open(&folder.path().join("pleat.db"))?;
        store.temporary = Some(folder);
        Ok(store)
    }

    /// The database file.
    pub fn file(&self) -> &Path {
        &self.file
    }
}

/// Makes anew what an older Pleat did not derive, a transaction for each session.
fn bring_up_to_date(connection: &SqliteConnection, file: &Path) -> Result<(), StoreError> {
    let told = |failure| failure::into_store_error(failure, file);
    if now::now(copy_mark::find(connection)).flatten().map_err(told)?.is_some() {
        return Err(StoreError::UnfinishedCopy { database: failure::name(file) });
    }
    let once = |sql: &str| connection.get().execute_batch(sql).map_err(|error| failure::sqlite_error(&error, file));
    loop {
        let sessions = now::now(derived::outdated(connection, 100)).flatten().map_err(told)?;
        if sessions.is_empty() {
            return Ok(());
        }
        for session in sessions {
            once("BEGIN IMMEDIATE")?;
            if let Err(failure) = now::now(derived::rebuild(connection, &session)).flatten() {
                // SQLite itself rolls back where it has no space: what went wrong first is what is told.
                let _ = once("ROLLBACK");
                return Err(told(failure));
            }
            once("COMMIT")?;
        }
    }
}

impl Database for SqliteStore {
    type Connection = SqliteConnection;

    fn write<R: Send + 'static>(
        &self,
        durability: Durability,
        work: impl Work<SqliteConnection, Done<R>>,
    ) -> StoreFuture<'_, R> {
        Box::pin(async move {
            let (task, answer) = Task::new(durability, work);
            let writer = self.jobs.as_ref().ok_or(StoreError::Closed)?;
            writer.send(Box::new(task)).map_err(|_| StoreError::Closed)?;
            answer.await.map_err(|_| StoreError::Closed)?
        })
    }

    fn read<R: Send + 'static>(&self, work: impl Work<SqliteConnection, R>) -> StoreFuture<'_, R> {
        Box::pin(Arc::clone(&self.readers).read(work))
    }

    fn server_id(&self) -> &ServerId {
        &self.server
    }

    fn claims(&self) -> &Claims {
        &self.claims
    }

    fn signalling(&self) -> &Signalling {
        &self.signalling
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        self.readers.close_idle();
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!(file = %self.file.display(), "the store's writer had panicked");
        }
    }
}

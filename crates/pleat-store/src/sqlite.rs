//! The embedded database: one file, written by one thread, read beside it.

mod call;
mod change;
mod failure;
mod message;
mod open;
mod part;
mod permission;
mod readers;
mod session;
mod value;
mod words;
mod writer;

use crate::{Durability, Revision, SessionListing, Store, StoreError, StoreFuture, StoredDocument};
use failure::Failure;
use pleat_transcript::call::Call;
use pleat_transcript::change::Change;
use pleat_transcript::document::Document;
use pleat_transcript::ids::{AgentSessionId, CallId, SessionId};
use pleat_transcript::message::JsonObject;
use pleat_transcript::session::{Millis, Session};
use readers::Readers;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;
use tempfile::TempDir;
use writer::{Task, Work};

/// Everything in one file. Dropping it waits for the commits that were asked for.
pub struct SqliteStore {
    file: PathBuf,
    /// `None` only while it is dropped.
    work: Option<Sender<Box<dyn Work>>>,
    thread: Option<JoinHandle<()>>,
    readers: Arc<Readers>,
    /// Removed with the store.
    temporary: Option<TempDir>,
}

impl SqliteStore {
    /// Opens a database file; it and its folder are created where they are missing, an older database is brought up to
    /// date. A file that is not ours, or of a newer Pleat, is an error and left untouched.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let file = path.to_owned();
        open::create_folder_of(&file)?;
        let connection = open::open_writer(&file)?;
        let (work, thread) =
            writer::start(connection, file.clone()).map_err(|error| open::unwritable(&file, &error))?;
        let readers = Readers::new(file.clone());
        Ok(Self { file, work: Some(work), thread: Some(thread), readers, temporary: None })
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

    fn write<R, W>(&self, durability: Durability, work: W) -> StoreFuture<'_, R>
    where
        R: Send + 'static,
        W: FnOnce(&Connection) -> Result<R, Failure> + Send + 'static,
    {
        Box::pin(async move {
            let (task, answer) = Task::new(durability, work);
            let writer = self.work.as_ref().ok_or(StoreError::Closed)?;
            writer.send(Box::new(task)).map_err(|_| StoreError::Closed)?;
            answer.await.map_err(|_| StoreError::Closed)?
        })
    }

    fn read<R, W>(&self, work: W) -> StoreFuture<'_, R>
    where
        R: Send + 'static,
        W: FnOnce(&Connection) -> Result<R, Failure> + Send + 'static,
    {
        Box::pin(Arc::clone(&self.readers).read(work))
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        self.readers.close_idle();
        drop(self.work.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!(file = %self.file.display(), "the store's writer had panicked");
        }
    }
}

impl Store for SqliteStore {
    fn create_session(&self, session: Session) -> StoreFuture<'_, Revision> {
        self.write(Durability::Person, move |connection| {
            let at = session.created_at.unwrap_or_default();
            Ok(session::insert(connection, session, at, &JsonObject::new())?.revision)
        })
    }

    fn commit(
        &self,
        session: SessionId,
        changes: Vec<Change>,
        at: Millis,
        durability: Durability,
    ) -> StoreFuture<'_, Revision> {
        self.write(durability, move |connection| change::commit(connection, session, changes, at))
    }

    fn document(&self, session: SessionId) -> StoreFuture<'_, StoredDocument> {
        self.read(move |connection| {
            let row = session::find(connection, session)?;
            Ok(StoredDocument { document: change::read(connection, &row)?, revision: row.revision })
        })
    }

    fn call(&self, session: SessionId, call: CallId) -> StoreFuture<'_, Option<Call>> {
        self.read(move |connection| call::read(connection, &session::find(connection, session)?, &call))
    }

    fn sessions(&self, limit: usize) -> StoreFuture<'_, Vec<SessionListing>> {
        self.read(move |connection| session::list(connection, limit))
    }

    fn open_sessions(&self) -> StoreFuture<'_, Vec<SessionId>> {
        self.read(session::list_open)
    }

    fn import(&self, document: Document, at: Millis) -> StoreFuture<'_, Revision> {
        self.write(Durability::Person, move |connection| change::import(connection, document, at))
    }

    fn add_agent_session(&self, session: SessionId, agent_session: AgentSessionId, at: Millis) -> StoreFuture<'_, ()> {
        self.write(Durability::Agent, move |connection| {
            session::add_agent_session(connection, &session::find(connection, session)?, &agent_session, at)
        })
    }

    fn agent_sessions(&self, session: SessionId) -> StoreFuture<'_, Vec<AgentSessionId>> {
        self.read(move |connection| session::agent_sessions(connection, &session::find(connection, session)?))
    }
}

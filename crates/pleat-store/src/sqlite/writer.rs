//! The single writer: a thread that owns the connection which writes.
//!
//! Whatever waits in its channel shares one commit; each piece of work is a savepoint that can fail alone. Answers
//! follow the commit.

use super::failure::Failure;
use crate::{Durability, StoreError};
use rusqlite::Connection;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use tokio::sync::oneshot;

/// At most so many pieces of work share a commit.
const MAX_GROUP: usize = 256;

/// What the writer is asked to do.
pub(super) trait Work: Send {
    /// What the commit must survive.
    fn durability(&self) -> Durability;
    /// Does it, inside a transaction.
    fn run(&mut self, connection: &Connection) -> Result<(), Failure>;
    /// Tells whoever asked, after the commit.
    fn answer(self: Box<Self>, outcome: Result<(), StoreError>);
}

/// Work with its result and its answer's way back.
pub(super) struct Task<W, R> {
    durability: Durability,
    work: Option<W>,
    result: Option<R>,
    reply: oneshot::Sender<Result<R, StoreError>>,
}

impl<W, R> Task<W, R> {
    pub(super) fn new(durability: Durability, work: W) -> (Self, oneshot::Receiver<Result<R, StoreError>>) {
        let (reply, answer) = oneshot::channel();
        (Self { durability, work: Some(work), result: None, reply }, answer)
    }
}

impl<W, R> Work for Task<W, R>
where
    W: FnOnce(&Connection) -> Result<R, Failure> + Send,
    R: Send,
{
    fn durability(&self) -> Durability {
        self.durability
    }

    fn run(&mut self, connection: &Connection) -> Result<(), Failure> {
        if let Some(work) = self.work.take() {
            self.result = Some(work(connection)?);
        }
        Ok(())
    }

    fn answer(self: Box<Self>, outcome: Result<(), StoreError>) {
        let Self { result, reply, .. } = *self;
        // Whoever asked may be gone; the work is done all the same.
        drop(reply.send(outcome.and_then(|()| result.ok_or(StoreError::Closed))));
    }
}

/// The way to the writer, and the writer.
pub(super) type Started = (Sender<Box<dyn Work>>, JoinHandle<()>);

/// Starts the writer; it ends when the sender is dropped and all work is done.
pub(super) fn start(connection: Connection, file: PathBuf) -> std::io::Result<Started> {
    let (sender, waiting) = channel();
    let writer = Writer { connection, file, durability: None };
    let thread = std::thread::Builder::new().name("pleat-store".to_owned()).spawn(move || writer.run(&waiting))?;
    Ok((sender, thread))
}

struct Writer {
    connection: Connection,
    file: PathBuf,
    /// What the connection's commits survive now.
    durability: Option<Durability>,
}

impl Writer {
    fn run(mut self, waiting: &Receiver<Box<dyn Work>>) {
        while let Ok(first) = waiting.recv() {
            let mut group = vec![first];
            group.extend(waiting.try_iter().take(MAX_GROUP - 1));
            self.serve(group);
        }
    }

    fn serve(&mut self, mut group: Vec<Box<dyn Work>>) {
        match self.commit(&mut group) {
            Ok(outcomes) => {
                for (work, outcome) in group.into_iter().zip(outcomes) {
                    work.answer(outcome);
                }
            }
            Err(error) => {
                tracing::warn!(%error, changes = group.len(), "a commit failed");
                for work in group {
                    work.answer(Err(error.clone()));
                }
            }
        }
    }

    /// Commits a group. The outer error is everyone's: nothing was committed.
    fn commit(&mut self, group: &mut [Box<dyn Work>]) -> Result<Vec<Result<(), StoreError>>, StoreError> {
        let committed = self.try_commit(group);
        if committed.is_err()
            && !self.connection.is_autocommit()
            && let Err(error) = self.connection.execute_batch("ROLLBACK")
        {
            tracing::error!(%error, "a failed transaction could not be rolled back");
        }
        committed.map_err(|failure| failure.into_store_error(&self.file))
    }

    fn try_commit(&mut self, group: &mut [Box<dyn Work>]) -> Result<Vec<Result<(), StoreError>>, Failure> {
        self.set_durability(strongest(group))?;
        self.execute("BEGIN IMMEDIATE")?;
        let outcomes = group.iter_mut().map(|work| self.run_alone(work.as_mut())).collect::<Result<_, _>>()?;
        self.execute("COMMIT")?;
        Ok(outcomes)
    }

    /// Runs a piece of work so that it can fail alone. The outer error means that the transaction is lost.
    fn run_alone(&self, work: &mut dyn Work) -> Result<Result<(), StoreError>, Failure> {
        self.execute("SAVEPOINT work")?;
        let outcome = match work.run(&self.connection) {
            Ok(()) => Ok(()),
            // SQLite itself rolls everything back where it has no space or cannot write.
            Err(failure) if self.connection.is_autocommit() => return Err(failure),
            Err(failure) => {
                self.execute("ROLLBACK TO work")?;
                Err(failure.into_store_error(&self.file))
            }
        };
        self.execute("RELEASE work")?;
        Ok(outcome)
    }

    fn set_durability(&mut self, durability: Durability) -> Result<(), Failure> {
        if self.durability != Some(durability) {
            let synchronous = match durability {
                Durability::Person => "FULL",
                Durability::Agent => "NORMAL",
            };
            self.connection.pragma_update(None, "synchronous", synchronous)?;
            self.durability = Some(durability);
        }
        Ok(())
    }

    fn execute(&self, sql: &str) -> Result<(), Failure> {
        self.connection.prepare_cached(sql)?.execute([])?;
        Ok(())
    }
}

/// The durability that satisfies everyone in a group.
fn strongest(group: &[Box<dyn Work>]) -> Durability {
    if group.iter().any(|work| work.durability() == Durability::Person) {
        Durability::Person
    } else {
        Durability::Agent
    }
}

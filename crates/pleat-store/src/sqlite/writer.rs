//! The single writer: a thread that owns the connection which writes.
//!
//! Whatever waits in its channel shares one commit; each job is a savepoint that can fail alone. Growing text may wait a
//! moment for others, everything else is committed at once and takes along what waits. Answers and signals follow the
//! commit. While nothing waits, it looks whether others have committed.

use super::connection::SqliteConnection;
use super::failure::{into_store_error, name};
use super::now::now;
use super::other_commits::OtherCommits;
use crate::database::{Done, Work};
use crate::failure::Failure;
use crate::signal::{Signal, Signalling};
use crate::{Durability, LONGEST_WAIT, StoreError};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Instant;
use tokio::sync::oneshot;

/// At most so many jobs share a commit.
const MAX_GROUP: usize = 256;

/// What the writer is asked to do.
pub(super) trait Job: Send {
    /// How soon, and what the commit must survive.
    fn durability(&self) -> Durability;
    /// Does it, inside a transaction.
    fn run(&mut self, connection: &SqliteConnection) -> Result<(), Failure>;
    /// After the commit: signals it, and then tells whoever asked, who finds that it was signalled.
    fn answer(self: Box<Self>, outcome: Result<(), StoreError>, signalling: &Signalling);
}

/// Work with its result and its answer's way back.
pub(super) struct Task<W, R> {
    durability: Durability,
    work: W,
    done: Option<Done<R>>,
    reply: oneshot::Sender<Result<R, StoreError>>,
}

impl<W, R> Task<W, R> {
    pub(super) fn new(durability: Durability, work: W) -> (Self, oneshot::Receiver<Result<R, StoreError>>) {
        let (reply, answer) = oneshot::channel();
        (Self { durability, work, done: None, reply }, answer)
    }
}

impl<W, R> Job for Task<W, R>
where
    W: Work<SqliteConnection, Done<R>>,
    R: Send,
{
    fn durability(&self) -> Durability {
        self.durability
    }

    fn run(&mut self, connection: &SqliteConnection) -> Result<(), Failure> {
        self.done = Some(now((self.work)(connection))??);
        Ok(())
    }

    fn answer(self: Box<Self>, outcome: Result<(), StoreError>, signalling: &Signalling) {
        let Self { done, reply, .. } = *self;
        let (result, signal) = match (outcome, done) {
            (Ok(()), Some(done)) => (Ok(done.answer), done.signal),
            (Ok(()), None) => (Err(StoreError::Closed), None),
            (Err(error), _) => (Err(error), None),
        };
        if let Some(signal) = signal {
            signalling.give(signal);
        }
        // Whoever asked may be gone; the work is done all the same.
        drop(reply.send(result));
    }
}

/// The way to the writer, and the writer.
pub(super) type Started = (Sender<Box<dyn Job>>, JoinHandle<()>);

/// Starts the writer; it ends when the sender is dropped and all work is done.
pub(super) fn start(
    connection: SqliteConnection,
    file: PathBuf,
    others: OtherCommits,
    signalling: Signalling,
) -> std::io::Result<Started> {
    let (sender, waiting) = channel();
    let opened = identity(&file)?;
    let writer = Writer { connection, file, opened, others, signalling, synchronous: None };
    let thread = std::thread::Builder::new().name("pleat-store".to_owned()).spawn(move || writer.run(&waiting))?;
    Ok((sender, thread))
}

struct Writer {
    connection: SqliteConnection,
    file: PathBuf,
    /// What the file was when it was opened.
    opened: Identity,
    others: OtherCommits,
    signalling: Signalling,
    /// How the connection's commits are synchronised now.
    synchronous: Option<&'static str>,
}

impl Writer {
    fn run(mut self, waiting: &Receiver<Box<dyn Job>>) {
        loop {
            match waiting.recv_timeout(self.others.due_in()) {
                Ok(first) => {
                    let mut group = vec![first];
                    gather(&mut group, waiting);
                    self.serve(group);
                }
                Err(RecvTimeoutError::Timeout) => self.look_for_others(),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn look_for_others(&mut self) {
        match self.others.look(&self.connection) {
            Ok(true) => self.signalling.give(Signal::Missed),
            Ok(false) => {}
            // Whoever reads or writes is told of what is wrong with the file.
            Err(failure) => tracing::debug!(?failure, "could not look for what others committed"),
        }
    }

    fn serve(&mut self, mut group: Vec<Box<dyn Job>>) {
        match self.commit(&mut group) {
            Ok(outcomes) => {
                for (job, outcome) in group.into_iter().zip(outcomes) {
                    job.answer(outcome, &self.signalling);
                }
            }
            Err(error) => {
                tracing::warn!(%error, changes = group.len(), "a commit failed");
                for job in group {
                    job.answer(Err(error.clone()), &self.signalling);
                }
            }
        }
    }

    /// Commits a group. The outer error is everyone's: nothing was committed.
    fn commit(&mut self, group: &mut [Box<dyn Job>]) -> Result<Vec<Result<(), StoreError>>, StoreError> {
        let committed = self.try_commit(group);
        if committed.is_err()
            && !self.connection.get().is_autocommit()
            && let Err(error) = self.connection.get().execute_batch("ROLLBACK")
        {
            tracing::error!(%error, "a failed transaction could not be rolled back");
        }
        committed.map_err(|failure| into_store_error(failure, &self.file))
    }

    fn try_commit(&mut self, group: &mut [Box<dyn Job>]) -> Result<Vec<Result<(), StoreError>>, Failure> {
        self.set_durability(strongest(group))?;
        self.execute("BEGIN IMMEDIATE")?;
        let outcomes = match group {
            // The transaction itself is its savepoint.
            [job] => vec![Ok(job.run(&self.connection)?)],
            group => group.iter_mut().map(|job| self.run_alone(job.as_mut())).collect::<Result<_, _>>()?,
        };
        self.check_in_place()?;
        self.execute("COMMIT")?;
        Ok(outcomes)
    }

    /// Makes sure that the file is still where it was: SQLite goes on writing to one that nobody will find again.
    fn check_in_place(&self) -> Result<(), StoreError> {
        let reason = match identity(&self.file) {
            Ok(found) if found == self.opened => return Ok(()),
            Ok(_) => "another file has taken its place".to_owned(),
            Err(error) => format!("it was there when Pleat started: {error}"),
        };
        Err(StoreError::Unwritable { database: name(&self.file), reason })
    }

    /// Runs a job so that it can fail alone. The outer error means that the transaction is lost.
    fn run_alone(&self, job: &mut dyn Job) -> Result<Result<(), StoreError>, Failure> {
        self.execute("SAVEPOINT job")?;
        let outcome = match job.run(&self.connection) {
            Ok(()) => Ok(()),
            // SQLite itself rolls everything back where it has no space or cannot write.
            Err(failure) if self.connection.get().is_autocommit() => return Err(failure),
            Err(failure) => {
                self.execute("ROLLBACK TO job")?;
                Err(into_store_error(failure, &self.file))
            }
        };
        self.execute("RELEASE job")?;
        Ok(outcome)
    }

    fn set_durability(&mut self, durability: Durability) -> Result<(), Failure> {
        let synchronous = match durability {
            Durability::Person => "FULL",
            Durability::Agent | Durability::Stream => "NORMAL",
        };
        if self.synchronous != Some(synchronous) {
            self.connection.get().pragma_update(None, "synchronous", synchronous)?;
            self.synchronous = Some(synchronous);
        }
        Ok(())
    }

    fn execute(&self, sql: &str) -> Result<(), Failure> {
        self.connection.get().prepare_cached(sql)?.execute([])?;
        Ok(())
    }
}

/// Tells a file from another one that has its name later.
#[cfg(unix)]
type Identity = (u64, u64);

#[cfg(not(unix))]
type Identity = ();

#[cfg(unix)]
fn identity(file: &Path) -> std::io::Result<Identity> {
    use std::os::unix::fs::MetadataExt;
    file.metadata().map(|found| (found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn identity(file: &Path) -> std::io::Result<Identity> {
    file.metadata().map(drop)
}

/// Takes what waits; where that is growing text alone, waits for more until the longest wait is over.
fn gather(group: &mut Vec<Box<dyn Job>>, waiting: &Receiver<Box<dyn Job>>) {
    let until = Instant::now() + LONGEST_WAIT;
    while group.len() < MAX_GROUP && group.iter().all(|job| job.durability() == Durability::Stream) {
        let Ok(job) = waiting.recv_timeout(until.saturating_duration_since(Instant::now())) else { break };
        group.push(job);
    }
    group.extend(waiting.try_iter().take(MAX_GROUP.saturating_sub(group.len())));
}

/// The durability that satisfies everyone in a group.
fn strongest(group: &[Box<dyn Job>]) -> Durability {
    if group.iter().any(|job| job.durability() == Durability::Person) { Durability::Person } else { Durability::Agent }
}

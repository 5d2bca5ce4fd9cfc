//! Servers that share a database: who is alive, who owns a session, and the commands that travel to the owner.
//!
//! Times are the database's own, so that clocks of servers may differ. A server that was stopped for longer than its
//! lease finds its sessions taken, and what it then tries to commit is refused. One of this machine whose process does not
//! run any more is dead at once: a restart after a kill waits for nothing.

use super::process;
use super::session::{self, SessionRow};
use super::sql::{Row, Sql, owned_values, values};
use crate::failure::Failure;
use crate::{Claim, CommandId, ProcessMark, ServerId, StoredCommand};
use pleat_transcript::ids::SessionId;

/// A server that gave no sign of life for so many milliseconds is taken for dead.
pub(crate) const LEASE_MILLIS: i64 = 10_000;

/// The columns that [`ServerRow::from_row`] reads.
macro_rules! server_columns {
    () => {
        "server.beat_at, server.machine, server.pid, server.process_start"
    };
}

pub(super) use server_columns;

/// What is known of a server's life.
pub(super) struct ServerRow {
    beat_at: i64,
    /// Its process, where its system tells.
    process: Option<ProcessMark>,
}

impl ServerRow {
    pub(super) fn from_row(row: &mut Row) -> Result<Self, Failure> {
        let beat_at = row.integer()?;
        let process = match row.optional_text()? {
            Some(machine) => Some(ProcessMark { machine, pid: process::pid(row)?, start: process::start(row)? }),
            None => None,
        };
        Ok(Self { beat_at, process })
    }

    /// Its lease runs, and nobody knows that its process ended.
    fn is_alive(&self, now: i64) -> bool {
        self.beat_at >= now - LEASE_MILLIS && self.runs_here() != Some(false)
    }

    /// Its process ended; only where that cannot be known, its lease is over.
    pub(super) fn is_gone(&self, now: i64) -> bool {
        self.runs_here().map_or(self.beat_at < now - LEASE_MILLIS, |runs| !runs)
    }

    /// Whether its process runs, where it is one of this machine.
    fn runs_here(&self) -> Option<bool> {
        let process = self.process.as_ref().filter(|process| process.is_of_this_machine())?;
        Some(process.is_running())
    }
}

/// The database's time.
pub(super) async fn now<S: Sql>(sql: &S) -> Result<i64, Failure> {
    let mut rows = sql.query(sql.clock(), values![]).await?;
    rows.first_mut().map_or_else(|| Err(Failure::Unreadable("the database tells no time".to_owned())), Row::integer)
}

/// Gives a sign of life.
pub(crate) async fn beat<S: Sql>(sql: &S, server: &ServerId) -> Result<(), Failure> {
    let statement = "INSERT INTO server (id, started_at, beat_at, machine, pid, process_start) \
         VALUES ($1, $2, $2, $3, $4, $5) ON CONFLICT (id) DO UPDATE SET beat_at = $2";
    let now = now(sql).await?;
    let process = ProcessMark::of_ourselves();
    let process = process.as_ref();
    sql.post(
        statement,
        owned_values![
            server.0.as_str(),
            now,
            process.map(|process| &process.machine),
            process.map(|process| i64::from(process.pid)),
            process.map(|process| process.start.cast_signed()),
        ],
    )
    .await
}

/// Takes its leave: what it owned is free.
pub(crate) async fn leave<S: Sql>(sql: &S, server: &ServerId) -> Result<(), Failure> {
    sql.post("UPDATE session SET owner = NULL WHERE owner = $1", owned_values![server.0.as_str()]).await?;
    sql.post("DELETE FROM server WHERE id = $1", owned_values![server.0.as_str()]).await
}

/// The owner of a session, where that is another server and alive.
async fn living_owner<S: Sql>(sql: &S, session: &SessionRow, own: &str) -> Result<Option<ServerId>, Failure> {
    let Some(owner) = session.owner.as_deref().filter(|owner| *owner != own) else { return Ok(None) };
    let statement = concat!("SELECT ", server_columns!(), " FROM server WHERE id = $1");
    let Some(mut row) = sql.query(statement, values![owner]).await?.into_iter().next() else { return Ok(None) };
    let is_alive = ServerRow::from_row(&mut row)?.is_alive(now(sql).await?);
    Ok(is_alive.then(|| ServerId(owner.to_owned())))
}

/// Whether another server, which is alive, owns a session.
pub(crate) async fn is_owned_by_another<S: Sql>(sql: &S, session: &SessionRow, own: &str) -> Result<bool, Failure> {
    Ok(living_owner(sql, session, own).await?.is_some())
}

/// Takes a session, where no other server that lives has it.
pub(crate) async fn claim<S: Sql>(sql: &S, own: &ServerId, id: &SessionId) -> Result<Claim, Failure> {
    let session = session::lock(sql, id).await?;
    if let Some(owner) = living_owner(sql, &session, &own.0).await? {
        return Ok(Claim::Theirs(owner));
    }
    take(sql, &session, own).await?;
    Ok(Claim::Ours)
}

/// Makes a session ours, whoever had it.
pub(crate) async fn take<S: Sql>(sql: &S, session: &SessionRow, own: &ServerId) -> Result<(), Failure> {
    if session.owner.as_deref() != Some(own.0.as_str()) {
        let statement = "UPDATE session SET owner = $1 WHERE key = $2";
        sql.post(statement, owned_values![own.0.as_str(), session.key]).await?;
    }
    beat(sql, own).await
}

/// Lets a session go, where it is ours.
pub(crate) async fn release<S: Sql>(sql: &S, own: &ServerId, id: &SessionId) -> Result<(), Failure> {
    let session = session::lock(sql, id).await?;
    let statement = "UPDATE session SET owner = NULL WHERE key = $1 AND owner = $2";
    sql.post(statement, owned_values![session.key, own.0.as_str()]).await
}

/// Stores a command for whoever owns the session; the same id again is the same command.
pub(crate) async fn send_command<S: Sql>(
    sql: &S,
    id: &SessionId,
    command: &CommandId,
    body: &str,
) -> Result<(), Failure> {
    let session = session::lock(sql, id).await?;
    let statement = "INSERT INTO command (session, id, body, created_at) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (session, id) DO NOTHING";
    let now = now(sql).await?;
    sql.post(statement, owned_values![session.key, command.0.as_str(), body, now]).await
}

/// Takes the commands that wait for a session, oldest first, where the session is ours. Each is taken once.
pub(crate) async fn take_commands<S: Sql>(
    sql: &S,
    own: &ServerId,
    id: &SessionId,
) -> Result<Vec<StoredCommand>, Failure> {
    let session = session::lock(sql, id).await?;
    if session.owner.as_deref() != Some(own.0.as_str()) {
        return Ok(Vec::new());
    }
    let statement = "SELECT key, id, body FROM command WHERE session = $1 AND taken_by IS NULL ORDER BY key";
    let mut commands = Vec::new();
    for mut row in sql.query(statement, values![session.key]).await? {
        let key = row.integer()?;
        sql.post("UPDATE command SET taken_by = $1 WHERE key = $2", owned_values![own.0.as_str(), key]).await?;
        commands.push(StoredCommand { id: CommandId(row.text()?), body: row.text()? });
    }
    Ok(commands)
}

/// Sessions of ours for which commands wait.
pub(crate) async fn sessions_with_commands<S: Sql>(sql: &S, own: &ServerId) -> Result<Vec<SessionId>, Failure> {
    let statement = "SELECT id FROM session WHERE owner = $1 \
         AND EXISTS (SELECT 1 FROM command WHERE command.session = session.key AND taken_by IS NULL) ORDER BY key";
    sql.query(statement, values![own.0.as_str()]).await?.into_iter().map(|mut row| row.id(SessionId::new)).collect()
}

/// Tells what came of a command.
pub(crate) async fn answer_command<S: Sql>(
    sql: &S,
    id: &SessionId,
    command: &CommandId,
    outcome: &str,
) -> Result<(), Failure> {
    let session = session::lock(sql, id).await?;
    let statement = "UPDATE command SET outcome = $1 WHERE session = $2 AND id = $3 AND outcome IS NULL";
    sql.post(statement, owned_values![outcome, session.key, command.0.as_str()]).await
}

/// What came of a command, once that is known.
pub(crate) async fn command_outcome<S: Sql>(
    sql: &S,
    id: &SessionId,
    command: &CommandId,
) -> Result<Option<String>, Failure> {
    let session = session::find(sql, id).await?;
    let statement = "SELECT outcome FROM command WHERE session = $1 AND id = $2";
    let row = sql.query(statement, values![session.key, command.0.as_str()]).await?.into_iter().next();
    row.map_or(Ok(None), |mut row| row.optional_text())
}

//! Servers that share a database: who is alive, who owns a session, and the commands that travel to the owner.
//!
//! Times are the database's own, so that clocks of servers may differ. A server that was stopped for longer than its
//! lease finds its sessions taken, and what it then tries to commit is refused.

use super::session::{self, SessionRow};
use super::sql::{Row, Sql, owned_values, values};
use crate::failure::Failure;
use crate::{Claim, CommandId, ServerId, StoredCommand};
use pleat_transcript::ids::SessionId;

/// A server that gave no sign of life for so many milliseconds is taken for dead.
pub(crate) const LEASE_MILLIS: i64 = 10_000;

async fn now<S: Sql>(sql: &S) -> Result<i64, Failure> {
    let mut rows = sql.query(sql.clock(), values![]).await?;
    rows.first_mut().map_or_else(|| Err(Failure::Unreadable("the database tells no time".to_owned())), Row::integer)
}

/// Gives a sign of life.
pub(crate) async fn beat<S: Sql>(sql: &S, server: &ServerId) -> Result<(), Failure> {
    let statement = "INSERT INTO server (id, started_at, beat_at) VALUES ($1, $2, $2) \
         ON CONFLICT (id) DO UPDATE SET beat_at = $2";
    let now = now(sql).await?;
    sql.post(statement, owned_values![server.0.as_str(), now]).await
}

/// Takes its leave: what it owned is free.
pub(crate) async fn leave<S: Sql>(sql: &S, server: &ServerId) -> Result<(), Failure> {
    sql.post("UPDATE session SET owner = NULL WHERE owner = $1", owned_values![server.0.as_str()]).await?;
    sql.post("DELETE FROM server WHERE id = $1", owned_values![server.0.as_str()]).await
}

/// The owner of a session, where that is another server and alive.
async fn living_owner<S: Sql>(sql: &S, session: &SessionRow, own: &str) -> Result<Option<ServerId>, Failure> {
    let Some(owner) = session.owner.as_deref().filter(|owner| *owner != own) else { return Ok(None) };
    let alive_since = now(sql).await? - LEASE_MILLIS;
    let statement = "SELECT id FROM server WHERE id = $1 AND beat_at >= $2";
    let row = sql.query(statement, values![owner, alive_since]).await?.into_iter().next();
    row.map(|mut row| row.text().map(ServerId)).transpose()
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

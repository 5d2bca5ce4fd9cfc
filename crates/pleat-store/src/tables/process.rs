//! Processes that servers started: noted until someone saw that they ended, so that none outlives its server unseen.

use super::server::{self, ServerRow, server_columns};
use super::sql::{Row, Sql, owned_values, values};
use crate::failure::Failure;
use crate::{ProcessMark, ServerId};

/// Notes a process that a server started, and the server itself: one that nobody knows counts as gone.
pub(crate) async fn add<S: Sql>(sql: &S, own: &ServerId, process: &ProcessMark) -> Result<(), Failure> {
    server::beat(sql, own).await?;
    let statement = "INSERT INTO agent_process (machine, pid, process_start, server) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (machine, pid, process_start) DO UPDATE SET server = $4";
    let ProcessMark { machine, pid, start } = process;
    sql.post(statement, owned_values![machine, i64::from(*pid), start.cast_signed(), own.0.as_str()]).await
}

/// A process has ended.
pub(crate) async fn remove<S: Sql>(sql: &S, process: &ProcessMark) -> Result<(), Failure> {
    let statement = "DELETE FROM agent_process WHERE machine = $1 AND pid = $2 AND process_start = $3";
    let ProcessMark { machine, pid, start } = process;
    sql.post(statement, owned_values![machine, i64::from(*pid), start.cast_signed()]).await
}

/// Processes of a machine, which is this one, whose server is gone.
pub(crate) async fn left<S: Sql>(sql: &S, own: &ServerId, machine: &str) -> Result<Vec<ProcessMark>, Failure> {
    let statement = concat!(
        "SELECT agent_process.pid, agent_process.process_start, server.id IS NOT NULL, ",
        server_columns!(),
        " FROM agent_process LEFT JOIN server ON server.id = agent_process.server \
         WHERE agent_process.machine = $1 AND agent_process.server <> $2 ORDER BY agent_process.pid"
    );
    let rows = sql.query(statement, values![machine, own.0.as_str()]).await?;
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let now = server::now(sql).await?;
    let mut left = Vec::new();
    for mut row in rows {
        let process = ProcessMark { machine: machine.to_owned(), pid: pid(&mut row)?, start: start(&mut row)? };
        let has_server = row.boolean()?;
        // One that was stopped for longer than its lease may still go on, with its processes.
        if !has_server || ServerRow::from_row(&mut row)?.is_gone(now) {
            left.push(process);
        }
    }
    Ok(left)
}

/// The next column: a process id.
pub(super) fn pid(row: &mut Row) -> Result<u32, Failure> {
    u32::try_from(row.integer()?).map_err(|_| Failure::Unreadable("a process id is none".to_owned()))
}

/// The next column: when a process started.
pub(super) fn start(row: &mut Row) -> Result<u64, Failure> {
    Ok(row.integer()?.cast_unsigned())
}

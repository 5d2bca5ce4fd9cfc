//! Rows of sessions, their turns and what agents call them.

use super::failure::Failure;
use super::value::{Columns, json_text, object_text};
use crate::{IdKind, Revision, SessionListing, StoreError};
use pleat_transcript::change::{ChangeError, SessionUpdate, TurnUpdate};
use pleat_transcript::document::Document;
use pleat_transcript::ids::{AgentSessionId, SessionId, TurnId};
use pleat_transcript::message::JsonObject;
use pleat_transcript::session::{ContextGauge, Millis, Session, Turn, TurnState};
use rusqlite::{Connection, OptionalExtension, params};

/// A session's row, found by its id.
#[derive(Debug, Clone)]
pub(super) struct SessionRow {
    pub(super) key: i64,
    pub(super) id: SessionId,
    pub(super) revision: Revision,
}

/// Finds a session.
pub(super) fn find(connection: &Connection, id: SessionId) -> Result<SessionRow, Failure> {
    let mut statement = connection.prepare_cached("SELECT key, revision FROM session WHERE id = ?1")?;
    let row = statement.query_row([id.as_str()], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let Some((key, revision)) = row else { return Err(StoreError::UnknownSession(id).into()) };
    Ok(SessionRow { key, id, revision: Revision(i64::cast_unsigned(revision)) })
}

/// Stores a session with its turns, at revision 1.
pub(super) fn insert(
    connection: &Connection,
    session: Session,
    at: Millis,
    document_extra: &JsonObject,
) -> Result<SessionRow, Failure> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO session (id, revision, updated_at, created_at, title, agent, root, live_turn, context_used, \
         context_size, extra, document_extra) VALUES (?1, 1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) \
         ON CONFLICT (id) DO NOTHING",
    )?;
    let inserted = statement.execute(params![
        session.id.as_str(),
        at,
        session.created_at,
        session.title,
        session.agent,
        session.root,
        session.live_turn.as_ref().map(TurnId::as_str),
        session.context.map(|gauge| gauge.used.cast_signed()),
        session.context.map(|gauge| gauge.size.cast_signed()),
        object_text(&session.extra)?,
        object_text(document_extra)?,
    ])?;
    if inserted == 0 {
        return Err(StoreError::SessionExists(session.id).into());
    }
    let row = SessionRow { key: connection.last_insert_rowid(), id: session.id, revision: Revision(1) };
    for turn in &session.turns {
        insert_turn(connection, &row, turn)?;
    }
    Ok(row)
}

/// Sets what is given; tells whether that altered something.
pub(super) fn update(connection: &Connection, session: &SessionRow, update: &SessionUpdate) -> Result<bool, Failure> {
    let mut statement = connection.prepare_cached(
        "UPDATE session SET live_turn = iif(?2, ?3, live_turn), title = coalesce(?4, title), \
         context_used = coalesce(?5, context_used), context_size = coalesce(?6, context_size) \
         WHERE key = ?1 AND (live_turn IS NOT iif(?2, ?3, live_turn) OR title IS NOT coalesce(?4, title) \
         OR context_used IS NOT coalesce(?5, context_used) OR context_size IS NOT coalesce(?6, context_size))",
    )?;
    let updated = statement.execute(params![
        session.key,
        update.live_turn.is_some(),
        update.live_turn.iter().flatten().next().map(TurnId::as_str),
        update.title,
        update.context.map(|gauge| gauge.used.cast_signed()),
        update.context.map(|gauge| gauge.size.cast_signed()),
    ])?;
    Ok(updated > 0)
}

/// Counts a commit that altered something.
pub(super) fn bump(connection: &Connection, session: &SessionRow, at: Millis) -> Result<Revision, Failure> {
    // A clock that was set back does not move the session down.
    let mut statement = connection.prepare_cached(
        "UPDATE session SET revision = revision + 1, updated_at = max(updated_at, ?2) WHERE key = ?1",
    )?;
    statement.execute(params![session.key, at])?;
    Ok(Revision(session.revision.0 + 1))
}

/// Sets what the list of sessions shows of what was said.
pub(super) fn set_last_words(
    connection: &Connection,
    session: &SessionRow,
    words: Option<&str>,
) -> Result<(), Failure> {
    let mut statement = connection.prepare_cached("UPDATE session SET last_words = ?2 WHERE key = ?1")?;
    statement.execute(params![session.key, words])?;
    Ok(())
}

/// The session with its turns, in a document with no messages yet.
pub(super) fn read(connection: &Connection, row: &SessionRow) -> Result<Document, Failure> {
    let mut statement = connection.prepare_cached(
        "SELECT root, live_turn, title, agent, created_at, context_used, context_size, extra, document_extra \
         FROM session WHERE key = ?1",
    )?;
    let mut rows = statement.query([row.key])?;
    let Some(found) = rows.next()? else { return Err(StoreError::UnknownSession(row.id.clone()).into()) };
    let mut columns = Columns::of(found);
    let session = Session {
        id: row.id.clone(),
        root: columns.take()?,
        live_turn: columns.optional_id(TurnId::new)?,
        title: columns.take()?,
        agent: columns.take()?,
        created_at: columns.take()?,
        turns: read_turns(connection, row)?,
        context: gauge(columns.take()?, columns.take()?),
        extra: columns.object()?,
    };
    let mut document = Document::new(session);
    document.extra = columns.object()?;
    Ok(document)
}

fn gauge(used: Option<i64>, size: Option<i64>) -> Option<ContextGauge> {
    Some(ContextGauge { used: used?.cast_unsigned(), size: size?.cast_unsigned() })
}

/// Stores a turn after all others.
pub(super) fn insert_turn(connection: &Connection, session: &SessionRow, turn: &Turn) -> Result<(), Failure> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO turn (session, id, seq, state, stop_reason, started_at, ended_at, usage, extra) \
         VALUES (?1, ?2, (SELECT coalesce(max(seq), -1) + 1 FROM turn WHERE session = ?1), ?3, ?4, ?5, ?6, ?7, ?8) \
         ON CONFLICT (session, id) DO NOTHING",
    )?;
    let inserted = statement.execute(params![
        session.key,
        turn.id.as_str(),
        turn.state.word(),
        turn.stop_reason,
        turn.started_at,
        turn.ended_at,
        json_text(turn.usage.as_ref()),
        object_text(&turn.extra)?,
    ])?;
    if inserted == 0 {
        return Err(id_taken(session, IdKind::Turn, turn.id.as_str()));
    }
    Ok(())
}

/// Sets what is given of a turn; tells whether that altered something.
pub(super) fn update_turn(
    connection: &Connection,
    session: &SessionRow,
    id: &TurnId,
    update: &TurnUpdate,
) -> Result<bool, Failure> {
    let mut statement = connection.prepare_cached(
        "UPDATE turn SET state = coalesce(?3, state), stop_reason = coalesce(?4, stop_reason), \
         ended_at = coalesce(?5, ended_at), usage = coalesce(?6, usage) \
         WHERE session = ?1 AND id = ?2 AND (state <> coalesce(?3, state) \
         OR stop_reason IS NOT coalesce(?4, stop_reason) OR ended_at IS NOT coalesce(?5, ended_at) \
         OR usage IS NOT coalesce(?6, usage))",
    )?;
    let updated = statement.execute(params![
        session.key,
        id.as_str(),
        update.state.map(TurnState::word),
        update.stop_reason,
        update.ended_at,
        json_text(update.usage.as_ref()),
    ])?;
    if updated == 0 && !has_turn(connection, session, id)? {
        return Err(does_not_fit(session, ChangeError::UnknownTurn(id.clone())));
    }
    Ok(updated > 0)
}

fn has_turn(connection: &Connection, session: &SessionRow, id: &TurnId) -> Result<bool, Failure> {
    let mut statement = connection.prepare_cached("SELECT 1 FROM turn WHERE session = ?1 AND id = ?2")?;
    Ok(statement.exists(params![session.key, id.as_str()])?)
}

fn read_turns(connection: &Connection, session: &SessionRow) -> Result<Vec<Turn>, Failure> {
    let mut statement = connection.prepare_cached(
        "SELECT id, state, stop_reason, started_at, ended_at, usage, extra FROM turn WHERE session = ?1 ORDER BY seq",
    )?;
    let mut rows = statement.query([session.key])?;
    let mut turns = Vec::new();
    while let Some(row) = rows.next()? {
        let mut columns = Columns::of(row);
        turns.push(Turn {
            id: columns.id(TurnId::new)?,
            state: columns.word(&TurnState::WORDS)?,
            stop_reason: columns.take()?,
            started_at: columns.take()?,
            ended_at: columns.take()?,
            usage: columns.json()?,
            extra: columns.object()?,
        });
    }
    Ok(turns)
}

/// Sessions for the list: newest activity first.
pub(super) fn list(connection: &Connection, limit: usize) -> Result<Vec<SessionListing>, Failure> {
    let mut statement = connection.prepare_cached(LIST)?;
    let mut rows = statement.query([i64::try_from(limit).unwrap_or(i64::MAX)])?;
    let mut listings = Vec::new();
    while let Some(row) = rows.next()? {
        let mut columns = Columns::of(row);
        listings.push(SessionListing {
            id: columns.id(SessionId::new)?,
            title: columns.take()?,
            agent: columns.take()?,
            root: columns.take()?,
            updated_at: columns.take()?,
            last_turn: columns.optional_word(&TurnState::WORDS)?,
            live: columns.take()?,
            needs_person: columns.take()?,
            last_words: columns.take()?,
        });
    }
    Ok(listings)
}

pub(super) const LIST: &str = "SELECT id, title, agent, root, updated_at, \
     (SELECT state FROM turn WHERE turn.session = session.key ORDER BY seq DESC LIMIT 1), live_turn IS NOT NULL, \
     EXISTS (SELECT 1 FROM permission WHERE permission.session = session.key AND state = 'open'), last_words \
     FROM session ORDER BY updated_at DESC, key DESC LIMIT ?1";

/// Sessions in which something is open, oldest first. A call that is open because its turn was running is found by its
/// turn.
pub(super) fn list_open(connection: &Connection) -> Result<Vec<SessionId>, Failure> {
    let mut statement = connection.prepare_cached(LIST_OPEN)?;
    let mut rows = statement.query([])?;
    let mut ids = Vec::new();
    while let Some(row) = rows.next()? {
        ids.push(Columns::of(row).id(SessionId::new)?);
    }
    Ok(ids)
}

pub(super) const LIST_OPEN: &str = "SELECT id FROM session WHERE key IN (\
     SELECT key FROM session WHERE live_turn IS NOT NULL \
     UNION SELECT session FROM turn WHERE state IN ('queued', 'running') \
     UNION SELECT session FROM permission WHERE state = 'open') ORDER BY key";

/// Makes a name the newest of those that the agent gave the session.
pub(super) fn add_agent_session(
    connection: &Connection,
    session: &SessionRow,
    name: &AgentSessionId,
    at: Millis,
) -> Result<(), Failure> {
    let mut statement =
        connection.prepare_cached("SELECT id FROM agent_session WHERE session = ?1 ORDER BY key DESC LIMIT 1")?;
    let newest: Option<String> = statement.query_row([session.key], |row| row.get(0)).optional()?;
    if newest.as_ref() == Some(&name.0) {
        return Ok(());
    }
    let mut statement = connection.prepare_cached("DELETE FROM agent_session WHERE session = ?1 AND id = ?2")?;
    statement.execute(params![session.key, name.0])?;
    let mut statement = connection.prepare_cached("INSERT INTO agent_session (session, id, at) VALUES (?1, ?2, ?3)")?;
    statement.execute(params![session.key, name.0, at])?;
    Ok(())
}

/// What the agent called the session, oldest first.
pub(super) fn agent_sessions(connection: &Connection, session: &SessionRow) -> Result<Vec<AgentSessionId>, Failure> {
    let mut statement = connection.prepare_cached("SELECT id FROM agent_session WHERE session = ?1 ORDER BY key")?;
    let names = statement.query_map([session.key], |row| Ok(AgentSessionId(row.get(0)?)))?;
    Ok(names.collect::<Result<_, _>>()?)
}

/// The error for a change that names what the session does not have.
pub(super) fn does_not_fit(session: &SessionRow, reason: ChangeError) -> Failure {
    StoreError::DoesNotFit { session: session.id.clone(), reason }.into()
}

/// The error for an id that the session has already.
pub(super) fn id_taken(session: &SessionRow, kind: IdKind, id: &str) -> Failure {
    StoreError::IdTaken { session: session.id.clone(), kind, id: id.to_owned() }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(connection: &Connection, sql: &str) -> String {
        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let parameters: &[i64] = if sql.contains("?1") { &[1] } else { &[] };
        let steps = statement.query_map(rusqlite::params_from_iter(parameters), |row| row.get::<_, String>(3)).unwrap();
        steps.collect::<Result<Vec<_>, _>>().unwrap().join("\n")
    }

    #[test]
    fn lists_read_indexes_alone() {
        let folder = tempfile::tempdir().unwrap();
        let connection = super::super::open::open_writer(&folder.path().join("x.db")).unwrap();
        let list = plan(&connection, LIST);
        assert!(list.contains("SCAN session USING INDEX session_by_activity"), "{list}");
        for index in ["turn_open", "session_live", "permission_open"] {
            let open = plan(&connection, LIST_OPEN);
            assert!(open.contains(index), "{open}");
        }
        for plan in [list, plan(&connection, LIST_OPEN)] {
            assert!(!plan.lines().any(|step| step.starts_with("SCAN") && !step.contains("INDEX")), "{plan}");
            assert!(!plan.contains("TEMP B-TREE FOR ORDER BY"), "{plan}");
        }
    }
}

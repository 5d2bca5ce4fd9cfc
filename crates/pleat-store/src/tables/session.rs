//! Rows of sessions and what agents call them.

use super::part::Extent;
use super::sql::{Row, Sql, object_text, values};
use super::{prompt, turn};
use crate::failure::Failure;
use crate::{IdKind, Revision, StoreError};
use pleat_transcript::change::{ChangeError, SessionUpdate};
use pleat_transcript::document::{Document, chosen_from_json, chosen_to_json};
use pleat_transcript::ids::{AgentSessionId, SessionId, TurnId};
use pleat_transcript::message::JsonObject;
use pleat_transcript::session::{ChosenSettings, ContextGauge, Millis, Session};
use serde_json::Value;

/// A session's row, found by its id.
#[derive(Debug, Clone)]
pub(crate) struct SessionRow {
    pub(crate) key: i64,
    pub(crate) id: SessionId,
    pub(crate) revision: Revision,
    /// The server that may work on it.
    pub(crate) owner: Option<String>,
    /// About how much of it waits for the full-text index.
    pub(crate) unindexed: i64,
}

impl SessionRow {
    fn from_row(id: &SessionId, row: &mut Row) -> Result<Self, Failure> {
        Ok(Self {
            key: row.integer()?,
            id: id.clone(),
            revision: Revision(row.integer()?.cast_unsigned()),
            owner: row.optional_text()?,
            unindexed: row.integer()?,
        })
    }
}

/// Finds a session.
pub(crate) async fn find<S: Sql>(sql: &S, id: &SessionId) -> Result<SessionRow, Failure> {
    let statement = "SELECT key, revision, owner, unindexed FROM session WHERE id = $1";
    first(sql.query(statement, values![id.as_str()]).await?, id)
}

/// Finds a session and keeps everyone else from changing it until the transaction ends. It is the first thing that any
/// transaction locks.
pub(crate) async fn lock<S: Sql>(sql: &S, id: &SessionId) -> Result<SessionRow, Failure> {
    first(sql.query(sql.lock_session(), values![id.as_str()]).await?, id)
}

fn first(rows: Vec<Row>, id: &SessionId) -> Result<SessionRow, Failure> {
    let row = rows.into_iter().next();
    SessionRow::from_row(id, &mut row.ok_or_else(|| StoreError::UnknownSession(id.clone()))?)
}

/// Stores a session with its turns, at revision 1.
pub(crate) async fn insert<S: Sql>(
    sql: &S,
    session: Session,
    at: Millis,
    document_extra: &JsonObject,
) -> Result<SessionRow, Failure> {
    let statement = "INSERT INTO session (id, revision, updated_at, created_at, title, agent, root, live_turn, \
         context_used, context_size, chosen, directories, extra, document_extra, derived) \
         VALUES ($1, 1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) ON CONFLICT (id) DO NOTHING RETURNING key";
    let inserted = sql
        .query(
            statement,
            values![
                session.id.as_str(),
                at,
                session.created_at,
                &session.title,
                &session.agent,
                &session.root,
                session.live_turn.as_ref().map(TurnId::as_str),
                session.context.map(|gauge| gauge.used.cast_signed()),
                session.context.map(|gauge| gauge.size.cast_signed()),
                chosen_text(&session.chosen),
                directories_text(&session.directories)?,
                object_text(&session.extra)?,
                object_text(document_extra)?,
                super::derived::VERSION,
            ],
        )
        .await?;
    let Some(mut row) = inserted.into_iter().next() else {
        return Err(StoreError::SessionExists(session.id).into());
    };
    let row = SessionRow { key: row.integer()?, id: session.id, revision: Revision(1), owner: None, unindexed: 0 };
    for turn in &session.turns {
        turn::insert(sql, &row, turn).await?;
    }
    for waiting in &session.waiting {
        prompt::insert(sql, &row, waiting).await?;
    }
    Ok(row)
}

/// Sets what is given; tells whether that altered something.
pub(crate) async fn update<S: Sql>(sql: &S, session: &SessionRow, update: &SessionUpdate) -> Result<bool, Failure> {
    let statement = "UPDATE session SET live_turn = CASE WHEN $1 THEN $2 ELSE live_turn END, \
         title = coalesce($3, title), context_used = coalesce($4, context_used), \
         context_size = coalesce($5, context_size), chosen = CASE WHEN $6 THEN $7 ELSE chosen END, \
         directories = CASE WHEN $8 THEN $9 ELSE directories END WHERE key = $10 \
         AND (live_turn IS DISTINCT FROM CASE WHEN $1 THEN $2 ELSE live_turn END \
         OR title IS DISTINCT FROM coalesce($3, title) \
         OR context_used IS DISTINCT FROM coalesce($4, context_used) \
         OR context_size IS DISTINCT FROM coalesce($5, context_size) \
         OR chosen IS DISTINCT FROM CASE WHEN $6 THEN $7 ELSE chosen END \
         OR directories IS DISTINCT FROM CASE WHEN $8 THEN $9 ELSE directories END)";
    let updated = sql
        .execute(
            statement,
            values![
                update.live_turn.is_some(),
                update.live_turn.iter().flatten().next().map(TurnId::as_str),
                &update.title,
                update.context.map(|gauge| gauge.used.cast_signed()),
                update.context.map(|gauge| gauge.size.cast_signed()),
                update.chosen.is_some(),
                update.chosen.as_ref().and_then(chosen_text),
                update.directories.is_some(),
                update.directories.as_deref().map(directories_text).transpose()?.flatten(),
                session.key,
            ],
        )
        .await?;
    Ok(updated > 0)
}

/// Counts a commit that altered something, and what of it waits for the full-text index.
pub(crate) async fn bump<S: Sql>(
    sql: &S,
    session: &SessionRow,
    at: Millis,
    unindexed: i64,
) -> Result<Revision, Failure> {
    // A clock that was set back does not move the session down.
    let statement = "UPDATE session SET revision = revision + 1, \
         updated_at = CASE WHEN updated_at < $1 THEN $1 ELSE updated_at END, unindexed = $2 WHERE key = $3";
    sql.post(statement, super::sql::owned_values![at, unindexed, session.key]).await?;
    Ok(Revision(session.revision.0 + 1))
}

/// Sets what the list of sessions shows of what was said.
pub(crate) async fn set_last_words<S: Sql>(
    sql: &S,
    session: &SessionRow,
    words: Option<String>,
) -> Result<(), Failure> {
    let statement = "UPDATE session SET last_words = $1 WHERE key = $2 AND last_words IS DISTINCT FROM $1";
    sql.post(statement, super::sql::owned_values![words, session.key]).await
}

/// The session without its turns, in a document with no messages yet; of previews large attachments of prompts have no
/// data.
pub(crate) async fn read<S: Sql>(sql: &S, found: &SessionRow, extent: Extent) -> Result<Document, Failure> {
    let statement = "SELECT root, live_turn, title, agent, created_at, context_used, context_size, chosen, directories, \
         extra, document_extra, EXISTS (SELECT 1 FROM prompt WHERE prompt.session = session.key AND prompt.ended = 0) \
         FROM session WHERE key = $1";
    let row = sql.query(statement, values![found.key]).await?.into_iter().next();
    let mut row = row.ok_or_else(|| StoreError::UnknownSession(found.id.clone()))?;
    let session = Session {
        id: found.id.clone(),
        root: row.optional_text()?,
        live_turn: row.optional_id(TurnId::new)?,
        title: row.optional_text()?,
        agent: row.optional_text()?,
        created_at: row.optional_integer()?,
        turns: Vec::new(),
        context: gauge(row.optional_integer()?, row.optional_integer()?),
        waiting: Vec::new(),
        chosen: chosen(row.json()?)?,
        directories: directories(row.json()?)?,
        extra: row.object()?,
    };
    let mut document = Document::new(session);
    document.extra = row.object()?;
    if row.boolean()? {
        document.session.waiting = prompt::read_all(sql, found, extent).await?;
    }
    Ok(document)
}

/// What a person chose, for its column; NULL where that is nothing.
fn chosen_text(chosen: &ChosenSettings) -> Option<String> {
    (!chosen.is_empty()).then(|| chosen_to_json(chosen).to_string())
}

fn chosen(stored: Option<Value>) -> Result<ChosenSettings, Failure> {
    let chosen = stored.map(chosen_from_json).transpose();
    Ok(chosen.map_err(|error| Failure::Unreadable(error.to_string()))?.unwrap_or_default())
}

/// Directories for their column; NULL where there are none.
fn directories_text(directories: &[String]) -> Result<Option<String>, Failure> {
    if directories.is_empty() { Ok(None) } else { Ok(Some(serde_json::to_string(directories)?)) }
}

fn directories(stored: Option<Value>) -> Result<Vec<String>, Failure> {
    Ok(stored.map(serde_json::from_value).transpose()?.unwrap_or_default())
}

fn gauge(used: Option<i64>, size: Option<i64>) -> Option<ContextGauge> {
    Some(ContextGauge { used: used?.cast_unsigned(), size: size?.cast_unsigned() })
}

/// Makes a name the newest of those that the agent gave the session.
pub(crate) async fn add_agent_session<S: Sql>(
    sql: &S,
    session: &SessionRow,
    name: &AgentSessionId,
    at: Millis,
) -> Result<(), Failure> {
    let statement = "SELECT id FROM agent_session WHERE session = $1 ORDER BY key DESC LIMIT 1";
    let newest = sql.query(statement, values![session.key]).await?.into_iter().next();
    if newest.map(|mut row| row.text()).transpose()?.as_ref() == Some(&name.0) {
        return Ok(());
    }
    let statement = "DELETE FROM agent_session WHERE session = $1 AND id = $2";
    sql.execute(statement, values![session.key, &name.0]).await?;
    let statement = "INSERT INTO agent_session (session, id, at) VALUES ($1, $2, $3)";
    sql.execute(statement, values![session.key, &name.0, at]).await?;
    Ok(())
}

/// What the agent called the session, oldest first.
pub(crate) async fn agent_sessions<S: Sql>(sql: &S, session: &SessionRow) -> Result<Vec<AgentSessionId>, Failure> {
    let statement = "SELECT id FROM agent_session WHERE session = $1 ORDER BY key";
    let rows = sql.query(statement, values![session.key]).await?;
    rows.into_iter().map(|mut row| row.text().map(AgentSessionId)).collect()
}

/// The error for a change that names what the session does not have.
pub(crate) fn does_not_fit(session: &SessionRow, reason: ChangeError) -> Failure {
    StoreError::DoesNotFit { session: session.id.clone(), reason }.into()
}

/// The error for an id that the session has already.
pub(crate) fn id_taken(session: &SessionRow, kind: IdKind, id: &str) -> Failure {
    StoreError::IdTaken { session: session.id.clone(), kind, id: id.to_owned() }.into()
}

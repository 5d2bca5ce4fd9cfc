//! Rows of prompts: those that wait, and of the others their names, so that the same prompt is not queued again.

use super::blob;
use super::part::Extent;
use super::session::{SessionRow, does_not_fit, id_taken};
use super::sql::{Row, Sql, array_text, owned_values, values};
use crate::IdKind;
use crate::failure::Failure;
use pleat_transcript::change::{ChangeError, PromptUpdate};
use pleat_transcript::document::{attachment_from_json, media_to_json};
use pleat_transcript::ids::{PromptId, SessionId};
use pleat_transcript::message::Media;
use pleat_transcript::session::WaitingPrompt;
use serde_json::Value as Json;

/// What became of a prompt that waits no more.
const SENT: i64 = 1;
const REMOVED: i64 = 2;

/// Stores a prompt after all others; tells whether that altered something: not where its key is known.
pub(crate) async fn queue<S: Sql>(sql: &S, session: &SessionRow, prompt: &WaitingPrompt) -> Result<bool, Failure> {
    if let Some(key) = &prompt.key
        && is_known(sql, session, key).await?
    {
        return Ok(false);
    }
    insert(sql, session, prompt).await?;
    Ok(true)
}

/// Stores a prompt whose key is its own.
pub(crate) async fn insert<S: Sql>(sql: &S, session: &SessionRow, prompt: &WaitingPrompt) -> Result<(), Failure> {
    let attachments = Attachments::of(&prompt.attachments)?;
    let statement = "INSERT INTO prompt (session, id, client_key, held, created_at, text, attachments) \
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING RETURNING key";
    let inserted = sql
        .query(
            statement,
            values![
                session.key,
                prompt.id.as_str(),
                &prompt.key,
                &prompt.held,
                prompt.created_at,
                &prompt.text,
                &attachments.light,
            ],
        )
        .await?;
    let Some(mut row) = inserted.into_iter().next() else {
        return Err(id_taken(session, IdKind::Prompt, prompt.id.as_str()));
    };
    let Some(whole) = attachments.whole else { return Ok(()) };
    let hash = blob::hash(&whole);
    blob::add(sql, &hash, &whole).await?;
    sql.post("UPDATE prompt SET attachments_blob = $1 WHERE key = $2", owned_values![hash, row.integer()?]).await
}

/// Sets what is given of a prompt that waits; tells whether that altered something.
pub(crate) async fn update<S: Sql>(
    sql: &S,
    session: &SessionRow,
    id: &PromptId,
    update: &PromptUpdate,
) -> Result<bool, Failure> {
    let (key, _) = find(sql, session, id).await?;
    let statement = "UPDATE prompt SET text = coalesce($1, text), held = CASE WHEN $2 THEN $3 ELSE held END \
         WHERE key = $4 AND (text <> coalesce($1, text) OR held IS DISTINCT FROM CASE WHEN $2 THEN $3 ELSE held END)";
    let held = update.held.as_ref();
    let updated =
        sql.execute(statement, values![&update.text, held.is_some(), held.and_then(Option::as_ref), key]).await?;
    Ok(updated > 0)
}

/// Lets a prompt wait no more. Its id and key stay; what it said is in its message, or nobody's concern any more.
pub(crate) async fn end<S: Sql>(sql: &S, session: &SessionRow, id: &PromptId, sent: bool) -> Result<(), Failure> {
    let (key, attachments) = find(sql, session, id).await?;
    let statement = "UPDATE prompt SET ended = $1, held = NULL, text = '', attachments = NULL, attachments_blob = NULL \
         WHERE key = $2";
    sql.post(statement, owned_values![if sent { SENT } else { REMOVED }, key]).await?;
    match attachments {
        Some(hash) => blob::release(sql, &hash).await,
        None => Ok(()),
    }
}

/// The key of a prompt that waits, and the hash of its attachments where they are a large value.
async fn find<S: Sql>(sql: &S, session: &SessionRow, id: &PromptId) -> Result<(i64, Option<blob::Hash>), Failure> {
    let statement = "SELECT key, attachments_blob FROM prompt WHERE session = $1 AND id = $2 AND ended = 0";
    let row = sql.query(statement, values![session.key, id.as_str()]).await?.into_iter().next();
    let mut row = row.ok_or_else(|| does_not_fit(session, ChangeError::UnknownPrompt(id.clone())))?;
    Ok((row.integer()?, row.optional_bytes()?))
}

/// Whether a prompt with this key of the client's was ever queued.
pub(crate) async fn is_known<S: Sql>(sql: &S, session: &SessionRow, key: &str) -> Result<bool, Failure> {
    let statement = "SELECT 1 FROM prompt WHERE session = $1 AND client_key = $2";
    Ok(!sql.query(statement, values![session.key, key]).await?.is_empty())
}

/// Sessions in which a prompt waits that nothing holds, oldest first.
pub(crate) async fn sessions<S: Sql>(sql: &S) -> Result<Vec<SessionId>, Failure> {
    let statement = "SELECT id FROM session \
         WHERE key IN (SELECT prompt.session FROM prompt WHERE ended = 0 AND held IS NULL) ORDER BY key";
    sql.query(statement, values![]).await?.into_iter().map(|mut row| row.id(SessionId::new)).collect()
}

/// The prompts that wait, in order; of previews large attachments have no data.
pub(crate) async fn read_all<S: Sql>(
    sql: &S,
    session: &SessionRow,
    extent: Extent,
) -> Result<Vec<WaitingPrompt>, Failure> {
    let statement = match extent {
        Extent::Full => {
            "SELECT id, client_key, text, created_at, held, attachments, blob.content FROM prompt \
             LEFT JOIN blob ON blob.hash = prompt.attachments_blob WHERE session = $1 AND ended = 0 ORDER BY key"
        }
        Extent::Preview => {
            "SELECT id, client_key, text, created_at, held, attachments, NULL FROM prompt \
             WHERE session = $1 AND ended = 0 ORDER BY key"
        }
    };
    sql.query(statement, values![session.key]).await?.into_iter().map(from_row).collect()
}

fn from_row(mut row: Row) -> Result<WaitingPrompt, Failure> {
    let id = row.id(PromptId::new)?;
    let (key, text) = (row.optional_text()?, row.text()?);
    let (created_at, held) = (row.optional_integer()?, row.optional_text()?);
    let light = row.array()?;
    let attachments = match row.optional_bytes()? {
        Some(content) => serde_json::from_str(&blob::value(&content)?)?,
        None => light,
    };
    let attachments = attachments.into_iter().map(attachment).collect::<Result<_, _>>()?;
    Ok(WaitingPrompt { id, key, text, attachments, created_at, held })
}

fn attachment(json: Json) -> Result<Media, Failure> {
    attachment_from_json(json).map_err(|error| Failure::Unreadable(error.to_string()))
}

/// Attachments for their columns.
struct Attachments {
    /// JSON; large ones have no data where there is `whole`.
    light: Option<String>,
    /// JSON, where some are large.
    whole: Option<String>,
}

impl Attachments {
    fn of(attachments: &[Media]) -> Result<Self, Failure> {
        let all: Vec<Json> = attachments.iter().map(media_to_json).collect();
        let is_large = |media: &Media| media.data.as_deref().is_some_and(blob::is_large);
        if !attachments.iter().any(is_large) {
            return Ok(Self { light: array_text(&all)?, whole: None });
        }
        let light = attachments.iter().map(|media| {
            let data = media.data.clone().filter(|data| !blob::is_large(data));
            media_to_json(&Media { data, ..media.clone() })
        });
        Ok(Self { light: array_text(&light.collect::<Vec<_>>())?, whole: array_text(&all)? })
    }
}

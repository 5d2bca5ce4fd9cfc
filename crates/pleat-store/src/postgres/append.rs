//! The commonest change set there is, one delta to a text that has been growing for a while, as one statement.
//!
//! It does what [`crate::tables::change`] does, where nothing but the text, the revision and the time change; in all
//! other cases it changes nothing, and the change set takes the ordinary way. The statement locks the session first, like
//! every transaction; a row that another transaction changed before it got the lock is read anew by the server
//! (`READ COMMITTED`), so nothing is written over.

use super::nul;
use crate::Revision;
use crate::database::ChangeSet;
use crate::failure::Failure;
use pleat_transcript::change::Change;
use pleat_transcript::session::Millis;
use tokio_postgres::types::Type;

/// A text of 2,000 bytes changes no last words of its session, and one of 32 KiB goes on in pieces: the numbers are those of
/// `tables::part::find_text` and `tables::piece`.
const APPEND: &str = "WITH locked AS (\
         SELECT key FROM session WHERE id = $1 AND (owner = $2 OR owner IS NULL AND NOT $7) FOR UPDATE\
     ), found AS (\
         SELECT key FROM message WHERE session = (SELECT key FROM locked) AND id = $3 AND role = 'assistant' \
         AND (ordinal IS NULL OR makes <> 0)\
     ), appended AS (\
         UPDATE part SET text = text || $5 WHERE message = (SELECT key FROM found) AND place = $4 \
         AND type IN ('text', 'thinking') AND unindexed \
         AND octet_length(text) >= 2000 AND octet_length(text) < 32768 RETURNING key\
     ) UPDATE session SET revision = revision + 1, updated_at = greatest(updated_at, $6) \
     WHERE key = (SELECT key FROM locked) AND EXISTS (SELECT 1 FROM appended) RETURNING revision";

const TYPES: [Type; 7] = [Type::TEXT, Type::TEXT, Type::TEXT, Type::INT8, Type::TEXT, Type::INT8, Type::BOOL];

/// Whether a change set is one delta.
pub(super) fn may_be_one(changes: &ChangeSet) -> bool {
    matches!(&changes.changes[..], [Change::AppendText { text, .. }] if !text.is_empty())
}

/// Appends where that is all there is to do; `None` where the change set must take the ordinary way.
pub(super) async fn at_once(
    pooled: &super::pool::Pooled,
    server: &str,
    ChangeSet { session, changes }: &ChangeSet,
    must_own: bool,
    at: Millis,
) -> Result<Option<Revision>, Failure> {
    let [Change::AppendText { message, part, text }] = &changes[..] else { return Ok(None) };
    let Ok(place) = i64::try_from(*part) else { return Ok(None) };
    let statement = pooled.prepare(APPEND, &TYPES).await?;
    let (session, message, text) = (nul::written(session.as_str()), nul::written(message.as_str()), nul::written(text));
    let rows =
        pooled.client().query(&statement, &[&&*session, &server, &&*message, &place, &&*text, &at, &must_own]).await?;
    Ok(rows.first().map(|row| Revision(row.get::<_, i64>(0).cast_unsigned())))
}

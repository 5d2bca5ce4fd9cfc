//! What an earlier process left open is closed, in one transaction a session (ARCHITECTURE.md). Doing it again changes
//! nothing.

use super::change;
use super::list;
use super::server;
use super::session;
use super::sql::Sql;
use crate::failure::Failure;
use crate::{Revision, ServerId};
use pleat_transcript::event::Event;
use pleat_transcript::ids::{IdSource, SessionId};
use pleat_transcript::record::SessionRecord;
use pleat_transcript::session::Millis;

/// Closes what is open in a session, unless a server that lives owns it: open calls and the turn become interrupted,
/// permission requests expire, and one notice says `reason`. Tells the revision where that altered something.
pub(crate) async fn interrupt<S: Sql>(
    sql: &S,
    own: &ServerId,
    id: &SessionId,
    reason: &str,
    at: Millis,
) -> Result<Option<Revision>, Failure> {
    let session = session::lock(sql, id).await?;
    // Nothing of the transcript is read where there is nothing to close.
    if !list::is_open(sql, &session).await? || server::is_owned_by_another(sql, &session, &own.0).await? {
        return Ok(None);
    }
    if session.owner.is_some() {
        // A server that only seemed dead must not go on with what is closed here.
        server::take(sql, &session, own).await?;
    }
    let document = change::read(sql, &session).await?;
    let mut record = SessionRecord::from_document(&document);
    let event = Event::AgentGone { reason: Some(reason.to_owned()), last_words: String::new() };
    let changes = record.apply(event, at, &mut TimeOrderedIds);
    if changes.is_empty() {
        return Ok(None);
    }
    let (revision, altered) = change::apply_all(sql, &session, &changes, at).await?;
    Ok(altered.then_some(revision))
}

/// Ids for what the store itself adds.
struct TimeOrderedIds;

impl IdSource for TimeOrderedIds {
    fn next_id(&mut self, _kind: char) -> String {
        uuid::Uuid::now_v7().to_string()
    }
}

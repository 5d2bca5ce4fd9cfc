//! The plan of a stream: one message, however many snapshots (docs/spec/record.md, Plans 1).
//!
//! The message's id is that of (session, turn, call), so whoever brings a snapshot means the same row. The session is
//! locked from the read to the commit: two servers that bring snapshots cannot both write over what they read before.

use super::change::Progress;
use super::message;
use super::session::{SessionRow, does_not_fit};
use super::sql::Sql;
use crate::failure::Failure;
use pleat_transcript::change::{ChangeError, PlanSnapshot};
use pleat_transcript::document::Role;
use pleat_transcript::ids::TurnId;

/// Creates the plan with its first snapshot, replaces its content with a later one, and does nothing with an equal one.
pub(super) async fn upsert<S: Sql>(
    sql: &S,
    session: &SessionRow,
    snapshot: &PlanSnapshot,
    progress: &mut Progress,
) -> Result<(), Failure> {
    let id = snapshot.message_id(&session.id);
    let Some(found) = message::find_optional(sql, session, &id).await? else {
        let new = snapshot.clone().into_message(&session.id);
        let unindexed = message::insert(sql, session, &new, &mut progress.outline).await?;
        progress.unindexed(unindexed > 0);
        progress.alters(true, false);
        return Ok(());
    };
    let is_same = found.role == Role::Plan
        && found.turn.as_deref() == snapshot.turn.as_ref().map(TurnId::as_str)
        && is_stream(sql, found.key, snapshot).await?;
    if !is_same {
        return Err(does_not_fit(session, ChangeError::OtherIdentity(id)));
    }
    let altered = message::update_plan(sql, found.key, &snapshot.content).await?;
    progress.unindexed(altered && !found.unindexed);
    progress.alters(altered, false);
    Ok(())
}

async fn is_stream<S: Sql>(sql: &S, key: i64, snapshot: &PlanSnapshot) -> Result<bool, Failure> {
    let values = super::sql::values![key, snapshot.call.as_str()];
    let rows = sql.query("SELECT 1 FROM message WHERE key = $1 AND call = $2", values).await?;
    Ok(!rows.is_empty())
}

//! Commits: a list of changes, applied to rows just as [`Document::apply`] applies it to a document.

use super::outline::Upkeep;
use super::part::{self, Extent, TextRow};
use super::session::{self, SessionRow, does_not_fit};
use super::sql::Sql;
use super::{call, message, outline, plan, prompt, search_index, turn, words};
use crate::failure::Failure;
use crate::{Revision, StoreError};
use message::MessageRow;
use pleat_transcript::change::{Change, ChangeError, MessageUpdate};
use pleat_transcript::document::{Document, Role};
use pleat_transcript::fold::is_blank;
use pleat_transcript::ids::{MessageId, SessionId};
use pleat_transcript::message::{Body, Message, Part};
use pleat_transcript::session::Millis;

/// Who commits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Committer<'a> {
    pub(crate) server: &'a str,
    /// It claimed the session, so it writes only while that is its own: not after others had it.
    pub(crate) must_own: bool,
}

impl Committer<'_> {
    fn may_write(self, session: &SessionRow) -> bool {
        match session.owner.as_deref() {
            Some(owner) => owner == self.server,
            None => !self.must_own,
        }
    }
}

/// What a change set did so far.
#[derive(Debug, Default)]
pub(super) struct Progress {
    altered: bool,
    /// The session's last words may be others now.
    words: bool,
    /// How much more waits for the full-text index.
    unindexed: i64,
    /// A turn or a session came to rest: a good moment to index.
    rests: bool,
    pub(super) outline: Upkeep,
}

impl Progress {
    /// An alteration, if it was one; `said`: of what was said.
    pub(super) fn alters(&mut self, altered: bool, said: bool) {
        self.altered |= altered;
        self.words |= altered && said;
    }

    /// More waits for the full-text index.
    pub(super) fn unindexed(&mut self, newly: bool) {
        self.unindexed += i64::from(newly);
    }
}

/// Applies changes of one session, which is locked from the first read on, and counts them, where they altered
/// something, as one revision. `None`: nothing altered.
pub(crate) async fn commit<S: Sql>(
    sql: &S,
    committer: Committer<'_>,
    id: &SessionId,
    changes: &[Change],
    at: Millis,
) -> Result<(Revision, bool), Failure> {
    let session = session::lock(sql, id).await?;
    if !committer.may_write(&session) {
        return Err(StoreError::OwnedElsewhere(id.clone()).into());
    }
    apply_all(sql, &session, changes, at).await
}

/// Applies changes to a session that is locked; tells the revision, and whether anything was altered.
pub(crate) async fn apply_all<S: Sql>(
    sql: &S,
    session: &SessionRow,
    changes: &[Change],
    at: Millis,
) -> Result<(Revision, bool), Failure> {
    let mut progress = Progress::default();
    for change in changes {
        apply(sql, session, change, &mut progress).await?;
    }
    if !progress.altered {
        return Ok((session.revision, false));
    }
    if progress.outline.rebuild {
        let document = read(sql, session).await?;
        outline::rebuild(sql, session, &document).await?;
    }
    if progress.words {
        words::refresh(sql, session).await?;
    }
    let unindexed = search_index::keep_up(sql, session, session.unindexed + progress.unindexed, progress.rests).await?;
    let revision = session::bump(sql, session, at, unindexed).await?;
    Ok((revision, true))
}

/// Stores a whole document at revision 1.
pub(crate) async fn import<S: Sql>(sql: &S, document: &Document, at: Millis) -> Result<Revision, Failure> {
    let session = session::insert(sql, document.session.clone(), at, &document.extra).await?;
    // The outline of a whole document is made at once.
    let mut outline = Upkeep { rebuild: true };
    for each in &document.messages {
        message::insert(sql, &session, each, &mut outline).await?;
    }
    outline::rebuild(sql, &session, document).await?;
    words::refresh(sql, &session).await?;
    search_index::index_all(sql, &session).await?;
    Ok(session.revision)
}

/// The whole document.
pub(crate) async fn read<S: Sql>(sql: &S, session: &SessionRow) -> Result<Document, Failure> {
    let mut document = session::read(sql, session, Extent::Full).await?;
    document.session.turns = turn::read_all(sql, session).await?;
    document.messages = message::read_all(sql, session).await?;
    Ok(document)
}

async fn apply<S: Sql>(sql: &S, session: &SessionRow, change: &Change, progress: &mut Progress) -> Result<(), Failure> {
    match change {
        Change::UpdateSession(update) => {
            progress.rests |= update.live_turn == Some(None);
            progress.alters(session::update(sql, session, update).await?, false);
        }
        Change::InsertTurn(inserted) => {
            turn::insert(sql, session, inserted).await?;
            progress.alters(true, false);
        }
        Change::UpdateTurn { turn, update } => {
            progress.alters(turn::update(sql, session, turn, update).await?, false);
        }
        Change::InsertMessage(inserted) => {
            progress.unindexed += message::insert(sql, session, inserted, &mut progress.outline).await?;
            progress.alters(true, says_something(inserted));
        }
        Change::UpsertPlan(snapshot) => plan::upsert(sql, session, snapshot, progress).await?,
        Change::UpdateMessage { message, update } => update_message(sql, session, message, update, progress).await?,
        Change::InsertPart { message, part } => insert_part(sql, session, message, part, progress).await?,
        Change::AppendText { message, part, text } => {
            append_text(sql, session, (message, *part), text, progress).await?;
        }
        Change::SetPartMessageId { message, part, message_id } => {
            let found = find_text(sql, session, message, *part).await?;
            progress.alters(part::set_message_id(sql, &found, message_id).await?, false);
        }
        Change::UpdateCall { call, update } => {
            let updated = call::update(sql, session, call, update).await?;
            progress.outline.rebuild |= updated.moved;
            progress.unindexed(updated.newly_unindexed);
            progress.alters(updated.altered, false);
        }
        Change::AppendOutput { call, text } => {
            if let Some(updated) = call::append_output(sql, session, call, text).await? {
                progress.unindexed(updated.newly_unindexed);
                progress.alters(true, false);
            }
        }
        Change::QueuePrompt(queued) => progress.alters(prompt::queue(sql, session, queued).await?, false),
        Change::UpdatePrompt { prompt, update } => {
            progress.alters(prompt::update(sql, session, prompt, update).await?, false);
        }
        Change::RemovePrompt { prompt, sent } => {
            prompt::end(sql, session, prompt, *sent).await?;
            progress.alters(true, false);
        }
    }
    Ok(())
}

fn says_something(message: &Message) -> bool {
    match &message.body {
        Body::User(_) => true,
        Body::Assistant(assistant) => assistant.parts.iter().any(|part| matches!(part, Part::Text(_))),
        Body::Tool(_) | Body::Plan(_) | Body::Notice(_) => false,
    }
}

async fn update_message<S: Sql>(
    sql: &S,
    session: &SessionRow,
    id: &MessageId,
    update: &MessageUpdate,
    progress: &mut Progress,
) -> Result<(), Failure> {
    let found = message::find(sql, session, id).await?;
    match found.role {
        Role::Assistant => {
            let altered = message::update_round(sql, found.key, update).await?;
            progress.outline.rebuild |= altered && update.parent.is_some();
            if altered && update.error.is_some() {
                progress.outline.becomes_reply(sql, session, &found).await?;
            }
            // With a parent the round is a sub-agent's, whose words are not the session's.
            progress.alters(altered, update.parent.is_some());
        }
        Role::User => {
            let altered = message::update_user(sql, found.key, update).await?;
            if altered && !found.unindexed {
                message::mark_unindexed(sql, found.key).await?;
                progress.unindexed(true);
            }
            progress.alters(altered, update.append_text.is_some());
        }
        Role::Plan => {
            if let Some(content) = &update.plan {
                progress.outline.plan_content_changes(sql, found.key, content).await?;
                let altered = message::update_plan(sql, found.key, content).await?;
                progress.unindexed(altered && !found.unindexed);
                progress.alters(altered, false);
            }
        }
        Role::Tool | Role::Notice => return Err(message::unknown(session, id)),
    }
    Ok(())
}

async fn insert_part<S: Sql>(
    sql: &S,
    session: &SessionRow,
    id: &MessageId,
    part: &Part,
    progress: &mut Progress,
) -> Result<(), Failure> {
    let round = find_round(sql, session, id).await?;
    let owner = part::Owner { key: round.key, parent: round.parent.as_deref() };
    part::insert(sql, session, owner, part, &mut progress.outline).await?;
    if shows(part) {
        progress.outline.becomes_reply(sql, session, &round).await?;
    }
    progress.unindexed(!matches!(part, Part::Media(_)));
    progress.alters(true, matches!(part, Part::Text(_)));
    Ok(())
}

/// Whether a part without calls makes its round a reply.
fn shows(part: &Part) -> bool {
    match part {
        Part::Text(part) | Part::Thinking(part) => !is_blank(&part.text),
        Part::Media(_) => true,
        Part::Call(_) => false,
    }
}

async fn append_text<S: Sql>(
    sql: &S,
    session: &SessionRow,
    (id, place): (&MessageId, usize),
    text: &str,
    progress: &mut Progress,
) -> Result<(), Failure> {
    let found = find_text(sql, session, id, place).await?;
    if text.is_empty() {
        return Ok(());
    }
    part::append_text(sql, &found, text).await?;
    if !found.message_is_settled && !is_blank(text) {
        let round = find_round(sql, session, id).await?;
        progress.outline.becomes_reply(sql, session, &round).await?;
    }
    progress.unindexed(!found.unindexed);
    let words = found.said && found.beginning.as_deref().is_some_and(words::may_change);
    progress.alters(true, words);
    Ok(())
}

async fn find_round<S: Sql>(sql: &S, session: &SessionRow, id: &MessageId) -> Result<MessageRow, Failure> {
    let found = message::find(sql, session, id).await?;
    if found.role == Role::Assistant { Ok(found) } else { Err(message::unknown(session, id)) }
}

async fn find_text<S: Sql>(sql: &S, session: &SessionRow, id: &MessageId, place: usize) -> Result<TextRow, Failure> {
    if let Some(found) = part::find_text(sql, session, id, place).await? {
        return Ok(found);
    }
    find_round(sql, session, id).await?;
    Err(does_not_fit(session, ChangeError::UnknownPart { message: id.clone(), part: place }))
}

//! Commits: a list of changes, applied to rows just as [`Document::apply`] applies it to a document.

use super::failure::Failure;
use super::session::{self, SessionRow, does_not_fit};
use super::{call, message, part, words};
use crate::Revision;
use message::MessageRow;
use part::TextRow;
use pleat_transcript::change::{Change, ChangeError, MessageUpdate};
use pleat_transcript::document::Document;
use pleat_transcript::document::Role;
use pleat_transcript::ids::{MessageId, SessionId};
use pleat_transcript::message::{Body, Message, Part};
use pleat_transcript::session::Millis;
use rusqlite::Connection;

/// What a change did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Effect {
    Nothing,
    Altered,
    /// The session's last words may be others now.
    AlteredWords,
}

impl Effect {
    fn of(altered: bool) -> Self {
        if altered { Self::Altered } else { Self::Nothing }
    }

    /// That of a change to what is said, where it is that.
    fn on_words(altered: bool, said: bool) -> Self {
        if altered && said { Self::AlteredWords } else { Self::of(altered) }
    }
}

/// Applies changes and counts them, where they altered something, as one revision.
pub(super) fn commit(
    connection: &Connection,
    id: SessionId,
    changes: Vec<Change>,
    at: Millis,
) -> Result<Revision, Failure> {
    let session = session::find(connection, id)?;
    let mut effect = Effect::Nothing;
    for change in changes {
        effect = effect.max(apply(connection, &session, change)?);
    }
    if effect == Effect::Nothing {
        return Ok(session.revision);
    }
    if effect == Effect::AlteredWords {
        words::refresh(connection, &session)?;
    }
    session::bump(connection, &session, at)
}

/// Stores a whole document at revision 1.
pub(super) fn import(connection: &Connection, document: Document, at: Millis) -> Result<Revision, Failure> {
    let session = session::insert(connection, document.session, at, &document.extra)?;
    for each in &document.messages {
        message::insert(connection, &session, each)?;
    }
    words::refresh(connection, &session)?;
    Ok(session.revision)
}

/// The whole document.
pub(super) fn read(connection: &Connection, session: &SessionRow) -> Result<Document, Failure> {
    let mut document = session::read(connection, session)?;
    document.messages = message::read_all(connection, session)?;
    Ok(document)
}

fn apply(connection: &Connection, session: &SessionRow, change: Change) -> Result<Effect, Failure> {
    match change {
        Change::UpdateSession(update) => session::update(connection, session, &update).map(Effect::of),
        Change::InsertTurn(turn) => session::insert_turn(connection, session, &turn).map(|()| Effect::Altered),
        Change::UpdateTurn { turn, update } => {
            session::update_turn(connection, session, &turn, &update).map(Effect::of)
        }
        Change::InsertMessage(inserted) => {
            message::insert(connection, session, &inserted)?;
            Ok(Effect::on_words(true, says_something(&inserted)))
        }
        Change::UpdateMessage { message, update } => update_message(connection, session, &message, &update),
        Change::InsertPart { message, part } => insert_part(connection, session, &message, &part),
        Change::AppendText { message, part, text } => append_text(connection, session, &message, part, &text),
        Change::SetPartMessageId { message, part, message_id } => {
            let found = find_text(connection, session, &message, part)?;
            part::set_message_id(connection, &found, &message_id).map(Effect::of)
        }
        Change::UpdateCall { call, update } => call::update(connection, session, &call, *update).map(Effect::of),
        Change::AppendOutput { call, text } => call::append_output(connection, session, &call, &text).map(Effect::of),
    }
}

fn says_something(message: &Message) -> bool {
    match &message.body {
        Body::User(_) => true,
        Body::Assistant(assistant) => assistant.parts.iter().any(|part| matches!(part, Part::Text(_))),
        Body::Tool(_) | Body::Plan(_) | Body::Notice(_) => false,
    }
}

fn update_message(
    connection: &Connection,
    session: &SessionRow,
    id: &MessageId,
    update: &MessageUpdate,
) -> Result<Effect, Failure> {
    let altered = message::update(connection, session, id, update)?;
    // With a parent the round is a sub-agent's, whose words are not the session's.
    Ok(Effect::on_words(altered, update.append_text.is_some() || update.parent.is_some()))
}

fn insert_part(connection: &Connection, session: &SessionRow, id: &MessageId, part: &Part) -> Result<Effect, Failure> {
    let message = find_round(connection, session, id)?;
    part::insert(connection, session, message.key, part)?;
    Ok(Effect::on_words(true, matches!(part, Part::Text(_))))
}

fn append_text(
    connection: &Connection,
    session: &SessionRow,
    id: &MessageId,
    place: usize,
    text: &str,
) -> Result<Effect, Failure> {
    let found = find_text(connection, session, id, place)?;
    if text.is_empty() {
        return Ok(Effect::Nothing);
    }
    part::append_text(connection, &found, text)?;
    Ok(Effect::on_words(true, found.said))
}

fn find_round(connection: &Connection, session: &SessionRow, id: &MessageId) -> Result<MessageRow, Failure> {
    let found = message::find(connection, session, id)?;
    if found.role == Role::Assistant { Ok(found) } else { Err(message::unknown(session, id)) }
}

fn find_text(connection: &Connection, session: &SessionRow, id: &MessageId, place: usize) -> Result<TextRow, Failure> {
    let round = find_round(connection, session, id)?;
    let found = part::find_text(connection, round.key, place)?;
    found.ok_or_else(|| does_not_fit(session, ChangeError::UnknownPart { message: id.clone(), part: place }))
}

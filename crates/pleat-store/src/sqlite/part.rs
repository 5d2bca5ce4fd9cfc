//! Rows of parts: what an assistant message is made of, and the attachments of a user message.

use super::call::{self, call_columns, light_columns, newest_permission};
use super::failure::Failure;
use super::session::SessionRow;
use super::value::{Columns, object_text};
use pleat_transcript::document::PartType;
use pleat_transcript::message::{Media, Part, TextPart};
use rusqlite::{Connection, OptionalExtension, params};

/// A part, and the key of its message.
pub(super) struct PartOfMessage {
    pub(super) message: i64,
    pub(super) part: Part,
}

/// Stores a part after all others of an assistant message.
pub(super) fn insert(connection: &Connection, session: &SessionRow, message: i64, part: &Part) -> Result<(), Failure> {
    match part {
        Part::Thinking(text) => insert_text(connection, message, "thinking", text),
        Part::Text(text) => insert_text(connection, message, "text", text),
        Part::Media(media) => insert_media(connection, message, media),
        Part::Call(call) => {
            let mut statement = connection.prepare_cached(
                "INSERT INTO part (message, place, type) \
                 VALUES (?1, (SELECT coalesce(max(place), -1) + 1 FROM part WHERE message = ?1), 'call')",
            )?;
            statement.execute([message])?;
            call::insert(connection, session, connection.last_insert_rowid(), call)
        }
    }
}

fn insert_text(connection: &Connection, message: i64, kind: &str, part: &TextPart) -> Result<(), Failure> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO part (message, place, type, message_id, extra, text) \
         VALUES (?1, (SELECT coalesce(max(place), -1) + 1 FROM part WHERE message = ?1), ?2, ?3, ?4, ?5)",
    )?;
    statement.execute(params![message, kind, part.message_id, object_text(&part.extra)?, part.text])?;
    Ok(())
}

/// Stores an image, audio or a resource after all other parts of a message.
pub(super) fn insert_media(connection: &Connection, message: i64, media: &Media) -> Result<(), Failure> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO part (message, place, type, message_id, mime, uri, name, extra, text) \
         VALUES (?1, (SELECT coalesce(max(place), -1) + 1 FROM part WHERE message = ?1), ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    statement.execute(params![
        message,
        media.kind.word(),
        media.message_id,
        media.mime,
        media.uri,
        media.name,
        object_text(&media.extra)?,
        media.data,
    ])?;
    Ok(())
}

/// Thinking or text that a change names.
pub(super) struct TextRow {
    key: i64,
    /// It is no thinking.
    pub(super) said: bool,
}

/// Finds a thinking or text part by its place.
pub(super) fn find_text(connection: &Connection, message: i64, place: usize) -> Result<Option<TextRow>, Failure> {
    let Ok(place) = i64::try_from(place) else { return Ok(None) };
    let mut statement = connection.prepare_cached(
        "SELECT key, type = 'text' FROM part WHERE message = ?1 AND place = ?2 AND type IN ('text', 'thinking')",
    )?;
    let found = statement.query_row(params![message, place], |row| Ok(TextRow { key: row.get(0)?, said: row.get(1)? }));
    Ok(found.optional()?)
}

/// Appends to thinking or text.
pub(super) fn append_text(connection: &Connection, part: &TextRow, text: &str) -> Result<(), Failure> {
    let mut statement = connection.prepare_cached("UPDATE part SET text = text || ?2 WHERE key = ?1")?;
    statement.execute(params![part.key, text])?;
    Ok(())
}

/// Sets a part's `message_id`; tells whether that altered something.
pub(super) fn set_message_id(connection: &Connection, part: &TextRow, message_id: &str) -> Result<bool, Failure> {
    let mut statement =
        connection.prepare_cached("UPDATE part SET message_id = ?2 WHERE key = ?1 AND message_id IS NOT ?2")?;
    Ok(statement.execute(params![part.key, message_id])? > 0)
}

/// The parts of all messages of a session, in order.
pub(super) fn read_all(connection: &Connection, session: &SessionRow) -> Result<Vec<PartOfMessage>, Failure> {
    let mut statement = connection.prepare_cached(concat!(
        "SELECT part.message, part.key, part.type, part.message_id, part.mime, part.uri, part.name, part.extra, \
         part.text, ",
        call_columns!(),
        " FROM message JOIN part ON part.message = message.key LEFT JOIN call ON call.key = part.key ",
        newest_permission!(),
        " WHERE message.session = ?1 ORDER BY message.seq, part.place"
    ))?;
    let mut rows = statement.query([session.key])?;
    let mut parts = Vec::new();
    while let Some(row) = rows.next()? {
        let mut columns = Columns::of(row);
        parts.push(PartOfMessage { message: columns.take()?, part: from_columns(connection, &mut columns)? });
    }
    Ok(parts)
}

fn from_columns(connection: &Connection, columns: &mut Columns<'_, '_>) -> Result<Part, Failure> {
    let key = columns.take()?;
    let part_type = columns.word(&PartType::WORDS)?;
    let message_id = columns.take()?;
    let (mime, uri, name) = (columns.take()?, columns.take()?, columns.take()?);
    let extra = columns.object()?;
    let text: Option<String> = columns.take()?;
    Ok(match part_type {
        PartType::Thinking => Part::Thinking(TextPart { text: text.unwrap_or_default(), message_id, extra }),
        PartType::Text => Part::Text(TextPart { text: text.unwrap_or_default(), message_id, extra }),
        PartType::Call => Part::Call(Box::new(call::from_columns(connection, key, columns)?)),
        PartType::Media(kind) => Part::Media(Media { kind, mime, data: text, uri, name, message_id, extra }),
    })
}

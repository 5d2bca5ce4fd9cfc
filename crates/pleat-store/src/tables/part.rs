//! Rows of parts: what an assistant message is made of, and the attachments of a user message.

use super::call::{self, call_columns, full_values, light_columns, newest_permission};
use super::outline;
use super::session::SessionRow;
use super::sql::{Row, Sql, object_text, owned_values, values};
use super::{blob, piece};
use crate::failure::Failure;
use pleat_transcript::document::PartType;
use pleat_transcript::ids::MessageId;
use pleat_transcript::message::{Media, Part, TextPart};
use pleat_transcript::preview::LARGE_VALUE_BYTES;

/// A part, and the key of its message.
pub(crate) struct PartOfMessage {
    pub(crate) message: i64,
    pub(crate) part: Part,
}

/// The round that a part is stored in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Owner<'a> {
    /// The message's key.
    pub(crate) key: i64,
    /// The call that the message names as its parent.
    pub(crate) parent: Option<&'a str>,
}

/// Stores a part after all others of a round.
pub(crate) async fn insert<S: Sql>(
    sql: &S,
    session: &SessionRow,
    owner: Owner<'_>,
    part: &Part,
    outline: &mut outline::Upkeep,
) -> Result<(), Failure> {
    match part {
        Part::Thinking(text) => insert_text(sql, owner.key, "thinking", text).await,
        Part::Text(text) => insert_text(sql, owner.key, "text", text).await,
        Part::Media(media) => insert_media(sql, owner.key, media).await,
        Part::Call(call) => {
            let shown_by = outline.place_call(sql, session, owner, call).await?;
            let statement = "INSERT INTO part (message, place, type, unindexed) \
                 VALUES ($1, (SELECT coalesce(max(place), -1) + 1 FROM part WHERE message = $1), 'call', $2) \
                 RETURNING key";
            let mut rows = sql.query(statement, values![owner.key, true]).await?;
            let row = rows.first_mut().ok_or_else(|| Failure::Unreadable("a part has no key".to_owned()))?;
            call::insert(sql, session, row.integer()?, call, shown_by).await
        }
    }
}

async fn insert_text<S: Sql>(sql: &S, message: i64, kind: &'static str, part: &TextPart) -> Result<(), Failure> {
    let statement = "INSERT INTO part (message, place, type, message_id, extra, text, unindexed) \
         VALUES ($1, (SELECT coalesce(max(place), -1) + 1 FROM part WHERE message = $1), $2, $3, $4, $5, $6)";
    let extra = object_text(&part.extra)?;
    sql.post(statement, owned_values![message, kind, &part.message_id, extra, &part.text, true]).await
}

/// Stores an image, audio or a resource after all other parts of a message.
pub(crate) async fn insert_media<S: Sql>(sql: &S, message: i64, media: &Media) -> Result<(), Failure> {
    let large = media.data.as_deref().filter(|data| blob::is_large(data));
    let hash = large.map(blob::hash);
    if let (Some(data), Some(hash)) = (large, &hash) {
        blob::add(sql, hash, data).await?;
    }
    let small = media.data.as_deref().filter(|_| hash.is_none());
    let statement = "INSERT INTO part (message, place, type, message_id, mime, uri, name, extra, text, blob) \
         VALUES ($1, (SELECT coalesce(max(place), -1) + 1 FROM part WHERE message = $1), $2, $3, $4, $5, $6, $7, $8, $9)";
    let values = owned_values![
        message,
        media.kind.word(),
        &media.message_id,
        &media.mime,
        &media.uri,
        &media.name,
        object_text(&media.extra)?,
        small,
        hash.as_deref(),
    ];
    sql.post(statement, values).await
}

/// Thinking or text that a change names, with what of its message an append may alter.
#[derive(Debug)]
pub(crate) struct TextRow {
    pub(crate) key: i64,
    /// It is no thinking.
    pub(crate) said: bool,
    /// The bytes that are stored in the part itself.
    pub(crate) bytes: i64,
    /// Its first characters, where it is short enough for more to change what the session's list shows of it.
    pub(crate) beginning: Option<String>,
    /// It waits for the full-text index.
    pub(crate) unindexed: bool,
    /// The message is inside of a call, or shows something already.
    pub(crate) message_is_settled: bool,
}

/// Finds a thinking or text part by its place.
pub(crate) async fn find_text<S: Sql>(
    sql: &S,
    session: &SessionRow,
    message: &MessageId,
    place: usize,
) -> Result<Option<TextRow>, Failure> {
    let Ok(place) = i64::try_from(place) else { return Ok(None) };
    let statement = "SELECT part.key, part.type = 'text', octet_length(part.text), \
         CASE WHEN octet_length(part.text) < 2000 THEN substr(part.text, 1, 300) END, \
         part.unindexed, message.ordinal IS NULL OR message.makes <> 0 \
         FROM message JOIN part ON part.message = message.key \
         WHERE message.session = $1 AND message.id = $2 AND message.role = 'assistant' AND part.place = $3 \
         AND part.type IN ('text', 'thinking')";
    let row = sql.query(statement, values![session.key, message.as_str(), place]).await?.into_iter().next();
    let Some(mut row) = row else { return Ok(None) };
    Ok(Some(TextRow {
        key: row.integer()?,
        said: row.boolean()?,
        bytes: row.optional_integer()?.unwrap_or_default(),
        beginning: row.optional_text()?,
        unindexed: row.boolean()?,
        message_is_settled: row.boolean()?,
    }))
}

/// Appends to thinking or text.
pub(crate) async fn append_text<S: Sql>(sql: &S, part: &TextRow, text: &str) -> Result<(), Failure> {
    // The part itself is full before there are pieces.
    let (own, rest) = if part.bytes >= piece::FULL_BYTES { ("", text) } else { piece::split(text) };
    if !own.is_empty() {
        sql.post("UPDATE part SET text = text || $1 WHERE key = $2", owned_values![own, part.key]).await?;
    }
    piece::append(sql, part.key, rest).await?;
    if part.unindexed { Ok(()) } else { mark_unindexed(sql, part.key).await }
}

/// Makes a part wait for the full-text index.
pub(crate) async fn mark_unindexed<S: Sql>(sql: &S, key: i64) -> Result<(), Failure> {
    sql.post("UPDATE part SET unindexed = $1 WHERE key = $2", owned_values![true, key]).await
}

/// Sets a part's `message_id`; tells whether that altered something.
pub(crate) async fn set_message_id<S: Sql>(sql: &S, part: &TextRow, message_id: &str) -> Result<bool, Failure> {
    let statement = "UPDATE part SET message_id = $1 WHERE key = $2 AND message_id IS DISTINCT FROM $1";
    Ok(sql.execute(statement, values![message_id, part.key]).await? > 0)
}

/// The media that stands at a place among the parts of a round, or the attachments of a user message.
pub(crate) async fn media<S: Sql>(
    sql: &S,
    session: &SessionRow,
    message: &MessageId,
    place: usize,
) -> Result<Option<Media>, Failure> {
    let Ok(place) = i64::try_from(place) else { return Ok(None) };
    let statement = concat!(
        "SELECT media.content, ",
        part_columns!(),
        " FROM message JOIN part ON part.message = message.key LEFT JOIN call ON call.key = part.key \
         LEFT JOIN blob AS media ON media.hash = part.blob ",
        newest_permission!(),
        " WHERE message.session = $1 AND message.id = $2 AND part.place = $3 \
         AND part.type IN ('image', 'audio', 'resource')"
    );
    let rows = sql.query(statement, values![session.key, message.as_str(), place]).await?;
    let Some(mut row) = rows.into_iter().next() else { return Ok(None) };
    let content = row.optional_bytes()?;
    match from_row(sql, &mut row, Extent::Preview, content, call::FullValues::default()).await?.part {
        Part::Media(media) => Ok(Some(media)),
        Part::Text(_) | Part::Thinking(_) | Part::Call(_) => Ok(None),
    }
}

/// Makes blobs of the large media that an older Pleat kept in the rows.
pub(crate) async fn move_large_media<S: Sql>(sql: &S, session: &SessionRow) -> Result<(), Failure> {
    let statement = "SELECT part.key, part.text FROM message JOIN part ON part.message = message.key \
         WHERE message.session = $1 AND part.type IN ('image', 'audio', 'resource') AND octet_length(part.text) > $2";
    let large = i64::try_from(LARGE_VALUE_BYTES).unwrap_or(i64::MAX);
    for mut row in sql.query(statement, values![session.key, large]).await? {
        let (key, data) = (row.integer()?, row.text()?);
        let hash = blob::hash(&data);
        blob::add(sql, &hash, &data).await?;
        sql.post("UPDATE part SET text = NULL, blob = $1 WHERE key = $2", owned_values![hash, key]).await?;
    }
    Ok(())
}

/// How much of large values is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All.
    Full,
    /// Previews of requests and results, and no data of large media.
    Preview,
}

/// The columns that [`from_row`] reads after those of large values.
macro_rules! part_columns {
    () => {
        concat!(
            "part.message, part.key, part.type, part.message_id, part.mime, part.uri, part.name, part.extra, part.text, \
             EXISTS (SELECT 1 FROM piece WHERE piece.part = part.key), ",
            call_columns!()
        )
    };
}

pub(crate) use part_columns;

/// The parts of all messages of a session, in order.
pub(crate) async fn read_all<S: Sql>(sql: &S, session: &SessionRow) -> Result<Vec<PartOfMessage>, Failure> {
    let statement = concat!(
        "SELECT media.content, ",
        full_values!(),
        ", ",
        part_columns!(),
        " FROM message JOIN part ON part.message = message.key LEFT JOIN call ON call.key = part.key \
         LEFT JOIN blob AS media ON media.hash = part.blob \
         LEFT JOIN blob AS request ON request.hash = call.input_blob \
         LEFT JOIN blob AS result ON result.hash = call.output_blob ",
        newest_permission!(),
        " WHERE message.session = $1 ORDER BY message.seq, part.place"
    );
    let mut parts = Vec::new();
    for mut row in sql.query(statement, values![session.key]).await? {
        let media = row.optional_bytes()?;
        let values = call::FullValues::from_row(&mut row)?;
        parts.push(from_row(sql, &mut row, Extent::Full, media, values).await?);
    }
    Ok(parts)
}

/// Reads `part_columns!`.
pub(crate) async fn from_row<S: Sql>(
    sql: &S,
    row: &mut Row,
    extent: Extent,
    media: Option<Vec<u8>>,
    values: call::FullValues,
) -> Result<PartOfMessage, Failure> {
    let (message, key) = (row.integer()?, row.integer()?);
    let part_type = row.word(&PartType::WORDS)?;
    let message_id = row.optional_text()?;
    let (mime, uri, name) = (row.optional_text()?, row.optional_text()?, row.optional_text()?);
    let extra = row.object()?;
    let text = row.optional_text()?;
    let has_pieces = row.boolean()?;
    let part = match part_type {
        PartType::Thinking | PartType::Text => {
            let mut text = text.unwrap_or_default();
            if has_pieces {
                text.push_str(&piece::read(sql, key).await?);
            }
            let part = TextPart { text, message_id, extra };
            if part_type == PartType::Text { Part::Text(part) } else { Part::Thinking(part) }
        }
        PartType::Call => {
            let appended = match (has_pieces, extent) {
                (false, _) => String::new(),
                (true, Extent::Full) => piece::read(sql, key).await?,
                (true, Extent::Preview) => piece::read_ends(sql, key).await?,
            };
            Part::Call(Box::new(call::from_row(row, values, &appended)?))
        }
        PartType::Media(kind) => {
            let data = media.map_or(Ok(text), |content| blob::value(&content).map(Some))?;
            Part::Media(Media { kind, mime, data, uri, name, message_id, extra })
        }
    };
    Ok(PartOfMessage { message, part })
}

//! The full-text index, kept up in the transactions that change what it holds.
//!
//! What changes is marked in the transaction that changes it; the index itself is written when some of it has gathered
//! and when a turn ends, so that text which grows word by word is indexed once. A search reads the index and what is
//! marked ([`super::search_find`]): it finds whatever is committed.

use super::search_value::{self, SearchedText};
use super::session::SessionRow;
use super::sql::{FullText, Row, Sql, owned_values, values};
use crate::failure::Failure;
use crate::search::{Chunk, chunks};

/// So many marks of a session are indexed together.
const GATHERED: i64 = 64;

/// A token of every chunk of a text that has several, and of no text.
pub(super) const OF_A_LONG_TEXT: &str = "\u{E000}";

/// SQLite's keys of chunks: seconds, then so many bits for a counter.
pub(super) const COUNTER_BITS: u32 = 10;

/// What is indexed of a session now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    /// What will hardly change any more.
    Finished,
    /// All.
    Everything,
}

/// Indexes what is marked where enough has gathered, or the session `rests`. Tells about how much stays marked.
pub(super) async fn keep_up<S: Sql>(sql: &S, session: &SessionRow, marked: i64, rests: bool) -> Result<i64, Failure> {
    if rests && marked > 0 {
        index_marked(sql, session, Which::Everything).await?;
        return Ok(0);
    }
    if marked < GATHERED {
        return Ok(marked);
    }
    let left = index_marked(sql, session, Which::Finished).await?;
    // What stays does not count again until as much has gathered once more.
    Ok(left.min(GATHERED / 2))
}

/// Indexes all that is marked.
pub(crate) async fn index_all<S: Sql>(sql: &S, session: &SessionRow) -> Result<(), Failure> {
    index_marked(sql, session, Which::Everything).await.map(drop)
}

/// A message or part that is marked.
struct Marked {
    message: i64,
    part: Option<i64>,
    at: Option<i64>,
    kind: Option<String>,
    grows: bool,
}

/// Indexes marked texts; tells how many stay marked.
async fn index_marked<S: Sql>(sql: &S, session: &SessionRow, which: Which) -> Result<i64, Failure> {
    let mut left = 0;
    let mut keys = Keys::default();
    for marked in marked(sql, session).await? {
        if marked.grows && which == Which::Finished {
            left += 1;
            continue;
        }
        forget(sql, &marked).await?;
        for text in texts(sql, &marked).await? {
            add(sql, session, &marked, &text, &mut keys).await?;
        }
        unmark(sql, &marked).await?;
    }
    Ok(left)
}

async fn marked<S: Sql>(sql: &S, session: &SessionRow) -> Result<Vec<Marked>, Failure> {
    let messages = "SELECT key, coalesce(created_at, (SELECT created_at FROM session WHERE session.key = $1)), \
         role = 'plan' FROM message WHERE session = $1 AND unindexed";
    let mut found = Vec::new();
    for mut row in sql.query(messages, values![session.key]).await? {
        let (message, at, grows) = (row.integer()?, row.optional_integer()?, row.boolean()?);
        found.push(Marked { message, part: None, at, kind: None, grows });
    }
    // The order is forced: few parts of all sessions are marked, a session may have many messages.
    let parts = "SELECT message.key, coalesce(message.created_at, (SELECT created_at FROM session WHERE session.key = $1)), \
         part.key, call.kind, \
         coalesce(call.state IN ('pending', 'awaiting_permission', 'running'), \
         message.state = 'streaming' AND part.place = (SELECT max(last.place) FROM part AS last \
         WHERE last.message = part.message), message.key IS NULL) \
         FROM part CROSS JOIN message LEFT JOIN call ON call.key = part.key \
         WHERE part.unindexed AND message.key = part.message AND message.session = $1";
    for mut row in sql.query(parts, values![session.key]).await? {
        found.push(Marked {
            message: row.integer()?,
            at: row.optional_integer()?,
            part: Some(row.integer()?),
            kind: row.optional_text()?,
            grows: row.boolean()?,
        });
    }
    // In the order in which they were said.
    found.sort_by_key(|marked| (marked.message, marked.part));
    Ok(found)
}

async fn texts<S: Sql>(sql: &S, marked: &Marked) -> Result<Vec<SearchedText>, Failure> {
    match marked.part {
        Some(part) => search_value::of_part(sql, part).await,
        None => Ok(search_value::of_message(sql, marked.message).await?.into_iter().collect()),
    }
}

async fn unmark<S: Sql>(sql: &S, marked: &Marked) -> Result<(), Failure> {
    let (statement, key) = match marked.part {
        Some(part) => ("UPDATE part SET unindexed = $1 WHERE key = $2", part),
        None => ("UPDATE message SET unindexed = $1 WHERE key = $2", marked.message),
    };
    sql.post(statement, owned_values![false, key]).await
}

/// Takes out what was indexed of a text before.
async fn forget<S: Sql>(sql: &S, marked: &Marked) -> Result<(), Failure> {
    let statement = "DELETE FROM search_chunk WHERE message = $1 AND part IS NOT DISTINCT FROM $2 RETURNING key";
    let chunks = sql.query(statement, values![marked.message, marked.part]).await?;
    if sql.full_text() == FullText::Fts5 {
        for mut chunk in chunks {
            sql.post("DELETE FROM search_text WHERE rowid = $1", owned_values![chunk.integer()?]).await?;
        }
    }
    Ok(())
}

async fn add<S: Sql>(
    sql: &S,
    session: &SessionRow,
    marked: &Marked,
    text: &SearchedText,
    keys: &mut Keys,
) -> Result<(), Failure> {
    let chunks = chunks(&text.text);
    let seconds = marked.at.unwrap_or_default().div_euclid(1000);
    let is_long = chunks.len() > 1;
    let (message, kind, field) = (marked.message, marked.kind.as_deref(), text.field.bit());
    for chunk in &chunks {
        match sql.full_text() {
            FullText::Fts5 => {
                let key = keys.next(sql, seconds).await?;
                let statement = "INSERT INTO search_chunk (key, session, message, part, field, kind) \
                     VALUES ($1, $2, $3, $4, $5, $6)";
                let values = owned_values![key, session.key, message, marked.part, field, kind];
                sql.post(statement, values).await?;
                let statement = "INSERT INTO search_text (rowid, tokens) VALUES ($1, $2)";
                sql.post(statement, owned_values![key, fts5_text(chunk, is_long)]).await?;
            }
            FullText::TsVector => {
                let statement = "INSERT INTO search_chunk (session, message, part, field, kind, at, tokens) \
                     VALUES ($1, $2, $3, $4, $5, $6, CAST($7 AS tsvector))";
                let tokens = tsvector_text(chunk, is_long);
                let values = owned_values![session.key, message, marked.part, field, kind, seconds, tokens];
                sql.post(statement, values).await?;
            }
        }
    }
    Ok(())
}

fn fts5_text(chunk: &Chunk, is_long: bool) -> String {
    let mut text = chunk.fts5_text();
    if is_long {
        text.push(' ');
        text.push_str(OF_A_LONG_TEXT);
    }
    text
}

fn tsvector_text(chunk: &Chunk, is_long: bool) -> String {
    let mut text = chunk.tsvector_text();
    if is_long {
        text.push_str(" '");
        text.push_str(OF_A_LONG_TEXT);
        text.push('\'');
    }
    text
}

/// Free keys of chunks in SQLite, in the order of time. The database is ours until the transaction ends.
#[derive(Default)]
struct Keys {
    next: i64,
    /// Not free any more from here on.
    end: i64,
    seconds: Option<i64>,
}

impl Keys {
    async fn next<S: Sql>(&mut self, sql: &S, seconds: i64) -> Result<i64, Failure> {
        if self.seconds != Some(seconds) || self.next >= self.end {
            self.find(sql, seconds).await?;
        }
        self.next += 1;
        Ok(self.next - 1)
    }

    /// Finds a free range that begins in a second, or as soon after it as there is one.
    async fn find<S: Sql>(&mut self, sql: &S, seconds: i64) -> Result<(), Failure> {
        let start = seconds.clamp(0, i64::MAX >> (COUNTER_BITS + 1)) << COUNTER_BITS;
        let mut room = 1 << COUNTER_BITS;
        loop {
            let end = start.saturating_add(room);
            let statement = "SELECT max(key) FROM search_chunk WHERE key < $1";
            let mut rows = sql.query(statement, values![end]).await?;
            let last = rows.first_mut().map_or(Ok(None), Row::optional_integer)?;
            self.next = last.map_or(start, |last| start.max(last + 1));
            self.end = end;
            self.seconds = Some(seconds);
            if self.next < end {
                return Ok(());
            }
            room *= 2;
        }
    }
}

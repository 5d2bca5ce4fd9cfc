//! The tables that are copied from one database to another, and the statements for that.
//!
//! What is not copied is made anew: the full-text index, the plan identities and the marks that go with them, by
//! [`derived`](crate::tables::derived). Servers, and what they own, are not of the data.

use crate::failure::Failure;
use crate::tables::copy_mark;
use crate::tables::sql::{Row, Sql, Value, values};
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

/// A row that is copied.
pub(super) type Copied = Vec<Value<'static>>;

/// What a column holds; its order is the same in every database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Integer,
    Boolean,
    Bytes,
}

/// How rows are found in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    /// The database numbers them itself.
    Numbered,
    /// Their number is that of another row.
    Number,
    /// By a hash.
    Hash,
    /// By a text; there are few. Databases sort texts each in their own way.
    Name,
}

/// A table, its columns and its statements.
pub(super) struct Table {
    pub(super) name: &'static str,
    key: Key,
    columns: Vec<Kind>,
    /// Rows after a key, in order: `$1` is that key, `$2` how many at most. By name: all.
    page: String,
    pub(super) insert: String,
    pub(super) count: String,
    /// The highest key.
    newest: String,
    /// PostgreSQL: makes new rows be numbered after all others.
    pub(super) go_on_numbering: Option<String>,
    batch: i64,
}

/// A place in a table: behind this key.
pub(super) enum Cursor {
    Start,
    Number(i64),
    Hash(Vec<u8>),
    End,
}

/// So many rows are read, and written in one transaction.
const BATCH: i64 = 256;

/// So many large values are.
const LARGE_BATCH: i64 = 16;

/// Each table's columns, with the first letters of what they hold; the first is the key.
const COLUMNS: [(&str, Key, &str); 14] = [
    (
        "session",
        Key::Numbered,
        "key:i id:t revision:i updated_at:i created_at:i title:t agent:t root:t live_turn:t last_words:t \
         context_used:i context_size:i chosen:t directories:t extra:t document_extra:t",
    ),
    ("agent_session", Key::Numbered, "key:i session:i id:t at:i"),
    ("turn", Key::Numbered, "key:i session:i id:t seq:i state:t stop_reason:t started_at:i ended_at:i usage:t extra:t"),
    (
        "message",
        Key::Numbered,
        "key:i session:i id:t seq:i role:t turn:t created_at:i parent:t state:t error:t rating:i lead:b origin:t \
         call:t level:t code:t text:t entries:t extra:t ordinal:i shown_by:i makes:i starts_run:b",
    ),
    ("blob", Key::Hash, "hash:x bytes:i uses:i content:x"),
    ("part", Key::Numbered, "key:i message:i place:i type:t message_id:t mime:t uri:t name:t extra:t text:t blob:x"),
    (
        "call",
        Key::Number,
        "key:i session:i id:t agent_id:t state:t name:t server:t kind:t title:t parent:t started_at:i ended_at:i \
         waited_ms:i feedback:t lines_added:i lines_removed:i announced:b closed_by_host:b locations:t extra:t \
         terminal:b input:t output:t shown_by:i input_blob:x output_blob:x",
    ),
    ("piece", Key::Numbered, "key:i part:i seq:i text:t"),
    ("permission", Key::Numbered, "key:i session:i call:i request:t state:t chosen:t by:t at:i options:t extra:t"),
    ("command", Key::Numbered, "key:i session:i id:t body:t created_at:i taken_by:t outcome:t"),
    (
        "prompt",
        Key::Numbered,
        "key:i session:i id:t client_key:t held:t created_at:i ended:i text:t attachments:t attachments_blob:x",
    ),
    ("import_source", Key::Name, "path:t session:i bytes:i modified_at:i hash:x imported_at:i"),
    ("setting", Key::Name, "name:t value:t"),
    ("token", Key::Name, "id:t name:t role:t hash:x created_at:i revoked_at:i"),
];

/// All that are copied; what others refer to comes first.
pub(super) static TABLES: LazyLock<Vec<Table>> =
    LazyLock::new(|| COLUMNS.iter().map(|(name, key, columns)| Table::new(name, *key, columns)).collect());

impl Table {
    fn new(name: &'static str, key: Key, columns: &'static str) -> Self {
        let columns: Vec<(&str, Kind)> = columns.split(' ').filter_map(column).collect();
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let (first, listed) = (names.first().copied().unwrap_or_default(), names.join(", "));
        let places: Vec<String> = (1..=names.len()).map(|place| format!("${place}")).collect();
        let page = match key {
            Key::Numbered | Key::Number | Key::Hash => {
                format!("SELECT {listed} FROM {name} WHERE {first} > $1 ORDER BY {first} LIMIT $2")
            }
            // Of a copy's destination alone.
            Key::Name if name == "setting" => {
                format!("SELECT {listed} FROM {name} WHERE name <> '{}'", copy_mark::SETTING)
            }
            Key::Name => format!("SELECT {listed} FROM {name}"),
        };
        Self {
            name,
            key,
            columns: columns.iter().map(|(_, kind)| *kind).collect(),
            page,
            insert: format!("INSERT INTO {name} ({listed}) VALUES ({}) ON CONFLICT DO NOTHING", places.join(", ")),
            count: format!("SELECT count(*) FROM {name}"),
            newest: format!("SELECT {first} FROM {name} ORDER BY {first} DESC LIMIT 1"),
            go_on_numbering: (key == Key::Numbered).then(|| {
                format!(
                    "SELECT setval(pg_get_serial_sequence('{name}', 'key'), coalesce(max(key), 1), \
                     max(key) IS NOT NULL) FROM {name}"
                )
            }),
            batch: if name == "blob" { LARGE_BATCH } else { BATCH },
        }
    }

    /// Where copying goes on in a database that has some of the rows.
    pub(super) async fn resume<S: Sql>(&'static self, sql: &S) -> Result<Cursor, Failure> {
        match self.key {
            Key::Name => Ok(Cursor::Start),
            Key::Hash => {
                let row = sql.query(&self.newest, values![]).await?.into_iter().next();
                let hash = row.map(|mut row| row.optional_bytes()).transpose()?.flatten();
                Ok(hash.map_or(Cursor::Start, Cursor::Hash))
            }
            Key::Numbered | Key::Number => {
                let row = sql.query(&self.newest, values![]).await?.into_iter().next();
                Ok(row.map(|mut row| row.integer()).transpose()?.map_or(Cursor::Start, Cursor::Number))
            }
        }
    }

    /// The rows behind a place, and the place behind them.
    pub(super) async fn rows<S: Sql>(&'static self, sql: &S, after: Cursor) -> Result<(Vec<Copied>, Cursor), Failure> {
        let rows = match (self.key, after) {
            (_, Cursor::End) => return Ok((Vec::new(), Cursor::End)),
            (Key::Name, Cursor::Start | Cursor::Number(_) | Cursor::Hash(_)) => {
                let mut rows = self.read(sql.query(&self.page, values![]).await?)?;
                rows.sort_by(|left, right| name(left).cmp(name(right)));
                return Ok((rows, Cursor::End));
            }
            (_, Cursor::Number(key)) => sql.query(&self.page, values![key, self.batch]).await?,
            (_, Cursor::Hash(hash)) => sql.query(&self.page, values![hash.as_slice(), self.batch]).await?,
            (Key::Hash, Cursor::Start) => sql.query(&self.page, values![&b""[..], self.batch]).await?,
            (Key::Numbered | Key::Number, Cursor::Start) => {
                sql.query(&self.page, values![i64::MIN, self.batch]).await?
            }
        };
        let rows = self.read(rows)?;
        let next = match rows.last().and_then(|row| row.first()) {
            Some(Value::Integer(Some(key))) => Cursor::Number(*key),
            Some(Value::Bytes(Some(hash))) => Cursor::Hash(hash.to_vec()),
            Some(Value::Integer(None) | Value::Bytes(None) | Value::Text(_) | Value::Boolean(_)) | None => Cursor::End,
        };
        Ok((rows, next))
    }

    fn read(&self, rows: Vec<Row>) -> Result<Vec<Copied>, Failure> {
        rows.into_iter().map(|mut row| self.columns.iter().map(|kind| value(&mut row, *kind)).collect()).collect()
    }
}

fn column(column: &'static str) -> Option<(&'static str, Kind)> {
    let (name, kind) = column.split_once(':')?;
    Some((
        name,
        match kind {
            "i" => Kind::Integer,
            "b" => Kind::Boolean,
            "x" => Kind::Bytes,
            _ => Kind::Text,
        },
    ))
}

fn value(row: &mut Row, kind: Kind) -> Result<Value<'static>, Failure> {
    Ok(match kind {
        Kind::Text => Value::from(row.optional_text()?),
        Kind::Integer => Value::from(row.optional_integer()?),
        Kind::Boolean => Value::from(row.boolean()?),
        Kind::Bytes => Value::Bytes(row.optional_bytes()?.map(Into::into)),
    })
}

/// The name that a row has.
fn name(row: &Copied) -> &str {
    match row.first() {
        Some(Value::Text(Some(name))) => name,
        Some(Value::Text(None) | Value::Integer(_) | Value::Boolean(_) | Value::Bytes(_)) | None => "",
    }
}

/// Makes a hash of rows, the same whichever database they are read from.
#[derive(Default)]
pub(super) struct RowHasher(Sha256);

impl RowHasher {
    pub(super) fn add(&mut self, row: &Copied) {
        for value in row {
            match value {
                Value::Text(Some(text)) => self.add_bytes(b't', text.as_bytes()),
                Value::Integer(Some(integer)) => self.add_bytes(b'i', &integer.to_be_bytes()),
                Value::Boolean(boolean) => self.add_bytes(b'b', &[u8::from(*boolean)]),
                Value::Bytes(Some(bytes)) => self.add_bytes(b'x', bytes),
                Value::Text(None) | Value::Integer(None) | Value::Bytes(None) => self.add_bytes(b'n', &[]),
            }
        }
    }

    fn add_bytes(&mut self, kind: u8, bytes: &[u8]) {
        self.0.update([kind]);
        self.0.update((bytes.len() as u64).to_be_bytes());
        self.0.update(bytes);
    }

    /// In hexadecimal digits.
    pub(super) fn finish(self) -> String {
        use std::fmt::Write;
        self.0.finalize().iter().fold(String::with_capacity(64), |mut digits, byte| {
            // Writing to a string cannot fail.
            let _ = write!(digits, "{byte:02x}");
            digits
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// What is made anew at the destination, or is not of the data.
    const NOT_COPIED: [&str; 5] =
        ["session.derived", "session.unindexed", "session.owner", "message.unindexed", "part.unindexed"];

    const NO_TABLES: [&str; 6] =
        ["agent_process", "plan_identity", "refinery_schema_history", "search_chunk", "server", "sqlite_sequence"];

    /// A column that is added to the tables must be added here too, or be left out with a reason.
    #[test]
    fn every_column_is_copied_or_made_anew() {
        let store = crate::sqlite::SqliteStore::open_temporary().unwrap();
        let database = rusqlite::Connection::open(store.file()).unwrap();
        let statement = "SELECT tables.name || '.' || columns.name, tables.name FROM pragma_table_list AS tables \
             JOIN pragma_table_xinfo(tables.name) AS columns WHERE tables.schema = 'main' \
             AND tables.name NOT LIKE 'search_text%' AND tables.name NOT LIKE 'sqlite_schema'";
        let mut statement = database.prepare(statement).unwrap();
        let found = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))).unwrap();
        let stored: BTreeSet<String> = found
            .map(Result::unwrap)
            .filter(|(_, table)| !NO_TABLES.contains(&table.as_str()))
            .map(|row| row.0)
            .collect();
        let copied = COLUMNS.iter().flat_map(|(table, _, columns)| {
            columns.split(' ').filter_map(column).map(move |(name, _)| format!("{table}.{name}"))
        });
        let known: BTreeSet<String> = copied.chain(NOT_COPIED.iter().map(ToString::to_string)).collect();
        assert_eq!(known, stored);
    }
}

//! Whether large values are what their hashes say, and are counted right.

use super::blob::{self, Hash};
use super::sql::{Sql, values};
use crate::failure::Failure;
use pleat_transcript::ids::SessionId;
use std::collections::HashMap;

/// So many values are read at once.
const BATCH: i64 = 16;

/// All that refers to large values, once for each column that does.
macro_rules! references {
    () => {
        "(SELECT blob AS hash FROM part WHERE blob IS NOT NULL \
         UNION ALL SELECT input_blob FROM call WHERE input_blob IS NOT NULL \
         UNION ALL SELECT output_blob FROM call WHERE output_blob IS NOT NULL \
         UNION ALL SELECT attachments_blob FROM prompt WHERE attachments_blob IS NOT NULL) AS reference"
    };
}

pub(crate) use references;

/// The sessions that refer to a value.
const SESSIONS: &str = "SELECT session.id FROM session JOIN message ON message.session = session.key \
     JOIN part ON part.message = message.key WHERE part.blob = $1 \
     UNION SELECT session.id FROM session JOIN call ON call.session = session.key \
     WHERE call.input_blob = $1 OR call.output_blob = $1 \
     UNION SELECT session.id FROM session JOIN prompt ON prompt.session = session.key \
     WHERE prompt.attachments_blob = $1";

/// What is wrong with a large value.
pub(crate) struct BadValue {
    /// Whose it is; nobody's where nothing refers to it.
    pub(crate) sessions: Vec<SessionId>,
    pub(crate) what: String,
}

/// Reads all large values, and counts what refers to each.
pub(crate) async fn bad_values<S: Sql>(sql: &S) -> Result<Vec<BadValue>, Failure> {
    let mut uses: HashMap<Hash, i64> = HashMap::new();
    let statement = concat!("SELECT hash, count(*) FROM ", references!(), " GROUP BY hash");
    for mut row in sql.query(statement, values![]).await? {
        if let Some(hash) = row.optional_bytes()? {
            uses.insert(hash, row.integer()?);
        }
    }
    let mut bad = Vec::new();
    let mut last = Hash::new();
    loop {
        let statement = "SELECT hash, bytes, uses, content FROM blob WHERE hash > $1 ORDER BY hash LIMIT $2";
        let rows = sql.query(statement, values![last.as_slice(), BATCH]).await?;
        if rows.is_empty() {
            return Ok(bad);
        }
        for mut row in rows {
            let hash = row.optional_bytes()?.unwrap_or_default();
            let (bytes, counted) = (row.integer()?, row.integer()?);
            let content = row.optional_bytes()?.unwrap_or_default();
            let references = uses.get(&hash).copied().unwrap_or_default();
            let mut told = Vec::new();
            told.extend(wrong_content(&hash, bytes, &content));
            if counted != references {
                told.push(format!("is counted {counted} times and referred to {references} times"));
            }
            for what in told {
                bad.push(BadValue { sessions: sessions(sql, &hash).await?, what: format!("{} {what}", name(&hash)) });
            }
            last = hash;
        }
    }
}

fn wrong_content(hash: &Hash, bytes: i64, content: &[u8]) -> Option<String> {
    match blob::value(content) {
        Err(_) => Some("cannot be read".to_owned()),
        Ok(value) if blob::hash(&value) != *hash => Some("has another content than its hash says".to_owned()),
        Ok(value) if i64::try_from(value.len()) != Ok(bytes) => {
            Some("has another length than is told of it".to_owned())
        }
        Ok(_) => None,
    }
}

/// The beginning of a hash.
fn name(hash: &Hash) -> String {
    use std::fmt::Write;
    hash.iter().take(4).fold(String::new(), |mut name, byte| {
        // Writing to a string cannot fail.
        let _ = write!(name, "{byte:02x}");
        name
    })
}

async fn sessions<S: Sql>(sql: &S, hash: &Hash) -> Result<Vec<SessionId>, Failure> {
    let rows = sql.query(SESSIONS, values![hash.as_slice()]).await?;
    rows.into_iter().map(|mut row| row.id(SessionId::new)).collect()
}

/// Frees values that nothing uses; tells how many.
pub(crate) async fn free_unused<S: Sql>(sql: &S) -> Result<u64, Failure> {
    let statement = concat!("DELETE FROM blob WHERE uses <= 0 AND hash NOT IN (SELECT hash FROM ", references!(), ")");
    sql.execute(statement, values![]).await
}

//! Large values: kept once by the hash of their content, compressed, and freed with the last column that refers to them.

use super::sql::{Sql, owned_values};
use crate::failure::Failure;
use pleat_transcript::preview::LARGE_VALUE_BYTES;
use sha2::{Digest, Sha256};

/// A fair trade of time for space; what is stored is text and pictures that agents made.
const COMPRESSION_LEVEL: i32 = 3;

/// The SHA-256 of a value.
pub(crate) type Hash = Vec<u8>;

/// Whether a value is kept as a blob.
pub(crate) fn is_large(value: &str) -> bool {
    value.len() > LARGE_VALUE_BYTES
}

/// The hash by which a value is kept.
pub(crate) fn hash(value: &str) -> Hash {
    Sha256::digest(value.as_bytes()).to_vec()
}

/// Counts one more use of a value, which is stored where it is not there yet.
pub(crate) async fn add<S: Sql>(sql: &S, hash: &Hash, value: &str) -> Result<(), Failure> {
    let content = zstd::bulk::compress(value.as_bytes(), COMPRESSION_LEVEL)
        .map_err(|error| Failure::Unreadable(format!("a value could not be compressed: {error}")))?;
    lock(sql).await?;
    let statement = "INSERT INTO blob (hash, bytes, uses, content) VALUES ($1, $2, 1, $3) \
         ON CONFLICT (hash) DO UPDATE SET uses = blob.uses + 1";
    let bytes = i64::try_from(value.len()).unwrap_or(i64::MAX);
    sql.post(statement, owned_values![hash.clone(), bytes, content]).await
}

/// Counts one use less, and frees the value with the last.
pub(crate) async fn release<S: Sql>(sql: &S, hash: &Hash) -> Result<(), Failure> {
    lock(sql).await?;
    sql.post("UPDATE blob SET uses = uses - 1 WHERE hash = $1", owned_values![hash.clone()]).await?;
    sql.post("DELETE FROM blob WHERE hash = $1 AND uses = 0", owned_values![hash.clone()]).await
}

/// Sessions share blobs, and change sets name them in any order: whoever counts uses does so alone, or two transactions
/// could wait for each other. It comes after the session's lock; nothing is waited for while it is held.
async fn lock<S: Sql>(sql: &S) -> Result<(), Failure> {
    match sql.lock_blobs() {
        Some(statement) => sql.post(statement, Vec::new()).await,
        None => Ok(()),
    }
}

/// The value of a blob's content.
pub(crate) fn value(content: &[u8]) -> Result<String, Failure> {
    let unreadable = |reason: String| Failure::Unreadable(format!("a large value cannot be read ({reason})"));
    let bytes = zstd::stream::decode_all(content).map_err(|error| unreadable(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| unreadable(error.to_string()))
}

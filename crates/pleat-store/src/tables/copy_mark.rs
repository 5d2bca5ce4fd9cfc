//! The mark of a database that is being copied into: until the copy is whole, nobody else opens it.

use super::sql::{Sql, owned_values, values};
use crate::failure::Failure;

/// The setting that stands there meanwhile; it tells of what the copy is made.
pub(crate) const SETTING: &str = "unfinished_copy";

/// The fingerprint of what is being copied into the database.
pub(crate) async fn find<S: Sql>(sql: &S) -> Result<Option<String>, Failure> {
    let rows = sql.query("SELECT value FROM setting WHERE name = $1", values![SETTING]).await?;
    let Some(mut row) = rows.into_iter().next() else { return Ok(None) };
    let value = row.json()?.unwrap_or_default();
    Ok(Some(value.get("source").and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()))
}

/// Marks the database.
pub(crate) async fn set<S: Sql>(sql: &S, source: &str) -> Result<(), Failure> {
    let value = serde_json::json!({ "source": source }).to_string();
    sql.post("INSERT INTO setting (name, value) VALUES ($1, $2)", owned_values![SETTING, value]).await
}

/// Takes the mark away: the copy is whole.
pub(crate) async fn clear<S: Sql>(sql: &S) -> Result<(), Failure> {
    sql.post("DELETE FROM setting WHERE name = $1", owned_values![SETTING]).await
}

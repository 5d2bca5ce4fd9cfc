//! Rows of pieces: what was appended to a long text, or to the terminal block of a call's output.

use super::sql::{Sql, owned_values, values};
use crate::failure::Failure;

/// A text or a piece is not written again once it has this many bytes.
pub(crate) const FULL_BYTES: i64 = 32 * 1024;

/// Appends to the last piece of a part, or begins new ones where that is full.
pub(crate) async fn append<S: Sql>(sql: &S, part: i64, text: &str) -> Result<(), Failure> {
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = split(rest);
        append_piece(sql, part, piece).await?;
        rest = after;
    }
    Ok(())
}

async fn append_piece<S: Sql>(sql: &S, part: i64, text: &str) -> Result<(), Failure> {
    let statement = "UPDATE piece SET text = text || $1 WHERE part = $2 AND octet_length(text) < $3 \
         AND seq = (SELECT max(seq) FROM piece WHERE part = $2)";
    if sql.execute(statement, values![text, part, FULL_BYTES]).await? == 0 {
        let statement = "INSERT INTO piece (part, seq, text) \
             VALUES ($1, (SELECT coalesce(max(seq), -1) + 1 FROM piece WHERE part = $1), $2)";
        sql.post(statement, owned_values![part, text]).await?;
    }
    Ok(())
}

/// At most so many bytes are appended to a text or a piece at once; it is full then, wherever the last character ends.
const MOST_APPENDED: usize = 32 * 1024 + 4;

/// What is appended at once, and what follows in a new piece.
pub(crate) fn split(text: &str) -> (&str, &str) {
    text.split_at(text.floor_char_boundary(MOST_APPENDED))
}

/// All that was appended to a part since it was stored whole.
pub(crate) async fn read<S: Sql>(sql: &S, part: i64) -> Result<String, Failure> {
    let statement = "SELECT text FROM piece WHERE part = $1 ORDER BY seq";
    let rows = sql.query(statement, values![part]).await?;
    rows.into_iter().map(|mut row| row.text()).collect()
}

/// The first and the last piece of a part, with what tells that something between them was left out.
pub(crate) async fn read_ends<S: Sql>(sql: &S, part: i64) -> Result<String, Failure> {
    let statement = "SELECT seq, text FROM piece WHERE part = $1 \
         AND seq IN (0, (SELECT max(seq) FROM piece WHERE part = $1)) ORDER BY seq";
    let mut ends = String::new();
    let mut next = 0;
    for mut row in sql.query(statement, values![part]).await? {
        let seq = row.integer()?;
        if seq > next {
            ends.push_str("\n…\n");
        }
        ends.push_str(&row.text()?);
        next = seq + 1;
    }
    Ok(ends)
}

/// Forgets what was appended to a part.
pub(crate) async fn delete<S: Sql>(sql: &S, part: i64) -> Result<(), Failure> {
    sql.post("DELETE FROM piece WHERE part = $1", owned_values![part]).await
}

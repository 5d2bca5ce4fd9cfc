//! Whether each text that is searched for is in the full-text index, or marked to be put there.

use super::check::Findings;
use super::search_value::{self, SearchedText};
use super::session::SessionRow;
use super::sql::{FullText, Sql, values};
use crate::failure::Failure;
use crate::maintenance::ProblemKind;
use crate::search::chunks;
use std::collections::HashMap;

/// A message's own text or a part of it, and the field that the text is in.
type Place = (i64, Option<i64>, i64);

/// How many chunks the index has of each text.
type Indexed = HashMap<Place, usize>;

const MESSAGES: &str = "SELECT message.key, message.id, message.unindexed FROM message \
     WHERE message.session = $1 AND message.role IN ('user', 'tool', 'plan') ORDER BY message.seq";

const PARTS: &str = "SELECT message.key, message.id, part.unindexed, part.key FROM message \
     JOIN part ON part.message = message.key WHERE message.session = $1 \
     AND part.type IN ('text', 'thinking', 'call') ORDER BY message.seq, part.place";

const INDEXED: &str = "SELECT chunk.message, chunk.part, chunk.field, count(*) FROM message \
     JOIN search_chunk AS chunk ON chunk.message = message.key WHERE message.session = $1 \
     GROUP BY chunk.message, chunk.part, chunk.field";

/// Chunks whose tokens are not there: in PostgreSQL they stand in the same row.
const WITHOUT_TOKENS: &str = "SELECT message.id FROM message JOIN search_chunk AS chunk ON chunk.message = message.key \
     WHERE message.session = $1 AND NOT EXISTS (SELECT 1 FROM search_text_docsize WHERE id = chunk.key)";

/// Compares what should be indexed of a session with what is.
pub(super) async fn texts<S: Sql>(sql: &S, session: &SessionRow, findings: &mut Findings) -> Result<(), Failure> {
    let mut indexed = Indexed::new();
    for mut row in sql.query(INDEXED, values![session.key]).await? {
        let place = (row.integer()?, row.optional_integer()?, row.integer()?);
        indexed.insert(place, row.count()?);
    }
    for mut row in sql.query(MESSAGES, values![session.key]).await? {
        let (key, id, is_marked) = (row.integer()?, row.text()?, row.boolean()?);
        let texts: Vec<_> = search_value::of_message(sql, key).await?.into_iter().collect();
        compare(&mut indexed, (key, None), (!is_marked).then_some(&texts), &id, findings);
    }
    for mut row in sql.query(PARTS, values![session.key]).await? {
        let (message, id, is_marked, part) = (row.integer()?, row.text()?, row.boolean()?, row.integer()?);
        let texts = search_value::of_part(sql, part).await?;
        compare(&mut indexed, (message, Some(part)), (!is_marked).then_some(&texts), &id, findings);
    }
    for _ in indexed.into_keys() {
        findings.add(ProblemKind::FullText, || "the index has a text that is not there any more".to_owned());
    }
    if sql.full_text() == FullText::Fts5 {
        for mut row in sql.query(WITHOUT_TOKENS, values![session.key]).await? {
            let id = row.text()?;
            findings.add(ProblemKind::FullText, || format!("the index has no tokens of message {id}"));
        }
    }
    Ok(())
}

/// Takes what is indexed of a place out of `indexed`; what is marked may be indexed as it was.
fn compare(
    indexed: &mut Indexed,
    (message, part): (i64, Option<i64>),
    texts: Option<&Vec<SearchedText>>,
    id: &str,
    findings: &mut Findings,
) {
    let Some(texts) = texts else {
        indexed.retain(|place, _| (place.0, place.1) != (message, part));
        return;
    };
    for text in texts {
        let expected = chunks(&text.text).len();
        let found = indexed.remove(&(message, part, text.field.bit())).unwrap_or_default();
        if found != expected {
            findings.add(ProblemKind::FullText, || format!("a text of message {id} is not indexed, nor marked for it"));
        }
    }
}

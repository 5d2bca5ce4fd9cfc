//! The texts that are searched: which a message and its parts have, and what of a request or result is text.

use super::message_columns::plan_content;
use super::sql::{Row, Sql, values};
use super::{blob, call, piece};
use crate::failure::Failure;
use crate::search::SearchField;
use pleat_transcript::change::append_to_terminal;
use pleat_transcript::document::{PartType, Role};
use pleat_transcript::message::PlanContent;
use serde_json::Value;

/// A text that is searched.
#[derive(Debug)]
pub(super) struct SearchedText {
    pub(super) field: SearchField,
    pub(super) text: String,
}

/// The own text of a message, with nothing for roles that have none.
pub(super) async fn of_message<S: Sql>(sql: &S, key: i64) -> Result<Option<SearchedText>, Failure> {
    let statement = "SELECT role, text, entries FROM message WHERE key = $1";
    let Some(mut row) = sql.query(statement, values![key]).await?.into_iter().next() else { return Ok(None) };
    let role = row.word(&Role::WORDS)?;
    let text = row.optional_text()?;
    Ok(match role {
        Role::User => text.map(|text| SearchedText { field: SearchField::User, text }),
        Role::Tool => text.map(|text| SearchedText { field: SearchField::Result, text }),
        Role::Plan => {
            Some(SearchedText { field: SearchField::Plan, text: plan_text(plan_content(text, row.array()?)?) })
        }
        Role::Assistant | Role::Notice => None,
    })
}

fn plan_text(content: PlanContent) -> String {
    match content {
        PlanContent::Text(text) => text,
        PlanContent::Entries(entries) => {
            entries.iter().map(|entry| entry.content.as_str()).collect::<Vec<_>>().join("\n")
        }
    }
}

/// The texts of a part: of a call its title, request and result.
pub(super) async fn of_part<S: Sql>(sql: &S, key: i64) -> Result<Vec<SearchedText>, Failure> {
    let statement = concat!(
        "SELECT part.type, part.text, EXISTS (SELECT 1 FROM piece WHERE piece.part = part.key), call.title, ",
        call::full_values!(),
        ", call.input, call.output FROM part LEFT JOIN call ON call.key = part.key \
         LEFT JOIN blob AS request ON request.hash = call.input_blob \
         LEFT JOIN blob AS result ON result.hash = call.output_blob WHERE part.key = $1"
    );
    let Some(mut row) = sql.query(statement, values![key]).await?.into_iter().next() else { return Ok(Vec::new()) };
    let part_type = row.word(&PartType::WORDS)?;
    let text = row.optional_text()?.unwrap_or_default();
    let has_pieces = row.boolean()?;
    let field = match part_type {
        PartType::Text => SearchField::Reply,
        PartType::Thinking => SearchField::Thinking,
        PartType::Call => return of_call(sql, key, has_pieces, &mut row).await,
        PartType::Media(_) => return Ok(Vec::new()),
    };
    let text = if has_pieces { text + &piece::read(sql, key).await? } else { text };
    Ok(vec![SearchedText { field, text }])
}

async fn of_call<S: Sql>(sql: &S, key: i64, has_pieces: bool, row: &mut Row) -> Result<Vec<SearchedText>, Failure> {
    let title = row.optional_text()?;
    let (large_input, large_output) = (row.optional_bytes()?, row.optional_bytes()?);
    let (input, output) = (row.json()?, row.array()?);
    let input = match large_input {
        Some(content) => Some(serde_json::from_str(&blob::value(&content)?)?),
        None => input,
    };
    let mut output: Vec<Value> = match large_output {
        Some(content) => serde_json::from_str(&blob::value(&content)?)?,
        None => output,
    };
    if has_pieces {
        append_to_terminal(&mut output, &piece::read(sql, key).await?);
    }
    let mut texts = Vec::new();
    texts.extend(title.map(|text| SearchedText { field: SearchField::Title, text }));
    texts.extend(input.map(|input| SearchedText { field: SearchField::Request, text: request_text(&input) }));
    texts.push(SearchedText { field: SearchField::Result, text: result_text(&output) });
    Ok(texts)
}

/// The strings and numbers of a request, a line each.
fn request_text(input: &Value) -> String {
    let mut text = String::new();
    push_leaves(input, |_| true, &mut text);
    text
}

/// The strings of a result's content blocks, a line each, but for what only says what a block is, and encoded data.
fn result_text(output: &[Value]) -> String {
    let mut text = String::new();
    for block in output {
        push_leaves(block, |key| !matches!(key, "type" | "mimeType" | "data" | "blob" | "_meta"), &mut text);
    }
    text
}

fn push_leaves(value: &Value, is_text: fn(&str) -> bool, text: &mut String) {
    match value {
        Value::String(string) => push_line(string, text),
        Value::Number(number) => push_line(&number.to_string(), text),
        Value::Array(values) => values.iter().for_each(|value| push_leaves(value, is_text, text)),
        Value::Object(object) => {
            object.iter().filter(|(key, _)| is_text(key)).for_each(|(_, value)| push_leaves(value, is_text, text));
        }
        Value::Null | Value::Bool(_) => {}
    }
}

fn push_line(line: &str, text: &mut String) {
    if !text.is_empty() && !line.is_empty() {
        text.push('\n');
    }
    text.push_str(line);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_a_request_holds_is_text() {
        assert_eq!(request_text(&json!({"command": "ls", "args": ["-l", 3, null, true], "type": "x"})), "ls\n-l\n3\nx");
    }

    #[test]
    fn what_a_block_is_and_encoded_data_are_no_text() {
        let output = [
            json!({"type": "content", "content": {"type": "text", "text": "done"}}),
            json!({"type": "image", "mimeType": "image/png", "data": "iVBOR"}),
            json!({"type": "diff", "path": "/a", "oldText": null, "newText": "b"}),
        ];
        assert_eq!(result_text(&output), "done\n/a\nb");
    }
}

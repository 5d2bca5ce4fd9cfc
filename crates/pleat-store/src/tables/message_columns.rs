//! Between the bodies of messages and the columns that only some roles have.

use super::sql::Row;
use crate::failure::Failure;
use pleat_transcript::document::Role;
use pleat_transcript::ids::CallId;
use pleat_transcript::message::{
    Assistant, Body, Notice, NoticeLevel, Origin, Plan, PlanContent, PlanEntry, Rating, RoundState, ToolResult, User,
};
use serde_json::{Value, json};

pub(crate) fn rating_number(rating: Rating) -> i64 {
    match rating {
        Rating::Up => 1,
        Rating::Down => -1,
    }
}

fn of_rating_number(number: i64) -> Rating {
    if number < 0 { Rating::Down } else { Rating::Up }
}

/// The columns `text` and `entries` of a plan.
pub(crate) fn plan_columns(content: &PlanContent) -> (Option<&str>, Option<String>) {
    match content {
        PlanContent::Text(text) => (Some(text), None),
        PlanContent::Entries(entries) => (None, Some(entries.iter().map(entry_json).collect::<Value>().to_string())),
    }
}

// Foreign keys stand apart, so that none is ever taken for one of ours.
fn entry_json(entry: &PlanEntry) -> Value {
    json!({
        "content": entry.content,
        "status": entry.status_word,
        "priority": entry.priority,
        "extra": entry.extra,
    })
}

fn entry_of_json(mut entry: Value) -> Result<PlanEntry, Failure> {
    let mut taken = |key: &str| entry.get_mut(key).map(Value::take).unwrap_or_default();
    Ok(PlanEntry {
        content: serde_json::from_value(taken("content"))?,
        status_word: serde_json::from_value(taken("status"))?,
        priority: serde_json::from_value(taken("priority"))?,
        extra: serde_json::from_value(taken("extra"))?,
    })
}

/// The content of a plan from its columns.
pub(crate) fn plan_content(text: Option<String>, entries: Vec<Value>) -> Result<PlanContent, Failure> {
    match text {
        Some(text) => Ok(PlanContent::Text(text)),
        None => Ok(PlanContent::Entries(entries.into_iter().map(entry_of_json).collect::<Result<_, _>>()?)),
    }
}

/// Reads the columns from `parent` on; parts and attachments are still to come.
pub(crate) fn body_from_row(role: Role, row: &mut Row) -> Result<Body, Failure> {
    let parent = row.optional_id(CallId::new)?;
    let state = row.optional_word(&RoundState::WORDS)?;
    let error = row.optional_text()?;
    let rating = row.optional_integer()?.map(of_rating_number);
    let lead = row.boolean()?;
    let origin = row.optional_word(&Origin::WORDS)?;
    let call = row.optional_id(CallId::new)?;
    let level = row.optional_word(&NoticeLevel::WORDS)?;
    let code = row.optional_text()?;
    let text = row.optional_text()?;
    Ok(match role {
        Role::User => Body::User(User { text: text.unwrap_or_default(), lead, origin, attachments: Vec::new() }),
        Role::Assistant => Body::Assistant(Assistant { parts: Vec::new(), state, error, rating, parent }),
        Role::Tool => Body::Tool(ToolResult { call, text: text.unwrap_or_default() }),
        Role::Plan => Body::Plan(Plan { stream: call, content: plan_content(text, row.array()?)? }),
        Role::Notice => {
            let level = level.ok_or_else(|| Failure::Unreadable("a notice has no level".to_owned()))?;
            Body::Notice(Notice { level, code, text: text.unwrap_or_default() })
        }
    })
}

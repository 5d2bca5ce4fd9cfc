//! A call in an activity row: one line, with request and result fetched when it is opened.

use super::activity::{Inside, question_cards, rounds, told};
use super::block::{Block, segment};
use super::permission;
use super::transcript::Transcript;
use super::words::{call_state, issues, lines};
use crate::links;
use crate::text::dates::duration;
use maud::html;
use pleat_transcript::call::{Call, CallState};
use pleat_transcript::rows::{CallRow, Children};
use serde_json::Value;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A call with what was asked about it. `live`: its turn is running.
pub(super) fn call_item(page: &Transcript<'_>, row: &CallRow, call: &Call, live: bool) -> Block {
    let key = call_key(call);
    let body = Block::parent("div", format!("{key}/in"), body(page, row, call, live, &key)).class("call-body");
    let details = Block::parent("details", format!("{key}/d"), vec![header(row, call, live, &key), body]).class("call");
    let mut children = vec![details];
    children.extend(permission::card(page, call, &key));
    children.extend(beside(page, row, &key));
    Block::parent("div", key, children).class("call-item").attribute("data-state", row.state.word())
}

/// The key of a call on the page.
pub(super) fn call_key(call: &Call) -> String {
    format!("c:{}", segment(call.id.as_str()))
}

/// What is asked inside of the call: the style sheet hides it while the call is open, which shows it in its place.
fn beside(page: &Transcript<'_>, row: &CallRow, key: &str) -> Option<Block> {
    let inner = row.children.as_deref()?;
    let key = format!("{key}/beside");
    let cards = question_cards(page, &inner.rounds, &key);
    (!cards.is_empty()).then(|| Block::parent("div", key, cards).class("beside"))
}

fn header(row: &CallRow, call: &Call, live: bool, key: &str) -> Block {
    let at_work = live && row.state == CallState::Running;
    let html = html! {
        span.label { (if at_work { &row.progress_label } else { &row.label }) }
        span.measures {
            // What was refused or failed has changed nothing.
            @if let (Some(changed), CallState::Completed) = (call.lines, row.state) { (lines(changed)) }
            @if let Some(elapsed) = elapsed(call) { span.duration { (duration(elapsed)) } }
            (call_state(row.state, live).markup())
        }
    };
    let mut children = vec![Block::leaf("span", format!("{key}/line"), html.into_string()).class("headline")];
    if let Some(inner) = &row.children {
        children.push(inner_headline(&format!("{key}/inner"), inner));
        children.extend(told(key, &inner.summary, live));
    }
    Block::parent("summary", format!("{key}/s"), children)
}

fn inner_headline(key: &str, inner: &Children) -> Block {
    let html = html! {
        span.title { (inner.summary.title) }
        (issues(&inner.summary.issues))
    };
    Block::leaf("span", key, html.into_string()).class("headline inner")
}

/// Shorter times say nothing.
const WORTH_TELLING_MS: i64 = 100;

fn elapsed(call: &Call) -> Option<i64> {
    Some(call.ended_at? - call.started_at?).filter(|elapsed| *elapsed >= WORTH_TELLING_MS)
}

fn body(page: &Transcript<'_>, row: &CallRow, call: &Call, live: bool, key: &str) -> Vec<Block> {
    let mut children = Vec::new();
    children.extend(
        permission::answered(call).map(|words| Block::leaf("p", format!("{key}/answer"), words).class("quiet")),
    );
    if let Some(feedback) = &call.feedback {
        let html = html! { "You wrote: " span.plain dir="auto" { (feedback) } };
        children.push(Block::leaf("p", format!("{key}/feedback"), html.into_string()));
    }
    children.push(details_on_demand(page, call, key));
    if let Some(inner) = &row.children {
        let prefix = format!("{key}/");
        let inside = Inside { parent: Some(&call.id), prefix: &prefix, live };
        children
            .push(Block::parent("div", format!("{key}/rounds"), rounds(page, &inner.rounds, &inside)).class("rounds"));
    }
    children
}

/// A link to the call's page. With script its fragment takes the place of the link when the call is opened, and again
/// when `data-version` changes while it is open.
fn details_on_demand(page: &Transcript<'_>, call: &Call, key: &str) -> Block {
    let address = links::call(&page.session.id, &call.id);
    let html = html! { a href=(address) { "Request and result" } };
    Block::leaf("div", format!("{key}/details"), html.into_string())
        .class("call-details")
        .attribute("data-fetch", address)
        .attribute("data-version", format!("{:x}", version(call)))
}

/// Changes when what the call's page shows changes. Long texts count by their length and their end, which is where they
/// grow, so that a page of large results costs little.
fn version(call: &Call) -> u64 {
    let mut hasher = DefaultHasher::new();
    call.state.hash(&mut hasher);
    call.title.hash(&mut hasher);
    call.ended_at.hash(&mut hasher);
    call.input.iter().chain(&call.output).for_each(|value| hash_value(value, &mut hasher));
    hasher.finish()
}

const HASHED_END_BYTES: usize = 256;

fn hash_value(value: &Value, hasher: &mut DefaultHasher) {
    match value {
        Value::Null => 0_u8.hash(hasher),
        Value::Bool(it) => it.hash(hasher),
        Value::Number(it) => it.hash(hasher),
        Value::String(it) => {
            it.len().hash(hasher);
            it.as_bytes()[it.len().saturating_sub(HASHED_END_BYTES)..].hash(hasher);
        }
        Value::Array(items) => {
            items.len().hash(hasher);
            for item in items {
                hash_value(item, hasher);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                name.hash(hasher);
                hash_value(member, hasher);
            }
        }
    }
}

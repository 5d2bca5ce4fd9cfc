//! A question to a person: the whole request, and the agent's options in its order and words.
//!
//! It is shown at its call, beside a closed group, and in the bar above the composer. Nothing is decided by a short form:
//! the command or the difference stands there in full, or is one link away where it is too long for a card.

use super::block::{Block, segment};
use super::details::{Extent, request};
use super::transcript::Transcript;
use super::words::is_asking;
use crate::links;
use maud::{Markup, html};
use pleat_transcript::call::{Call, Permission, PermissionState};
use pleat_transcript::fold::label::label;
use serde_json::Value;

/// The card of an open request; `None` where the call has none.
pub(super) fn card(page: &Transcript<'_>, call: &Call, place: &str) -> Option<Block> {
    let permission = call.permission.as_ref().filter(|_| is_asking(page.document, call))?;
    let id = permission.request.as_ref()?;
    let key = format!("{place}/ask:{}", segment(id.as_str()));
    let session = &page.document.session.id;
    let label = label(call, page.document.session.root.as_deref()).text;
    let head = html! { span.state.ask { span.mark aria-hidden="true" { "▲" } " needs your answer" } " " span.label { (label) } };
    let action = links::permission(session, id);
    let children = vec![
        Block::leaf("h3", format!("{key}/head"), head.into_string()),
        Block::leaf("div", format!("{key}/request"), request(session, call, Extent::Card).into_string())
            .class("request"),
        Block::leaf("form", format!("{key}/form"), options(permission).into_string())
            .class("options")
            .attribute("method", "post")
            .attribute("action", action)
            .attribute("data-post", "answer"),
    ];
    Some(Block::parent("section", key, children).class("permission").attribute("data-request", id.as_str()))
}

fn options(permission: &Permission) -> Markup {
    let mut options = permission.options.iter().filter_map(PermissionChoice::of).peekable();
    html! {
        @if options.peek().is_none() { p { "The agent offers no option. Stop the turn to go on." } }
        @for option in options {
            button type="submit" name="option" value=(option.id) data-kind=(option.kind) { (option.name) }
        }
    }
}

/// An option as the agent sent it.
struct PermissionChoice<'a> {
    id: &'a str,
    name: &'a str,
    kind: &'a str,
}

impl<'a> PermissionChoice<'a> {
    fn of(option: &'a Value) -> Option<Self> {
        let text = |name: &str| option.get(name).and_then(Value::as_str);
        let id = text("optionId")?;
        let name = text("name").filter(|name| !name.trim().is_empty()).unwrap_or(id);
        Some(Self { id, name, kind: text("kind").unwrap_or("") })
    }
}

/// What became of a request that is no longer open, as HTML.
pub(super) fn answered(call: &Call) -> Option<String> {
    let permission = call.permission.as_ref()?;
    let chosen = permission.chosen.as_deref().map(|chosen| {
        let option = permission.options.iter().filter_map(PermissionChoice::of).find(|option| option.id == chosen);
        option.map_or(chosen, |option| option.name)
    });
    let words = match (permission.state, chosen) {
        (Some(PermissionState::Expired), _) => html! { "Asked, and not answered in time" },
        (Some(PermissionState::Answered | PermissionState::Open) | None, Some(chosen)) => {
            html! { "Asked; the answer was " q { (chosen) } }
        }
        (Some(PermissionState::Answered | PermissionState::Open) | None, None) => return None,
    };
    Some(words.into_string())
}

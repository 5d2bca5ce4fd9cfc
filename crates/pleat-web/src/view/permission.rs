//! A question to a person: the whole request, and the agent's options in its order and words.
//!
//! Its card stands at its call and beside whatever is closed around that, of which the style sheet shows one. The bar
//! above the composer leads there by one line; only where the call is not on the page does the bar hold the card itself.
//! Nothing is decided by a short form: the command or the difference stands in the card in full, or is one link away
//! where it is too long for a card.

use super::asked;
use super::block::{Block, segment};
use super::call::call_key;
use super::details::request;
use super::transcript::Transcript;
use super::words::{is_asking, time};
use crate::links;
use maud::{Markup, html};
use pleat_host::{BY_PERSON, BY_RULE};
use pleat_transcript::call::{Call, CallState, Permission, PermissionState};
use pleat_transcript::fold::label::label;
use pleat_transcript::ids::PermissionId;
use serde_json::Value;

/// The card of an open request; `None` where the call has none.
pub(super) fn card(page: &Transcript<'_>, call: &Call, place: &str) -> Option<Block> {
    let permission = call.permission.as_ref().filter(|_| is_asking(page.session, call))?;
    let id = permission.request.as_ref()?;
    let key = card_key(place, id);
    let label = label_of(page, call);
    // What the label goes on to say stands below, in full.
    let action = label.split(" · ").next().filter(|_| asked::tells_target(call));
    let head = html! {
        span.label { (action.unwrap_or(&label)) } " "
        span.state.ask { span.mark aria-hidden="true" { "▲" } " needs your answer" }
    };
    let action = links::permission(&page.session.id, id);
    let children = vec![
        Block::leaf("h3", format!("{key}/head"), head.into_string()),
        Block::leaf("div", format!("{key}/request"), request(&page.session.id, call).into_string()).class("request"),
        Block::leaf("form", format!("{key}/form"), answers(permission).into_string())
            .class("options")
            .attribute("method", "post")
            .attribute("action", action)
            .attribute("data-post", "answer"),
    ];
    let card = Block::parent("section", key, children).linkable().class("permission");
    Some(card.attribute("data-request", id.as_str()).attribute("tabindex", "-1"))
}

/// One line that leads to the card at the call, which opens what is closed around it.
pub(super) fn line(page: &Transcript<'_>, call: &Call) -> Option<Block> {
    let id = call.permission.as_ref()?.request.as_ref()?;
    let html = html! {
        span.mark aria-hidden="true" { "▲" }
        span.label { (label_of(page, call)) }
        span.state.ask { "needs your answer" }
    };
    let line = Block::leaf("a", format!("bar/line:{}", segment(id.as_str())), html.into_string()).class("question");
    let card = card_key(&call_key(call), id);
    Some(line.attribute("href", links::at_key(&card)).attribute("data-request", id.as_str()))
}

fn card_key(place: &str, id: &PermissionId) -> String {
    format!("{place}/ask:{}", segment(id.as_str()))
}

fn label_of(page: &Transcript<'_>, call: &Call) -> String {
    label(call, page.session.root.as_deref()).text
}

fn answers(permission: &Permission) -> Markup {
    let mut options = permission.options.iter().filter_map(PermissionChoice::of).peekable();
    html! {
        @if options.peek().is_none() { p { "The agent offers no option. Stop the turn to go on." } }
        // Disabled by the page's script while the server is away.
        fieldset.answers {
            @for option in options {
                button type="submit" name="option" value=(option.id) data-kind=(option.kind) { (option.name) }
            }
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
    let words = match permission.state {
        Some(PermissionState::Expired) if call.state == CallState::Cancelled => {
            html! { "Asked; the turn was stopped first" }
        }
        Some(PermissionState::Expired) => html! { "Asked, and made moot" },
        Some(PermissionState::Answered | PermissionState::Open) | None => {
            let (who, what) = decision(permission)?;
            html! { (capitalised(&who)) " " q { (what) } @if let Some(at) = permission.at { ", " (time(at)) } }
        }
    };
    Some(words.into_string())
}

/// Who has answered the request of this id and what was chosen, as the end of a sentence; `None` where no call tells.
pub(crate) fn answer_words<'c>(calls: impl Iterator<Item = &'c Call>, request: &PermissionId) -> Option<String> {
    let mut permissions = calls.filter_map(|call| call.permission.as_ref());
    let (who, what) = decision(permissions.find(|permission| permission.request.as_ref() == Some(request))?)?;
    Some(format!("{who} “{what}”"))
}

/// Who has decided, and the option that was chosen in the agent's words.
fn decision(permission: &Permission) -> Option<(String, &str)> {
    let chosen = permission.chosen.as_deref()?;
    let option = permission.options.iter().filter_map(PermissionChoice::of).find(|option| option.id == chosen);
    let who = match permission.by.as_deref() {
        Some(BY_PERSON) => "you chose".to_owned(),
        Some(BY_RULE) => "Pleat allowed it by pleat.toml with".to_owned(),
        Some(other) => format!("{other} chose"),
        None => "the answer was".to_owned(),
    };
    Some((who, option.map_or(chosen, |option| option.name)))
}

fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

//! Where a person writes, and Stop.

use super::block::{Block, escape};
use super::transcript::Transcript;
use crate::links;
use maud::html;

/// The form. Its textarea is never replaced: what stands in it is the reader's.
pub(super) fn composer(page: &Transcript<'_>) -> Block {
    let session = &page.document.session;
    let live = session.live_turn.is_some();
    let to = page.agent_title.unwrap_or("the agent");
    let key_input = html! { input type="hidden" name="key" value=(page.form_key); };
    let actions = Block::parent("div", "composer/actions", actions(live)).class("actions");
    let children = vec![
        Block::leaf("label", "composer/label", "Your prompt").class("hidden").attribute("for", "prompt"),
        Block::leaf("textarea", "composer/text", "")
            .attribute("id", "prompt")
            .attribute("name", "text")
            .attribute("rows", "2")
            .attribute("required", "")
            .attribute("dir", "auto")
            .attribute("autocomplete", "off")
            .attribute("placeholder", format!("Write to {to}")),
        Block::constant_leaf("span", "composer/key", key_input.into_string()),
        actions,
    ];
    Block::parent("form", "composer", children)
        .class("composer")
        .attribute("method", "post")
        .attribute("action", links::prompt(&session.id))
        .attribute("data-post", "prompt")
        .flag("data-live", live)
}

fn actions(live: bool) -> Vec<Block> {
    let hint = if live { "The agent is at work. You can write ahead and send when it is done." } else { "" };
    let mut actions = vec![Block::leaf("span", "composer/hint", escape(hint)).class("hint")];
    if live {
        let stop = Block::leaf("button", "composer/stop", "<span class=\"mark\" aria-hidden=\"true\">■</span> Stop");
        actions.push(stop.class("stop").attribute("type", "submit").attribute("form", "stop"));
    }
    let send = Block::leaf("button", "composer/send", "Send").attribute("type", "submit").flag("disabled", live);
    actions.push(send.class("primary"));
    actions
}

/// The form that the Stop button belongs to; a form may not stand in another.
pub(super) fn stop_form(page: &Transcript<'_>) -> Block {
    Block::leaf("form", "stop", "")
        .linkable()
        .attribute("method", "post")
        .attribute("action", links::stop(&page.document.session.id))
        .attribute("data-post", "stop")
}

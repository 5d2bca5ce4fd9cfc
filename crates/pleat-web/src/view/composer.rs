//! Where a person writes, and Stop.

use super::block::Block;
use super::transcript::Transcript;
use crate::links;
use maud::html;

/// What fits beside the buttons on a phone.
const PLACEHOLDER_CHARACTERS: usize = 16;

const AT_WORK: &str = "The agent is at work. You can write ahead and send when it is done.";
/// The style sheet shows it while the server is away.
const AWAY: &str = "Pleat cannot be reached. What you write is kept, to be sent when it is back.";

/// The form. Its textarea is never replaced: what stands in it is the reader's.
pub(super) fn composer(page: &Transcript<'_>) -> Block {
    let session = page.session;
    let live = session.live_turn.is_some();
    let to = page.agent_title.filter(|title| title.chars().count() <= PLACEHOLDER_CHARACTERS).unwrap_or("the agent");
    let key_input = html! { input type="hidden" name="key" value=(page.form_key); };
    let hint = if live && !page.is_asking() { AT_WORK } else { "" };
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
        Block::constant_leaf("span", "composer/key", key_input.into_string()).flag("hidden", true),
        Block::leaf("span", "composer/hint", hint).class("hint"),
        Block::leaf("span", "composer/away", AWAY).class("hint away"),
        // Disabled by the page's script while the server is away.
        Block::parent("fieldset", "composer/actions", actions(live)).class("actions"),
    ];
    Block::parent("form", "composer", children)
        .class("composer")
        .attribute("method", "post")
        .attribute("action", links::prompt(&session.id))
        .attribute("data-post", "prompt")
        .flag("data-live", live)
}

fn actions(live: bool) -> Vec<Block> {
    let mut actions = Vec::new();
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
        .attribute("action", links::stop(&page.session.id))
        .attribute("data-post", "stop")
}

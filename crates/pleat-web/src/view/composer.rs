//! Where a person writes, and Stop.

use super::block::Block;
use super::transcript::Transcript;
use crate::links;
use maud::html;
use pleat_transcript::ids::SessionId;

/// What fits beside the buttons on a phone.
const PLACEHOLDER_CHARACTERS: usize = 16;

const AT_WORK: &str = "The agent is at work. What you queue is sent when it is done.";
/// The style sheet shows it while the server is away.
const AWAY: &str = "Pleat cannot be reached. What you write is kept, to be sent when it is back.";

/// The form. Its textarea is never replaced: what stands in it is the reader's.
pub(super) fn composer(page: &Transcript<'_>) -> Block {
    let session = page.session;
    let to = page.agent_title.filter(|title| title.chars().count() <= PLACEHOLDER_CHARACTERS).unwrap_or("the agent");
    let key_input = html! { input type="hidden" name="key" value=(page.form_key); };
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
        Block::leaf("span", "composer/hint", hint(page)).class("hint").attribute("id", "hint"),
        Block::leaf("span", "composer/away", AWAY).class("hint away"),
        // Disabled by the page's script while the server is away.
        Block::parent("fieldset", "composer/actions", actions(page)).class("actions"),
    ];
    Block::parent("form", "composer", children)
        .class("composer")
        .attribute("method", "post")
        .attribute("action", links::prompt(&session.id))
        .attribute("data-post", "prompt")
        .flag("data-live", page.is_before_next())
}

fn hint(page: &Transcript<'_>) -> String {
    if page.is_stopping() {
        let agent = html! { (page.agent_name()) }.into_string();
        return format!("{agent} was told to stop. Force ends its process at once, and the turn with it.");
    }
    let works = page.session.live_turn.is_some() && !page.is_asking();
    if works { AT_WORK.to_owned() } else { String::new() }
}

/// The buttons. Those that come and go stand before those that stay, so that nothing moves under a finger, and a second
/// press on Stop never meets Force.
fn actions(page: &Transcript<'_>) -> Vec<Block> {
    let mut actions = Vec::new();
    if page.is_stopping() {
        let force = Block::leaf("button", "composer/force", "Force").attribute("type", "submit").class("force");
        actions.push(force.attribute("form", "force").attribute("aria-describedby", "hint"));
    }
    if page.is_before_next() {
        let word = if page.is_stopping() { "Stopping…" } else { "Stop" };
        let mark = Block::leaf("span", "composer/stop/mark", "■").class("mark").attribute("aria-hidden", "true");
        let word = Block::leaf("span", "composer/stop/word", word);
        let stop = Block::parent("button", "composer/stop", vec![mark, word]).class("stop").attribute("type", "submit");
        actions.push(stop.attribute("form", "stop").flag("disabled", page.is_stopping()));
    }
    let word = Block::leaf("span", "composer/send/word", if page.is_before_next() { "Queue" } else { "Send" });
    actions.push(Block::parent("button", "composer/send", vec![word]).attribute("type", "submit").class("primary"));
    actions
}

/// The forms that Stop and Force belong to; a form may not stand in another.
pub(super) fn stop_forms(page: &Transcript<'_>) -> [Block; 2] {
    let form = |key: &'static str, action: fn(&SessionId) -> String| {
        Block::leaf("form", key, "")
            .linkable()
            .attribute("method", "post")
            .attribute("action", action(&page.session.id))
            .attribute("data-post", key)
    };
    [form("stop", links::stop), form("force", links::force_stop)]
}

//! The prompts that wait, behind what was said and before the field for the next: in the order in which they are sent.
//!
//! Each can be edited, removed and, where something holds it, sent. A form's text is the reader's (see the page's script):
//! a change of the stored text never takes away what was typed over it.

use super::block::{Block, escape, segment};
use super::message::caption;
use super::prose::plain;
use super::transcript::Transcript;
use super::words::StateWord;
use crate::links;
use maud::{Markup, html};
use pleat_transcript::session::WaitingPrompt;

const QUEUED: StateWord = StateWord { mark: "≡", word: "queued", class: "quiet" };
const HELD: StateWord = StateWord { mark: "‖", word: "held", class: "warn" };

/// The queue; `None` where nothing waits, or the page does not show the end.
pub(super) fn queue(page: &Transcript<'_>) -> Option<Block> {
    let waiting = &page.session.waiting;
    if waiting.is_empty() || page.rows.window.later {
        return None;
    }
    let items = waiting.iter().map(|prompt| item(page, prompt)).collect();
    let children = vec![
        Block::leaf("h2", "queue/head", prompts_wait(waiting.len())).class(if waiting.len() == 1 {
            "hidden"
        } else {
            "who"
        }),
        Block::parent("ol", "queue/list", items).class("list"),
    ];
    Some(Block::parent("section", "queue", children).class("queue"))
}

/// How many wait, in words.
pub(super) fn prompts_wait(count: usize) -> String {
    if count == 1 { "1 prompt waits".to_owned() } else { format!("{count} prompts wait") }
}

fn item(page: &Transcript<'_>, prompt: &WaitingPrompt) -> Block {
    let key = format!("w:{}", segment(prompt.id.as_str()));
    let mut children = vec![Block::leaf("h3", format!("{key}/who"), who(prompt).into_string()).class("who")];
    if !prompt.text.trim().is_empty() {
        children.push(plain(format!("{key}/text"), &prompt.text));
    }
    children.extend(prompt.attachments.iter().enumerate().map(|(number, media)| {
        Block::leaf("p", format!("{key}/file/{number}"), caption(media).into_string()).class("quiet")
    }));
    children.push(Block::parent("div", format!("{key}/tools"), tools(page, prompt, &key)).class("tools"));
    Block::parent("li", key, children).class("user queued").linkable()
}

fn who(prompt: &WaitingPrompt) -> Markup {
    html! {
        span { "You" } " "
        @match &prompt.held {
            Some(reason) => { (HELD.markup()) " " span.reason dir="auto" { (reason) } },
            None => (QUEUED.markup()),
        }
    }
}

fn tools(page: &Transcript<'_>, prompt: &WaitingPrompt, key: &str) -> Vec<Block> {
    let session = &page.session.id;
    let mut tools = vec![edit(page, prompt, key)];
    if prompt.held.is_some() {
        tools.push(button(&format!("{key}/send"), links::send_waiting(session, &prompt.id), "release", "Send now"));
    }
    tools.push(button(&format!("{key}/remove"), links::remove_waiting(session, &prompt.id), "remove", "Remove"));
    tools
}

/// A form that is one button.
fn button(key: &str, action: String, post: &'static str, word: &str) -> Block {
    // Disabled by the page's script while the server is away.
    let html = html! { fieldset { button type="submit" { (word) } } };
    Block::leaf("form", key, html.into_string())
        .attribute("method", "post")
        .attribute("action", action)
        .attribute("data-post", post)
}

fn edit(page: &Transcript<'_>, prompt: &WaitingPrompt, key: &str) -> Block {
    let id = format!("{key}/edit/text");
    // The parser takes the first line break of a field away.
    let text = format!("\n{}", escape(&prompt.text));
    let field = Block::leaf("textarea", &id, text)
        .attribute("id", &id)
        .attribute("name", "text")
        .attribute("rows", "2")
        .attribute("dir", "auto")
        .attribute("autocomplete", "off")
        .flag("required", prompt.attachments.is_empty());
    let label = Block::leaf("label", format!("{key}/edit/label"), "The prompt").class("hidden").attribute("for", &id);
    let save = html! { button.primary type="submit" { "Save" } };
    let save = Block::leaf("fieldset", format!("{key}/edit/save"), save.into_string()).class("actions");
    let form = Block::parent("form", format!("{key}/edit/form"), vec![label, field, save])
        .attribute("method", "post")
        .attribute("action", links::waiting(&page.session.id, &prompt.id))
        .attribute("data-post", "edit");
    let summary = Block::leaf("summary", format!("{key}/edit/s"), "Edit");
    Block::parent("details", format!("{key}/edit"), vec![summary, form]).class("edit")
}

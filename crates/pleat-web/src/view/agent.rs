//! How the session's agent is, where that is worth a word: it starts, it wants a login, or it cannot be used.

use super::block::Block;
use super::message::printed;
use super::transcript::Transcript;
use super::words::elapsed_since;
use crate::links;
use crate::text::terminal::visible;
use maud::html;
use pleat_host::{AgentState, Login, LoginMethod};
use pleat_transcript::message::Body;
use pleat_transcript::session::Millis;

/// A line, a card or nothing; nothing where the page does not show the end.
pub(super) fn agent(page: &Transcript<'_>) -> Option<Block> {
    if page.rows.window.later {
        return None;
    }
    match &page.live.agent {
        AgentState::NotStarted | AgentState::Ready => None,
        AgentState::Starting { since, says } => Some(starting(page, *since, says.as_deref())),
        AgentState::NeedsLogin(login) => Some(wants_login(page, login)),
        AgentState::Failed { reason } => Some(failed(page, reason)),
    }
}

fn starting(page: &Transcript<'_>, since: Millis, says: Option<&str>) -> Block {
    let line = html! { (page.agent_name()) " starts… " (elapsed_since(since)) };
    let mut children = vec![Block::leaf("p", "starting/line", line.into_string()).class("quiet")];
    children.extend(says.filter(|says| !says.trim().is_empty()).map(|says| {
        Block::leaf("p", "starting/says", html! { (visible(says)) }.into_string())
            .class("says")
            .attribute("dir", "auto")
    }));
    Block::parent("section", "starting", children).class("starting")
}

fn failed(page: &Transcript<'_>, reason: &str) -> Block {
    let mark = html! { span.state.bad { span.mark aria-hidden="true" { "✕" } " failed" } };
    let words = if was_said(page, reason) {
        html! { p { (mark) " " (page.agent_name()) " does not run, for the reason above." } }
    } else {
        let (words, printed) = printed(reason);
        html! {
            p dir="auto" { (mark) " " span.plain { (words) } }
            @if let Some(printed) = printed { pre.printed { (visible(printed)) } }
        }
    };
    let children = vec![Block::leaf("div", "failed/reason", words.into_string()), try_again(page, "failed/again")];
    Block::parent("section", "failed", children).class("agent failed")
}

/// Whether the transcript ends with the reason: the prompt that waited for the agent failed for it.
fn was_said(page: &Transcript<'_>, reason: &str) -> bool {
    page.excerpt.document.messages.last().is_some_and(|message| match &message.body {
        Body::Notice(notice) => notice.text == reason,
        Body::Assistant(round) => round.error.as_deref() == Some(reason),
        Body::User(_) | Body::Tool(_) | Body::Plan(_) => false,
    })
}

fn wants_login(page: &Transcript<'_>, login: &Login) -> Block {
    let head = html! {
        span { (page.agent_name()) " wants you to log in" } " "
        span.state.ask { span.mark aria-hidden="true" { "▲" } " needs you" }
    };
    let mut children = vec![
        Block::leaf("h3", "login/head", head.into_string()),
        Block::leaf("p", "login/said", html! { (visible(&login.said)) }.into_string())
            .class("plain")
            .attribute("dir", "auto"),
    ];
    if login.methods.is_empty() {
        let words = "It names no way to log in. Log in with the agent's own program, then try again.";
        children.push(Block::leaf("p", "login/none", words));
    }
    let methods = login.methods.iter().enumerate();
    children.extend(methods.map(|(number, method)| login_method(page, &format!("login/{number}"), method)));
    children.push(try_again(page, "login/again"));
    Block::parent("section", "login", children).class("agent login").linkable()
}

fn login_method(page: &Transcript<'_>, key: &str, method: &LoginMethod) -> Block {
    let about = method.description.as_deref().filter(|about| !about.trim().is_empty());
    let about = html! { @if let Some(about) = about { p.quiet dir="auto" { (visible(about)) } } };
    if let Some(command) = &method.command {
        let html = html! {
            p { span.title { (visible(&method.name)) } ": run this in a terminal, then try again." }
            (about)
            pre.command tabindex="0" { (visible(command)) }
        };
        return Block::leaf("div", key, html.into_string()).class("method");
    }
    let html = html! {
        (about)
        // Disabled by the page's script while the server is away.
        fieldset { button type="submit" name="method" value=(method.id) { (visible(&method.name)) } }
    };
    Block::leaf("form", key, html.into_string())
        .class("method")
        .attribute("method", "post")
        .attribute("action", links::log_in(&page.session.id))
        .attribute("data-post", "login")
}

fn try_again(page: &Transcript<'_>, key: &str) -> Block {
    let html = html! { fieldset { button type="submit" { "Try again" } } };
    Block::leaf("form", key, html.into_string())
        .attribute("method", "post")
        .attribute("action", links::start_agent(&page.session.id))
        .attribute("data-post", "start")
}

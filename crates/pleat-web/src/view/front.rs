//! The first page: sessions and agents.

use super::block::{Block, escape, segment};
use super::words::{SessionState, time};
use crate::links;
use maud::{Markup, html};
use pleat_host::{AgentListing, Availability};
use pleat_store::SessionListing;

/// What the first page shows.
pub(crate) struct Front<'a> {
    /// Newest activity first.
    pub(crate) sessions: &'a [SessionListing],
    /// All agents.
    pub(crate) agents: &'a [AgentListing],
    /// The directory that a new session begins in, unless another is chosen.
    pub(crate) directory: &'a str,
}

/// How many recent directories are offered.
const RECENT_DIRECTORIES: usize = 12;

impl Front<'_> {
    /// The page.
    pub(crate) fn page(&self) -> Block {
        let head = Block::leaf("header", "head", "<h1>Pleat</h1>").class("top");
        let main =
            Block::parent("main", "main", vec![self.new_session(), self.sessions(), self.missing()]).class("column");
        let waiting = self.sessions.iter().filter(|session| session.needs_person).count();
        let title = if waiting > 0 { format!("{waiting} need you · Sessions") } else { "Sessions".to_owned() };
        Block::parent("div", "page", vec![head, main]).class("page front").attribute("data-title", title)
    }

    fn new_session(&self) -> Block {
        let children = vec![
            Block::leaf("h2", "new/head", "New session"),
            Block::parent("div", "new/agents", self.choices())
                .class("agents")
                .attribute("role", "radiogroup")
                .attribute("aria-label", "Agent"),
            Block::leaf("p", "new/directory", self.directory_field().into_string()).class("field"),
            Block::parent("datalist", "new/recent", self.recent_directories()).attribute("id", "recent"),
            Block::leaf("p", "new/go", "<button type=\"submit\" class=\"primary\">Begin</button>").class("actions"),
        ];
        Block::parent("form", "new", children).class("new").attribute("method", "post").attribute("action", "/sessions")
    }

    fn choices(&self) -> Vec<Block> {
        let (demonstrations, agents): (Vec<_>, Vec<_>) = self.found().partition(|(agent, _)| is_demonstration(agent));
        let mut children = Vec::new();
        if agents.is_empty() {
            let words = "None of the agents that Pleat knows is on this machine. A demonstration needs nothing: it plays a \
                         recorded conversation back.";
            children.push(Block::leaf("p", "new/none", words));
        }
        let first = agents.first().or(demonstrations.first()).map(|(agent, _)| &agent.name);
        let choice = |(agent, command): &(&AgentListing, &str)| choice(agent, command, Some(&agent.name) == first);
        children.extend(agents.iter().map(choice));
        if !agents.is_empty() && !demonstrations.is_empty() {
            children.push(Block::leaf(
                "h3",
                "new/demonstrations",
                "Demonstrations: recorded conversations, played back",
            ));
        }
        children.extend(demonstrations.iter().map(choice));
        children
    }

    fn found(&self) -> impl Iterator<Item = (&AgentListing, &str)> {
        self.agents.iter().filter_map(|agent| match &agent.availability {
            Availability::Found { command } => Some((agent, command.as_str())),
            Availability::Missing { .. } => None,
        })
    }

    fn directory_field(&self) -> Markup {
        html! {
            label for="root" { "Directory" }
            input #root name="root" list="recent" required value=(self.directory) spellcheck="false" autocomplete="off";
        }
    }

    fn recent_directories(&self) -> Vec<Block> {
        let mut recent: Vec<&str> = Vec::new();
        for root in self.sessions.iter().filter_map(|session| session.root.as_deref()) {
            if recent.len() < RECENT_DIRECTORIES && !recent.contains(&root) {
                recent.push(root);
            }
        }
        recent.iter().map(|root| Block::leaf("option", format!("recent/{}", segment(root)), escape(root))).collect()
    }

    fn sessions(&self) -> Block {
        let mut children = vec![Block::leaf("h2", "sessions/head", "Sessions")];
        if self.sessions.is_empty() {
            children
                .push(Block::leaf("p", "sessions/none", "None yet. Choose an agent above and begin.").class("quiet"));
        }
        let items = self.sessions.iter().map(|session| self.session(session)).collect();
        children.push(Block::parent("ol", "sessions/list", items));
        Block::parent("section", "sessions", children).class("sessions")
    }

    fn session(&self, session: &SessionListing) -> Block {
        let title = session.title.as_deref().filter(|title| !title.trim().is_empty());
        let html = html! {
            a href=(links::session_end(&session.id)) { span.title dir="auto" { (title.unwrap_or("New session")) } }
            (SessionState::of_listing(session).word().markup())
            @if let Some(words) = &session.last_words { p.words dir="auto" { (words) } }
            p.facts {
                @if let Some(agent) = &session.agent { span { (self.agent_title(agent)) } }
                @if let Some(root) = &session.root { span.path { (root) } }
                (time(session.updated_at))
            }
        };
        Block::leaf("li", format!("session:{}", segment(session.id.as_str())), html.into_string())
    }

    fn agent_title<'n>(&'n self, name: &'n str) -> &'n str {
        self.agents.iter().find(|agent| agent.name.0 == name).map_or(name, |agent| agent.title.as_str())
    }

    fn missing(&self) -> Block {
        let items: Vec<_> = self.agents.iter().filter_map(missing_agent).collect();
        let summary = format!("{} more agents that Pleat knows", items.len());
        let empty = items.is_empty();
        let children =
            vec![Block::leaf("summary", "missing/head", summary), Block::parent("dl", "missing/list", items)];
        Block::parent("details", "missing", children).class("missing").flag("hidden", empty)
    }
}

fn choice(agent: &AgentListing, command: &str, checked: bool) -> Block {
    let html = html! {
        input type="radio" name="agent" value=(agent.name.0) required checked[checked];
        span.title { (agent.title) }
        @if let Some(description) = &agent.description { span.description { (description) } }
        code { (command) }
    };
    Block::leaf("label", format!("agent:{}", segment(&agent.name.0)), html.into_string())
}

fn missing_agent(agent: &AgentListing) -> Option<Block> {
    let Availability::Missing { command, install } = &agent.availability else { return None };
    let html = html! {
        dt { (agent.title) }
        dd {
            @match install {
                Some(install) => { "Install it with " code { (install) } },
                None => { "Starts with " code { (command) } ", which is not on PATH" },
            }
        }
    };
    Some(Block::leaf("div", format!("agent:{}", segment(&agent.name.0)), html.into_string()))
}

/// Demonstration agents are known by their name, which begins with `demo`.
fn is_demonstration(agent: &AgentListing) -> bool {
    agent.name.0.starts_with("demo")
}

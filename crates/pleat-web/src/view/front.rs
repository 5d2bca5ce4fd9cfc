//! The first page: sessions and agents.

use super::block::{Block, escape, segment};
use super::queue::prompts_wait;
use super::state;
use super::words::time;
use crate::links;
use crate::text::preview::one_line;
use maud::{Markup, html};
use pleat_host::{Activity, AgentListing, Availability};
use pleat_store::SessionListing;

/// What the first page shows.
pub(crate) struct Front<'a> {
    /// Newest change first, each with what it is at.
    pub(crate) sessions: &'a [(SessionListing, Activity)],
    /// Whether no session stands before these.
    pub(crate) is_first: bool,
    /// Whether others stand behind them.
    pub(crate) goes_on: bool,
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
        let has_sessions = !self.sessions.is_empty() || !self.is_first;
        let begin = html! { h1 { "Pleat" } @if has_sessions { a.begin href="#new" { "New session" } } };
        let head = Block::leaf("header", "head", begin.into_string()).class("top");
        let start = Block::parent("div", "start", vec![self.new_session(), self.missing()]).class("start");
        // Who comes back looks for a session; who is new begins one.
        let parts = if has_sessions { vec![self.sessions(), start] } else { vec![start, self.sessions()] };
        let main = Block::parent("main", "main", parts).class(if has_sessions { "column sides" } else { "column" });
        let needing = self.sessions.iter().filter(|(_, activity)| *activity == Activity::NeedsYou).count();
        let title = if needing > 0 { format!("{needing} need you · Sessions") } else { "Sessions".to_owned() };
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
            // Disabled by the page's script while the server is away.
            Block::leaf("fieldset", "new/go", "<button type=\"submit\" class=\"primary\">Begin</button>")
                .class("actions"),
        ];
        let form = Block::parent("form", "new", children).linkable().class("new");
        form.attribute("method", "post").attribute("action", "/sessions")
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
        for root in self.sessions.iter().filter_map(|(session, _)| session.root.as_deref()) {
            if recent.len() < RECENT_DIRECTORIES && !recent.contains(&root) {
                recent.push(root);
            }
        }
        recent.iter().map(|root| Block::leaf("option", format!("recent/{}", segment(root)), escape(root))).collect()
    }

    fn sessions(&self) -> Block {
        let mut children = vec![Block::leaf("h2", "sessions/head", "Sessions")];
        if self.sessions.is_empty() {
            let words =
                if self.is_first { "None yet. Choose an agent and begin." } else { "There are no earlier ones." };
            children.push(Block::leaf("p", "sessions/none", words).class("quiet"));
        }
        let items = self.sessions.iter().map(|(session, activity)| self.session(session, *activity)).collect();
        children.push(Block::parent("ol", "sessions/list", items));
        children.extend(self.pager());
        Block::parent("section", "sessions", children).class("sessions")
    }

    /// The way to the other pages of the list.
    fn pager(&self) -> Option<Block> {
        let last = self.sessions.last().filter(|_| self.goes_on).map(|(session, _)| session.cursor());
        if last.is_none() && self.is_first {
            return None;
        }
        let html = html! {
            @if let Some(last) = last { a rel="next" href=(links::sessions(Some(&last))) { "Earlier sessions" } " " }
            @if !self.is_first { a href=(links::sessions(None)) { "Newest sessions" } }
        };
        let pager = Block::leaf("nav", "sessions/pager", html.into_string()).class("pager");
        Some(pager.attribute("aria-label", "More sessions"))
    }

    fn session(&self, session: &SessionListing, activity: Activity) -> Block {
        let title = session.title.as_deref().map(one_line).filter(|title| !title.is_empty());
        let words = session.last_words.as_deref().map(one_line);
        let words = words.as_deref().map(|words| after_title(words, title.as_deref().unwrap_or("")));
        let html = html! {
            a href=(links::session_end(&session.id)) {
                span.title dir="auto" { (title.as_deref().unwrap_or("New session")) }
            }
            (state::word(activity, session.last_turn).markup())
            @if let Some(words) = words.filter(|words| !words.is_empty()) { p.words dir="auto" { (words) } }
            p.facts {
                @if let Some(agent) = &session.agent { span { (self.agent_title(agent)) } }
                @if session.waiting > 0 { span { (prompts_wait(session.waiting)) } }
                @if let Some(root) = &session.root { span.path title=(root) { (root) } }
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
        // How a demonstration starts is nobody's concern.
        @if !is_demonstration(agent) { code { (command) } }
    };
    let label = Block::leaf("label", format!("agent:{}", segment(&agent.name.0)), html.into_string());
    label.attribute("title", command)
}

/// Words without the title they begin with: until an agent names a session, its title is the beginning of its first
/// prompt, and as long as nothing was answered, that prompt is also what was said last.
fn after_title<'w>(words: &'w str, title: &str) -> &'w str {
    let (title, is_cut) = title.strip_suffix('…').map_or((title, false), |title| (title.trim_end(), true));
    match words.strip_prefix(title) {
        Some(_) if is_cut => "",
        Some(rest) if rest.is_empty() || rest.starts_with(char::is_whitespace) => rest.trim_start(),
        Some(_) | None => words,
    }
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

#[cfg(test)]
mod tests {
    use super::after_title;

    #[test]
    fn a_prompt_without_an_answer_is_not_told_twice() {
        for (words, title, rest) in [
            ("Mend the parser", "Mend the parser", ""),
            ("Mend the parser It fails since yesterday", "Mend the parser", "It fails since yesterday"),
            ("Mend the parser, please", "Mend the par…", ""),
            ("Done. All tests pass", "Done", "Done. All tests pass"),
            ("It is mended", "Mend the parser", "It is mended"),
            ("It is mended", "", "It is mended"),
        ] {
            assert_eq!(after_title(words, title), rest);
        }
    }
}

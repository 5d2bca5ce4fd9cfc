//! The agents that can be run: those known by name, changed and added to by the configuration.

use pleat_acp::connection::messages::quoted;
use pleat_transcript::call::ToolKind;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Names an agent in the registry and in the configuration (`[agents.NAME]`).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AgentName(pub String);

/// An agent that may be run: how it is called and started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// Its name.
    pub name: AgentName,
    /// Its name for people, such as `Claude Code`.
    pub title: String,
    /// A sentence about it, where the title does not say enough.
    pub description: Option<String>,
    /// The program: a path, or a name that is looked for on PATH.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Environment variables set in addition to our own.
    pub env: BTreeMap<String, String>,
    /// The command line that installs it.
    pub install: Option<String>,
    /// The method (ACP `authMethods`) to log in by as soon as it has started; `None`: when it asks, and a person chooses.
    pub login: Option<String>,
    /// Whether one process serves several sessions, where the agent says that it can. What hangs or kills it then befalls
    /// them all.
    pub shared: bool,
    /// What Pleat allows by itself.
    pub allow: Vec<AllowRule>,
}

/// Kinds of calls that Pleat allows by itself in a directory and what is below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowRule {
    /// The directory; sessions that work in it or below it.
    pub directory: PathBuf,
    /// The kinds (ACP `kind`).
    pub kinds: Vec<ToolKind>,
}

/// An agent as the first page shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentListing {
    /// Its name.
    pub name: AgentName,
    /// Its name for people, such as `Claude Code`.
    pub title: String,
    /// A sentence about it, where the title does not say enough.
    pub description: Option<String>,
    /// Whether it can be started.
    pub availability: Availability,
}

/// Whether an agent can be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Availability {
    /// Its program is there.
    Found {
        /// The command line that starts it.
        command: String,
    },
    /// Its program is not on PATH.
    Missing {
        /// The command line that would start it.
        command: String,
        /// The command line that installs it, where one is known.
        install: Option<String>,
    },
}

/// All agents of this house.
#[derive(Debug, Clone, Default)]
pub struct AgentRegistry {
    agents: Vec<Agent>,
}

impl AgentRegistry {
    /// The agents known by name.
    pub fn known() -> Self {
        let agents = KNOWN.iter().map(|(name, title, command, args, install)| Agent {
            title: (*title).to_owned(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            install: Some((*install).to_owned()),
            ..Agent::new(name, *command)
        });
        Self { agents: agents.collect() }
    }

    /// Adds an agent, or takes the place of the one with its name.
    pub fn set(&mut self, agent: Agent) {
        match self.agents.iter_mut().find(|each| each.name == agent.name) {
            Some(place) => *place = agent,
            None => self.agents.push(agent),
        }
    }

    /// The agent of this name.
    pub fn get(&self, name: &AgentName) -> Option<&Agent> {
        self.agents.iter().find(|agent| agent.name == *name)
    }

    /// The name for people of the agent of this name.
    pub fn title(&self, name: &str) -> Option<&str> {
        self.agents.iter().find(|agent| agent.name.0 == name).map(|agent| agent.title.as_str())
    }

    /// All of them, with what is on PATH now: those that can be started first, in the order they were added.
    pub fn listings(&self) -> Vec<AgentListing> {
        let mut listings: Vec<_> = self.agents.iter().map(Agent::listing).collect();
        listings.sort_by_key(|listing| matches!(listing.availability, Availability::Missing { .. }));
        listings
    }
}

impl Agent {
    /// An agent of which nothing is known but its name and its program.
    pub fn new(name: &str, command: impl Into<String>) -> Self {
        Self {
            name: AgentName(name.to_owned()),
            title: name.to_owned(),
            description: None,
            command: command.into(),
            args: Vec::new(),
            env: BTreeMap::new(),
            install: None,
            login: None,
            shared: false,
            allow: Vec::new(),
        }
    }

    /// Where its program is, if it is there.
    pub(crate) fn program(&self) -> Option<PathBuf> {
        which::which(&self.command).ok()
    }

    /// The command line that starts it, as a person would type it.
    pub fn command_line(&self) -> String {
        let words = std::iter::once(&self.command).chain(&self.args);
        words.map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }

    fn listing(&self) -> AgentListing {
        let command = self.command_line();
        let availability = match self.program() {
            Some(_) => Availability::Found { command },
            None => Availability::Missing { command, install: self.install.clone() },
        };
        AgentListing {
            name: self.name.clone(),
            title: self.title.clone(),
            description: self.description.clone(),
            availability,
        }
    }
}

type KnownAgent = (&'static str, &'static str, &'static str, &'static [&'static str], &'static str);

/// Name, title, command, arguments, and how to install it.
const KNOWN: [KnownAgent; 10] = [
    ("claude", "Claude Code", "claude-agent-acp", &[], "npm install --global @agentclientprotocol/claude-agent-acp"),
    ("codex", "Codex", "codex-acp", &[], "npm install --global @agentclientprotocol/codex-acp"),
    ("gemini", "Gemini CLI", "gemini", &["--acp"], "npm install --global @google/gemini-cli"),
    ("qwen", "Qwen Code", "qwen", &["--acp"], "npm install --global @qwen-code/qwen-code"),
    ("opencode", "OpenCode", "opencode", &["acp"], "npm install --global opencode-ai"),
    ("copilot", "Copilot CLI", "copilot", &["--acp"], "npm install --global @github/copilot"),
    ("kimi", "Kimi", "kimi", &["acp"], "npm install --global @moonshot-ai/kimi-code"),
    ("vibe", "Vibe", "vibe-acp", &[], "pipx install mistral-vibe"),
    ("fast-agent", "fast-agent", "fast-agent-acp", &[], "pipx install fast-agent-mcp"),
    ("goose", "Goose", "goose", &["acp"], "brew install block-goose-cli"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_changed_in_its_place() {
        let mut registry = AgentRegistry::known();
        let mut codex = registry.get(&AgentName("codex".to_owned())).unwrap().clone();
        codex.command = "/nowhere/codex".to_owned();
        codex.args = vec!["a b".to_owned()];
        registry.set(codex);
        assert_eq!(registry.agents.len(), KNOWN.len());
        let codex = registry.get(&AgentName("codex".to_owned())).unwrap();
        assert_eq!(codex.command_line(), "/nowhere/codex 'a b'");
        assert_eq!(
            codex.listing().availability,
            Availability::Missing { command: codex.command_line(), install: codex.install.clone() }
        );
    }
}

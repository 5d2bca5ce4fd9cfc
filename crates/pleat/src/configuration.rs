//! The configuration file, `pleat.toml`.

use crate::data_folder::user_folders;
use crate::demonstrations;
use crate::failure::Failure;
use etcetera::AppStrategy;
use pleat_host::{Agent, AgentName, AgentRegistry};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What `pleat.toml` may hold.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Configuration {
    #[serde(default)]
    agents: BTreeMap<String, AgentSettings>,
}

/// `[agents.NAME]`: what is absent stays as it is known.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AgentSettings {
    title: Option<String>,
    command: Option<String>,
    args: Option<Vec<String>>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

impl Configuration {
    /// Reads the file that was asked for, or the user's where there is one.
    pub(crate) fn read(asked: Option<&Path>) -> Result<Self, Failure> {
        let path = match asked {
            Some(path) => path.to_owned(),
            None => match default_path() {
                Some(path) => path,
                None => return Ok(Self::default()),
            },
        };
        let name = path.display();
        let text = std::fs::read_to_string(&path)
            .map_err(|error| Failure::configuration(format!("the configuration `{name}` cannot be read: {error}")))?;
        toml::from_str(&text).map_err(|error| {
            let error = error.to_string();
            Failure::configuration(format!("the configuration `{name}` is not right:\n{}", error.trim_end()))
        })
    }

    /// All agents: the known ones, those of the file, and the demonstrations.
    pub(crate) fn agents(self) -> Result<AgentRegistry, Failure> {
        let mut registry = AgentRegistry::known();
        for (name, settings) in self.agents {
            let name = AgentName(name);
            let known = registry.get(&name).cloned();
            registry.set(settings.applied_to(name, known)?);
        }
        for agent in demonstrations::agents()? {
            registry.set(agent);
        }
        Ok(registry)
    }
}

fn default_path() -> Option<PathBuf> {
    let path = user_folders().ok()?.config_dir().join("pleat.toml");
    path.exists().then_some(path)
}

impl AgentSettings {
    fn applied_to(self, name: AgentName, known: Option<Agent>) -> Result<Agent, Failure> {
        let Some(command) = self.command.clone().or_else(|| known.as_ref().map(|agent| agent.command.clone())) else {
            let sentence =
                format!("pleat.toml: [agents.{}] names an agent that is not known; give its `command`", name.0);
            return Err(Failure::configuration(sentence));
        };
        let mut agent = known.unwrap_or_else(|| Agent {
            title: name.0.clone(),
            name,
            description: None,
            command: command.clone(),
            args: Vec::new(),
            env: BTreeMap::new(),
            install: None,
        });
        if agent.command != command {
            // Arguments belong to their command: another one begins without any.
            agent.args = Vec::new();
            agent.command = command;
        }
        agent.title = self.title.unwrap_or(agent.title);
        agent.args = self.args.unwrap_or(agent.args);
        agent.env.extend(self.env);
        Ok(agent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(toml: &str, name: &str) -> Agent {
        let configuration: Configuration = toml::from_str(toml).unwrap();
        configuration.agents().unwrap().get(&AgentName(name.to_owned())).unwrap().clone()
    }

    #[test]
    fn a_known_agent_is_changed_and_another_added() {
        let gemini = agent("[agents.gemini]\nenv = { A = \"1\" }", "gemini");
        assert_eq!((gemini.command_line().as_str(), gemini.env["A"].as_str()), ("gemini --acp", "1"));
        let gemini = agent("[agents.gemini]\ncommand = \"/opt/gemini\"", "gemini");
        assert_eq!(gemini.command_line(), "/opt/gemini");
        let mine = agent("[agents.mine]\ncommand = \"my-agent\"\nargs = [\"acp\"]", "mine");
        assert_eq!((mine.title.as_str(), mine.command_line().as_str()), ("mine", "my-agent acp"));
    }

    #[test]
    fn what_cannot_be_meant_is_said() {
        let configuration: Configuration = toml::from_str("[agents.mine]\nargs = []").unwrap();
        assert!(configuration.agents().is_err());
        assert!(toml::from_str::<Configuration>("[agents.mine]\ncomand = \"x\"").is_err());
    }
}

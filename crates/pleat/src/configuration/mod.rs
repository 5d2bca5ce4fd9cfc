//! The configuration file, `pleat.toml`.

mod values;

use crate::data_folder::{DataFolder, user_folders};
use crate::demonstrations;
use crate::failure::Failure;
use etcetera::AppStrategy;
use pleat_host::{Agent, AgentName, AgentRegistry, HostSettings, WireLogSettings};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use values::{Directories, Seconds};

/// What `pleat.toml` may hold.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Configuration {
    /// How long an agent may take to answer Stop.
    stop_grace_seconds: Option<Seconds>,
    /// How long an agent may take from its start to its open session.
    start_patience_seconds: Option<Seconds>,
    /// For how many days the raw traffic of sessions is kept; 0: it is not.
    wire_log_days: Option<u32>,
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
    login: Option<String>,
    shared: Option<bool>,
    #[serde(default)]
    directories: Directories,
}

const SECONDS_IN_A_DAY: u64 = 24 * 60 * 60;

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

    /// How the host treats its agents. Raw traffic is kept in this data folder.
    pub(crate) fn host_settings(&self, folder: &DataFolder) -> HostSettings {
        let mut settings = HostSettings { wire_log: self.wire_log(folder), ..HostSettings::default() };
        if let Some(Seconds(grace)) = self.stop_grace_seconds {
            settings.stop_grace = grace;
        }
        if let Some(Seconds(patience)) = self.start_patience_seconds {
            settings.opening_patience = patience;
        }
        settings
    }

    /// Where and for how long the raw traffic of sessions is kept; `None`: it is not.
    pub(crate) fn wire_log(&self, folder: &DataFolder) -> Option<WireLogSettings> {
        let settings = WireLogSettings::new(folder.wire());
        match self.wire_log_days {
            None => Some(settings),
            Some(0) => None,
            Some(days) => {
                Some(WireLogSettings { keep: Duration::from_secs(u64::from(days) * SECONDS_IN_A_DAY), ..settings })
            }
        }
    }

    /// All agents: the known ones, those of the file, and the demonstrations.
    pub(crate) fn agents(self) -> Result<AgentRegistry, Failure> {
        let mut registry = AgentRegistry::known();
        for (name, settings) in self.agents {
            let known = registry.get(&AgentName(name.clone())).cloned();
            registry.set(settings.applied_to(&name, known)?);
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
    fn applied_to(self, name: &str, known: Option<Agent>) -> Result<Agent, Failure> {
        let Some(command) = self.command.or_else(|| known.as_ref().map(|agent| agent.command.clone())) else {
            let sentence = format!("pleat.toml: [agents.{name}] names an agent that is not known; give its `command`");
            return Err(Failure::configuration(sentence));
        };
        let mut agent = known.unwrap_or_else(|| Agent::new(name, command.clone()));
        if agent.command != command {
            // Arguments belong to their command: another one begins without any.
            agent.args = Vec::new();
            agent.command = command;
        }
        agent.title = self.title.unwrap_or(agent.title);
        agent.args = self.args.unwrap_or(agent.args);
        agent.env.extend(self.env);
        agent.login = self.login.or(agent.login);
        agent.shared = self.shared.unwrap_or(agent.shared);
        agent.allow.extend(values::rules(self.directories));
        Ok(agent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleat_host::AllowRule;
    use pleat_transcript::call::ToolKind;

    fn read(toml: &str) -> Configuration {
        toml::from_str(toml).unwrap()
    }

    fn agent(toml: &str, name: &str) -> Agent {
        read(toml).agents().unwrap().get(&AgentName(name.to_owned())).unwrap().clone()
    }

    /// What is said about a file that is not right.
    fn wrong(toml: &str) -> String {
        toml::from_str::<Configuration>(toml).unwrap_err().to_string()
    }

    fn settings(toml: &str) -> HostSettings {
        let folder = tempfile::tempdir().unwrap();
        read(toml).host_settings(&DataFolder::open(Some(folder.path())).unwrap())
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
    fn how_an_agent_is_used_is_set_for_each() {
        let toml = "[agents.gemini]\nlogin = \"key\"\nshared = true\n\
                    [agents.gemini.directories.\"/no/such/place\"]\nallow = [\"read\", \"switch_mode\"]";
        let gemini = agent(toml, "gemini");
        assert_eq!((gemini.login.as_deref(), gemini.shared), (Some("key"), true));
        let kinds = vec![ToolKind::Read, ToolKind::SwitchMode];
        assert_eq!(gemini.allow, [AllowRule { directory: "/no/such/place".into(), kinds }]);
        let codex = agent(toml, "codex");
        assert_eq!((codex.login, codex.shared, codex.allow), (None, false, Vec::new()));
    }

    #[test]
    fn the_host_is_told_what_is_set_and_nothing_else() {
        let usual = settings("");
        let all = settings("stop_grace_seconds = 2\nstart_patience_seconds = 0.5\nwire_log_days = 30");
        assert_eq!((all.stop_grace, all.opening_patience), (Duration::from_secs(2), Duration::from_millis(500)));
        let (kept, usually) = (all.wire_log.unwrap(), usual.wire_log.unwrap());
        assert_eq!(kept.keep, Duration::from_hours(30 * 24));
        assert_eq!((usually.keep, kept.max_bytes), (Duration::from_hours(7 * 24), usually.max_bytes));
        assert!(usually.folder.ends_with("wire"));
        assert_eq!(usual.stop_grace, HostSettings::default().stop_grace);
        assert_eq!(settings("wire_log_days = 0").wire_log, None);
    }

    #[test]
    fn what_cannot_be_meant_is_said() {
        assert!(read("[agents.mine]\nargs = []").agents().is_err());
        let directory = |path, rest| format!("[agents.codex.directories.\"{path}\"]\n{rest}");
        for (toml, words) in [
            ("[agents.mine]\ncomand = \"x\"", "comand"),
            ("wire_log_day = 1", "wire_log_day"),
            ("stop_grace_seconds = -1", "`-1` is no number of seconds"),
            ("start_patience_seconds = nan", "`NaN` is no number of seconds"),
            ("wire_log_days = -1", "wire_log_days = -1"),
            ("[agents.codex]\nshared = \"yes\"", "shared"),
            (&directory("/a", "allow = [\"raed\"]"), "`raed` is no kind of calls; the kinds are read, edit, delete"),
            (&directory("/a", "alow = []"), "alow"),
            (&directory("/a", ""), "allow"),
            (&directory("a/b", "allow = []"), "`a/b` is no whole path"),
        ] {
            let said = wrong(toml);
            assert!(said.contains(words), "{toml}: {said}");
        }
    }
}

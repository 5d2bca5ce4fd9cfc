//! What an agent offers in a session: modes, models, config options and commands (ACP, "Session Modes", "Session Config
//! Options" and "Slash Commands"; `models` is older and no longer in the schema).
//!
//! It is read leniently: an entry without an id is left out, one without a name has its id for it, and no wrong entry
//! loses another.

use serde_json::Value;

/// What an agent offers in a session now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionOffers {
    /// Its modes; `None` where it has none.
    pub modes: Option<Selection>,
    /// Its models, of an agent that names them outside its options.
    pub models: Option<Selection>,
    /// Its config options, in its order. Mode and model may be among them again.
    pub options: Vec<ConfigOption>,
    /// The commands that a prompt may begin with.
    pub commands: Vec<AgentCommand>,
}

/// Choices of which one is current.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// The id of the current one; it need not be among the choices.
    pub current: String,
    /// In the agent's order, groups flattened.
    pub choices: Vec<Choice>,
}

/// Something that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// What the agent is told.
    pub id: String,
    /// For people.
    pub name: String,
    /// A sentence about it.
    pub description: Option<String>,
}

/// A config option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigOption {
    /// What the agent is told.
    pub id: String,
    /// For people.
    pub name: String,
    /// A sentence about it.
    pub description: Option<String>,
    /// What it is about: `mode`, `model`, `thought_level` and others, also of the agent's own.
    pub category: Option<String>,
    /// What it is set to.
    pub value: ConfigValue,
}

/// What a config option is set to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigValue {
    /// One of several choices.
    Select(Selection),
    /// On or off.
    Boolean(bool),
}

/// A command that a prompt may begin with, after a slash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentCommand {
    /// Without the slash.
    pub name: String,
    /// A sentence about it; may be empty.
    pub description: String,
    /// What may follow it, where something may; may be empty.
    pub input_hint: Option<String>,
}

impl SessionOffers {
    /// Takes the answer to `session/new`, `session/load` or `session/resume`: what it names replaces what was there,
    /// what it does not name stays. So what came before the answer is kept.
    pub fn opened(&mut self, answer: &Value) {
        if let Some(modes) = modes(&answer["modes"]) {
            self.modes = Some(modes);
        }
        if let Some(models) = models(&answer["models"]) {
            self.models = Some(models);
        }
        self.option_set(answer);
    }

    /// Takes the `update` of a `session/update`; true where something has changed. Updates about other things change
    /// nothing.
    pub fn update(&mut self, update: &Value) -> bool {
        let before = self.clone();
        match update["sessionUpdate"].as_str() {
            Some("current_mode_update") => {
                if let Some(mode) = update["currentModeId"].as_str() {
                    self.mode_set(mode);
                }
            }
            Some("config_option_update") => self.option_set(update),
            Some("available_commands_update") => {
                if let Some(commands) = update["availableCommands"].as_array() {
                    // The whole list each time (docs/cases.md, B17).
                    self.commands = commands.iter().filter_map(AgentCommand::read).collect();
                }
            }
            Some(_) | None => {}
        }
        *self != before
    }

    /// The mode has been set. Without modes there is none to be set.
    pub fn mode_set(&mut self, mode: impl Into<String>) {
        if let Some(modes) = &mut self.modes {
            modes.current = mode.into();
            follow(&modes.current, self.options.iter_mut().filter_map(|option| option.selection_of(MODE)));
        }
    }

    /// The model has been set. Without models there is none to be set.
    pub fn model_set(&mut self, model: impl Into<String>) {
        if let Some(models) = &mut self.models {
            models.current = model.into();
            follow(&models.current, self.options.iter_mut().filter_map(|option| option.selection_of(MODEL)));
        }
    }

    /// A config option has been set: takes the answer to `session/set_config_option`, which holds all options.
    pub fn option_set(&mut self, answer: &Value) {
        let Some(options) = answer["configOptions"].as_array() else { return };
        self.options = options.iter().filter_map(ConfigOption::read).collect();
        for option in &mut self.options {
            if let Some(selection) = option.selection_of(MODE) {
                follow(&selection.current, self.modes.iter_mut());
            }
            if let Some(selection) = option.selection_of(MODEL) {
                follow(&selection.current, self.models.iter_mut());
            }
        }
    }
}

/// The category of the option that says again which mode is current.
const MODE: &str = "mode";

/// The category of the option that says again which model is current.
const MODEL: &str = "model";

/// Agents that offer the same thing in two places say only in one of them that it has changed; the others follow where
/// they have that choice too.
fn follow<'a>(current: &str, selections: impl Iterator<Item = &'a mut Selection>) {
    for selection in selections {
        if selection.choices.iter().any(|choice| choice.id == current) {
            current.clone_into(&mut selection.current);
        }
    }
}

fn modes(state: &Value) -> Option<Selection> {
    Selection::read(&state["currentModeId"], &state["availableModes"], "id")
}

fn models(state: &Value) -> Option<Selection> {
    Selection::read(&state["currentModelId"], &state["availableModels"], "modelId")
}

impl Selection {
    /// `id` is the name of the field that holds a choice's id.
    fn read(current: &Value, choices: &Value, id: &str) -> Option<Self> {
        let choices = choices.as_array().into_iter().flatten();
        // An entry with options of its own is a group.
        let choices = choices.flat_map(|entry| match entry["options"].as_array() {
            Some(group) => group.iter().collect(),
            None => vec![entry],
        });
        let choices = choices.filter_map(|choice| Choice::read(choice, id)).collect();
        Some(Self { current: current.as_str()?.to_owned(), choices })
    }
}

impl Choice {
    fn read(choice: &Value, id: &str) -> Option<Self> {
        let id = choice[id].as_str()?.to_owned();
        Some(Self { name: name(choice, &id), description: sentence(choice), id })
    }
}

impl ConfigOption {
    /// Its choices, if it is of this category.
    fn selection_of(&mut self, category: &str) -> Option<&mut Selection> {
        match &mut self.value {
            ConfigValue::Select(selection) => (self.category.as_deref() == Some(category)).then_some(selection),
            ConfigValue::Boolean(_) => None,
        }
    }

    fn read(option: &Value) -> Option<Self> {
        let id = option["id"].as_str()?.to_owned();
        let value = ConfigValue::read(option)?;
        let category = option["category"].as_str().map(str::to_owned);
        Some(Self { name: name(option, &id), description: sentence(option), category, value, id })
    }
}

impl ConfigValue {
    /// `None` for a kind of option that we do not know.
    fn read(option: &Value) -> Option<Self> {
        match option["type"].as_str()? {
            "select" => Selection::read(&option["currentValue"], &option["options"], "value").map(Self::Select),
            "boolean" => option["currentValue"].as_bool().map(Self::Boolean),
            _ => None,
        }
    }
}

impl AgentCommand {
    fn read(command: &Value) -> Option<Self> {
        Some(Self {
            name: command["name"].as_str()?.to_owned(),
            description: command["description"].as_str().unwrap_or_default().to_owned(),
            input_hint: command["input"]["hint"].as_str().map(str::to_owned),
        })
    }
}

fn name(entry: &Value, id: &str) -> String {
    entry["name"].as_str().unwrap_or(id).to_owned()
}

/// Some agents describe by an empty text.
fn sentence(entry: &Value) -> Option<String> {
    entry["description"].as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::*;
    use crate::trace::{self, TraceItem};

    /// What the agent of a recorded conversation offers at its end, in short.
    fn check(trace: &str, expect: &[&str]) {
        let mut offers = SessionOffers::default();
        let path = format!("{}/tests/traces/{trace}.jsonl.zst", env!("CARGO_MANIFEST_DIR"));
        for line in trace::open(Path::new(&path)).expect("a trace") {
            let TraceItem::AgentToClient(message) = line.expect("a line").what else { continue };
            offers.opened(&message["result"]);
            offers.update(&message["params"]["update"]);
        }
        assert_eq!(describe(&offers), expect, "{trace}");
    }

    #[test]
    fn what_is_wrong_loses_nothing_else() {
        let mut offers = SessionOffers::default();
        offers.opened(&json!({
            "modes": {"currentModeId": "a", "availableModes": [{"id": "a"}, {"name": "no id"}, 3, {"id": "b", "name": "B", "description": ""}]},
            "models": {"availableModels": [{"modelId": "no current one"}]},
            "configOptions": [
                {"id": "text", "name": "Unknown", "type": "text", "currentValue": "x"},
                {"id": "on", "name": "On", "type": "boolean", "currentValue": true, "description": "D"},
                {"id": "half", "type": "boolean", "currentValue": "true"},
                {"name": "no id", "type": "boolean", "currentValue": true},
                {"id": "level", "category": "own", "type": "select", "currentValue": "1", "options": [
                    {"group": "g", "name": "G", "options": [{"value": "1", "name": "One"}, null]},
                    {"group": "h", "name": "H", "options": [{"value": "2", "name": "Two"}]},
                ]},
            ],
        }));
        let choice = |id: &str, name: &str| Choice { id: id.into(), name: name.into(), description: None };
        let option = |id: &str, name: &str, value| ConfigOption {
            id: id.into(),
            name: name.into(),
            description: None,
            category: None,
            value,
        };
        let level = Selection { current: "1".into(), choices: vec![choice("1", "One"), choice("2", "Two")] };
        let expect = SessionOffers {
            modes: Some(Selection { current: "a".into(), choices: vec![choice("a", "a"), choice("b", "B")] }),
            options: vec![
                ConfigOption { description: Some("D".into()), ..option("on", "On", ConfigValue::Boolean(true)) },
                ConfigOption { category: Some("own".into()), ..option("level", "level", ConfigValue::Select(level)) },
            ],
            ..SessionOffers::default()
        };
        assert_eq!(offers, expect);
        for nothing in [json!(null), json!("text"), json!({"modes": 3, "models": [], "configOptions": null})] {
            offers.opened(&nothing);
            assert!(!offers.update(&nothing));
        }
        assert_eq!(offers, expect);
    }

    /// Copilot, Vibe: commands before the answer to `session/new`.
    #[test]
    fn what_came_before_the_answer_is_kept() {
        let mut offers = SessionOffers::default();
        let commands = |names: &[&str]| {
            let commands: Vec<_> = names.iter().map(|name| json!({"name": name, "input": {"hint": name}})).collect();
            json!({"sessionUpdate": "available_commands_update", "availableCommands": commands})
        };
        assert!(offers.update(&commands(&["a", "b"])));
        assert!(!offers.update(&commands(&["a", "b"])), "nothing new");
        offers.opened(&json!({"modes": {"currentModeId": "m", "availableModes": []}}));
        let command =
            |name: &str| AgentCommand { name: name.into(), description: String::new(), input_hint: Some(name.into()) };
        assert_eq!(offers.commands, [command("a"), command("b")]);
        // B17: the whole list each time.
        assert!(offers.update(&commands(&["c"])));
        assert_eq!(offers.commands, [command("c")]);
    }

    #[test]
    fn mode_and_model_are_the_same_wherever_they_stand() {
        let selection = |category: &str, current: &str, values: [&str; 2]| {
            let options: Vec<_> = values.iter().map(|value| json!({"value": value})).collect();
            json!({"id": category, "category": category, "type": "select", "currentValue": current, "options": options})
        };
        let mut offers = SessionOffers::default();
        let currents = |offers: &SessionOffers| {
            let options = offers.options.iter().map(|option| match &option.value {
                ConfigValue::Select(selection) => selection.current.clone(),
                ConfigValue::Boolean(value) => value.to_string(),
            });
            let places = [&offers.modes, &offers.models].map(|place| place.as_ref().expect("there").current.clone());
            places.into_iter().chain(options).collect::<Vec<_>>().join(" ")
        };
        offers.opened(&json!({
            "modes": {"currentModeId": "a", "availableModes": [{"id": "a"}, {"id": "b"}]},
            "models": {"currentModelId": "m[low]", "availableModels": [{"modelId": "m[low]"}, {"modelId": "n"}]},
            "configOptions": [selection("mode", "a", ["a", "b"]), selection("model", "m", ["m", "n"])],
        }));
        assert_eq!(currents(&offers), "a m[low] a m");
        assert!(offers.update(&json!({"sessionUpdate": "current_mode_update", "currentModeId": "b"})));
        assert_eq!(currents(&offers), "b m[low] b m");
        let options = json!({"sessionUpdate": "config_option_update",
            "configOptions": [selection("mode", "a", ["a", "b"]), selection("model", "n", ["m", "n"])]});
        assert!(offers.update(&options));
        assert!(!offers.update(&options));
        assert_eq!(currents(&offers), "a n a n");
        offers.model_set("m[low]");
        offers.mode_set("c");
        assert_eq!(currents(&offers), "c m[low] a n", "one that is not a choice there");
        offers.option_set(&json!({"configOptions": []}));
        assert_eq!(currents(&offers), "c m[low]");
        let mut none = SessionOffers::default();
        none.mode_set("a");
        none.model_set("m");
        assert_eq!(none, SessionOffers::default());
    }

    fn describe(offers: &SessionOffers) -> Vec<String> {
        let selection = |selection: &Selection| format!("{} of {}", selection.current, selection.choices.len());
        let mut said = Vec::new();
        said.extend(offers.modes.as_ref().map(|modes| format!("mode {}", selection(modes))));
        said.extend(offers.models.as_ref().map(|models| format!("model {}", selection(models))));
        said.extend(offers.options.iter().map(|option| {
            let value = match &option.value {
                ConfigValue::Select(choices) => selection(choices),
                ConfigValue::Boolean(value) => value.to_string(),
            };
            format!("{} ({}): {value}", option.id, option.category.as_deref().unwrap_or("-"))
        }));
        said.push(format!("{} commands", offers.commands.len()));
        said
    }

    #[test]
    fn what_real_agents_offer() {
        check(
            "claude-plain",
            &[
                "mode default of 5",
                "mode (mode): default of 5",
                "model (model): default of 5",
                "effort (thought_level): default of 6",
                "fast (model_config): off of 2",
                "ultracode (model_config): off of 2",
                "40 commands",
            ],
        );
        check(
            "codex-plain",
            &[
                "mode agent of 4",
                "model gpt-5.5[medium] of 50",
                "mode (mode): agent of 4",
                "collaboration_mode (collaboration_mode): default of 2",
                "model (model): gpt-5.5 of 9",
                "reasoning_effort (thought_level): medium of 4",
                "fast-mode (model_config): off of 2",
                "16 commands",
            ],
        );
        check("gemini-short", &["mode default of 4", "model gemini-2.5-pro of 6", "20 commands"]);
        check(
            "qwen-short",
            &[
                "mode auto of 5",
                "model $runtime|openai|fake-model(openai) of 1",
                "mode (mode): auto of 5",
                "model (model): $runtime|openai|fake-model(openai) of 1",
                "51 commands",
            ],
        );
        check(
            "copilot-short",
            &[
                "mode https://agentclientprotocol.com/protocol/session-modes#agent of 3",
                "mode (mode): https://agentclientprotocol.com/protocol/session-modes#agent of 3",
                "allow_all (permissions): off of 2",
                "32 commands",
            ],
        );
        check(
            "opencode-plain",
            &[
                "model (model): lab/fake-model of 9",
                "effort (thought_level): low of 4",
                "mode (mode): build of 2",
                "3 commands",
            ],
        );
        check(
            "kimi-plain",
            &[
                "mode default of 4",
                "model (model): __kimi_env_model__ of 1",
                "thinking (thought_level): on of 2",
                "mode (mode): default of 4",
                "14 commands",
            ],
        );
    }
}

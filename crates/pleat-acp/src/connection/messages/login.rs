//! How one logs in to an agent (ACP, "Authentication").

use agent_client_protocol::v1::schema as acp;
use serde_json::Value;

use super::read;

/// A way to log in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthMethod {
    /// For `authenticate`.
    pub id: String,
    /// For people.
    pub name: String,
    /// A sentence about it.
    pub description: Option<String>,
    /// What a person runs in a terminal to log in this way; there is nothing to `authenticate` then.
    pub login: Option<LoginCommand>,
}

/// A command that a person runs in a terminal to log in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginCommand {
    /// The program; `None` is the agent's own command, whose arguments then come before these.
    pub program: Option<String>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Environment variables that it needs beside those of the terminal.
    pub env: Vec<(String, String)>,
}

impl AuthMethod {
    /// Reads one of the `authMethods`; `None` for what is none by the schema.
    pub(super) fn read(method: &Value) -> Option<Self> {
        let known: acp::AuthMethod = read(method)?;
        Some(Self {
            id: known.id().to_string(),
            name: known.name().to_owned(),
            description: known.description().map(str::to_owned),
            login: LoginCommand::exact(&method["_meta"]["terminal-auth"]).or_else(|| LoginCommand::of_type(method)),
        })
    }
}

impl LoginCommand {
    /// `_meta["terminal-auth"]`, older than the `terminal` type: the whole command.
    fn exact(meta: &Value) -> Option<Self> {
        let program = meta["command"].as_str()?.to_owned();
        Some(Self { program: Some(program), args: args(meta), env: env(meta) })
    }

    /// A method of type `terminal`: what the agent's own command takes in addition.
    fn of_type(method: &Value) -> Option<Self> {
        (method["type"] == "terminal").then(|| Self { program: None, args: args(method), env: env(method) })
    }

    /// The command line as a person would type it, for an agent that is started by this program and these arguments.
    pub fn command_line(&self, agent_program: &str, agent_args: &[String]) -> String {
        let env = self.env.iter().map(|(name, value)| format!("{name}={}", quoted(value)));
        let (program, own_args) = match &self.program {
            Some(program) => (program.as_str(), [].as_slice()),
            None => (agent_program, agent_args),
        };
        let args = own_args.iter().chain(&self.args).map(String::as_str);
        let command = std::iter::once(program).chain(args).map(quoted);
        env.chain(command).collect::<Vec<_>>().join(" ")
    }
}

// In the order of the agent, which the schema's map does not keep.
fn env(command: &Value) -> Vec<(String, String)> {
    let entries = command["env"].as_object().into_iter().flatten();
    entries.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect()
}

fn args(command: &Value) -> Vec<String> {
    let args = command["args"].as_array().into_iter().flatten();
    args.filter_map(|arg| arg.as_str().map(str::to_owned)).collect()
}

/// A word of a command line, in quotes for a shell where it needs them.
pub fn quoted(word: &str) -> String {
    let plain = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=:@%+,".contains(c));
    if plain { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// What a person types to log in to an agent that is started by `agent --acp`.
    fn check(method: &Value, expect: Option<&str>) {
        let method = AuthMethod::read(method).expect("a method");
        let line = method.login.map(|login| login.command_line("agent", &["--acp".to_owned()]));
        assert_eq!(line.as_deref(), expect);
    }

    #[test]
    fn a_terminal_login_is_a_command_line() {
        check(
            &json!({"id": "i", "name": "n", "type": "terminal", "args": ["--login", "it's"], "env": {"B": "1 2", "A": ""}}),
            Some(r"B='1 2' A='' agent --acp --login 'it'\''s'"),
        );
        check(&json!({"id": "i", "name": "n", "type": "terminal"}), Some("agent --acp"));
        let exact = json!({"command": "/opt/the agent", "args": ["login"], "label": "Log in"});
        check(
            &json!({"id": "i", "name": "n", "type": "terminal", "args": ["x"], "_meta": {"terminal-auth": exact}}),
            Some("'/opt/the agent' login"),
        );
        check(&json!({"id": "i", "name": "n", "_meta": {"terminal-auth": exact}}), Some("'/opt/the agent' login"));
        check(&json!({"id": "i", "name": "n", "_meta": {"terminal-auth": true}}), None);
        check(&json!({"id": "i", "name": "n", "type": "env_var", "vars": [{"name": "KEY"}]}), None);
    }

    /// The agent would be asked to `authenticate` with what a terminal is for.
    #[test]
    fn a_terminal_login_that_is_malformed_is_none() {
        assert_eq!(AuthMethod::read(&json!({"id": "i", "name": "n", "type": "terminal", "args": [1]})), None);
    }
}

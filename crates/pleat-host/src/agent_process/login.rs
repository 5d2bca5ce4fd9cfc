//! What a person can do about a login that an agent wants (ACP, "Authentication").

use crate::agents::Agent;
use pleat_acp::connection::messages::AuthMethod;

/// An agent that wants a login, and the ways that it offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login {
    /// What it said.
    pub said: String,
    /// How one can log in; none where it names no way.
    pub methods: Vec<LoginMethod>,
}

/// A way to log in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginMethod {
    /// The agent's id for it.
    pub id: String,
    /// For people.
    pub name: String,
    /// What it says about it.
    pub description: Option<String>,
    /// A command that a person runs in a terminal, where that is how it is done; `None`: Pleat can ask the agent for it.
    pub command: Option<String>,
}

impl Login {
    pub(crate) fn new(said: String, methods: &[AuthMethod], agent: &Agent) -> Self {
        let methods = methods.iter().map(|method| LoginMethod {
            id: method.id.clone(),
            name: method.name.clone(),
            description: method.description.clone(),
            command: method.login.as_ref().map(|login| login.command_line(&agent.command, &agent.args)),
        });
        Self { said, methods: methods.collect() }
    }

    /// What a person can do, as sentences that follow another one.
    pub fn advice(&self) -> String {
        if self.methods.is_empty() {
            return " Where it wants a login, log in with the agent's own program first.".to_owned();
        }
        let ways: Vec<String> = self
            .methods
            .iter()
            .map(|method| match &method.command {
                Some(command) => format!("{} (run `{command}` in a terminal)", method.name),
                None => method.name.clone(),
            })
            .collect();
        format!(" It offers to log in by: {}.", ways.join(", "))
    }
}

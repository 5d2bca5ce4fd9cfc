//! What is played with each agent.

/// A turn with an agent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scenario {
    /// In the table, and with `-` for blanks in the names of files.
    pub(super) name: &'static str,
    /// What the model plays: a name in `scenarios.py`.
    pub(super) script: &'static str,
    pub(super) person: Person,
    /// What is done while the script's slow command runs.
    pub(super) deed: Option<Deed>,
}

/// Who answers when the agent asks.
#[derive(Debug, Clone, Copy)]
pub(super) enum Person {
    /// Nobody: everything is allowed beforehand.
    AllowsAll,
    /// Nobody, and nothing is allowed.
    Nobody,
    /// Somebody at a terminal, always with an option of this kind (ACP `PermissionOptionKind`).
    Answers(&'static str),
}

/// Something that happens to a turn.
#[derive(Debug, Clone, Copy)]
pub(super) enum Deed {
    /// Ctrl-C, once.
    Interrupt,
    /// SIGKILL to the agent.
    KillAgent,
}

pub(super) const SCENARIOS: [Scenario; 7] = [
    Scenario { name: "all allowed beforehand", script: "tools", person: Person::AllowsAll, deed: None },
    Scenario { name: "each allowed at a terminal", script: "tools", person: Person::Answers("allow_once"), deed: None },
    Scenario { name: "refused at a terminal", script: "perm", person: Person::Answers("reject_once"), deed: None },
    Scenario { name: "nobody to ask", script: "perm", person: Person::Nobody, deed: None },
    Scenario {
        name: "stopped during a command",
        script: "cancel",
        person: Person::AllowsAll,
        deed: Some(Deed::Interrupt),
    },
    Scenario { name: "model error", script: "err500", person: Person::AllowsAll, deed: None },
    Scenario {
        name: "agent killed during a command",
        script: "cancel",
        person: Person::AllowsAll,
        deed: Some(Deed::KillAgent),
    },
];

impl Scenario {
    pub(super) fn file_name(&self) -> String {
        self.name.replace(' ', "-")
    }

    /// The prompt, by which the model knows what to play.
    pub(super) fn prompt(&self) -> String {
        format!("Please do it. [[fake:{}]]", self.script)
    }
}

/// What stands in the command line of the script's slow command, and in no other.
pub(super) const SLOW_COMMAND: &str = "print('tick'";

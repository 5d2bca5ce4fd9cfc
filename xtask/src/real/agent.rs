//! The real agents, and what points each at the scripted model.

use super::install::Installed;
use super::model::Model;
use super::stage::Stage;
use crate::command::Failure;
use std::path::Path;

/// An agent that this knows how to install and to point at the scripted model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RealAgent {
    Claude,
    Codex,
    Gemini,
}

const ALL: [RealAgent; 3] = [RealAgent::Claude, RealAgent::Codex, RealAgent::Gemini];

impl RealAgent {
    pub(super) fn named(name: &str) -> Result<Self, Failure> {
        ALL.into_iter().find(|agent| agent.name() == name).ok_or_else(|| {
            let names = ALL.map(RealAgent::name).join(", ");
            Failure::new(format!("no real agent is called `{name}` here: there are {names}."))
        })
    }

    /// Its name in `pleat.toml`, and the script's name for its tools.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }

    /// Its npm package and the version that the traces are of.
    pub(super) fn package(self) -> (&'static str, &'static str) {
        match self {
            Self::Claude => ("@agentclientprotocol/claude-agent-acp", "0.101.0"),
            Self::Codex => ("@agentclientprotocol/codex-acp", "2.6.0"),
            Self::Gemini => ("@google/gemini-cli", "0.61.0"),
        }
    }

    /// What `pleat.toml` says of it.
    pub(super) fn settings(self, installed: &Installed, stage: &Stage, model: &Model) -> String {
        let (program, args): (_, &[&str]) = match self {
            Self::Claude => ("claude-agent-acp", &[]),
            Self::Codex => ("codex-acp", &[]),
            Self::Gemini => ("gemini", &["--acp", "--skip-trust", "-m", "gemini-2.5-pro"]),
        };
        let program = path(&installed.program(program));
        let args: Vec<String> = std::iter::once(program.as_str()).chain(args.iter().copied()).map(quoted).collect();
        let mut lines = vec![
            format!("[agents.{}]", self.name()),
            format!("command = {}", quoted(&path(&installed.node()))),
            format!("args = [{}]", args.join(", ")),
        ];
        lines.extend(self.login().map(|login| format!("login = {}", quoted(login))));
        lines.push(format!("[agents.{}.env]", self.name()));
        let environment = surroundings(installed, &stage.home()).into_iter().chain(self.environment(stage, model));
        lines.extend(environment.map(|(name, value)| format!("{name} = {}", quoted(&value))));
        lines.join("\n") + "\n"
    }

    /// The method to log in by, where it asks for one although its key is there.
    fn login(self) -> Option<&'static str> {
        match self {
            Self::Claude | Self::Codex => None,
            Self::Gemini => Some("gemini-api-key"),
        }
    }

    fn environment(self, stage: &Stage, model: &Model) -> Vec<(&'static str, String)> {
        let text = |value: &str| value.to_owned();
        match self {
            Self::Claude => vec![
                ("ANTHROPIC_BASE_URL", format!("{}/claude", model.address())),
                ("ANTHROPIC_API_KEY", text("dummy")),
                ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", text("1")),
                ("CLAUDE_CODE_MAX_RETRIES", text("3")),
                ("DISABLE_TELEMETRY", text("1")),
                ("DISABLE_AUTOUPDATER", text("1")),
                // All tools in the first request, and root allowed.
                ("ENABLE_TOOL_SEARCH", text("false")),
                ("IS_SANDBOX", text("1")),
            ],
            Self::Codex => vec![
                ("OPENAI_API_KEY", text("dummy")),
                ("CODEX_API_KEY", text("dummy")),
                ("NO_BROWSER", text("1")),
                ("CODEX_HOME", path(&stage.home().join(".codex"))),
                // Its default mode has a model answer in a person's place.
                ("INITIAL_AGENT_MODE", text("workspace-write")),
                // It refuses to work in `/tmp` itself.
                ("TMPDIR", path(&stage.home().join("tmp"))),
            ],
            Self::Gemini => vec![
                ("GOOGLE_GEMINI_BASE_URL", format!("{}/gemini", model.address())),
                ("GEMINI_API_KEY", text("dummy")),
                ("GEMINI_TELEMETRY_ENABLED", text("false")),
                ("GEMINI_CLI_NO_RELAUNCH", text("true")),
            ],
        }
    }
}

/// A home of its own, and the Node that it needs first on PATH.
fn surroundings(installed: &Installed, home: &Path) -> Vec<(&'static str, String)> {
    let folder = |name: &str| path(&home.join(name));
    let inherited = std::env::var("PATH").unwrap_or_default();
    vec![
        ("PATH", format!("{}:{inherited}", path(&installed.node_folder()))),
        ("HOME", path(home)),
        ("LANG", "C.UTF-8".to_owned()),
        ("TERM", "dumb".to_owned()),
        ("XDG_CONFIG_HOME", folder(".config")),
        ("XDG_DATA_HOME", folder(".local/share")),
        ("XDG_STATE_HOME", folder(".local/state")),
        ("XDG_CACHE_HOME", folder(".cache")),
    ]
}

fn path(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// A text in TOML.
fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_by_its_name() {
        assert_eq!(RealAgent::named("codex").ok(), Some(RealAgent::Codex));
        let failure = RealAgent::named("vim").unwrap_err();
        assert_eq!(failure.to_string(), "no real agent is called `vim` here: there are claude, codex, gemini.");
    }

    #[test]
    fn a_text_in_toml() {
        assert_eq!(quoted(r#"a "b" \c"#), r#""a \"b\" \\c""#);
    }
}

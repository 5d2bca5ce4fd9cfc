//! Dialects: what only one agent does, one file an agent, nowhere else.
//!
//! A [`Dialect`] answers the questions at which agents differ. Every method has the answer of an agent without
//! oddities, so an agent that nobody knows is read as the protocol says.

mod claude;
mod codex;
mod codex_zed;
mod copilot;
mod fast_agent;
mod gemini;
mod kept_diffs;
mod kimi;
mod opencode;
mod qwen;
mod streamed_input;
mod vibe;

use pleat_transcript::event::CallReport;
use pleat_transcript::ids::AgentCallId;
use serde_json::Value;

/// What only one agent does.
pub(crate) trait Dialect: Send {
    /// The call that an update stands below: a sub-agent's.
    fn parent(&mut self, _update: &Value) -> Option<AgentCallId> {
        None
    }

    /// An error's words, without what the agent puts before every error.
    fn error_text(&self, message: String) -> String {
        message
    }

    /// Makes a mention of a call true where the agent's words are not.
    fn correct(&mut self, _report: &mut CallReport, _call: &Value) {}

    /// Whether an update is a mark that the text before it, or with it, is over (docs/spec/record.md, Text 2). `replaying`: in a
    /// replay it may mean another thing.
    fn text_ends(&self, _update: &Value, _replaying: bool) -> TextEnds {
        TextEnds::default()
    }

    /// Whether an update of a replay was never said by anyone (docs/spec/record.md, "the rest" 5).
    fn drops_replayed(&self, _update: &Value) -> bool {
        false
    }

    /// Whether the replay goes on after the answer to `session/load`.
    fn replays_after_answer(&self) -> bool {
        false
    }
}

/// Where a text is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct TextEnds {
    /// Before this update.
    pub(crate) before: bool,
    /// With it.
    pub(crate) after: bool,
}

/// Whether a mention of a call is the `toolCall` of a permission request, and no update.
fn is_request(call: &Value) -> bool {
    call.get("sessionUpdate").is_none()
}

/// The protocol, without oddities.
struct Plain;

impl Dialect for Plain {}

/// The dialect of an agent, by the name in its `agentInfo`.
pub(crate) fn dialect_of(agent: Option<&str>) -> Box<dyn Dialect> {
    match agent {
        Some("@agentclientprotocol/claude-agent-acp" | "@zed-industries/claude-code-acp") => Box::new(claude::Claude),
        Some("@agentclientprotocol/codex-acp") => Box::new(codex::Codex),
        Some("codex-acp") => Box::new(codex_zed::CodexZed),
        Some("Copilot") => Box::new(copilot::Copilot::default()),
        Some("fast-agent-acp") => Box::new(fast_agent::FastAgent::default()),
        Some("gemini-cli") => Box::new(gemini::Gemini::default()),
        Some("Kimi Code CLI") => Box::new(kimi::Kimi::default()),
        Some("OpenCode") => Box::new(opencode::OpenCode::default()),
        Some("qwen-code") => Box::new(qwen::Qwen),
        Some("@mistralai/mistral-vibe") => Box::new(vibe::Vibe),
        Some(_) | None => Box::new(Plain),
    }
}

//! Sessions and their turns.

use crate::ids::{PromptId, SessionId, TurnId};
use crate::message::{JsonObject, Media};
use serde_json::Value;
use std::collections::BTreeMap;

/// Milliseconds since 1970-01-01T00:00:00Z.
pub type Millis = i64;

/// One conversation with one agent in one working directory.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// Ours, or as imported.
    pub id: SessionId,
    /// The working directory; labels show paths relative to it.
    pub root: Option<String>,
    /// The turn that is running now.
    pub live_turn: Option<TurnId>,
    /// From the agent, or the first prompt.
    pub title: Option<String>,
    /// The agent's name in the registry.
    pub agent: Option<String>,
    /// When the session began.
    pub created_at: Option<Millis>,
    /// In order of their prompts.
    pub turns: Vec<Turn>,
    /// How full the agent's context is: a gauge, never added to usage (case B57).
    pub context: Option<ContextGauge>,
    /// Prompts that wait, in the order in which they are to be sent. They are no messages yet.
    pub waiting: Vec<WaitingPrompt>,
    /// What a person chose of the agent's modes and options.
    pub chosen: ChosenSettings,
    /// Further directories that a person added to the working directory: absolute paths.
    pub directories: Vec<String>,
    /// Keys that are not ours, kept for the export.
    pub extra: JsonObject,
}

impl Session {
    /// A session with nothing in it.
    pub fn new(id: SessionId) -> Self {
        Self {
            id,
            root: None,
            live_turn: None,
            title: None,
            agent: None,
            created_at: None,
            turns: Vec::new(),
            context: None,
            waiting: Vec::new(),
            chosen: ChosenSettings::default(),
            directories: Vec::new(),
            extra: JsonObject::new(),
        }
    }
}

/// A prompt that waits for the agent to be ready for it. It becomes a user message when it is sent.
#[derive(Debug, Clone, PartialEq)]
pub struct WaitingPrompt {
    /// Unique in the session, also among those that wait no more.
    pub id: PromptId,
    /// What the client calls it, of at most [`MAX_ID_BYTES`](crate::ids::MAX_ID_BYTES): the same again is the same
    /// prompt.
    pub key: Option<String>,
    /// As typed.
    pub text: String,
    /// Images, audio and resources, in order.
    pub attachments: Vec<Media>,
    /// When it was posted.
    pub created_at: Option<Millis>,
    /// Why it is not sent by itself, a sentence for a person. `None`: it is sent when its turn comes.
    pub held: Option<String>,
}

/// What a person chose of the agent's modes and options (ACP `session/set_mode`, `session/set_model`,
/// `session/set_config_option`). Each new process of the agent is told it again.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ChosenSettings {
    /// The mode's id.
    pub mode: Option<String>,
    /// The model's id.
    pub model: Option<String>,
    /// The value of each option, by the option's id.
    pub options: BTreeMap<String, Value>,
}

impl ChosenSettings {
    /// Nothing was chosen.
    pub fn is_empty(&self) -> bool {
        self.mode.is_none() && self.model.is_none() && self.options.is_empty()
    }
}

/// How much of the agent's context window is used (ACP `usage_update`), in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextGauge {
    /// Tokens in the context now.
    pub used: u64,
    /// Tokens that fit.
    pub size: u64,
}

/// From a prompt to its stop reason.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// Unique in the session.
    pub id: TurnId,
    /// Where it stands.
    pub state: TurnState,
    /// The agent's word (ACP `stopReason`), as it came.
    pub stop_reason: Option<String>,
    /// When the prompt was sent.
    pub started_at: Option<Millis>,
    /// When the answer came, or we closed it.
    pub ended_at: Option<Millis>,
    /// The prompt response's usage, with ACP's keys.
    pub usage: Option<Value>,
    /// Keys that are not ours, kept for the export.
    pub extra: JsonObject,
}

/// Where a turn stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnState {
    /// Its prompt waits for its turn.
    Queued,
    /// The agent is at work.
    Running,
    /// The agent ended it.
    Completed,
    /// A person stopped it.
    Cancelled,
    /// It ended in an error.
    Failed,
    /// Host or agent died.
    Interrupted,
}

impl TurnState {
    /// All, with the word of the document for each.
    pub const WORDS: [(Self, &'static str); 6] = [
        (Self::Queued, "queued"),
        (Self::Running, "running"),
        (Self::Completed, "completed"),
        (Self::Cancelled, "cancelled"),
        (Self::Failed, "failed"),
        (Self::Interrupted, "interrupted"),
    ];

    /// The document's word.
    pub fn word(self) -> &'static str {
        word_of(&Self::WORDS, &self)
    }

    /// No end yet.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Queued | Self::Running)
    }
}

/// The word that stands beside `value` in a table of words that lists every value.
pub(crate) fn word_of<T: PartialEq>(words: &[(T, &'static str)], value: &T) -> &'static str {
    words.iter().find(|(v, _)| v == value).map_or("", |(_, word)| word)
}

/// The value that stands beside `word`.
pub(crate) fn of_word<T: Copy>(words: &[(T, &'static str)], word: &str) -> Option<T> {
    words.iter().find(|(_, w)| *w == word).map(|(v, _)| *v)
}

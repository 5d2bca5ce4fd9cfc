//! Messages: the stored items of a session, in `seq` order (docs/spec/fold.md, "Input").

use crate::call::Call;
use crate::ids::{CallId, MessageId, TurnId};
use crate::session::{Millis, word_of};
use serde_json::Value;

/// A JSON object with its keys in the order they came.
pub type JsonObject = serde_json::Map<String, Value>;

/// A stored item of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Unique in the session.
    pub id: MessageId,
    /// The turn it belongs to.
    pub turn: Option<TurnId>,
    /// When it was first stored.
    pub created_at: Option<Millis>,
    /// What it is, by role.
    pub body: Body,
    /// Keys that are not ours, kept for the export.
    pub extra: JsonObject,
}

/// What a message is, by its `role`.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// What a person (or the agent in a person's name) said.
    User(User),
    /// One round of the agent.
    Assistant(Assistant),
    /// A result stored as a message of its own (imported histories).
    Tool(ToolResult),
    /// A snapshot of a plan.
    Plan(Plan),
    /// Said by the host, never by the agent.
    Notice(Notice),
}

/// A user message.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct User {
    /// As typed.
    pub text: String,
    /// Guidance sent while a turn ran.
    pub lead: bool,
    /// Who put it there.
    pub origin: Option<Origin>,
    /// Images, audio and resources of the prompt, in order.
    pub attachments: Vec<Media>,
}

/// Who put a user message there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A person typed it.
    Typed,
    /// The agent injected it.
    Agent,
}

impl Origin {
    /// All, with the word of the document for each.
    pub const WORDS: [(Self, &'static str); 2] = [(Self::Typed, "typed"), (Self::Agent, "agent")];

    /// The document's word.
    pub fn word(self) -> &'static str {
        word_of(&Self::WORDS, &self)
    }
}

/// One round: thinking and text, then the calls they led to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Assistant {
    /// In the order they came.
    pub parts: Vec<Part>,
    /// Whether more may come.
    pub state: Option<RoundState>,
    /// The error that ended its turn.
    pub error: Option<String>,
    /// The reader's feedback.
    pub rating: Option<Rating>,
    /// The sub-agent call that produced it.
    pub parent: Option<CallId>,
}

impl Assistant {
    /// Its calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(&**call),
            Part::Thinking(_) | Part::Text(_) | Part::Media(_) => None,
        })
    }
}

/// Whether more of a round may come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoundState {
    /// Yes.
    Streaming,
    /// No.
    Complete,
}

impl RoundState {
    /// All, with the word of the document for each.
    pub const WORDS: [(Self, &'static str); 2] = [(Self::Streaming, "streaming"), (Self::Complete, "complete")];

    /// The document's word.
    pub fn word(self) -> &'static str {
        word_of(&Self::WORDS, &self)
    }
}

/// The reader's feedback on a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rating {
    /// 1.
    Up,
    /// −1.
    Down,
}

/// A part of a round.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// The agent's reasoning.
    Thinking(TextPart),
    /// What it says.
    Text(TextPart),
    /// What it does.
    Call(Box<Call>),
    /// What it shows.
    Media(Media),
}

/// Thinking or text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TextPart {
    /// The deltas, exactly as sent.
    pub text: String,
    /// ACP's `messageId`.
    pub message_id: Option<String>,
    /// Keys that are not ours, kept for the export.
    pub extra: JsonObject,
}

/// An image, audio or a resource: in a round, or attached to a prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct Media {
    /// Which of them.
    pub kind: MediaKind,
    /// Its MIME type.
    pub mime: Option<String>,
    /// Base64 for images and audio, text or base64 for resources.
    pub data: Option<String>,
    /// Where it is, instead of `data`.
    pub uri: Option<String>,
    /// What the agent calls it.
    pub name: Option<String>,
    /// ACP's `messageId`.
    pub message_id: Option<String>,
    /// Keys that are not ours, kept for the export.
    pub extra: JsonObject,
}

/// The kinds of [`Media`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MediaKind {
    /// `image`
    Image,
    /// `audio`
    Audio,
    /// `resource`
    Resource,
}

impl MediaKind {
    /// All, with the word of the document for each.
    pub const WORDS: [(Self, &'static str); 3] =
        [(Self::Image, "image"), (Self::Audio, "audio"), (Self::Resource, "resource")];

    /// The document's word.
    pub fn word(self) -> &'static str {
        word_of(&Self::WORDS, &self)
    }
}

/// A result stored as a message of its own (imported histories).
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    /// The call it answers; it need not exist.
    pub call: Option<CallId>,
    /// The result.
    pub text: String,
}

/// A snapshot of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The call that produced it; `None` without identity.
    pub stream: Option<CallId>,
    /// What it says.
    pub content: PlanContent,
}

/// What a plan says.
#[derive(Debug, Clone, PartialEq)]
pub enum PlanContent {
    /// Markdown.
    Text(String),
    /// ACP's entries.
    Entries(Vec<PlanEntry>),
}

/// An entry of a plan (ACP `PlanEntry`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanEntry {
    /// What is to be done.
    pub content: String,
    /// ACP's status as it came; read it through [`PlanEntry::status`].
    pub status_word: Option<String>,
    /// ACP's priority as it came.
    pub priority: Option<String>,
    /// Keys that are not ours, kept for the export.
    pub extra: JsonObject,
}

impl PlanEntry {
    /// Its status; absent and unknown words are `Pending`.
    pub fn status(&self) -> EntryStatus {
        match self.status_word.as_deref() {
            Some("completed") => EntryStatus::Completed,
            Some("in_progress") => EntryStatus::InProgress,
            _ => EntryStatus::Pending,
        }
    }
}

/// Where an entry of a plan stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryStatus {
    /// Not begun.
    Pending,
    /// At work.
    InProgress,
    /// Done.
    Completed,
}

/// Said by the host, never by the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// How bad it is.
    pub level: NoticeLevel,
    /// A stable word for programs, such as `interrupted`.
    pub code: Option<String>,
    /// A sentence for a person.
    pub text: String,
}

/// How bad a notice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeLevel {
    /// Good to know.
    Info,
    /// Look at it.
    Warning,
    /// Something failed.
    Error,
}

impl NoticeLevel {
    /// All, with the word of the document for each.
    pub const WORDS: [(Self, &'static str); 3] =
        [(Self::Info, "info"), (Self::Warning, "warning"), (Self::Error, "error")];

    /// The document's word.
    pub fn word(self) -> &'static str {
        word_of(&Self::WORDS, &self)
    }
}

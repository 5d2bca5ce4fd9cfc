//! Events: what an agent or a person did, in words that no dialect is left in.
//!
//! Adapters and importers make them, [`crate::record`] turns them into changes. Live, replayed and imported sessions
//! take the same way, so the same input gives the same transcript.

use crate::ids::AgentCallId;
use crate::message::{Media, NoticeLevel, PlanEntry};
use crate::session::ContextGauge;
use serde_json::Value;

/// Names a prompt from its sending to its answer. Any string that no other open prompt of the session has.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PromptKey(pub String);

/// Names a permission request from its asking to its answer. Any string that no other open request of the session has.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestKey(pub String);

/// Something that happened in a session.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A prompt was sent.
    Prompt {
        /// Names it until it is answered.
        prompt: PromptKey,
        /// Its text.
        text: String,
        /// Its images, audio and resources, in order.
        attachments: Vec<Media>,
    },
    /// The agent answered a prompt: its turn is over.
    PromptAnswered {
        /// Which.
        prompt: PromptKey,
        /// How.
        answer: PromptAnswer,
    },
    /// We told the agent to stop (`session/cancel`).
    CancelSent,
    /// A piece of thinking or text.
    Text(TextChunk),
    /// The dialect's mark that a text is over, though nothing else came between (Qwen).
    TextEnded {
        /// Of which sub-agent.
        parent: Option<AgentCallId>,
    },
    /// An image, audio or a resource in what the agent says.
    Media {
        /// What it shows.
        media: Media,
        /// Of which sub-agent.
        parent: Option<AgentCallId>,
    },
    /// A piece of a user message: the prompt's echo, or put there by the agent.
    UserText {
        /// The piece.
        text: String,
        /// ACP's `messageId`.
        message_id: Option<String>,
    },
    /// An image, audio or a resource in a user message.
    UserMedia {
        /// What it holds.
        media: Media,
        /// ACP's `messageId`.
        message_id: Option<String>,
    },
    /// A call was mentioned.
    Call(Box<CallReport>),
    /// The agent asks a person.
    PermissionAsked {
        /// Names the request until it is answered.
        request: RequestKey,
        /// What it says of the call.
        report: Box<CallReport>,
        /// ACP's options in the agent's order and words.
        options: Vec<Value>,
    },
    /// A person (or Stop) answered.
    PermissionAnswered {
        /// Which request.
        request: RequestKey,
        /// How.
        outcome: PermissionOutcome,
        /// Who answered.
        by: Option<String>,
    },
    /// The turn's list of entries as it is now (ACP `plan`).
    Plan {
        /// All of them; empty clears the list.
        entries: Vec<PlanEntry>,
    },
    /// How full the context is.
    Context(ContextGauge),
    /// The agent names the session.
    Title(String),
    /// The host says something in the transcript.
    Notice {
        /// How bad it is.
        level: NoticeLevel,
        /// A stable word for programs.
        code: &'static str,
        /// A sentence for a person.
        text: String,
    },
    /// The agent's process is gone, or we are after a restart: what is open has no known outcome.
    AgentGone {
        /// What is known of it, as a sentence for a person.
        reason: Option<String>,
        /// What the agent printed last, lines of it; empty where that is not known.
        last_words: String,
    },
    /// What follows is a replay of the session (`session/load`), not news.
    ReplayBegins,
}

/// A piece of thinking or text, exactly as sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextChunk {
    /// Which of both.
    pub channel: Channel,
    /// The delta.
    pub text: String,
    /// ACP's `messageId`.
    pub message_id: Option<String>,
    /// Of which sub-agent.
    pub parent: Option<AgentCallId>,
}

/// Where a text goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    /// `agent_thought_chunk`
    Thinking,
    /// `agent_message_chunk`
    Message,
}

/// How a prompt was answered.
#[derive(Debug, Clone, PartialEq)]
pub enum PromptAnswer {
    /// With a stop reason.
    Stopped {
        /// ACP's word as it came; `None` where there is none.
        reason: Option<String>,
        /// Tokens of the turn, with ACP's keys.
        usage: Option<Value>,
    },
    /// With an error.
    Error {
        /// JSON-RPC's code.
        code: i64,
        /// Its message, with what `data` adds.
        message: String,
    },
}

/// How a permission request was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PermissionOutcome {
    /// With one of its options.
    Selected {
        /// The option's id.
        option: String,
    },
    /// Without any.
    Cancelled,
}

/// What one mention of a call says; absent fields say nothing (docs/spec/record.md, Calls).
#[derive(Debug, Clone, PartialEq)]
pub struct CallReport {
    /// What the agent calls it.
    pub agent_id: AgentCallId,
    /// A `tool_call`, not an update or a request.
    pub announced: bool,
    /// The agent's tool name.
    pub name: Option<String>,
    /// The MCP server's name.
    pub server: Option<String>,
    /// ACP's kind as it came.
    pub kind: Option<String>,
    /// The agent's words for a person.
    pub title: Option<String>,
    /// ACP's status, where it is one that we know, corrected by the dialect where the agent's word is not the truth.
    pub status: Option<CallStatus>,
    /// The dialect's mark that an end is really an abort.
    pub aborted: bool,
    /// The request.
    pub input: Option<Value>,
    /// Content blocks, replaced whole.
    pub content: Option<Vec<Value>>,
    /// ACP's `locations`, replaced whole.
    pub locations: Option<Vec<Value>>,
    /// What a terminal said.
    pub terminal: Option<TerminalReport>,
    /// Content blocks made of `rawOutput`, for calls that say nothing else.
    pub raw_output: Option<Vec<Value>>,
    /// The sub-agent's call that this one is part of.
    pub parent: Option<AgentCallId>,
    /// A snapshot of a plan in its input (`rawInput.plan`).
    pub plan_text: Option<String>,
    /// A to-do list in its input, where the agent sends no `plan`.
    pub todos: Option<Vec<PlanEntry>>,
}

impl CallReport {
    /// A mention that says nothing but the id.
    pub fn new(agent_id: AgentCallId) -> Self {
        Self {
            agent_id,
            announced: false,
            name: None,
            server: None,
            kind: None,
            title: None,
            status: None,
            aborted: false,
            input: None,
            content: None,
            locations: None,
            terminal: None,
            raw_output: None,
            parent: None,
            plan_text: None,
            todos: None,
        }
    }
}

/// ACP's `status` of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallStatus {
    /// `pending`
    Pending,
    /// `in_progress`
    InProgress,
    /// `completed`
    Completed,
    /// `failed`
    Failed,
}

/// What a terminal of a call said, ours or the agent's own.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TerminalReport {
    /// Its output.
    pub output: Option<TerminalOutput>,
    /// How it ended: `{"exitCode", "signal"}`.
    pub exit: Option<Value>,
}

/// Output of a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TerminalOutput {
    /// More of it.
    Delta(String),
    /// All of it.
    Whole(String),
}

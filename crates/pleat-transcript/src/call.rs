//! Tool calls: what they are, where they stand, what was asked of a person about them.

use crate::ids::{AgentCallId, CallId, PermissionId};
use crate::message::JsonObject;
use crate::session::{Millis, word_of};
use serde::Serialize;
use serde_json::Value;

/// One tool call of an agent (docs/spec/fold.md, "CALL").
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Ours; unique in the session.
    pub id: CallId,
    /// What the agent called it; may repeat.
    pub agent_id: Option<AgentCallId>,
    /// The agent's tool name.
    pub name: Option<String>,
    /// The MCP server's name; `None` for the agent's own tools.
    pub server: Option<String>,
    /// ACP's kind as it came; read it through [`Call::kind`].
    pub kind_word: Option<String>,
    /// The agent's words for a person.
    pub title: Option<String>,
    /// Explicit, never inferred from prose.
    pub state: CallState,
    /// The request.
    pub input: Option<Value>,
    /// The result: ACP content blocks (`content`, `diff`) and `{"type":"terminal","output","exit"}`.
    pub output: Vec<Value>,
    /// ACP's `locations`.
    pub locations: Vec<Value>,
    /// The call that this one is part of: a sub-agent's.
    pub parent: Option<CallId>,
    /// The first mention.
    pub started_at: Option<Millis>,
    /// The first end state.
    pub ended_at: Option<Millis>,
    /// Milliseconds spent in `awaiting_permission`.
    pub waited_ms: Option<i64>,
    /// What the person wrote when denying.
    pub feedback: Option<String>,
    /// Lines that its diffs add and remove; computed once, when it ends.
    pub lines: Option<Lines>,
    /// The newest question that was asked about it.
    pub permission: Option<Permission>,
    /// The agent announced it (`tool_call`); updates and requests alone did not (docs/spec/record.md, Calls 2).
    pub announced: bool,
    /// Its end is ours, not the agent's, so a late end may still replace it (docs/spec/record.md, Calls 5).
    pub closed_by_host: bool,
    /// Keys that are not ours, kept for the export.
    pub extra: JsonObject,
}

impl Call {
    /// A call of which nothing is known but that it exists.
    pub fn new(id: CallId) -> Self {
        Self {
            id,
            agent_id: None,
            name: None,
            server: None,
            kind_word: None,
            title: None,
            state: CallState::Pending,
            input: None,
            output: Vec::new(),
            locations: Vec::new(),
            parent: None,
            started_at: None,
            ended_at: None,
            waited_ms: None,
            feedback: None,
            lines: None,
            permission: None,
            announced: false,
            closed_by_host: false,
            extra: JsonObject::new(),
        }
    }

    /// Its kind; absent and unknown words are [`ToolKind::Other`].
    pub fn kind(&self) -> ToolKind {
        self.kind_word.as_deref().map_or(ToolKind::Other, ToolKind::of_word)
    }
}

/// Where a call stands (docs/spec/fold.md, "state").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CallState {
    /// Announced, not started.
    Pending,
    /// A person must answer.
    AwaitingPermission,
    /// At work.
    Running,
    /// Ended well.
    Completed,
    /// Ended in an error.
    Failed,
    /// A person refused it.
    Denied,
    /// Stopped by a person, or never run because of Stop.
    Cancelled,
    /// Never run because guidance came first.
    Superseded,
    /// Host or agent died: outcome unknown.
    Interrupted,
}

impl CallState {
    /// All, with the word of the document for each.
    pub const WORDS: [(Self, &'static str); 9] = [
        (Self::Pending, "pending"),
        (Self::AwaitingPermission, "awaiting_permission"),
        (Self::Running, "running"),
        (Self::Completed, "completed"),
        (Self::Failed, "failed"),
        (Self::Denied, "denied"),
        (Self::Cancelled, "cancelled"),
        (Self::Superseded, "superseded"),
        (Self::Interrupted, "interrupted"),
    ];

    /// The document's word.
    pub fn word(self) -> &'static str {
        word_of(&Self::WORDS, &self)
    }

    /// Not ended: pending, waiting for a person, or running.
    pub fn is_unresolved(self) -> bool {
        match self {
            Self::Pending | Self::AwaitingPermission | Self::Running => true,
            Self::Completed | Self::Failed | Self::Denied | Self::Cancelled | Self::Superseded | Self::Interrupted => {
                false
            }
        }
    }
}

/// ACP's `kind` of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    /// Reading files or data.
    Read,
    /// Changing files.
    Edit,
    /// Deleting files.
    Delete,
    /// Moving files.
    Move,
    /// Searching.
    Search,
    /// Running commands.
    Execute,
    /// Reasoning and planning.
    Think,
    /// Fetching from outside.
    Fetch,
    /// Switching the session's mode.
    SwitchMode,
    /// Everything else, and words we do not know.
    Other,
}

impl ToolKind {
    /// All, with ACP's word for each.
    pub const WORDS: [(Self, &'static str); 10] = [
        (Self::Read, "read"),
        (Self::Edit, "edit"),
        (Self::Delete, "delete"),
        (Self::Move, "move"),
        (Self::Search, "search"),
        (Self::Execute, "execute"),
        (Self::Think, "think"),
        (Self::Fetch, "fetch"),
        (Self::SwitchMode, "switch_mode"),
        (Self::Other, "other"),
    ];

    /// ACP's word.
    pub fn word(self) -> &'static str {
        word_of(&Self::WORDS, &self)
    }

    /// The kind that `word` names; an unknown one is `Other`.
    pub fn of_word(word: &str) -> Self {
        crate::session::of_word(&Self::WORDS, word).unwrap_or(Self::Other)
    }
}

/// Lines that a call's diffs add and remove (docs/spec/fold.md, section 5, `lines`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Lines {
    /// Lines of the new text that are not in the longest common subsequence.
    pub added: u64,
    /// Lines of the old text that are not in it.
    pub removed: u64,
}

/// A question to a person about a call (ACP `session/request_permission`).
#[derive(Debug, Clone, PartialEq)]
pub struct Permission {
    /// Ours, so that an answer goes to the request it was shown for. Absent in imported histories that have none.
    pub request: Option<PermissionId>,
    /// ACP's options in the agent's order and words.
    pub options: Vec<Value>,
    /// The id of the option that was chosen.
    pub chosen: Option<String>,
    /// Who chose.
    pub by: Option<String>,
    /// When it was answered.
    pub at: Option<Millis>,
    /// Where it stands.
    pub state: Option<PermissionState>,
    /// Keys that are not ours, kept for the export.
    pub extra: JsonObject,
}

/// Where a permission request stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermissionState {
    /// Waits for a person.
    Open,
    /// Answered, once.
    Answered,
    /// Made moot by stop, end, exit or restart.
    Expired,
}

impl PermissionState {
    /// All, with the word of the document for each.
    pub const WORDS: [(Self, &'static str); 3] =
        [(Self::Open, "open"), (Self::Answered, "answered"), (Self::Expired, "expired")];

    /// The document's word.
    pub fn word(self) -> &'static str {
        word_of(&Self::WORDS, &self)
    }
}

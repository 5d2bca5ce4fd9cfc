//! Display rows: what the fold makes and every face draws (docs/spec/fold.md, "Output").
//!
//! Serialising a [`RowsDocument`] gives the rows document of the specification, key for key.

use crate::call::{CallState, Lines, ToolKind};
use crate::ids::{CallId, MessageId, TurnId};
use serde::Serialize;
use std::collections::BTreeMap;

/// The rows of one window.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RowsDocument {
    /// In order.
    pub rows: Vec<Row>,
    /// Which part of the session they show.
    pub window: WindowBounds,
}

/// Which part of a session a window shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WindowBounds {
    /// Its first top-level message; `None` in an empty session.
    pub first: Option<MessageId>,
    /// Its last top-level message.
    pub last: Option<MessageId>,
    /// Messages lie before it.
    pub earlier: bool,
    /// Messages lie after it.
    pub later: bool,
    /// How many top-level messages lie before it.
    pub before: usize,
    /// How many lie after it.
    pub after: usize,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Row {
    /// A user message, a reply, or a result without its call.
    Message(MessageRow),
    /// A run of tool rounds.
    Activity(Box<ActivityRow>),
    /// A plan.
    Plan(PlanRow),
    /// A notice of the host.
    Notice(NoticeRow),
}

impl Row {
    /// Its id, unique among the rows of a document.
    pub fn id(&self) -> &MessageId {
        match self {
            Self::Message(row) => &row.id,
            Self::Activity(row) => &row.id,
            Self::Plan(row) => &row.id,
            Self::Notice(row) => &row.id,
        }
    }
}

/// A user message, a reply, or a result without its call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MessageRow {
    /// The message's id.
    pub id: MessageId,
    /// The message that is shown.
    pub message: MessageId,
    /// Its role.
    pub role: MessageRole,
    /// Guidance sent while a turn ran; only of user rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lead: Option<bool>,
}

/// The roles that make message rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageRole {
    /// `user`
    User,
    /// `assistant`
    Assistant,
    /// `tool`
    Tool,
}

/// A run of tool rounds, folded into one row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ActivityRow {
    /// Its first message in the window.
    pub id: MessageId,
    /// The first message of the whole run in the session: the key of the row.
    pub run: MessageId,
    /// The turn.
    pub turn: Option<TurnId>,
    /// Its messages in the window, in order.
    pub messages: Vec<MessageId>,
    /// On which sides the run goes on outside the window.
    pub continues: Continues,
    /// What the closed row says.
    pub summary: Summary,
    /// The errors of its messages.
    pub errors: Vec<RoundError>,
    /// One for each message.
    pub rounds: Vec<Round>,
}

/// On which sides a run goes on outside the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Continues {
    /// Before it.
    pub earlier: bool,
    /// After it.
    pub later: bool,
}

/// What a closed activity row says (docs/spec/fold.md, section 5).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// `Working · 3 actions` or `3 actions`.
    pub title: String,
    /// What was done, in one line of at most 120 characters (section 5.1).
    pub headline: String,
    /// Calls in the group.
    pub actions: usize,
    /// Ended well.
    pub completed: usize,
    /// Ended in an error.
    pub failed: usize,
    /// Refused.
    pub denied: usize,
    /// Cancelled or superseded.
    pub stopped: usize,
    /// Outcome unknown.
    pub interrupted: usize,
    /// Not ended.
    pub unresolved: usize,
    /// Unresolved in a turn that is over.
    pub missing: usize,
    /// `2 failed · 1 denied`; empty where there are none.
    pub issues: String,
    /// Whether the group is at work.
    pub live: bool,
    /// The first unresolved call; only while live.
    pub current: Option<CurrentCall>,
    /// The first line of the newest round's last text.
    pub narration: Option<String>,
    /// Calls by kind; zero ones left out.
    pub kinds: BTreeMap<ToolKind, usize>,
    /// Lines changed by completed calls.
    pub lines: Option<Lines>,
    /// From the first start to the last end, in milliseconds.
    pub elapsed_ms: Option<i64>,
}

/// The call that a live group is at.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CurrentCall {
    /// Its id.
    pub id: CallId,
    /// Its label, as in its round.
    pub label: String,
    /// Its state.
    pub state: CallState,
}

/// The error of a round.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RoundError {
    /// The message that holds it.
    pub message: MessageId,
    /// The error's text.
    pub text: String,
}

/// A round in an activity row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Round {
    /// Its message.
    pub message: MessageId,
    /// Its calls that are shown here.
    pub calls: Vec<CallRow>,
}

/// A call in a round.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CallRow {
    /// Its id.
    pub id: CallId,
    /// `Read file · src/a.rs`
    pub label: String,
    /// `Reading file · src/a.rs`
    pub progress_label: String,
    /// Its state.
    pub state: CallState,
    /// How faces offer its details, where that is special.
    pub detail: Option<Detail>,
    /// What a sub-agent did inside it.
    pub children: Option<Box<Children>>,
}

/// Special ways to show a call's details.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// A popover with the full request and result.
    Memory,
}

/// What stands directly inside a sub-agent's call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Children {
    /// In the form of a group's.
    #[serde(flatten)]
    pub summary: Summary,
    /// The errors of the messages inside.
    pub errors: Vec<RoundError>,
    /// The rounds inside.
    pub rounds: Vec<Round>,
}

/// A plan: one card however often it was sent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlanRow {
    /// The first message of its stream or list (its place and identity); of uncorrelated text, that of the shown one.
    pub id: MessageId,
    /// The message whose content is shown.
    pub message: MessageId,
    /// The call that produced it.
    pub stream: Option<CallId>,
    /// How far it is; `None` for text.
    pub progress: Option<Progress>,
}

/// How far a plan is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Progress {
    /// Entries completed.
    pub done: usize,
    /// All entries.
    pub total: usize,
    /// Entries in progress; 0 unless the turn is live.
    pub running: usize,
}

/// A notice of the host.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NoticeRow {
    /// The message's id.
    pub id: MessageId,
    /// The message that is shown.
    pub message: MessageId,
}

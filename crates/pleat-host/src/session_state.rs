//! What a face shows of a session beside its transcript: one value, behind the same signal as its revision.

use crate::agent_process::Login;
use pleat_acp::offers::SessionOffers;
use pleat_transcript::session::{Millis, Session, TurnState};

/// What the host knows of a session at work that is stored nowhere.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LiveState {
    /// How far its agent is.
    pub agent: AgentState,
    /// A person pressed Stop at this time, and the agent has not ended its turn.
    pub stopping_since: Option<Millis>,
    /// What the agent lets a person choose, and its commands.
    pub offers: SessionOffers,
}

/// How far a session's agent is.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum AgentState {
    /// No process runs; one is started when it is needed.
    #[default]
    NotStarted,
    /// It opens its session.
    Starting {
        /// Since when.
        since: Millis,
        /// What it printed last.
        says: Option<String>,
    },
    /// It takes prompts.
    Ready,
    /// It wants a login first.
    NeedsLogin(Login),
    /// It could not be started.
    Failed {
        /// Why, as a sentence for a person.
        reason: String,
    },
}

/// What a session is at (the words).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// Its agent starts.
    Starting,
    /// Nothing happens, and nothing waits.
    Idle,
    /// Prompts wait, and nothing runs.
    Queued,
    /// A turn runs.
    Running,
    /// A person is asked something, or must log in.
    NeedsYou,
    /// A person pressed Stop.
    Stopping,
    /// The agent cannot be used, or its last turn failed.
    Failed,
}

/// What is stored of a session that says what it is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StoredActivity {
    /// A turn runs.
    pub runs: bool,
    /// A permission request is open.
    pub asks: bool,
    /// A prompt waits.
    pub waits: bool,
    /// How the newest turn ended.
    pub last_turn: Option<TurnState>,
}

impl StoredActivity {
    /// Of a session that was read; whether it asks is told by the caller.
    pub fn of(session: &Session, asks: bool) -> Self {
        Self {
            runs: session.live_turn.is_some(),
            asks,
            waits: !session.waiting.is_empty(),
            last_turn: session.turns.last().map(|turn| turn.state),
        }
    }
}

impl Activity {
    /// What a session is at.
    pub fn of(stored: StoredActivity, live: &LiveState) -> Self {
        if stored.runs {
            return match (live.stopping_since, stored.asks) {
                (Some(_), _) => Self::Stopping,
                (None, true) => Self::NeedsYou,
                (None, false) => Self::Running,
            };
        }
        match &live.agent {
            AgentState::NeedsLogin(_) => Self::NeedsYou,
            AgentState::Starting { .. } => Self::Starting,
            AgentState::Failed { .. } => Self::Failed,
            AgentState::NotStarted | AgentState::Ready if stored.waits => Self::Queued,
            AgentState::NotStarted | AgentState::Ready => match stored.last_turn {
                Some(TurnState::Failed) => Self::Failed,
                Some(
                    TurnState::Queued
                    | TurnState::Running
                    | TurnState::Completed
                    | TurnState::Cancelled
                    | TurnState::Interrupted,
                )
                | None => Self::Idle,
            },
        }
    }

    /// A word for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Idle => "idle",
            Self::Queued => "queued",
            Self::Running => "running",
            Self::NeedsYou => "needs you",
            Self::Stopping => "stopping",
            Self::Failed => "failed",
        }
    }
}

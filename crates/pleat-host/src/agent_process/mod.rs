//! One running agent: a task that owns its connection and its adapter, and serves the sessions that run on it.
//!
//! A session gives [`Order`]s and gets [`News`], each by a queue that nobody waits at: an agent that hangs, a slow store
//! and a slow person hold up nobody else. What the agent says goes to the session it is about, in the order of its
//! lines. Files and terminals are served here, beside that.

mod ending;
mod lines;
mod login;
mod opening;
mod requests;
mod task;

pub(crate) use ending::{Ending, it_wrote};
pub use login::{Login, LoginMethod};

use crate::agents::Agent;
use crate::process_marks::ProcessMarks;
use pleat_acp::client::ClientLimits;
use pleat_acp::connection::messages::{AgentInfo, ListedSession, PromptPart};
use pleat_acp::connection::{RequestId, RpcError, Weight};
use pleat_acp::process::SpawnError;
use pleat_acp::wire_log::WireLogs;
use pleat_transcript::event::{Event, PromptAnswer, PromptKey, RequestKey};
use pleat_transcript::ids::{AgentSessionId, SessionId};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use task::Task;
use tokio::sync::{mpsc, oneshot};

/// What an agent process needs of the house.
#[derive(Clone)]
pub(crate) struct Surroundings {
    pub(crate) marks: ProcessMarks,
    pub(crate) wire_logs: Option<WireLogs>,
    pub(crate) limits: ClientLimits,
    pub(crate) hidden: Vec<String>,
}

/// A handle to a running agent. With the last one the process ends.
#[derive(Clone)]
pub(crate) struct AgentProcess {
    orders: mpsc::UnboundedSender<Order>,
}

/// A handle that keeps nothing running.
#[derive(Clone)]
pub(crate) struct WeakAgentProcess {
    orders: mpsc::WeakUnboundedSender<Order>,
}

/// A session that is to run on the process.
pub(crate) struct Tenant {
    pub(crate) session: SessionId,
    pub(crate) root: PathBuf,
    /// Further directories that the person added.
    pub(crate) directories: Vec<PathBuf>,
    pub(crate) news: mpsc::UnboundedSender<News>,
}

/// What a session asks of its agent's process.
pub(crate) enum Order {
    /// Opens a session of the agent's for ours.
    Open(Tenant),
    /// Logs in by a method of the agent's, then opens the sessions that wait for it.
    LogIn {
        session: SessionId,
        method: String,
    },
    Prompt {
        session: SessionId,
        prompt: PromptKey,
        parts: Vec<PromptPart>,
    },
    Cancel {
        session: SessionId,
    },
    /// Answers a permission request; `None`: nobody will.
    AnswerPermission {
        id: RequestId,
        option: Option<String>,
    },
    Set {
        session: SessionId,
        setting: Setting,
    },
    /// The session leaves; the last one to leave ends the process. `done` is told when nothing of the session runs.
    Leave {
        session: SessionId,
        done: oneshot::Sender<()>,
    },
    /// Ends a process on which no session runs. `done` is told when it has.
    End {
        done: oneshot::Sender<()>,
    },
    /// Asks which sessions the agent knows.
    List {
        root: Option<PathBuf>,
        reply: oneshot::Sender<Result<Vec<ListedSession>, String>>,
    },
}

/// Something that a person chooses for a session.
#[derive(Debug, Clone, PartialEq)]
pub enum Setting {
    /// ACP `session/set_mode`.
    Mode(String),
    /// The older `session/set_model`.
    Model(String),
    /// ACP `session/set_config_option`.
    Option {
        /// Its id.
        id: String,
        /// The value: a text for a choice, true or false for a switch.
        value: Value,
    },
}

/// What a session hears of its agent's process, in the order of the agent's lines.
pub(crate) enum News {
    /// What it prints while it starts.
    Starting {
        says: String,
    },
    /// The session is open.
    Open {
        agent_session: AgentSessionId,
        answer: Value,
        info: Arc<AgentInfo>,
    },
    /// It opens no session before somebody logs in.
    NeedsLogin(Login),
    /// The process serves one session, and another one has it.
    Taken,
    /// It cannot be used, for this reason; the process is gone.
    Failed(String),
    /// What happened in the session. The weight is given back when it has been worked off.
    Happened {
        events: Vec<Event>,
        weight: Arc<Weight>,
    },
    /// An update about modes, options or commands.
    Offered {
        update: Value,
        weight: Arc<Weight>,
    },
    /// A person is asked: what the request says, and how it is answered.
    Asked {
        events: Vec<Event>,
        request: RequestKey,
        id: RequestId,
        weight: Weight,
    },
    /// A prompt is answered; with what a person can do where only a login helps.
    Answered {
        prompt: PromptKey,
        answer: PromptAnswer,
        login: Option<Login>,
    },
    Set {
        setting: Setting,
        result: Result<Value, RpcError>,
    },
    /// A line was too long to be read.
    SkippedLine {
        bytes: u64,
    },
    /// The process has ended by itself.
    Ended(Ending),
}

impl AgentProcess {
    /// Starts an agent in a directory. It is asked who it is at once.
    pub(crate) fn start(agent: &Agent, root: &Path, surroundings: &Surroundings) -> Result<Self, SpawnError> {
        let (orders, received) = mpsc::unbounded_channel();
        let task = Task::spawn(agent, root, surroundings)?;
        tokio::spawn(task.run(received));
        Ok(Self { orders })
    }

    /// Gives an order. To a process that has ended, which its sessions are told of anyway, it means nothing.
    pub(crate) fn order(&self, order: Order) {
        if let Err(mpsc::error::SendError(Order::Open(tenant))) = self.orders.send(order) {
            // It is closing: who wants a place gets another one.
            let _ = tenant.news.send(News::Taken);
        }
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.orders.is_closed()
    }

    pub(crate) fn downgrade(&self) -> WeakAgentProcess {
        WeakAgentProcess { orders: self.orders.downgrade() }
    }

    pub(crate) fn is(&self, other: &WeakAgentProcess) -> bool {
        other.orders.upgrade().is_some_and(|orders| orders.same_channel(&self.orders))
    }
}

impl WeakAgentProcess {
    /// The process, if it still runs.
    pub(crate) fn upgrade(&self) -> Option<AgentProcess> {
        let process = AgentProcess { orders: self.orders.upgrade()? };
        (!process.has_ended()).then_some(process)
    }
}

//! The task itself: its state, and the orders of its sessions.

use super::ending::Noise;
use super::{News, Order, Setting, Surroundings, Tenant};
use crate::agents::Agent;
use crate::process_marks::ProcessMarks;
use pleat_acp::adapter::Adapter;
use pleat_acp::client::{ClientLimits, ClientSession, TerminalNews};
use pleat_acp::connection::messages::{self, AgentInfo, ListedSession};
use pleat_acp::connection::{
    Connection, ConnectionOptions, IncomingLines, RequestId, RpcError, Token, Weight, WireTap,
};
use pleat_acp::process::{AgentCommand, ExitLadder, SpawnError};
use pleat_acp::wire_log::{ProcessLog, WireLogs};
use pleat_store::ProcessMark;
use pleat_transcript::event::PromptKey;
use pleat_transcript::ids::{AgentSessionId, SessionId};
use serde_json::Value;
use std::collections::{HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Interval, MissedTickBehavior, interval};

/// How many lines of the agent are taken in one go.
const LINES_AT_ONCE: usize = 512;

/// How often sessions that wait for a start are told what the agent prints.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// One agent process and what is known of it.
pub(super) struct Task {
    pub(super) agent: Agent,
    pub(super) connection: Arc<Connection>,
    incoming: IncomingLines,
    pub(super) adapter: Adapter,
    pub(super) stage: Stage,
    pub(super) asked: HashMap<Token, Asked>,
    pub(super) sessions: HashMap<SessionId, Served>,
    pub(super) by_agent_session: HashMap<AgentSessionId, SessionId>,
    /// Sessions that the agent is to open, and the one that it was asked for: one at a time, so that what it says of a
    /// session whose id we do not know yet is about that one.
    pub(super) to_open: VecDeque<SessionId>,
    pub(super) opening: Option<SessionId>,
    /// What it said meanwhile of sessions that nobody knows.
    pub(super) early: Vec<(Value, Weight)>,
    /// All ids of sessions that it has ever told.
    pub(super) known: HashSet<AgentSessionId>,
    tenancies: u64,
    /// Requests to list sessions that wait until it has said who it is.
    pub(super) to_list: Vec<(Option<PathBuf>, Listing)>,
    pub(super) noise: Noise,
    /// How much it had written to stderr when it got the last prompt: what came before says nothing about that.
    pub(super) stderr_before_prompt: u64,
    /// What it was seen to print last, for those who wait for its start.
    pub(super) progress: String,
    pub(super) limits: ClientLimits,
    /// Variables of the environment that nothing of it inherits.
    pub(super) hidden: Vec<String>,
    pub(super) terminal_news: mpsc::UnboundedSender<TerminalNews>,
    heard_of_terminals: mpsc::UnboundedReceiver<TerminalNews>,
    /// Its requests that are being served.
    pub(super) serving: JoinSet<(RequestId, Result<Value, RpcError>)>,
    pub(super) marks: ProcessMarks,
    mark: Option<ProcessMark>,
    pub(super) terminal_marks: HashMap<String, ProcessMark>,
    pub(super) log: Option<ProcessLog>,
    /// Who waits for the end of the process.
    leaving: Vec<oneshot::Sender<()>>,
}

/// Told which sessions the agent knows.
pub(super) type Listing = oneshot::Sender<Result<Vec<ListedSession>, String>>;

/// How far the process is.
pub(super) enum Stage {
    /// It has not said who it is.
    Greeted,
    /// It logs in by the method that the configuration names.
    LoggingIn(Arc<AgentInfo>),
    /// It opens sessions.
    Ready(Arc<AgentInfo>),
    /// It is over: nothing is listened to any more.
    Over,
}

/// A session that runs on the process.
pub(super) struct Served {
    pub(super) root: PathBuf,
    pub(super) directories: Vec<PathBuf>,
    pub(super) news: mpsc::UnboundedSender<News>,
    pub(super) client: Option<ClientSession>,
    /// A session that leaves and comes again is another tenant.
    pub(super) tenancy: u64,
    /// What the agent calls it, once it is open.
    pub(super) agent_session: Option<AgentSessionId>,
}

/// A request of ours.
pub(super) enum Asked {
    Initialize,
    LogIn { session: Option<SessionId> },
    NewSession { session: SessionId, tenancy: u64 },
    Prompt { session: SessionId, prompt: PromptKey },
    Set { session: SessionId, setting: Setting },
    Close,
    List { root: Option<PathBuf>, so_far: Vec<ListedSession>, reply: Listing },
}

impl Asked {
    /// Whether the answer is for this session, and for nobody where it has left.
    fn is_told_to(&self, id: &SessionId) -> bool {
        match self {
            Self::Prompt { session, .. } | Self::Set { session, .. } | Self::LogIn { session: Some(session) } => {
                session == id
            }
            // A session that is opened for nobody is closed again.
            Self::NewSession { .. }
            | Self::LogIn { session: None }
            | Self::Initialize
            | Self::Close
            | Self::List { .. } => false,
        }
    }
}

impl Task {
    /// Starts the program and greets it.
    pub(super) fn spawn(agent: &Agent, root: &Path, surroundings: &Surroundings) -> Result<Self, SpawnError> {
        let mut command = AgentCommand::new(&agent.command, root);
        command.args.clone_from(&agent.args);
        command.env = agent.env.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        command.hidden.clone_from(&surroundings.hidden);
        let log = surroundings.wire_logs.as_ref().map(WireLogs::process);
        let tap = log.clone().map(|log| Arc::new(log) as Arc<dyn WireTap>);
        let (connection, incoming) = Connection::spawn_with(&command, ConnectionOptions { tap, ..Default::default() })?;
        let mark =
            connection.pid().zip(connection.process_start()).and_then(|(pid, start)| ProcessMark::started(pid, start));
        if let Some(mark) = &mark {
            surroundings.marks.started(mark.clone());
        }
        let identity = messages::ClientIdentity {
            name: "pleat".to_owned(),
            title: "Pleat".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let offers = messages::ClientOffers { files: true, terminal: true, terminal_output: true };
        let token = connection.request(messages::method::INITIALIZE, messages::initialize(&identity, offers));
        let (terminal_news, heard_of_terminals) = mpsc::unbounded_channel();
        Ok(Self {
            agent: agent.clone(),
            connection: Arc::new(connection),
            incoming,
            adapter: Adapter::new(),
            stage: Stage::Greeted,
            asked: HashMap::from([(token, Asked::Initialize)]),
            sessions: HashMap::new(),
            by_agent_session: HashMap::new(),
            to_open: VecDeque::new(),
            opening: None,
            early: Vec::new(),
            known: HashSet::new(),
            tenancies: 0,
            to_list: Vec::new(),
            noise: Noise::default(),
            stderr_before_prompt: 0,
            progress: String::new(),
            limits: surroundings.limits.clone(),
            hidden: surroundings.hidden.clone(),
            terminal_news,
            heard_of_terminals,
            serving: JoinSet::new(),
            marks: surroundings.marks.clone(),
            mark,
            terminal_marks: HashMap::new(),
            log,
            leaving: Vec::new(),
        })
    }

    /// Works until the process is over, or no session holds it any more.
    pub(super) async fn run(mut self, mut orders: mpsc::UnboundedReceiver<Order>) {
        let mut lines = Vec::new();
        let mut progress: Interval = interval(PROGRESS_INTERVAL);
        progress.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while !matches!(self.stage, Stage::Over) {
            tokio::select! {
                order = orders.recv() => match order {
                    Some(order) => self.order(order),
                    None => self.stage = Stage::Over,
                },
                taken = self.incoming.recv_many(&mut lines, LINES_AT_ONCE) => {
                    if taken == 0 {
                        self.stage = Stage::Over;
                    }
                    for line in lines.drain(..) {
                        self.incoming(line);
                    }
                }
                Some(news) = self.heard_of_terminals.recv() => self.terminal(news),
                Some(served) = self.serving.join_next() => self.served(served),
                _ = progress.tick(), if self.is_awaited() => self.tell_progress(),
            }
        }
        orders.close();
        while let Ok(order) = orders.try_recv() {
            self.refuse(order);
        }
        self.end().await;
    }

    /// An order that came when it was over: who wants a place gets another one.
    fn refuse(&mut self, order: Order) {
        match order {
            Order::Open(tenant) => drop(tenant.news.send(News::Taken)),
            Order::Leave { done, .. } | Order::End { done } => self.leaving.push(done),
            Order::LogIn { .. }
            | Order::Prompt { .. }
            | Order::Cancel { .. }
            | Order::AnswerPermission { .. }
            | Order::Set { .. }
            | Order::List { .. } => {}
        }
    }

    /// Ends what is left of the process and of what it had us run, and hears it out meanwhile.
    async fn end(mut self) {
        self.serving.abort_all();
        let clients: Vec<_> = self.sessions.values().filter_map(|served| served.client.clone()).collect();
        let connection = self.connection.clone();
        let mut ending = tokio::spawn(async move {
            let mut ends: JoinSet<()> = clients.into_iter().map(|client| async move { client.end().await }).collect();
            connection.shut_down(ExitLadder::default()).await;
            while ends.join_next().await.is_some() {}
        });
        let mut lines = Vec::new();
        let mut is_over = false;
        loop {
            tokio::select! {
                _ = &mut ending => break,
                taken = self.incoming.recv_many(&mut lines, LINES_AT_ONCE), if !is_over => {
                    is_over = taken == 0;
                    for line in lines.drain(..) {
                        self.late(line);
                    }
                }
                Some(news) = self.heard_of_terminals.recv() => self.terminal(news),
            }
        }
        while let Ok(news) = self.heard_of_terminals.try_recv() {
            self.terminal(news);
        }
        if let Some(mark) = self.mark.take() {
            self.marks.ended(mark);
        }
        for done in self.leaving.drain(..) {
            // Nobody has to wait for it.
            let _ = done.send(());
        }
    }

    fn order(&mut self, order: Order) {
        match order {
            Order::Open(tenant) => self.open(tenant),
            Order::LogIn { session, method } => self.log_in(Some(session), &method),
            Order::Prompt { session, prompt, parts } => self.prompt(session, prompt, parts),
            Order::Cancel { session } => {
                if let Some(id) = self.agent_session(&session) {
                    self.connection.notify(messages::method::SESSION_CANCEL, messages::cancel(&id.0));
                }
            }
            Order::AnswerPermission { id, option } => {
                let answer =
                    option.map_or_else(messages::permission_cancelled, |id| messages::permission_selected(&id));
                self.connection.respond(&id, Ok(answer));
            }
            Order::Set { session, setting } => self.set(session, setting),
            Order::Leave { session, done } => self.leave(&session, done),
            Order::End { done } => {
                self.leaving.push(done);
                self.stage = Stage::Over;
            }
            Order::List { root, reply } => self.list(root, reply),
        }
    }

    fn open(&mut self, tenant: Tenant) {
        let Tenant { session, root, directories, news } = tenant;
        if !self.takes_another() {
            let _ = news.send(News::Taken);
            return;
        }
        if let Some(log) = &self.log {
            log.add_session(&session);
        }
        self.tenancies += 1;
        let tenancy = self.tenancies;
        let served = Served { root, directories, news, client: None, tenancy, agent_session: None };
        self.sessions.insert(session.clone(), served);
        self.to_open.push_back(session);
        self.open_next();
    }

    /// One process serves several sessions where the configuration says so and the agent says that it can: sessions that
    /// can be closed have lives of their own. Before it has said so, a second one waits elsewhere.
    fn takes_another(&self) -> bool {
        let can = match &self.stage {
            Stage::Greeted | Stage::Over => false,
            Stage::LoggingIn(info) | Stage::Ready(info) => info.closes_sessions,
        };
        self.sessions.is_empty() || (self.agent.shared && can)
    }

    fn prompt(&mut self, session: SessionId, prompt: PromptKey, parts: Vec<messages::PromptPart>) {
        let Some(id) = self.agent_session(&session) else { return };
        self.stderr_before_prompt = self.connection.stderr_tail().written_bytes();
        self.noise.forget();
        let token = self.connection.request(messages::method::SESSION_PROMPT, messages::prompt(&id.0, parts));
        self.asked.insert(token, Asked::Prompt { session, prompt });
    }

    fn set(&mut self, session: SessionId, setting: Setting) {
        let Some(id) = self.agent_session(&session) else { return };
        let token = match &setting {
            Setting::Mode(mode) => {
                self.connection.request(messages::method::SESSION_SET_MODE, messages::set_mode(&id.0, mode))
            }
            Setting::Model(model) => {
                self.connection.request(messages::method::SESSION_SET_MODEL, messages::set_model(&id.0, model))
            }
            Setting::Option { id: option, value } => self.connection.request(
                messages::method::SESSION_SET_CONFIG_OPTION,
                messages::set_config_option(&id.0, option, value),
            ),
        };
        self.asked.insert(token, Asked::Set { session, setting });
    }

    fn leave(&mut self, session: &SessionId, done: oneshot::Sender<()>) {
        self.to_open.retain(|waiting| waiting != session);
        if self.sessions.len() == 1 && self.sessions.contains_key(session) {
            // The last one: its terminals and the process end together, and are heard out.
            self.leaving.push(done);
            self.stage = Stage::Over;
            return;
        }
        let Some(served) = self.sessions.remove(session) else {
            let _ = done.send(());
            return;
        };
        // The session may come again: what it asked before is not answered to the one that comes.
        self.asked.retain(|_, asked| !asked.is_told_to(session));
        if let Some(id) = &served.agent_session {
            self.by_agent_session.remove(id);
            let token = self.connection.request(messages::method::SESSION_CLOSE, messages::close_session(&id.0));
            self.asked.insert(token, Asked::Close);
        }
        if let Some(log) = &self.log {
            log.remove_session(session);
        }
        // The other sessions do not wait for its terminals.
        tokio::spawn(async move {
            if let Some(client) = served.client {
                client.end().await;
            }
            let _ = done.send(());
        });
    }

    pub(super) fn agent_session(&self, session: &SessionId) -> Option<AgentSessionId> {
        self.sessions.get(session)?.agent_session.clone()
    }

    /// Tells a session something. One that does not listen any more is leaving.
    pub(super) fn tell(&self, session: &SessionId, news: News) {
        if let Some(served) = self.sessions.get(session) {
            let _ = served.news.send(news);
        }
    }

    /// Whether a session waits for the start.
    fn is_awaited(&self) -> bool {
        self.sessions.values().any(|served| served.agent_session.is_none())
    }

    fn tell_progress(&mut self) {
        let said = self.last_words();
        let Some(line) = said.lines().last().filter(|line| *line != self.progress) else { return };
        line.clone_into(&mut self.progress);
        for served in self.sessions.values().filter(|served| served.agent_session.is_none()) {
            let _ = served.news.send(News::Starting { says: self.progress.clone() });
        }
    }

    /// The last lines that it printed and that are no messages: those since the last prompt.
    pub(super) fn last_words(&self) -> String {
        self.noise.last_words(&self.connection.stderr_tail().text_since(self.stderr_before_prompt))
    }
}

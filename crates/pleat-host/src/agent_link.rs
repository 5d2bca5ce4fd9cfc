//! One running agent process and how far it is: started, asked to open its session, ready for prompts.

use pleat_acp::adapter::Adapter;
use pleat_acp::connection::{Connection, Incoming, RequestId, RpcError, Token, messages};
use pleat_acp::process::{AgentCommand, SpawnError};
use pleat_transcript::event::{PromptKey, RequestKey};
use pleat_transcript::ids::AgentSessionId;
use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::agents::Agent;

/// The version of ACP that we speak.
const PROTOCOL_VERSION: u64 = 1;

/// How many lines that are no messages are remembered while the agent opens.
const KEPT_NOISE: usize = 5;

/// How much of what an agent printed is shown: lines, and characters of each.
const MAX_LAST_LINES: usize = 5;
const MAX_LAST_LINE: usize = 400;

/// A running agent.
pub(crate) struct AgentLink {
    pub(crate) connection: Connection,
    pub(crate) incoming: mpsc::UnboundedReceiver<Incoming>,
    pub(crate) adapter: Adapter,
    stage: Stage,
    asked: HashMap<Token, Asked>,
    /// The agent's permission requests that wait for an answer.
    permissions: HashMap<RequestKey, RequestId>,
    /// What it said of a session whose id we did not know yet.
    early: Vec<Value>,
    /// What it printed beside messages before its session was open: often why it cannot be used.
    noise: VecDeque<String>,
    /// How much it had written to stderr when it got the last prompt: what came before says nothing about that.
    stderr_before_prompt: u64,
    cwd: PathBuf,
    auth_methods: Vec<String>,
}

enum Stage {
    /// It has not opened its session. The prompt waits for that.
    Opening { since: Instant, waiting: Option<(PromptKey, String)> },
    /// It takes prompts.
    Ready(AgentSessionId),
}

/// A request of ours.
enum Asked {
    Initialize,
    NewSession,
    Prompt(PromptKey),
}

/// What an answer to one of our requests means.
pub(crate) enum Answered {
    /// Nothing for the transcript yet.
    Nothing,
    /// The session is open: what was said of it before can be taken now.
    Opened(AgentSessionId, Vec<Value>),
    /// A prompt is answered.
    Prompt(PromptKey, Result<Value, RpcError>),
    /// It cannot be used, for this reason.
    Failed(String),
}

impl AgentLink {
    /// Starts the agent and asks it who it is.
    pub(crate) fn start(agent: &Agent, cwd: PathBuf) -> Result<Self, SpawnError> {
        let mut command = AgentCommand::new(&agent.command, cwd.clone());
        command.args.clone_from(&agent.args);
        command.env = agent.env.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        let (connection, incoming) = Connection::spawn(&command)?;
        let identity = messages::ClientIdentity {
            name: "pleat".to_owned(),
            title: "Pleat".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        // Honest: files and terminals are offered when they are served.
        let offers = messages::ClientOffers { terminal_output: true, ..messages::ClientOffers::default() };
        let token = connection.request(messages::method::INITIALIZE, messages::initialize(&identity, offers));
        Ok(Self {
            connection,
            incoming,
            adapter: Adapter::new(),
            stage: Stage::Opening { since: Instant::now(), waiting: None },
            asked: HashMap::from([(token, Asked::Initialize)]),
            permissions: HashMap::new(),
            early: Vec::new(),
            noise: VecDeque::new(),
            stderr_before_prompt: 0,
            cwd,
            auth_methods: Vec::new(),
        })
    }

    /// Sends a prompt now, or as soon as the session is open.
    pub(crate) fn prompt(&mut self, prompt: PromptKey, text: String) {
        match &mut self.stage {
            Stage::Opening { waiting, .. } => *waiting = Some((prompt, text)),
            Stage::Ready(session) => {
                let parts = vec![messages::PromptPart::Text(text)];
                let params = messages::prompt(&session.0, parts);
                self.stderr_before_prompt = self.connection.stderr_tail().written_bytes();
                let token = self.connection.request(messages::method::SESSION_PROMPT, params);
                self.asked.insert(token, Asked::Prompt(prompt));
            }
        }
    }

    /// Tells the agent to stop. A prompt that it has not got yet it will not get any more.
    pub(crate) fn cancel(&mut self) {
        match &mut self.stage {
            Stage::Opening { waiting, .. } => *waiting = None,
            Stage::Ready(session) => {
                self.connection.notify(messages::method::SESSION_CANCEL, messages::cancel(&session.0));
            }
        }
    }

    /// Whether this is what the agent calls our session, as far as it is known.
    pub(crate) fn is_ours(&self, session: &AgentSessionId) -> bool {
        matches!(&self.stage, Stage::Ready(ours) if ours == session)
    }

    pub(crate) fn is_open(&self) -> bool {
        matches!(self.stage, Stage::Ready(_))
    }

    /// When it was started, as long as it has not opened its session.
    pub(crate) fn opening_since(&self) -> Option<Instant> {
        match self.stage {
            Stage::Opening { since, .. } => Some(since),
            Stage::Ready(_) => None,
        }
    }

    /// Keeps a line that is no message, as long as the session is not open.
    pub(crate) fn keep_noise(&mut self, line: String) {
        if !self.is_open() {
            self.noise.push_back(line);
            if self.noise.len() > KEPT_NOISE {
                self.noise.pop_front();
            }
        }
    }

    /// The last lines that it printed and that are no messages: while it opens all of them, then those since the
    /// last prompt. Empty where there are none.
    pub(crate) fn last_words(&self) -> String {
        let stderr = self.connection.stderr_tail().text_since(self.stderr_before_prompt);
        let noise = self.noise.iter().filter(|_| !self.is_open()).map(String::as_str);
        let lines: Vec<String> = noise
            .chain(stderr.lines())
            .map(str::trim_end)
            .filter(|line| !line.is_empty())
            .map(|line| line.chars().take(MAX_LAST_LINE).collect())
            .collect();
        lines[lines.len().saturating_sub(MAX_LAST_LINES)..].join("\n")
    }

    /// Keeps an update that came before the session was open.
    pub(crate) fn keep_early(&mut self, params: Value) {
        self.early.push(params);
    }

    pub(crate) fn permission_asked(&mut self, request: RequestKey, id: RequestId) {
        self.permissions.insert(request, id);
    }

    /// Answers a permission request with an option. One that was answered is left alone.
    pub(crate) fn answer_permission(&mut self, request: &RequestKey, option: &str) {
        if let Some(id) = self.permissions.remove(request) {
            self.connection.respond(&id, Ok(messages::permission_selected(option)));
        }
    }

    /// Whether a permission request waits for an answer.
    pub(crate) fn asks_permission(&self) -> bool {
        !self.permissions.is_empty()
    }

    /// Answers all permission requests but these with `cancelled`.
    pub(crate) fn cancel_permissions_but(&mut self, open: &[RequestKey]) {
        for (_, id) in self.permissions.extract_if(|request, _| !open.contains(request)) {
            self.connection.respond(&id, Ok(messages::permission_cancelled()));
        }
    }

    /// What the answer to a request of ours means.
    pub(crate) fn answered(&mut self, to: Token, result: Result<Value, RpcError>) -> Answered {
        match self.asked.remove(&to) {
            Some(Asked::Initialize) => self.initialized(result),
            Some(Asked::NewSession) => self.opened(result),
            Some(Asked::Prompt(prompt)) => Answered::Prompt(prompt, result),
            None => Answered::Nothing,
        }
    }

    fn initialized(&mut self, result: Result<Value, RpcError>) -> Answered {
        let result = match result {
            Ok(result) => result,
            Err(error) => return Answered::Failed(format!("it refused to begin: {}", self.sentence(&error))),
        };
        match result.get("protocolVersion").and_then(Value::as_u64) {
            Some(PROTOCOL_VERSION) => {}
            Some(other) => {
                let text = format!(
                    "it speaks version {other} of the Agent Client Protocol, and Pleat speaks version {PROTOCOL_VERSION}; install a version of the agent that fits"
                );
                return Answered::Failed(text);
            }
            None => return Answered::Failed("its answer to `initialize` names no protocol version".to_owned()),
        }
        self.adapter.initialized(&result);
        let methods = messages::AgentInfo::read(&result).auth_methods;
        self.auth_methods = methods.into_iter().map(|method| method.name).collect();
        let token = self.connection.request(messages::method::SESSION_NEW, messages::new_session(&self.cwd));
        self.asked.insert(token, Asked::NewSession);
        Answered::Nothing
    }

    fn opened(&mut self, result: Result<Value, RpcError>) -> Answered {
        let session = match result {
            Ok(result) => messages::session_id(&result).map(|id| AgentSessionId(id.to_owned())),
            Err(error) => return Answered::Failed(self.refused_session(&error)),
        };
        let Some(session) = session else {
            return Answered::Failed("its answer to `session/new` names no session".to_owned());
        };
        let opening = std::mem::replace(&mut self.stage, Stage::Ready(session.clone()));
        if let Stage::Opening { waiting: Some((prompt, text)), .. } = opening {
            self.prompt(prompt, text);
        }
        Answered::Opened(session, std::mem::take(&mut self.early))
    }

    fn sentence(&self, error: &RpcError) -> String {
        self.adapter.error_text(&serde_json::json!(error))
    }

    fn refused_session(&self, error: &RpcError) -> String {
        format!("it opened no session: {}.{}", self.sentence(error).trim_end_matches('.'), self.login_advice())
    }

    /// What a person can do about a login that the agent wants.
    pub(crate) fn login_advice(&self) -> String {
        match self.auth_methods.as_slice() {
            [] => " Where it wants a login, log in with the agent's own program first.".to_owned(),
            methods => {
                format!(" It offers to log in by: {}. Log in with the agent's own program first.", methods.join(", "))
            }
        }
    }
}

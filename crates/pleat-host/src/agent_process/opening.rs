//! From the greeting to open sessions (ACP, "Initialization", "Authentication" and "Session Setup").

use super::task::{Asked, Listing, Stage, Task};
use super::{Login, News};
use pleat_acp::client::{ClientSession, Workspace};
use pleat_acp::connection::RpcError;
use pleat_acp::connection::messages::{self, AgentInfo};
use pleat_transcript::ids::{AgentSessionId, SessionId};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// The version of ACP that we speak.
const PROTOCOL_VERSION: u64 = 1;

/// ACP's code for an error that a login ends.
pub(super) const AUTHENTICATION_REQUIRED: i64 = -32000;

impl Task {
    pub(super) fn initialized(&mut self, result: Result<Value, RpcError>) {
        let result = match result {
            Ok(result) => result,
            Err(error) => return self.fail(&format!("it refused to begin: {}", self.sentence(&error))),
        };
        match result.get("protocolVersion").and_then(Value::as_u64) {
            Some(PROTOCOL_VERSION) => {}
            Some(other) => {
                return self.fail(&format!(
                    "it speaks version {other} of the Agent Client Protocol, and Pleat speaks version {PROTOCOL_VERSION}; install a version of the agent that fits"
                ));
            }
            None => return self.fail("its answer to `initialize` names no protocol version"),
        }
        self.adapter.initialized(&result);
        let info = Arc::new(AgentInfo::read(&result));
        match self.agent.login.clone() {
            Some(method) => {
                self.stage = Stage::LoggingIn(info);
                self.log_in(None, &method);
            }
            None => self.ready(info),
        }
    }

    fn ready(&mut self, info: Arc<AgentInfo>) {
        self.stage = Stage::Ready(info);
        self.open_next();
        for (root, reply) in std::mem::take(&mut self.to_list) {
            self.list(root, reply);
        }
    }

    /// Logs in, for a session that waits for it or because the configuration says so.
    pub(super) fn log_in(&mut self, session: Option<SessionId>, method: &str) {
        let token = self.connection.request(messages::method::AUTHENTICATE, messages::authenticate(method));
        self.asked.insert(token, Asked::LogIn { session });
    }

    pub(super) fn logged_in(&mut self, session: Option<SessionId>, result: Result<Value, RpcError>) {
        match (session, result) {
            // What the configuration names is done before anything else; without it the agent says itself what it wants.
            (None, _) => {
                if let Stage::LoggingIn(info) = &self.stage {
                    self.ready(info.clone());
                }
            }
            (Some(session), Ok(_)) => {
                self.to_open.push_back(session);
                self.open_next();
            }
            (Some(session), Err(error)) => {
                let login = self.login(self.sentence(&error));
                self.tell(&session, News::NeedsLogin(login));
            }
        }
    }

    /// What a person can do about a login that the agent wants.
    pub(super) fn login(&self, said: String) -> Login {
        let methods = self.info().map(|info| info.auth_methods.as_slice()).unwrap_or_default();
        Login::new(said, methods, &self.agent)
    }

    fn info(&self) -> Option<&Arc<AgentInfo>> {
        match &self.stage {
            Stage::LoggingIn(info) | Stage::Ready(info) => Some(info),
            Stage::Greeted | Stage::Over => None,
        }
    }

    /// Asks for the next session, if none is asked for and the agent is ready.
    pub(super) fn open_next(&mut self) {
        let Stage::Ready(info) = &self.stage else { return };
        let takes_directories = info.takes_directories;
        while self.opening.is_none() {
            let Some(session) = self.to_open.pop_front() else { return };
            let Some(served) = self.sessions.get_mut(&session) else { continue };
            match Workspace::open(&served.root, &served.directories) {
                Ok(workspace) => {
                    let client = ClientSession::new(
                        workspace,
                        self.limits.clone(),
                        self.hidden.clone(),
                        self.terminal_news.clone(),
                    );
                    served.client = Some(client);
                }
                Err(error) => {
                    let _ = served.news.send(News::Failed(format!("its files cannot be served: {error}")));
                    continue;
                }
            }
            let further = if takes_directories { served.directories.as_slice() } else { &[] };
            let params = messages::new_session(&served.root, further);
            let tenancy = served.tenancy;
            let token = self.connection.request(messages::method::SESSION_NEW, params);
            self.asked.insert(token, Asked::NewSession { session: session.clone(), tenancy });
            self.opening = Some(session);
        }
    }

    pub(super) fn opened(&mut self, session: &SessionId, tenancy: u64, result: Result<Value, RpcError>) {
        self.opening = None;
        let is_its_own = self.sessions.get(session).is_some_and(|served| served.tenancy == tenancy);
        match result {
            // Who asked has left meanwhile.
            Ok(answer) if !is_its_own => self.close_unwanted(&answer),
            Err(_) if !is_its_own => {}
            Ok(answer) => match messages::session_id(&answer).map(|id| AgentSessionId(id.to_owned())) {
                Some(id) => self.open_as(session, id, answer),
                None => self.fail_session(session, "its answer to `session/new` names no session"),
            },
            Err(error) if error.code == AUTHENTICATION_REQUIRED => {
                let login = self.login(self.sentence(&error));
                self.tell(session, News::NeedsLogin(login));
            }
            Err(error) => {
                let sentence = self.sentence(&error);
                let login = self.login(sentence.clone());
                let reason = format!("it opened no session: {}.{}", sentence.trim_end_matches('.'), login.advice());
                self.fail_session(session, &reason);
            }
        }
        // What was said of a session that did not open is about nobody.
        self.early.clear();
        self.open_next();
    }

    fn open_as(&mut self, session: &SessionId, id: AgentSessionId, answer: Value) {
        let Some(info) = self.info().cloned() else { return };
        let early = std::mem::take(&mut self.early);
        let Some(served) = self.sessions.get_mut(session) else { return };
        served.agent_session = Some(id.clone());
        self.known.insert(id.clone());
        self.by_agent_session.insert(id.clone(), session.clone());
        if let Some(log) = &self.log {
            log.name_session(session, &id);
        }
        self.tell(session, News::Open { agent_session: id, answer, info });
        for (params, weight) in early {
            self.update(params, weight);
        }
    }

    fn close_unwanted(&mut self, answer: &Value) {
        if let Some(id) = messages::session_id(answer) {
            self.known.insert(AgentSessionId(id.to_owned()));
            let token = self.connection.request(messages::method::SESSION_CLOSE, messages::close_session(id));
            self.asked.insert(token, Asked::Close);
        }
    }

    /// A session that could not be opened; with it the process, where it has no other.
    fn fail_session(&mut self, session: &SessionId, reason: &str) {
        self.tell(session, News::Failed(reason.to_owned()));
        self.sessions.remove(session);
        if self.sessions.is_empty() {
            self.stage = Stage::Over;
        }
    }

    /// The process cannot be used.
    fn fail(&mut self, reason: &str) {
        for session in self.sessions.keys() {
            self.tell(session, News::Failed(reason.to_owned()));
        }
        for (_, reply) in self.to_list.drain(..) {
            let _ = reply.send(Err(reason.to_owned()));
        }
        self.stage = Stage::Over;
    }

    pub(super) fn sentence(&self, error: &RpcError) -> String {
        self.adapter.error_text(&json!(error))
    }

    /// Asks which sessions the agent knows, as soon as it has said who it is.
    pub(super) fn list(&mut self, root: Option<PathBuf>, reply: Listing) {
        match &self.stage {
            Stage::Greeted | Stage::LoggingIn(_) => self.to_list.push((root, reply)),
            Stage::Ready(info) if info.lists_sessions => self.list_page(root, Vec::new(), None, reply),
            Stage::Ready(_) | Stage::Over => {
                let _ = reply.send(Err("it does not tell which sessions it knows".to_owned()));
            }
        }
    }

    fn list_page(
        &mut self,
        root: Option<PathBuf>,
        so_far: Vec<messages::ListedSession>,
        cursor: Option<&str>,
        reply: Listing,
    ) {
        let params = messages::list_sessions(root.as_deref(), cursor);
        let token = self.connection.request(messages::method::SESSION_LIST, params);
        self.asked.insert(token, Asked::List { root, so_far, reply });
    }

    pub(super) fn listed(
        &mut self,
        root: Option<PathBuf>,
        mut so_far: Vec<messages::ListedSession>,
        reply: Listing,
        result: Result<Value, RpcError>,
    ) {
        let answer = match result {
            Ok(answer) => answer,
            Err(error) => {
                let _ = reply.send(Err(self.sentence(&error)));
                return;
            }
        };
        let (listed, cursor) = messages::listed_sessions(&answer);
        // An agent that always names a next page would be asked for ever.
        let is_new = listed.iter().any(|session| !so_far.contains(session));
        so_far.extend(listed);
        match cursor.filter(|_| is_new) {
            Some(cursor) => self.list_page(root, so_far, Some(&cursor), reply),
            None => {
                let _ = reply.send(Ok(so_far));
            }
        }
    }
}

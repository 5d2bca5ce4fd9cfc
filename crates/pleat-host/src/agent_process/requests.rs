//! What the agent asks of us: permissions, which a person answers, and files and terminals, which are served here.

use super::News;
use super::task::Task;
use pleat_acp::adapter::session_id;
use pleat_acp::client::{ClientSession, TerminalNews};
use pleat_acp::connection::{RequestId, RpcError, messages};
use pleat_store::ProcessMark;
use pleat_transcript::event::{RequestKey, TerminalOutput};
use serde_json::Value;
use tokio::task::JoinError;

/// JSON-RPC 2.0's code for parameters that cannot be meant.
const INVALID_PARAMS: i64 = -32602;

impl Task {
    pub(super) fn request(&mut self, id: RequestId, method: &str, params: Value) {
        if method == "session/request_permission" && session_id(&params).is_some() {
            self.permission(id, &params);
        } else if ClientSession::serves(method) {
            self.serve(id, method, params);
        } else {
            tracing::debug!(agent = self.agent.name.0, method, "a request that Pleat does not know");
            self.connection.respond(&id, Err(RpcError::method_not_found(method)));
        }
    }

    fn permission(&mut self, id: RequestId, params: &Value) {
        let request = RequestKey(id.to_string());
        let events = self.adapter.permission(request.clone(), params);
        let session = events.last().and_then(|(id, _)| self.by_agent_session.get(id)).cloned();
        match session {
            Some(session) => {
                let events = events.into_iter().map(|(_, event)| event).collect();
                self.tell(&session, News::Asked { events, request, id });
            }
            // Nobody is there to be asked.
            None => self.connection.respond(&id, Ok(messages::permission_cancelled())),
        }
    }

    fn serve(&mut self, id: RequestId, method: &str, params: Value) {
        let Some(client) = self.client_of(&params) else {
            let error = RpcError::new(INVALID_PARAMS, format!("{method}: Pleat knows no session of this id"));
            self.connection.respond(&id, Err(error));
            return;
        };
        let served = client.serve(method, params);
        self.serving.spawn(async move { (id, served.await) });
    }

    /// Whose files and terminals a request is about. An agent may ask while it opens a session, before we know its id.
    fn client_of(&self, params: &Value) -> Option<&ClientSession> {
        let id = session_id(params)?;
        let root = self.adapter.recorded_session(&id);
        let session = self.by_agent_session.get(&root).or(self.opening.as_ref())?;
        self.sessions.get(session)?.client.as_ref()
    }

    pub(super) fn served(&self, served: Result<(RequestId, Result<Value, RpcError>), JoinError>) {
        match served {
            Ok((id, answer)) => self.connection.respond(&id, answer),
            Err(error) => tracing::error!(%error, "a request of the agent could not be served"),
        }
    }

    pub(super) fn terminal(&mut self, news: TerminalNews) {
        self.note_terminal(&news);
        let events = match news {
            TerminalNews::Output { terminal, text } => {
                self.adapter.terminal(&terminal, Some(TerminalOutput::Delta(text)), None)
            }
            TerminalNews::Exited { terminal, exit } => self.adapter.terminal(&terminal, None, Some(exit)),
            TerminalNews::Started { .. } | TerminalNews::Ended { .. } => return,
        };
        self.happened(events, None);
    }

    /// Notes what runs, so that a later start of Pleat can end it if this one is killed.
    pub(super) fn note_terminal(&mut self, news: &TerminalNews) {
        match news {
            TerminalNews::Started { terminal, pid } => {
                if let Some(mark) = ProcessMark::of(*pid) {
                    self.terminal_marks.insert(terminal.clone(), mark.clone());
                    self.marks.started(mark);
                }
            }
            TerminalNews::Ended { terminal, .. } => {
                if let Some(mark) = self.terminal_marks.remove(terminal) {
                    self.marks.ended(mark);
                }
            }
            TerminalNews::Output { .. } | TerminalNews::Exited { .. } => {}
        }
    }
}

//! What the agent asks of us: permissions, which a person answers, and files and terminals, which are served here.

use super::News;
use super::task::Task;
use pleat_acp::adapter::session_id;
use pleat_acp::client::{ClientSession, TerminalNews};
use pleat_acp::connection::{RequestId, RpcError, Weight, messages};
use pleat_store::ProcessMark;
use pleat_transcript::event::{RequestKey, TerminalOutput};
use serde_json::Value;
use std::sync::Arc;
use tokio::task::JoinError;

/// JSON-RPC 2.0's code for parameters that cannot be meant.
const INVALID_PARAMS: i64 = -32602;

impl Task {
    pub(super) fn request(&mut self, id: RequestId, method: &str, params: Value, weight: Weight) {
        if method == messages::method::SESSION_REQUEST_PERMISSION && session_id(&params).is_some() {
            self.permission(&id, &params, weight);
        } else if ClientSession::serves(method) {
            self.serve(id, method, params, weight);
        } else {
            tracing::debug!(agent = self.agent.name.0, method, "a request that Pleat does not know");
            self.connection.respond(&id, Err(RpcError::method_not_found(method)));
        }
    }

    fn permission(&mut self, id: &RequestId, params: &Value, weight: Weight) {
        let request = RequestKey(id.to_string());
        let events = self.adapter.permission(request.clone(), params);
        let session = events.last().and_then(|(id, _)| self.by_agent_session.get(id));
        let asked = session.and_then(|session| self.sessions.get(session)).is_some_and(|served| {
            let events = events.into_iter().map(|(_, event)| event).collect();
            served.news.send(News::Asked { events, request, id: id.clone(), weight }).is_ok()
        });
        if !asked {
            // Nobody is there to be asked.
            self.connection.respond(id, Ok(messages::permission_cancelled()));
        }
    }

    fn serve(&mut self, id: RequestId, method: &str, params: Value, weight: Weight) {
        let Some(client) = self.client_of(&params) else {
            let error = RpcError::new(INVALID_PARAMS, format!("{method}: Pleat knows no session of this id"));
            self.connection.respond(&id, Err(error));
            return;
        };
        let served = client.serve(method, params);
        self.serving.spawn(async move {
            let answer = served.await;
            // What was asked for is worked off only now.
            drop(weight);
            (id, answer)
        });
    }

    /// Whose files and terminals a request is about. An agent may ask while it opens a session, before we know its id.
    fn client_of(&self, params: &Value) -> Option<&ClientSession> {
        let id = session_id(params)?;
        let root = self.adapter.recorded_session(&id);
        // An id that was never told is that of the session that is being opened; one of a session that has left is nobody's.
        let opening = self.opening.as_ref().filter(|_| !self.known.contains(&root));
        let session = self.by_agent_session.get(&root).or(opening)?;
        self.sessions.get(session)?.client.as_ref()
    }

    pub(super) fn served(&self, served: Result<(RequestId, Result<Value, RpcError>), JoinError>) {
        match served {
            Ok((id, answer)) => self.connection.respond(&id, answer),
            Err(error) => tracing::error!(%error, "a request of the agent could not be served"),
        }
    }

    pub(super) fn terminal(&mut self, news: TerminalNews) {
        match news {
            TerminalNews::Started { terminal, pid, start } => {
                // Where it has ended already, what it left running is found by this mark.
                let mark = start.and_then(|start| ProcessMark::started(pid, start));
                if let Some(mark) = mark {
                    self.terminal_marks.insert(terminal, mark.clone());
                    self.marks.started(mark);
                }
            }
            TerminalNews::Output { terminal, text, weight } => {
                let events = self.adapter.terminal(&terminal, Some(TerminalOutput::Delta(text)), None);
                self.happened(events, &Arc::new(weight));
            }
            TerminalNews::Exited { terminal, exit } => {
                let events = self.adapter.terminal(&terminal, None, Some(exit));
                self.happened(events, &Arc::default());
            }
            TerminalNews::Ended { terminal, .. } => {
                if let Some(mark) = self.terminal_marks.remove(&terminal) {
                    self.marks.ended(mark);
                }
            }
        }
    }
}

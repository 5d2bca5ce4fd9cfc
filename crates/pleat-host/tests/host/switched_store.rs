//! A store that can be told to refuse commits.

use pleat_store::search::{SearchPage, SearchRequest};
use pleat_store::{
    Claim, CommandId, Durability, ProcessMark, Revision, ServerId, SessionCursor, SessionListing, Signals, Store,
    StoreError, StoreFuture, StoredCommand, StoredDocument, StoredExcerpt,
};
use pleat_transcript::call::Call;
use pleat_transcript::change::Change;
use pleat_transcript::document::{Document, Window};
use pleat_transcript::ids::{AgentSessionId, CallId, MessageId, SessionId};
use pleat_transcript::message::Media;
use pleat_transcript::session::{Millis, Session};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) struct SwitchedStore {
    pub(crate) inner: Arc<dyn Store>,
    switch: Arc<Switch>,
}

/// The test's side.
#[derive(Default)]
pub(crate) struct Switch {
    /// Commits are refused.
    pub(crate) refuses: AtomicBool,
}

impl SwitchedStore {
    pub(crate) fn around(inner: Arc<dyn Store>, switch: &Arc<Switch>) -> Arc<dyn Store> {
        Arc::new(Self { inner, switch: switch.clone() })
    }
}

impl Store for SwitchedStore {
    fn server(&self) -> &ServerId {
        self.inner.server()
    }

    fn signals(&self) -> Signals {
        self.inner.signals()
    }

    fn commit(
        &self,
        session: SessionId,
        changes: Vec<Change>,
        at: Millis,
        durability: Durability,
    ) -> StoreFuture<'_, Revision> {
        if self.switch.refuses.load(Ordering::SeqCst) {
            return Box::pin(async { Err(StoreError::Closed) });
        }
        self.inner.commit(session, changes, at, durability)
    }

    fn create_session(&self, session: Session) -> StoreFuture<'_, Revision> {
        self.inner.create_session(session)
    }

    fn document(&self, session: SessionId) -> StoreFuture<'_, StoredDocument> {
        self.inner.document(session)
    }

    fn excerpt(&self, session: SessionId, window: Window) -> StoreFuture<'_, StoredExcerpt> {
        self.inner.excerpt(session, window)
    }

    fn call(&self, session: SessionId, call: CallId) -> StoreFuture<'_, Option<Call>> {
        self.inner.call(session, call)
    }

    fn media(&self, session: SessionId, message: MessageId, place: usize) -> StoreFuture<'_, Option<Media>> {
        self.inner.media(session, message, place)
    }

    fn sessions(&self, after: Option<SessionCursor>, limit: usize) -> StoreFuture<'_, Vec<SessionListing>> {
        self.inner.sessions(after, limit)
    }

    fn open_sessions(&self) -> StoreFuture<'_, Vec<SessionId>> {
        self.inner.open_sessions()
    }

    fn interrupt(&self, session: SessionId, reason: String, at: Millis) -> StoreFuture<'_, Option<Revision>> {
        self.inner.interrupt(session, reason, at)
    }

    fn import(&self, document: Document, at: Millis) -> StoreFuture<'_, Revision> {
        self.inner.import(document, at)
    }

    fn has_prompt(&self, session: SessionId, key: String) -> StoreFuture<'_, bool> {
        self.inner.has_prompt(session, key)
    }

    fn sessions_with_prompts(&self) -> StoreFuture<'_, Vec<SessionId>> {
        self.inner.sessions_with_prompts()
    }

    fn add_agent_session(&self, session: SessionId, agent_session: AgentSessionId, at: Millis) -> StoreFuture<'_, ()> {
        self.inner.add_agent_session(session, agent_session, at)
    }

    fn agent_sessions(&self, session: SessionId) -> StoreFuture<'_, Vec<AgentSessionId>> {
        self.inner.agent_sessions(session)
    }

    fn search(&self, request: SearchRequest) -> StoreFuture<'_, SearchPage> {
        self.inner.search(request)
    }

    fn beat(&self) -> StoreFuture<'_, ()> {
        self.inner.beat()
    }

    fn leave(&self) -> StoreFuture<'_, ()> {
        self.inner.leave()
    }

    fn add_process(&self, process: ProcessMark) -> StoreFuture<'_, ()> {
        self.inner.add_process(process)
    }

    fn remove_process(&self, process: ProcessMark) -> StoreFuture<'_, ()> {
        self.inner.remove_process(process)
    }

    fn left_processes(&self) -> StoreFuture<'_, Vec<ProcessMark>> {
        self.inner.left_processes()
    }

    fn claim(&self, session: SessionId) -> StoreFuture<'_, Claim> {
        self.inner.claim(session)
    }

    fn release(&self, session: SessionId) -> StoreFuture<'_, ()> {
        self.inner.release(session)
    }

    fn send_command(&self, session: SessionId, command: CommandId, body: String) -> StoreFuture<'_, ()> {
        self.inner.send_command(session, command, body)
    }

    fn sessions_with_commands(&self) -> StoreFuture<'_, Vec<SessionId>> {
        self.inner.sessions_with_commands()
    }

    fn take_commands(&self, session: SessionId) -> StoreFuture<'_, Vec<StoredCommand>> {
        self.inner.take_commands(session)
    }

    fn answer_command(&self, session: SessionId, command: CommandId, outcome: String) -> StoreFuture<'_, ()> {
        self.inner.answer_command(session, command, outcome)
    }

    fn command_outcome(&self, session: SessionId, command: CommandId) -> StoreFuture<'_, Option<String>> {
        self.inner.command_outcome(session, command)
    }
}

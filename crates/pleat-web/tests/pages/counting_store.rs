//! A store that remembers which of its reads a page asked for.

use pleat_store::search::{SearchPage, SearchRequest};
use pleat_store::sqlite::SqliteStore;
use pleat_store::{
    Claim, CommandId, Durability, ProcessMark, Revision, ServerId, SessionCursor, SessionListing, Signals, Store,
    StoreFuture, StoredCommand, StoredDocument, StoredExcerpt,
};
use pleat_transcript::call::Call;
use pleat_transcript::change::Change;
use pleat_transcript::document::{Document, Window};
use pleat_transcript::ids::{AgentSessionId, CallId, MessageId, SessionId};
use pleat_transcript::message::Media;
use pleat_transcript::session::{Millis, Session};
use std::sync::{Mutex, PoisonError};

pub(crate) struct CountingStore {
    inner: SqliteStore,
    reads: Mutex<Vec<&'static str>>,
}

impl CountingStore {
    /// Over a new database.
    pub(crate) fn new() -> Self {
        Self { inner: SqliteStore::open_temporary().expect("a database"), reads: Mutex::default() }
    }

    /// The reads since the last time, in order.
    pub(crate) fn take_reads(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.reads.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn count(&self, read: &'static str) {
        self.reads.lock().unwrap_or_else(PoisonError::into_inner).push(read);
    }
}

impl Store for CountingStore {
    fn server(&self) -> &ServerId {
        self.inner.server()
    }

    fn signals(&self) -> Signals {
        self.inner.signals()
    }

    fn create_session(&self, session: Session) -> StoreFuture<'_, Revision> {
        self.inner.create_session(session)
    }

    fn commit(
        &self,
        session: SessionId,
        changes: Vec<Change>,
        at: Millis,
        durability: Durability,
    ) -> StoreFuture<'_, Revision> {
        self.inner.commit(session, changes, at, durability)
    }

    fn document(&self, session: SessionId) -> StoreFuture<'_, StoredDocument> {
        self.count("document");
        self.inner.document(session)
    }

    fn excerpt(&self, session: SessionId, window: Window) -> StoreFuture<'_, StoredExcerpt> {
        self.count("excerpt");
        self.inner.excerpt(session, window)
    }

    fn call(&self, session: SessionId, call: CallId) -> StoreFuture<'_, Option<Call>> {
        self.count("call");
        self.inner.call(session, call)
    }

    fn media(&self, session: SessionId, message: MessageId, place: usize) -> StoreFuture<'_, Option<Media>> {
        self.count("media");
        self.inner.media(session, message, place)
    }

    fn sessions(&self, after: Option<SessionCursor>, limit: usize) -> StoreFuture<'_, Vec<SessionListing>> {
        self.count("sessions");
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

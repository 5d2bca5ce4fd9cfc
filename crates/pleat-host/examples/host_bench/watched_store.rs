//! A store that tells what was committed, and when: a watcher that need not read.

use super::sessions::stamps;
use pleat_store::search::{SearchPage, SearchRequest};
use pleat_store::{
    Claim, CommandId, Durability, ProcessMark, Revision, ServerId, SessionCursor, SessionListing, Signals, Store,
    StoreFuture, StoredCommand, StoredDocument, StoredExcerpt,
};
use pleat_transcript::call::{Call, Permission, PermissionState};
use pleat_transcript::change::Change;
use pleat_transcript::document::{Document, Window};
use pleat_transcript::ids::{AgentSessionId, CallId, MessageId, PermissionId, SessionId};
use pleat_transcript::message::{Body, Media, Part};
use pleat_transcript::session::{Millis, Session, TurnState};
use serde_json::Value;
use std::sync::Arc;
use std::time::SystemTime;
use tokio::sync::mpsc;

/// Something that a bench waits for, committed at a time.
pub(crate) struct Commit {
    pub(crate) session: SessionId,
    pub(crate) at: SystemTime,
    pub(crate) notes: Vec<Note>,
}

/// What a bench waits for.
pub(crate) enum Note {
    /// An agent wrote a line at this time, in microseconds since 1970.
    Written(u64),
    /// A person is asked, and may allow it with this option.
    Asked { request: PermissionId, option: String },
    /// A turn has ended.
    Ended(TurnState),
}

/// What was committed, in order.
pub(crate) type Commits = mpsc::UnboundedReceiver<Commit>;

pub(crate) struct WatchedStore {
    inner: Arc<dyn Store>,
    told: mpsc::UnboundedSender<Commit>,
}

impl WatchedStore {
    pub(crate) fn around(inner: Arc<dyn Store>) -> (Arc<dyn Store>, Commits) {
        let (told, commits) = mpsc::unbounded_channel();
        (Arc::new(Self { inner, told }), commits)
    }
}

fn notes(changes: &[Change]) -> Vec<Note> {
    let mut notes = Vec::new();
    for change in changes {
        match change {
            Change::UpdateTurn { update, .. } => {
                notes.extend(update.state.filter(|state| !state.is_open()).map(Note::Ended));
            }
            Change::InsertMessage(message) => match &message.body {
                Body::Assistant(round) => round.parts.iter().for_each(|part| note_part(part, &mut notes)),
                Body::User(_) | Body::Tool(_) | Body::Plan(_) | Body::Notice(_) => {}
            },
            Change::InsertPart { part, .. } => note_part(part, &mut notes),
            Change::AppendText { text, .. } => note_text(text, &mut notes),
            Change::UpdateCall { update, .. } => {
                update.output.iter().flatten().for_each(|block| note_output(block, &mut notes));
                notes.extend(update.permission.as_ref().and_then(asked));
            }
            Change::UpdateSession(_)
            | Change::InsertTurn(_)
            | Change::UpsertPlan(_)
            | Change::UpdateMessage { .. }
            | Change::SetPartMessageId { .. }
            | Change::AppendOutput { .. }
            | Change::QueuePrompt(_)
            | Change::UpdatePrompt { .. }
            | Change::RemovePrompt { .. } => {}
        }
    }
    notes
}

fn note_part(part: &Part, notes: &mut Vec<Note>) {
    match part {
        Part::Text(text) => note_text(&text.text, notes),
        Part::Call(call) => {
            note_text(call.title.as_deref().unwrap_or_default(), notes);
            call.output.iter().for_each(|block| note_output(block, notes));
            notes.extend(call.permission.as_ref().and_then(asked));
        }
        Part::Thinking(_) | Part::Media(_) => {}
    }
}

fn note_output(block: &Value, notes: &mut Vec<Note>) {
    note_text(block["content"]["text"].as_str().unwrap_or_default(), notes);
}

fn note_text(text: &str, notes: &mut Vec<Note>) {
    notes.extend(stamps(text).map(Note::Written));
}

fn asked(permission: &Permission) -> Option<Note> {
    if permission.state != Some(PermissionState::Open) {
        return None;
    }
    let is_allowing = |option: &&Value| option["kind"].as_str().is_some_and(|kind| kind.starts_with("allow"));
    let option = permission.options.iter().find(is_allowing)?["optionId"].as_str()?.to_owned();
    Some(Note::Asked { request: permission.request.clone()?, option })
}

impl Store for WatchedStore {
    fn commit(
        &self,
        session: SessionId,
        changes: Vec<Change>,
        at: Millis,
        durability: Durability,
    ) -> StoreFuture<'_, Revision> {
        let notes = notes(&changes);
        let committed = self.inner.commit(session.clone(), changes, at, durability);
        Box::pin(async move {
            let revision = committed.await?;
            if !notes.is_empty() {
                // Nobody may be listening any more.
                let _ = self.told.send(Commit { session, at: SystemTime::now(), notes });
            }
            Ok(revision)
        })
    }

    fn server(&self) -> &ServerId {
        self.inner.server()
    }

    fn signals(&self) -> Signals {
        self.inner.signals()
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

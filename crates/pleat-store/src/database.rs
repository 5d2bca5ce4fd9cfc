//! The store over any database: each operation is a transaction on the tables.

use crate::failure::Failure;
use crate::search::{SearchPage, SearchRequest};
use crate::sharing::Claims;
use crate::signal::{Signal, Signalling};
use crate::store::StoreFuture;
use crate::tables::change::Committer;
use crate::tables::sql::Sql;
use crate::tables::{call, change, list, part, process, prompt, recovery, search_find, server, session, window};
use crate::{
    Claim, CommandId, Durability, ProcessMark, Revision, ServerId, SessionCursor, SessionListing, Signals, Store,
    StoreError, StoredCommand, StoredDocument, StoredExcerpt,
};
use futures::future::BoxFuture;
use pleat_transcript::call::Call;
use pleat_transcript::change::Change;
use pleat_transcript::document::{Document, Window};
use pleat_transcript::ids::{AgentSessionId, CallId, MessageId, SessionId};
use pleat_transcript::message::{JsonObject, Media};
use pleat_transcript::session::{Millis, Session};
use std::sync::Arc;

/// What work in a transaction comes to: its answer, and what is signalled once it is committed.
pub(crate) struct Done<R> {
    pub(crate) answer: R,
    pub(crate) signal: Option<Signal>,
}

impl<R> Done<R> {
    /// With nothing to signal.
    pub(crate) fn quietly(answer: R) -> Self {
        Self { answer, signal: None }
    }
}

/// What a database is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opening {
    /// To be read and written; what is derived is brought up to date.
    ToUse,
    /// To be copied into: nothing is derived of what is half there.
    ToCopyInto,
}

/// Changes of one session that are one transaction.
pub(crate) struct ChangeSet {
    pub(crate) session: SessionId,
    pub(crate) changes: Vec<Change>,
}

/// Work in a transaction; it may be done again where the database asks for that.
pub(crate) trait Work<C, R>:
    for<'c> Fn(&'c C) -> BoxFuture<'c, Result<R, Failure>> + Send + Sync + 'static
{
}

impl<C, R, W> Work<C, R> for W where W: for<'c> Fn(&'c C) -> BoxFuture<'c, Result<R, Failure>> + Send + Sync + 'static {}

/// A database that holds the tables.
pub(crate) trait Database: Send + Sync {
    /// A connection inside a transaction.
    type Connection: Sql;

    /// Does work in a transaction that writes; its signal is given after the commit.
    fn write<R: Send + 'static>(
        &self,
        durability: Durability,
        work: impl Work<Self::Connection, Done<R>>,
    ) -> StoreFuture<'_, R>;

    /// Commits a delta that changes nothing but a text by a shorter way, where the database has one and the change set is
    /// that; `None`: it has changed nothing.
    fn append(
        &self,
        _changes: &Arc<ChangeSet>,
        _at: Millis,
        _durability: Durability,
    ) -> impl Future<Output = Result<Option<Revision>, StoreError>> + Send {
        std::future::ready(Ok(None))
    }

    /// Does work in a transaction that reads, all at one moment of the database.
    fn read<R: Send + 'static>(&self, work: impl Work<Self::Connection, R>) -> StoreFuture<'_, R>;

    /// This store as a server.
    fn server_id(&self) -> &ServerId;

    /// What this server claimed.
    fn claims(&self) -> &Claims;

    /// Where signals are given.
    fn signalling(&self) -> &Signalling;
}

fn changed(session: &SessionId, revision: Revision) -> Signal {
    Signal::Changed { session: session.clone(), revision }
}

impl<D: Database> Store for D {
    fn server(&self) -> &ServerId {
        self.server_id()
    }

    fn signals(&self) -> Signals {
        self.signalling().listen()
    }

    fn create_session(&self, session: Session) -> StoreFuture<'_, Revision> {
        self.write(Durability::Person, move |sql| {
            let session = session.clone();
            Box::pin(async move {
                let at = session.created_at.unwrap_or_default();
                let row = session::insert(sql, session, at, &JsonObject::new()).await?;
                Ok(Done { answer: row.revision, signal: Some(changed(&row.id, row.revision)) })
            })
        })
    }

    fn commit(
        &self,
        session: SessionId,
        changes: Vec<Change>,
        at: Millis,
        durability: Durability,
    ) -> StoreFuture<'_, Revision> {
        let changes = Arc::new(ChangeSet { session, changes });
        Box::pin(async move {
            if let Some(revision) = self.append(&changes, at, durability).await? {
                return Ok(revision);
            }
            let server = self.server_id().clone();
            let must_own = self.claims().has(&changes.session);
            self.write(durability, move |sql| {
                let (changes, server) = (Arc::clone(&changes), server.clone());
                Box::pin(async move {
                    let ChangeSet { session, changes } = &*changes;
                    let committer = Committer { server: &server.0, must_own };
                    let (revision, altered) = change::commit(sql, committer, session, changes, at).await?;
                    Ok(Done { answer: revision, signal: altered.then(|| changed(session, revision)) })
                })
            })
            .await
        })
    }

    fn document(&self, session: SessionId) -> StoreFuture<'_, StoredDocument> {
        self.read(move |sql| {
            let session = session.clone();
            Box::pin(async move {
                let row = session::find(sql, &session).await?;
                Ok(StoredDocument { document: change::read(sql, &row).await?, revision: row.revision })
            })
        })
    }

    fn excerpt(&self, session: SessionId, window: Window) -> StoreFuture<'_, StoredExcerpt> {
        self.read(move |sql| {
            let (session, window) = (session.clone(), window.clone());
            Box::pin(async move {
                let row = session::find(sql, &session).await?;
                Ok(StoredExcerpt {
                    excerpt: window::read(sql, &row, &window).await?,
                    questions: call::asked(sql, &row).await?,
                    revision: row.revision,
                })
            })
        })
    }

    fn call(&self, session: SessionId, id: CallId) -> StoreFuture<'_, Option<Call>> {
        self.read(move |sql| {
            let (session, id) = (session.clone(), id.clone());
            Box::pin(async move { call::read(sql, &session::find(sql, &session).await?, &id).await })
        })
    }

    fn media(&self, session: SessionId, message: MessageId, place: usize) -> StoreFuture<'_, Option<Media>> {
        self.read(move |sql| {
            let (session, message) = (session.clone(), message.clone());
            Box::pin(async move { part::media(sql, &session::find(sql, &session).await?, &message, place).await })
        })
    }

    fn sessions(&self, after: Option<SessionCursor>, limit: usize) -> StoreFuture<'_, Vec<SessionListing>> {
        self.read(move |sql| {
            let after = after.clone();
            Box::pin(async move { list::page(sql, after.as_ref(), limit).await })
        })
    }

    fn open_sessions(&self) -> StoreFuture<'_, Vec<SessionId>> {
        self.read(|sql| Box::pin(list::open(sql)))
    }

    fn interrupt(&self, session: SessionId, reason: String, at: Millis) -> StoreFuture<'_, Option<Revision>> {
        let server = self.server_id().clone();
        self.write(Durability::Agent, move |sql| {
            let (session, reason, server) = (session.clone(), reason.clone(), server.clone());
            Box::pin(async move {
                let revision = recovery::interrupt(sql, &server, &session, &reason, at).await?;
                Ok(Done { answer: revision, signal: revision.map(|revision| changed(&session, revision)) })
            })
        })
    }

    fn import(&self, document: Document, at: Millis) -> StoreFuture<'_, Revision> {
        let document = Arc::new(document);
        self.write(Durability::Person, move |sql| {
            let document = Arc::clone(&document);
            Box::pin(async move {
                let revision = change::import(sql, &document, at).await?;
                Ok(Done { answer: revision, signal: Some(changed(&document.session.id, revision)) })
            })
        })
    }

    fn has_prompt(&self, session: SessionId, key: String) -> StoreFuture<'_, bool> {
        self.read(move |sql| {
            let (session, key) = (session.clone(), key.clone());
            Box::pin(async move { prompt::is_known(sql, &session::find(sql, &session).await?, &key).await })
        })
    }

    fn sessions_with_prompts(&self) -> StoreFuture<'_, Vec<SessionId>> {
        self.read(|sql| Box::pin(prompt::sessions(sql)))
    }

    fn add_agent_session(&self, session: SessionId, name: AgentSessionId, at: Millis) -> StoreFuture<'_, ()> {
        self.write(Durability::Agent, move |sql| {
            let (session, name) = (session.clone(), name.clone());
            Box::pin(async move {
                let row = session::lock(sql, &session).await?;
                session::add_agent_session(sql, &row, &name, at).await.map(Done::quietly)
            })
        })
    }

    fn agent_sessions(&self, session: SessionId) -> StoreFuture<'_, Vec<AgentSessionId>> {
        self.read(move |sql| {
            let session = session.clone();
            Box::pin(async move { session::agent_sessions(sql, &session::find(sql, &session).await?).await })
        })
    }

    fn search(&self, request: SearchRequest) -> StoreFuture<'_, SearchPage> {
        let request = Arc::new(request);
        self.read(move |sql| {
            let request = Arc::clone(&request);
            Box::pin(async move { search_find::find(sql, &request).await })
        })
    }

    fn beat(&self) -> StoreFuture<'_, ()> {
        let server = self.server_id().clone();
        self.write(Durability::Agent, move |sql| {
            let server = server.clone();
            Box::pin(async move { server::beat(sql, &server).await.map(Done::quietly) })
        })
    }

    fn leave(&self) -> StoreFuture<'_, ()> {
        self.claims().clear();
        let server = self.server_id().clone();
        self.write(Durability::Agent, move |sql| {
            let server = server.clone();
            Box::pin(async move { server::leave(sql, &server).await.map(Done::quietly) })
        })
    }

    fn add_process(&self, process: ProcessMark) -> StoreFuture<'_, ()> {
        let server = self.server_id().clone();
        self.write(Durability::Agent, move |sql| {
            let (server, process) = (server.clone(), process.clone());
            Box::pin(async move { process::add(sql, &server, &process).await.map(Done::quietly) })
        })
    }

    fn remove_process(&self, process: ProcessMark) -> StoreFuture<'_, ()> {
        self.write(Durability::Agent, move |sql| {
            let process = process.clone();
            Box::pin(async move { process::remove(sql, &process).await.map(Done::quietly) })
        })
    }

    fn left_processes(&self) -> StoreFuture<'_, Vec<ProcessMark>> {
        let server = self.server_id().clone();
        self.read(move |sql| {
            let server = server.clone();
            Box::pin(async move {
                // Where nothing tells what a process is, none was noted.
                let Some(ours) = ProcessMark::of_ourselves() else { return Ok(Vec::new()) };
                process::left(sql, &server, &ours.machine).await
            })
        })
    }

    fn claim(&self, session: SessionId) -> StoreFuture<'_, Claim> {
        let server = self.server_id().clone();
        Box::pin(async move {
            let asked = session.clone();
            let claim = self
                .write(Durability::Person, move |sql| {
                    let (session, server) = (asked.clone(), server.clone());
                    Box::pin(async move { server::claim(sql, &server, &session).await.map(Done::quietly) })
                })
                .await?;
            if claim == Claim::Ours {
                self.claims().add(session);
            }
            Ok(claim)
        })
    }

    fn release(&self, session: SessionId) -> StoreFuture<'_, ()> {
        self.claims().remove(&session);
        let server = self.server_id().clone();
        self.write(Durability::Agent, move |sql| {
            let (session, server) = (session.clone(), server.clone());
            Box::pin(async move { server::release(sql, &server, &session).await.map(Done::quietly) })
        })
    }

    fn send_command(&self, session: SessionId, command: CommandId, body: String) -> StoreFuture<'_, ()> {
        self.write(Durability::Person, move |sql| {
            let (session, command, body) = (session.clone(), command.clone(), body.clone());
            Box::pin(async move {
                server::send_command(sql, &session, &command, &body).await?;
                Ok(Done { answer: (), signal: Some(Signal::Command { session }) })
            })
        })
    }

    fn sessions_with_commands(&self) -> StoreFuture<'_, Vec<SessionId>> {
        let server = self.server_id().clone();
        self.read(move |sql| {
            let server = server.clone();
            Box::pin(async move { server::sessions_with_commands(sql, &server).await })
        })
    }

    fn take_commands(&self, session: SessionId) -> StoreFuture<'_, Vec<StoredCommand>> {
        let server = self.server_id().clone();
        self.write(Durability::Person, move |sql| {
            let (session, server) = (session.clone(), server.clone());
            Box::pin(async move { server::take_commands(sql, &server, &session).await.map(Done::quietly) })
        })
    }

    fn answer_command(&self, session: SessionId, command: CommandId, outcome: String) -> StoreFuture<'_, ()> {
        self.write(Durability::Person, move |sql| {
            let (session, command, outcome) = (session.clone(), command.clone(), outcome.clone());
            Box::pin(async move { server::answer_command(sql, &session, &command, &outcome).await.map(Done::quietly) })
        })
    }

    fn command_outcome(&self, session: SessionId, command: CommandId) -> StoreFuture<'_, Option<String>> {
        self.read(move |sql| {
            let (session, command) = (session.clone(), command.clone());
            Box::pin(async move { server::command_outcome(sql, &session, &command).await })
        })
    }
}

//! What every store does.

use crate::search::{SearchPage, SearchRequest};
use crate::{
    Claim, CommandId, ProcessMark, Revision, ServerId, SessionCursor, SessionListing, Signals, StoreError,
    StoredCommand, StoredDocument, StoredExcerpt,
};
use pleat_transcript::call::Call;
use pleat_transcript::change::Change;
use pleat_transcript::document::{Document, Window};
use pleat_transcript::ids::{AgentSessionId, CallId, MessageId, SessionId};
use pleat_transcript::message::Media;
use pleat_transcript::session::{Millis, Session};
use std::pin::Pin;

/// What a [`Store`] promises to answer.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// How soon a commit must be made, and what it must survive. All survive the death of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// What a person did: at once, and it survives a power cut.
    Person,
    /// What an agent said or did: at once; a power cut may lose the last moments of it.
    Agent,
    /// Text of an agent that grows: within [`LONGEST_WAIT`](crate::LONGEST_WAIT), together with what other sessions
    /// say; a power cut may lose the last moments of it.
    Stream,
}

/// Everything Pleat keeps.
pub trait Store: Send + Sync {
    /// This store as one of the servers that share its database.
    fn server(&self) -> &ServerId;

    /// Tells from now on which sessions changed, here or (where several servers share the database) elsewhere. A signal
    /// follows the commit it tells of.
    fn signals(&self) -> Signals;

    /// Stores a session that has no messages yet, at revision 1. An id that exists is an error.
    fn create_session(&self, session: Session) -> StoreFuture<'_, Revision>;

    /// Commits changes of one session in one transaction and tells its new revision. Changes that alter nothing write
    /// nothing, signal nothing and leave the revision as it is. Where one does not fit, or brings an id that its session
    /// has already, none is stored. A session that another server owns is left alone.
    fn commit(
        &self,
        session: SessionId,
        changes: Vec<Change>,
        at: Millis,
        durability: Durability,
    ) -> StoreFuture<'_, Revision>;

    /// A whole session: for exports and for work that needs all of it. Faces read [`Store::excerpt`].
    fn document(&self, session: SessionId) -> StoreFuture<'_, StoredDocument>;

    /// A window of a session with what its rows need from outside it. It costs what it returns, however long the
    /// session is. Large requests and results are previews, large media have no data.
    fn excerpt(&self, session: SessionId, window: Window) -> StoreFuture<'_, StoredExcerpt>;

    /// One call with its full request and result.
    fn call(&self, session: SessionId, call: CallId) -> StoreFuture<'_, Option<Call>>;

    /// The image, audio or resource at a place (from 0) among the parts of a round or the attachments of a user message,
    /// with its data.
    fn media(&self, session: SessionId, message: MessageId, place: usize) -> StoreFuture<'_, Option<Media>>;

    /// Sessions, newest activity first, at most `limit`: those after the cursor's, which need not be there any more.
    fn sessions(&self, after: Option<SessionCursor>, limit: usize) -> StoreFuture<'_, Vec<SessionListing>>;

    /// Sessions in which something is open: a turn, a call of a turn that was running, or a permission request.
    fn open_sessions(&self) -> StoreFuture<'_, Vec<SessionId>>;

    /// Closes what is open in a session that nobody works on, in one transaction: calls and the turn become
    /// interrupted, permission requests expire, one notice says `reason`. A session that a living server owns is left
    /// alone; one that a dead server owned becomes ours, so that it is not written to if that server wakes up. Tells the new revision, or `None` where nothing was open.
    fn interrupt(&self, session: SessionId, reason: String, at: Millis) -> StoreFuture<'_, Option<Revision>>;

    /// Stores a whole transcript as it is, at revision 1; the caller has prepared it. Its `window` is not stored. A
    /// session id that exists is an error.
    fn import(&self, document: Document, at: Millis) -> StoreFuture<'_, Revision>;

    /// Whether a prompt with this key of the client's was ever queued in the session, whatever became of it.
    fn has_prompt(&self, session: SessionId, key: String) -> StoreFuture<'_, bool>;

    /// Sessions in which a prompt waits that nothing holds, oldest first.
    fn sessions_with_prompts(&self) -> StoreFuture<'_, Vec<SessionId>>;

    /// Remembers what the agent calls this session; earlier names are kept. A name that is known becomes the newest.
    fn add_agent_session(&self, session: SessionId, agent_session: AgentSessionId, at: Millis) -> StoreFuture<'_, ()>;

    /// What the agent called this session, oldest first.
    fn agent_sessions(&self, session: SessionId) -> StoreFuture<'_, Vec<AgentSessionId>>;

    /// Finds what was said and done. What was committed before is found, also what is still being said.
    fn search(&self, request: SearchRequest) -> StoreFuture<'_, SearchPage>;

    /// Gives a sign of life, so that this server keeps what it owns.
    fn beat(&self) -> StoreFuture<'_, ()>;

    /// Takes its leave: what this server owns is free for others at once.
    fn leave(&self) -> StoreFuture<'_, ()>;

    /// Notes a process that this server started, so that a later one can end it if we are killed. The same again is the
    /// same process.
    fn add_process(&self, process: ProcessMark) -> StoreFuture<'_, ()>;

    /// A process has ended: it is noted no more, whoever noted it.
    fn remove_process(&self, process: ProcessMark) -> StoreFuture<'_, ()>;

    /// Processes of this machine whose server is gone. They may have ended since. They stay noted until
    /// [`Store::remove_process`].
    fn left_processes(&self) -> StoreFuture<'_, Vec<ProcessMark>>;

    /// Takes a session, so that no other server commits to it, where no other one that lives has it. A server of this
    /// machine whose process does not run any more is dead at once, others are when they give no sign of life.
    fn claim(&self, session: SessionId) -> StoreFuture<'_, Claim>;

    /// Lets a session go, where it is ours.
    fn release(&self, session: SessionId) -> StoreFuture<'_, ()>;

    /// Stores a command (JSON) for whoever owns the session. The same id again is the same command.
    fn send_command(&self, session: SessionId, command: CommandId, body: String) -> StoreFuture<'_, ()>;

    /// The sessions that this server owns for which commands wait.
    fn sessions_with_commands(&self) -> StoreFuture<'_, Vec<SessionId>>;

    /// Takes the commands that wait for a session of this server, oldest first. Each is delivered once.
    fn take_commands(&self, session: SessionId) -> StoreFuture<'_, Vec<StoredCommand>>;

    /// Tells what came of a command (JSON); the first answer stays.
    fn answer_command(&self, session: SessionId, command: CommandId, outcome: String) -> StoreFuture<'_, ()>;

    /// What came of a command, once that is known.
    fn command_outcome(&self, session: SessionId, command: CommandId) -> StoreFuture<'_, Option<String>>;
}

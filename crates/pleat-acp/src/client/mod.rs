//! What the client does for an agent when it asks: files (`fs/*`) and terminals (`terminal/*`) of ACP v1.
//!
//! Both stay inside the session's directories ([`Workspace`]). Files are reached through handles of those directories,
//! so neither `..` nor a link leads out; a terminal starts inside, what its command does is the command's.
//!
//! # Files
//!
//! Text is UTF-8 and comes and goes exactly as it is, line ends included. `line` counts from 1 (0 is taken as 1),
//! `limit` counts lines; a line ends with LF and brings its line end along, so parts that are read one after the other
//! make up the file. Beyond the end there is no text, which is no error; a file that is not there is one. Writing
//! makes missing directories and replaces the text in place: who owns the file, its permissions and its other names
//! stay. File operations of a session happen in the order in which [`ClientSession::serve`] was called, terminals are
//! created in the same order, and neither is on a thread that anything else needs.
//!
//! # Terminals
//!
//! `command` is a program and `args` are its arguments; there is no shell in between unless the agent names one. Older
//! agents mean a command line: a `command` that holds white space, has no `args`, and is no program that can be found
//! is given to `/bin/sh -c`. The command leads a process group, has nothing to read, and its stdout and stderr are one
//! pipe, so their order is kept. It has exited when the group's leader has; what it left running in the background is
//! still heard, and ends with `terminal/kill`, `terminal/release` or the session. What was printed is told to the
//! transcript apart from the agent ([`TerminalNews`]), with a bound of its own, and stays there. Where the transcript is
//! slow to take it, the command waits at its pipe; that it has exited, or was killed, waits for nothing.

use crate::connection::RpcError;
use agent_client_protocol::v1::schema as acp;
use error::ServeError;
use method::Method;
use ordered_work::OrderedWork;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use terminals::{Heard, Terminals, WaitForExit};
use tokio::sync::{mpsc, oneshot};

pub use terminals::TerminalNews;
pub(crate) use terminals::left_out_line;
pub use workspace::{Workspace, WorkspaceError};

mod error;
mod files;
mod method;
mod ordered_work;
mod terminals;
mod workspace;

/// How long [`ClientSession::end`] waits: for SIGTERM, for SIGKILL, and some time to hear of it.
const END_PATIENCE: Duration = Duration::from_secs(5);

/// The bounds of what is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientLimits {
    /// The longest text that one `fs/read_text_file` answers, in bytes.
    pub read_bytes: usize,
    /// How much of a terminal's output is kept for the agent where it names no `outputByteLimit`, in bytes.
    pub output_bytes: usize,
    /// The most that is kept for the agent whatever it names, in bytes.
    pub most_output_bytes: usize,
    /// How much of a command's output the transcript is told, in bytes: the first half as it comes, and of the rest the
    /// last half when the command has exited.
    pub transcript_output_bytes: usize,
    /// How many bytes of output may wait for the transcript, of all terminals of a session: beyond it their commands wait
    /// at their pipes. What is larger passes alone.
    pub waiting_output_bytes: usize,
    /// How many terminals run at once in a session, those included of which something is still to be told.
    pub running_terminals: usize,
    /// How many terminals there are that are not released; beyond it the oldest that has exited is.
    pub unreleased_terminals: usize,
}

impl Default for ClientLimits {
    fn default() -> Self {
        Self {
            read_bytes: 32 * 1024 * 1024,
            output_bytes: 1024 * 1024,
            most_output_bytes: 32 * 1024 * 1024,
            transcript_output_bytes: 64 * 1024 * 1024,
            waiting_output_bytes: 8 * 1024 * 1024,
            running_terminals: 64,
            unreleased_terminals: 256,
        }
    }
}

/// What is served to one session of an agent. Cheap to clone; all clones are one. When the last is dropped, its
/// terminals are killed; [`ClientSession::end`] also waits for that.
#[derive(Clone)]
pub struct ClientSession(Arc<Served>);

struct Served {
    workspace: Workspace,
    limits: ClientLimits,
    terminals: Arc<Terminals>,
    ordered: OrderedWork,
}

/// An answer, or what it waits for.
enum Answer {
    Ready(Result<Value, ServeError>),
    /// Work whose turn has not come.
    Ordered(oneshot::Receiver<Result<Value, ServeError>>),
    Output(Arc<Heard>),
    Exit(WaitForExit),
}

impl ClientSession {
    /// What is served in a workspace. Its terminals do not inherit the variables of our environment that are `hidden`,
    /// beside `PLEAT_STORE`. Of them `news` hears; nothing changes here when nobody listens, and where somebody is slow
    /// to, commands that print much wait. Must be called inside a tokio runtime.
    pub fn new(
        workspace: Workspace,
        limits: ClientLimits,
        hidden: Vec<String>,
        news: mpsc::UnboundedSender<TerminalNews>,
    ) -> Self {
        let terminals = Arc::new(Terminals::new(limits.clone(), hidden, news));
        Self(Arc::new(Served { workspace, limits, terminals, ordered: OrderedWork::start() }))
    }

    /// Whether a request is for us.
    pub fn serves(method: &str) -> bool {
        Method::of(method).is_some()
    }

    /// Does what a request asks. What it does begins, in the order of the calls, when this is called; the future is
    /// only the wait for its answer, which may take as long as a command runs. Dropping it takes nothing back.
    pub fn serve(&self, method: &str, params: Value) -> impl Future<Output = Result<Value, RpcError>> + Send + use<> {
        let answer = match Method::of(method) {
            Some(method) => self.begin(method, params).unwrap_or_else(|error| Answer::Ready(Err(error))),
            None => Answer::Ready(Err(ServeError::UnknownMethod { method: method.to_owned() })),
        };
        async move { Ok(answer.wait().await?) }
    }

    /// Ends what is served: terminals are killed, and nothing is done any more. Waits until nothing of them is left, at
    /// most 5 s.
    pub async fn end(&self) {
        self.0.terminals.close();
        // A terminal that is just being created sees that it comes too late.
        let last_work = self.0.ordered.run(|| ());
        let ended = async {
            let _ = last_work.await;
            self.0.terminals.none_runs().await;
        };
        if tokio::time::timeout(END_PATIENCE, ended).await.is_err() {
            tracing::warn!("a session's terminals or file operations did not end in time");
        }
    }

    fn begin(&self, method: Method, params: Value) -> Result<Answer, ServeError> {
        let terminals = &self.0.terminals;
        Ok(match method {
            Method::ReadTextFile => self.in_order(params, |served, request| {
                files::read_text_file(&served.workspace, &request, served.limits.read_bytes)
            })?,
            Method::WriteTextFile => {
                self.in_order(params, |served, request| files::write_text_file(&served.workspace, &request))?
            }
            Method::TerminalCreate => {
                self.in_order(params, |served, request| served.terminals.create(&served.workspace, &request))?
            }
            Method::TerminalOutput => {
                let request: acp::TerminalOutputRequest = read(params)?;
                Answer::Output(terminals.heard(&request.terminal_id)?)
            }
            Method::TerminalWaitForExit => {
                let request: acp::WaitForTerminalExitRequest = read(params)?;
                Answer::Exit(terminals.wait_for_exit(&request.terminal_id)?)
            }
            Method::TerminalKill => {
                let request: acp::KillTerminalRequest = read(params)?;
                terminals.kill(&request.terminal_id)?;
                Answer::Ready(Ok(json!({})))
            }
            Method::TerminalRelease => {
                let request: acp::ReleaseTerminalRequest = read(params)?;
                terminals.release(&request.terminal_id)?;
                Answer::Ready(Ok(json!({})))
            }
        })
    }

    /// Work that waits for its turn, and is not done once the session has ended.
    fn in_order<R>(
        &self,
        params: Value,
        work: impl FnOnce(&Served, R) -> Result<Value, ServeError> + Send + 'static,
    ) -> Result<Answer, ServeError>
    where
        R: DeserializeOwned + Send + 'static,
    {
        let request = read(params)?;
        let served = Arc::clone(&self.0);
        let work = move || {
            if served.terminals.is_closed() {
                return Err(ServeError::SessionEnded);
            }
            work(&served, request)
        };
        Ok(Answer::Ordered(self.0.ordered.run(work)))
    }
}

impl Answer {
    async fn wait(self) -> Result<Value, ServeError> {
        match self {
            Self::Ready(answer) => answer,
            Self::Ordered(work) => work.await.unwrap_or(Err(ServeError::NotDone)),
            Self::Output(heard) => Ok(heard.output()),
            Self::Exit(exit) => exit.wait().await,
        }
    }
}

impl std::fmt::Debug for ClientSession {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ClientSession").field("workspace", &self.0.workspace).finish_non_exhaustive()
    }
}

fn read<R: DeserializeOwned>(params: Value) -> Result<R, ServeError> {
    serde_json::from_value(params).map_err(|source| ServeError::Params { source })
}

//! A script that has been read: what the agent does, one thing after the other.

use super::template::{Fields, Template};
use std::sync::Arc;
use std::time::Duration;

/// Statements in their order, which a background shares with the rest of the script.
pub(crate) type Block = Arc<[Statement]>;

#[derive(Debug, PartialEq)]
pub(crate) struct Statement {
    /// Where it begins, from 1.
    pub(crate) line: usize,
    pub(crate) action: Action,
}

/// What the agent does. Commands that are short for others are not here: they were replaced when the script was read.
#[derive(Debug, PartialEq)]
pub(crate) enum Action {
    /// Waits for a message of the client.
    Hear(Hearing),
    /// Waits for the answer to a request of the agent.
    HearAnswer { request: Template, name: Option<String> },
    /// Reads until stdin ends.
    Listen,
    /// Answers a request that was heard.
    Reply { request: String, result: Template },
    /// Answers `initialize` with what is usual and these fields.
    Initialize(Fields),
    /// Answers `authenticate` with nothing.
    Authenticate,
    /// Answers `session/new` with an id of its own, which gets the name.
    NewSession { name: Option<String>, fields: Fields },
    /// Answers a request that was heard with an error.
    Refuse { request: String, code: Template, message: Template },
    /// Says a message.
    Say(Template),
    /// Asks the client for something.
    Request { id: Template, method: Template, fields: Fields },
    /// Tells an update of a session.
    Update { session: Option<Template>, fields: Fields },
    /// Asks for a permission.
    Ask(Asked),
    /// Tells a text whose line is so long, its end not counted.
    LongLine(Template),
    /// Writes what is no message.
    Write(Stream, Template),
    /// Gives a name to a text of so many bytes.
    Fill { name: String, bytes: Template },
    /// Ends the process.
    Exit(Template),
    /// Ends the process by its own SIGABRT.
    Abort,
    /// Does nothing for a time, or for ever.
    Sleep(Option<Duration>),
    /// Waits until the test opens a gate (a FIFO).
    WaitAt(Template),
    /// Starts a child of the agent, by a shell.
    Spawn(Template),
    /// Plays a block so often, or for ever.
    Repeat { times: Option<Template>, block: Block },
    /// Plays a block at each tick of a clock.
    Every { period: Duration, extent: Extent, block: Block },
    /// Plays a block while the rest goes on.
    Background(Block),
    /// Plays one of two blocks.
    If { condition: Condition, then: Block, otherwise: Block },
}

/// Which message is waited for, and what it is called then.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Hearing {
    /// Any, where there is none.
    pub(crate) method: Option<Template>,
    /// Of any, where there is none.
    pub(crate) session: Option<Template>,
    pub(crate) name: Option<String>,
}

/// What a permission is asked for.
#[derive(Debug, PartialEq)]
pub(crate) struct Asked {
    pub(crate) request: Template,
    pub(crate) session: Option<Template>,
    /// What is said of the call, its id first.
    pub(crate) call: Fields,
    pub(crate) options: Template,
}

/// How long a clock ticks.
#[derive(Debug, PartialEq)]
pub(crate) enum Extent {
    /// Until the process ends.
    Endless,
    /// For so many ticks, however late each of them is.
    Ticks(u64),
    /// Until a message is heard.
    Until(Hearing),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Stream {
    Stdout,
    Stderr,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Condition {
    pub(crate) left: Template,
    pub(crate) right: Template,
    /// What the comparison must find.
    pub(crate) equal: bool,
}

//! Plays the agent's side of a recorded conversation over stdio: a stand-in for the real agent in
//! tests and in the product's demonstration.
//!
//! It says what the recorded agent said, at the recorded pace, and waits for the client wherever the
//! recording has a message of the client's: matched by method, any answer for an answer. Steps that
//! the client leaves out are passed over; a request that the recording does not know is answered
//! -32601. It can be stopped at any
//! time (`session/cancel`), and after the last recorded prompt the next one begins the recorded
//! prompts again, with ids that were never used before.
//!
//! Paths are left as recorded. What the recorded agent asked of its client (files, terminals,
//! permissions) is asked again.

use std::io::{self, BufRead, Write};

use crate::trace::TraceError;

mod client;
mod ids;
mod pace;
mod player;
mod script;

/// How to play.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReplayOptions {
    /// How many times the recorded pace; 0 is as fast as possible.
    pub speed: f64,
    /// Which part of the recording, from 1: a kill or restart of the recorded agent begins the next.
    pub part: usize,
}

impl Default for ReplayOptions {
    fn default() -> Self {
        Self { speed: 1.0, part: 1 }
    }
}

/// Why playing ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplayEnd {
    /// The client closed our input: an agent goes when its client goes.
    InputClosed,
    /// The recorded agent was killed here; the caller does the same to itself.
    Killed,
    /// The recorded agent ended by itself here, while its client had more to say.
    Exited,
}

/// Why a recording could not be played.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The recording could not be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The recording has no such part.
    #[error("the recording has {parts} part(s), there is no part {part}")]
    NoSuchPart {
        /// The part that was asked for.
        part: usize,
        /// How many there are.
        parts: usize,
    },
    /// The client could not be written to.
    #[error("cannot write to the client: {0}")]
    Output(#[from] io::Error),
}

/// Plays one part of a recording until it ends or the client goes. The part is held in memory.
///
/// `input` is read on a thread of its own, so that Stop is noticed during a pause; that thread ends
/// when `input` does, which may be after this returns.
pub fn play<I>(
    trace: impl BufRead,
    input: I,
    output: impl Write,
    options: ReplayOptions,
) -> Result<ReplayEnd, ReplayError>
where
    I: BufRead + Send + 'static,
{
    let script = script::Script::read(trace, options.part)?;
    let mailbox = client::Mailbox::open(input);
    player::Player::new(script, mailbox, output, pace::Pace::new(options.speed)).play()
}

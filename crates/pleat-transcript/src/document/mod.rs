//! The transcript document: the fold's input, and the form of export and import without loss (docs/spec/fold.md, "Input").
//!
//! Reading is strict about what we name (a wrong type, word or id is an error with its JSON path) and keeps what we do
//! not: unknown keys stand in `extra` and are written again. An object of ours without an `extra` (`context`, `lines`,
//! `window`) leaves its unknown keys in the `extra` of the object it stands in, under its own name; what stands beside
//! the call in a part is in the call's `extra` under [`PART_KEYS`]. Prompts that wait, and what was chosen in a session, are
//! read leniently: a value of another shape is a foreign one. Writing leaves out what is absent, null, empty or false, so
//! exporting what was imported gives the same bytes.

mod error;
mod fields;
mod import;
mod read;
mod waiting;
mod words;
mod write;

pub use error::{DocumentError, Problem};
pub use read::{
    attachment_from_json, call_from_json, message_from_json, part_from_json, session_from_json, turn_from_json,
};
pub use waiting::{chosen_from_json, chosen_to_json};
pub use words::{PartType, Role};
pub use write::{call_to_json, media_to_json, message_to_json, part_to_json, session_to_json, turn_to_json};

use crate::ids::MessageId;
use crate::message::{JsonObject, Message};
use crate::session::Session;

/// Where a call's `extra` keeps the unknown keys of the part that holds the call.
pub const PART_KEYS: &str = "$part";

/// A whole session.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The session and its turns.
    pub session: Session,
    /// All messages in `seq` order; never sorted by time.
    pub messages: Vec<Message>,
    /// The window that the document asks for.
    pub window: Window,
    /// Keys that are not ours, kept for the export.
    pub extra: JsonObject,
}

impl Document {
    /// A document with no messages.
    pub fn new(session: Session) -> Self {
        Self { session, messages: Vec::new(), window: Window::Latest, extra: JsonObject::new() }
    }
}

/// Which part of a session is shown (docs/spec/fold.md, section 1).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Window {
    /// The newest messages.
    #[default]
    Latest,
    /// With this message in the middle.
    At(MessageId),
    /// The page before the window that this message is the first of.
    Earlier(MessageId),
    /// The page after the window that this message is the last of.
    Later(MessageId),
    /// Exactly this range.
    Range {
        /// Its first message.
        from: MessageId,
        /// Its last message.
        to: MessageId,
    },
}

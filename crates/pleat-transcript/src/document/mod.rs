//! The transcript document: the fold's input, and the form of export and import without loss (spec/fold.md, "Input").

use crate::ids::MessageId;
use crate::message::{JsonObject, Message};
use crate::session::Session;

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

/// Which part of a session is shown (spec/fold.md, section 1).
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

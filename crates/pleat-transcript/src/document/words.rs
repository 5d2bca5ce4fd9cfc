//! The words that say what an object is: `role` of a message, `type` of a part.

use crate::message::{Body, MediaKind};
use crate::session::word_of;

/// A message's `role`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// `user`
    User,
    /// `assistant`
    Assistant,
    /// `tool`
    Tool,
    /// `plan`
    Plan,
    /// `notice`
    Notice,
}

impl Role {
    /// All, with the word of the document for each.
    pub const WORDS: [(Self, &'static str); 5] = [
        (Self::User, "user"),
        (Self::Assistant, "assistant"),
        (Self::Tool, "tool"),
        (Self::Plan, "plan"),
        (Self::Notice, "notice"),
    ];

    pub(super) fn of(body: &Body) -> Self {
        match body {
            Body::User(_) => Self::User,
            Body::Assistant(_) => Self::Assistant,
            Body::Tool(_) => Self::Tool,
            Body::Plan(_) => Self::Plan,
            Body::Notice(_) => Self::Notice,
        }
    }

    pub(super) fn word(self) -> &'static str {
        word_of(&Self::WORDS, &self)
    }
}

/// A part's `type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartType {
    /// `thinking`
    Thinking,
    /// `text`
    Text,
    /// `call`
    Call,
    /// `image`, `audio` or `resource`
    Media(MediaKind),
}

impl PartType {
    /// All, with the word of the document for each.
    pub const WORDS: [(Self, &'static str); 6] = [
        (Self::Thinking, "thinking"),
        (Self::Text, "text"),
        (Self::Call, "call"),
        (Self::Media(MediaKind::Image), "image"),
        (Self::Media(MediaKind::Audio), "audio"),
        (Self::Media(MediaKind::Resource), "resource"),
    ];

    pub(super) fn word(self) -> &'static str {
        word_of(&Self::WORDS, &self)
    }
}

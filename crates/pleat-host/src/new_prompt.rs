//! A prompt as a face hands it over.

use pleat_transcript::message::Media;

/// A prompt as a face hands it over.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NewPrompt {
    /// As typed.
    pub text: String,
    /// Images, audio, files and links, in order.
    pub attachments: Vec<Media>,
    /// The same key again is the same prompt: it is taken once.
    pub key: Option<String>,
}

impl NewPrompt {
    /// A prompt that is nothing but text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// With a key of the client's.
    #[must_use]
    pub fn with_key(self, key: Option<String>) -> Self {
        Self { key, ..self }
    }
}

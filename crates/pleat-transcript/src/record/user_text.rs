//! User messages that the agent sends: the prompt's echo, and what it injects (docs/spec/record.md, Text 5).

use super::{SessionRecord, Step};
use crate::change::{Change, MessageUpdate};
use crate::ids::MessageId;
use crate::message::{Body, Media, Origin, User};

/// The user message that chunks are being gathered into.
#[derive(Debug, Clone, Default)]
pub(super) struct UserText {
    gathered: Option<Gathered>,
    /// The prompt just sent, until its echo came or something else was gathered.
    echo: Option<String>,
}

#[derive(Debug, Clone)]
struct Gathered {
    id: Option<String>,
    shown: Shown,
}

#[derive(Debug, Clone)]
enum Shown {
    /// So far it only repeats the beginning of the prompt.
    MaybeEcho(String),
    /// It is a message.
    As(MessageId),
}

impl UserText {
    pub(super) fn expect_echo(&mut self, prompt: String) {
        self.gathered = None;
        self.echo = Some(prompt);
    }

    /// Whether a chunk with this id goes on with what is gathered: the ids are the same, or none has one.
    fn goes_on(&self, id: Option<&String>) -> bool {
        self.gathered.as_ref().is_some_and(|gathered| gathered.id.as_ref() == id)
    }
}

impl SessionRecord {
    pub(super) fn user_text(&mut self, text: &str, id: Option<String>, step: &mut Step<'_>) {
        if text.is_empty() {
            return;
        }
        if !self.user_text.goes_on(id.as_ref()) {
            self.end_user_text(step);
            let maybe_echo = self.user_text.echo.is_some() && !self.replaying;
            if !maybe_echo && text.trim().is_empty() {
                return;
            }
            let shown = if maybe_echo {
                Shown::MaybeEcho(String::new())
            } else {
                Shown::As(self.open_user_message(text.to_owned(), step))
            };
            self.user_text.gathered = Some(Gathered { id, shown });
            if !maybe_echo {
                return;
            }
        }
        self.gather(text, step);
    }

    fn gather(&mut self, text: &str, step: &mut Step<'_>) {
        let Some(gathered) = &mut self.user_text.gathered else { return };
        match &mut gathered.shown {
            Shown::As(message) => {
                let update = MessageUpdate { append_text: Some(text.to_owned()), ..MessageUpdate::default() };
                step.push(Change::UpdateMessage { message: message.clone(), update });
            }
            Shown::MaybeEcho(so_far) => {
                so_far.push_str(text);
                let prompt = self.user_text.echo.as_deref().unwrap_or_default();
                if so_far == prompt {
                    // The echo is whole. It may come once.
                    self.user_text.echo = None;
                    self.user_text.gathered = None;
                } else if !prompt.starts_with(so_far.as_str()) {
                    self.show_gathered(step);
                }
            }
        }
    }

    /// What looked like an echo is none: it becomes a message.
    fn show_gathered(&mut self, step: &mut Step<'_>) {
        let Some(mut gathered) = self.user_text.gathered.take() else { return };
        if let Shown::MaybeEcho(text) = &gathered.shown {
            gathered.shown = Shown::As(self.open_user_message(text.clone(), step));
        }
        self.user_text.gathered = Some(gathered);
    }

    pub(super) fn user_media(&mut self, media: Media, id: Option<String>, step: &mut Step<'_>) {
        if self.user_text.echo.is_some() && !self.replaying {
            // Attachments of the echoed prompt are stored with the prompt.
            return;
        }
        if !self.user_text.goes_on(id.as_ref()) {
            self.end_user_text(step);
            let message = self.open_user_message(String::new(), step);
            self.user_text.gathered = Some(Gathered { id, shown: Shown::As(message) });
        }
        if let Some(Gathered { shown: Shown::As(message), .. }) = &self.user_text.gathered {
            let update = MessageUpdate { append_attachments: vec![media], ..MessageUpdate::default() };
            step.push(Change::UpdateMessage { message: message.clone(), update });
        }
    }

    /// Something else came: what was gathered is whole.
    pub(super) fn end_user_text(&mut self, step: &mut Step<'_>) {
        let unfinished_echo = matches!(
            &self.user_text.gathered,
            Some(Gathered { shown: Shown::MaybeEcho(text), .. }) if !text.trim().is_empty()
        );
        if unfinished_echo {
            self.show_gathered(step);
        }
        self.user_text.gathered = None;
    }

    fn open_user_message(&mut self, text: String, step: &mut Step<'_>) -> MessageId {
        if self.replaying {
            self.open_replayed_turn(step);
        } else {
            self.end_round(None, step);
        }
        let origin = if self.replaying { Origin::Typed } else { Origin::Agent };
        let turn = self.turns.active().id.clone();
        let user = User { text, lead: false, origin: Some(origin), attachments: Vec::new() };
        step.insert_message(turn, Body::User(user))
    }
}

//! The pieces that a page's rows are printed in, in the order of the transcript: each text, each call, each notice.
//!
//! A row grows and a text that was a reply becomes the narration of a tool round; a piece stays what it is. So what was
//! printed is known by its pieces.

use super::page::Page;
use crate::plain_text::{media_words, notice_mark};
use pleat_transcript::call::Call;
use pleat_transcript::ids::{CallId, MessageId};
use pleat_transcript::message::{Body, Message, NoticeLevel, Origin, Part, Plan, RoundState};
use pleat_transcript::rows::{ActivityRow, CallRow, Children, Progress, Round, RoundError, Row};
use std::borrow::Cow;
use std::collections::HashMap;

/// Names a piece in its session.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// A text, thinking or medium: its message, and which one it is of those there.
    Part(MessageId, usize),
    /// A message that is one piece.
    Message(MessageId),
    /// The error of a message.
    Error(MessageId),
    Call(CallId),
    /// A plan, by its place.
    Plan(MessageId),
}

/// What is printed as one.
pub(super) struct Piece<'p> {
    pub(super) key: Key,
    /// The top-level message that shows it.
    pub(super) owner: &'p MessageId,
    /// The calls that it stands inside of, the outermost first.
    pub(super) inside: Vec<Parent<'p>>,
    pub(super) content: Content<'p>,
}

/// A sub-agent's call around a piece.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parent<'p> {
    pub(super) call: &'p CallId,
    pub(super) label: &'p str,
}

/// What a piece says.
pub(super) enum Content<'p> {
    /// What the agent says. `grows`: more may come.
    Text {
        text: &'p str,
        grows: bool,
    },
    Thinking {
        text: &'p str,
        grows: bool,
    },
    /// Lines behind a mark.
    Block {
        mark: &'static str,
        text: Cow<'p, str>,
        level: NoticeLevel,
    },
    /// `call`: with what is stored of it.
    Call {
        row: &'p CallRow,
        call: Option<&'p Call>,
    },
    Plan {
        plan: &'p Plan,
        progress: Option<Progress>,
    },
}

/// The pieces of a page.
pub(super) fn pieces(page: &Page) -> Vec<Piece<'_>> {
    let mut calls = HashMap::new();
    let mut messages = HashMap::new();
    for message in page.excerpt.messages() {
        messages.insert(&message.id, message);
        if let Body::Assistant(round) = &message.body {
            calls.extend(round.calls().map(|call| (&call.id, call)));
        }
    }
    let mut gathering = Gathering { page, messages, calls, pieces: Vec::new() };
    for row in &page.rows.rows {
        match row {
            Row::Message(row) => gathering.message(&row.message, &row.id),
            Row::Activity(row) => gathering.activity(row),
            Row::Plan(row) => gathering.plan(&row.message, &row.id, row.progress),
            Row::Notice(row) => gathering.message(&row.message, &row.id),
        }
    }
    gathering.pieces
}

struct Gathering<'p> {
    page: &'p Page,
    messages: HashMap<&'p MessageId, &'p Message>,
    calls: HashMap<&'p CallId, &'p Call>,
    pieces: Vec<Piece<'p>>,
}

/// Where a piece stands.
#[derive(Clone)]
struct Place<'p> {
    owner: &'p MessageId,
    inside: Vec<Parent<'p>>,
}

impl<'p> Gathering<'p> {
    fn push(&mut self, key: Key, place: &Place<'p>, content: Content<'p>) {
        self.pieces.push(Piece { key, owner: place.owner, inside: place.inside.clone(), content });
    }

    fn push_block(&mut self, key: Key, place: &Place<'p>, mark: &'static str, text: impl Into<Cow<'p, str>>) {
        self.push(key, place, Content::Block { mark, text: text.into(), level: NoticeLevel::Info });
    }

    fn message(&mut self, id: &'p MessageId, owner: &'p MessageId) {
        let Some(message) = self.messages.get(id).copied() else { return };
        let place = Place { owner, inside: Vec::new() };
        match &message.body {
            // Who typed a prompt knows it.
            Body::User(user) if user.origin == Some(Origin::Agent) => {
                self.push_block(Key::Message(id.clone()), &place, "you ›", &*user.text);
            }
            Body::User(_) | Body::Plan(_) => {}
            Body::Assistant(round) => {
                self.said(message, &place);
                if let Some(error) = &round.error {
                    self.error(id, error, &place);
                }
            }
            Body::Tool(result) => self.push_block(Key::Message(id.clone()), &place, "result ·", &*result.text),
            Body::Notice(notice) => {
                let (mark, text) = (notice_mark(notice.level), Cow::Borrowed(&*notice.text));
                self.push(Key::Message(id.clone()), &place, Content::Block { mark, text, level: notice.level });
            }
        }
    }

    /// What was said in a round, and shown.
    fn said(&mut self, message: &'p Message, place: &Place<'p>) {
        let Body::Assistant(round) = &message.body else { return };
        let may_grow = round.state == Some(RoundState::Streaming)
            && message.turn.is_some()
            && message.turn == self.page.session().live_turn
            && !self.page.is_over;
        let parts = round.parts.iter().enumerate().filter(|(_, part)| !matches!(part, Part::Call(_)));
        for (number, (at, part)) in parts.enumerate() {
            // Text that goes on is the last thing in its round: a call ends it.
            let grows = may_grow && at + 1 == round.parts.len();
            let key = Key::Part(message.id.clone(), number);
            match part {
                Part::Text(said) => self.push(key, place, Content::Text { text: &said.text, grows }),
                Part::Thinking(thought) => self.push(key, place, Content::Thinking { text: &thought.text, grows }),
                Part::Media(media) => self.push_block(key, place, "", media_words(media)),
                Part::Call(_) => {}
            }
        }
    }

    fn activity(&mut self, row: &'p ActivityRow) {
        for round in &row.rounds {
            let place = Place { owner: &round.message, inside: Vec::new() };
            self.round(round, &place, &row.errors);
        }
    }

    fn round(&mut self, round: &'p Round, place: &Place<'p>, errors: &'p [RoundError]) {
        if let Some(message) = self.messages.get(&round.message).copied() {
            self.said(message, place);
        }
        for row in &round.calls {
            let call = self.calls.get(&row.id).copied();
            if let Some(children) = &row.children {
                self.children(children, row, place);
            }
            self.push(Key::Call(row.id.clone()), place, Content::Call { row, call });
        }
        for error in errors.iter().filter(|error| error.message == round.message) {
            self.error(&error.message, &error.text, place);
        }
    }

    /// What stands inside a call comes before it: a call is printed when it has ended.
    fn children(&mut self, children: &'p Children, row: &'p CallRow, place: &Place<'p>) {
        let mut inside = place.clone();
        inside.inside.push(Parent { call: &row.id, label: &row.label });
        for round in &children.rounds {
            self.round(round, &inside, &children.errors);
        }
    }

    fn error(&mut self, message: &MessageId, text: &'p str, place: &Place<'p>) {
        let content = Content::Block { mark: "error !", text: Cow::Borrowed(text), level: NoticeLevel::Error };
        self.push(Key::Error(message.clone()), place, content);
    }

    fn plan(&mut self, message: &'p MessageId, owner: &'p MessageId, progress: Option<Progress>) {
        if let Some(Body::Plan(plan)) = self.messages.get(message).map(|message| &message.body) {
            let place = Place { owner, inside: Vec::new() };
            self.push(Key::Plan(owner.clone()), &place, Content::Plan { plan, progress });
        }
    }
}

//! One window of a session, and the little that its rows need from outside it.
//!
//! Whoever keeps the [`Outline`](super::Outline) of a session can read an excerpt by index seeks alone: what is shown by
//! the window's top-level messages, the plans among them, and what stands next to the window. [`excerpt`] does it with a
//! whole session at hand and says what is right.

use super::index::Index;
use super::outline::{Makes, MessageOutline, Outline, TopLevel, outline};
use super::{FoldError, draw, places, plans, window};
use crate::document::{Document, Window};
use crate::ids::{CallId, MessageId, TurnId};
use crate::message::{Body, Message, Part, RoundState};
use crate::rows::RowsDocument;
use crate::session::Session;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;

/// One window of a session, and what its rows need from outside it.
#[derive(Debug, Clone, PartialEq)]
pub struct Excerpt {
    /// The session, and in `seq` order each message that the window's top-level messages show, themselves and calls at
    /// any depth, and results that travel with them, in the part that the window shows: see [`keep_shown`]. Of the
    /// session's turns it needs to hold only those that the messages name, the live one and the newest.
    pub document: Document,
    /// Messages that the window shows themselves, and from which [`keep_shown`] took calls.
    pub lost_calls: BTreeSet<MessageId>,
    /// Plans of the window that make no row: those that make [`Makes::Nothing`].
    pub superseded_plans: BTreeSet<MessageId>,
    /// By the first message of a plan, in the window: its newest message, where that lies behind the window.
    pub plan_contents: BTreeMap<MessageId, Message>,
    /// What stands around the window.
    pub around: Around,
}

/// What stands before and behind a window. Around a whole session there is nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Around {
    /// How many top-level messages lie before the window.
    pub before: usize,
    /// How many top-level messages lie behind the window.
    pub after: usize,
    /// The first message of the run of the window's first round, where it lies before the window: the last one that
    /// starts a run, seen from that round, where it does not start one itself.
    pub run_start: Option<MessageId>,
    /// The run of the window's last round goes on behind it: the first message behind the window that makes anything
    /// is a round that starts no run. Without a round in the window it says nothing.
    pub run_goes_on: bool,
    /// No run of the window can be at work, since behind the window a round starts a run, or stands a finished reply
    /// (docs/spec/fold.md, fold 5.live).
    pub followed: bool,
}

impl Excerpt {
    /// All its messages: those of the window in order, then the contents of plans from behind it.
    pub fn messages(&self) -> impl Iterator<Item = &Message> {
        self.document.messages.iter().chain(self.plan_contents.values())
    }
}

/// Folds an excerpt: the rows are those that [`fold`](super::fold) makes of the same window of the whole session.
pub fn fold_excerpt(excerpt: &Excerpt) -> RowsDocument {
    let index = Index::of_excerpt(&excerpt.document, &excerpt.lost_calls);
    let plans = plans::places_in_excerpt(&index, &excerpt.superseded_plans, &excerpt.plan_contents);
    let places = places::of(&index, plans);
    draw(&index, &places, &excerpt.document.session, 0..index.top_level_count(), &excerpt.around)
}

/// Reduces a message to the part of it that a window shows, and says whether calls were taken away.
///
/// Calls that are shown in the window stay; text, error and all else stay where the message `itself` is shown in it.
/// Calls of one message can be shown in different places, since each may name a parent of its own.
pub fn keep_shown(message: &mut Message, itself: bool, is_shown: impl Fn(&CallId) -> bool) -> bool {
    let Body::Assistant(assistant) = &mut message.body else { return false };
    let calls = assistant.calls().count();
    assistant.parts.retain(|part| match part {
        Part::Call(call) => is_shown(&call.id),
        Part::Thinking(_) | Part::Text(_) | Part::Media(_) => itself,
    });
    if !itself {
        assistant.error = None;
    }
    assistant.calls().count() < calls
}

/// The excerpt of one window of a whole transcript.
pub fn excerpt(document: &Document, window: &Window) -> Result<Excerpt, FoldError> {
    let whole = Whole::of(document);
    let span = whole.span(window)?;
    let mut excerpt = whole.messages_in(&span);
    let held: BTreeSet<&MessageId> = excerpt.document.messages.iter().map(|message| &message.id).collect();
    let moved = whole.outline.plans.iter().filter(|plan| {
        held.contains(&document.messages[plan.first].id) && !held.contains(&document.messages[plan.newest].id)
    });
    let content = |number: usize| document.messages[number].clone();
    excerpt.plan_contents = moved.map(|plan| (content(plan.first).id, content(plan.newest))).collect();
    excerpt.around = whole.around(&span);
    Ok(excerpt)
}

/// A whole session and its outline.
struct Whole<'d> {
    document: &'d Document,
    outline: Outline<'d>,
    /// The top-level messages in order, by their place in the document, with what they make.
    top: Vec<(usize, Makes)>,
}

impl<'d> Whole<'d> {
    fn of(document: &'d Document) -> Self {
        let outline = outline(document);
        let messages = outline.messages.iter().enumerate();
        let top = messages.filter_map(|(number, message)| Some((number, message.top_level?.makes))).collect();
        Self { document, outline, top }
    }

    /// The position of the top-level message that shows the one at this place in the document.
    fn position(&self, number: usize) -> Option<usize> {
        let shown_by = self.outline.messages.get(number)?.shown_by;
        self.outline.messages.get(shown_by)?.top_level.map(|top_level| top_level.ordinal)
    }

    fn span(&self, window: &Window) -> Result<Range<usize>, FoldError> {
        let number = |id: &MessageId| self.document.messages.iter().position(|message| message.id == *id);
        let live = self.document.session.live_turn.is_some();
        window::span(window, self.top.len(), live, |id| Ok(number(id).and_then(|number| self.position(number))))
    }

    /// What a span shows, without what is known from outside it.
    fn messages_in(&self, span: &Range<usize>) -> Excerpt {
        let is_inside = |number: usize| self.position(number).is_some_and(|position| span.contains(&position));
        let calls = self.outline.calls.iter().filter(|call| is_inside(call.shown_by));
        let shown: HashSet<&CallId> = calls.map(|call| call.call).collect();
        let mut excerpt = Excerpt {
            document: Document::new(self.document.session.clone()),
            lost_calls: BTreeSet::new(),
            superseded_plans: BTreeSet::new(),
            plan_contents: BTreeMap::new(),
            around: Around::default(),
        };
        for (number, (message, outline)) in self.document.messages.iter().zip(&self.outline.messages).enumerate() {
            let itself = is_inside(number);
            if !itself && !holds_any(message, &shown) {
                continue;
            }
            let mut part = message.clone();
            if keep_shown(&mut part, itself, |id| shown.contains(id)) && itself {
                excerpt.lost_calls.insert(message.id.clone());
            }
            if is_superseded_plan(message, outline) {
                excerpt.superseded_plans.insert(message.id.clone());
            }
            excerpt.document.messages.push(part);
        }
        keep_turns(&mut excerpt.document.session, &excerpt.document.messages);
        excerpt
    }

    fn around(&self, span: &Range<usize>) -> Around {
        let (before, inside, behind) = (&self.top[..span.start], &self.top[span.clone()], &self.top[span.end..]);
        let starts_run = |(_, makes): &&(usize, Makes)| *makes == Makes::Round { starts_run: true };
        let makes_anything = |(_, makes): &&(usize, Makes)| *makes != Makes::Nothing;
        let goes_on = |place: Option<&(usize, Makes)>| {
            place.is_some_and(|(_, makes)| *makes == Makes::Round { starts_run: false })
        };
        // What begins the window and makes anything goes on from before, or nothing of the window does.
        let begun_before = goes_on(inside.iter().find(makes_anything));
        let run_start = before.iter().rev().find(starts_run).filter(|_| begun_before);
        Around {
            before: before.len(),
            after: behind.len(),
            run_start: run_start.map(|(number, _)| self.document.messages[*number].id.clone()),
            run_goes_on: goes_on(behind.iter().find(makes_anything)),
            followed: behind.iter().any(|place| starts_run(&place) || self.is_finished_reply(*place)),
        }
    }

    fn is_finished_reply(&self, (number, makes): (usize, Makes)) -> bool {
        match &self.document.messages[number].body {
            Body::Assistant(assistant) => makes == Makes::Row && assistant.state != Some(RoundState::Streaming),
            Body::User(_) | Body::Tool(_) | Body::Plan(_) | Body::Notice(_) => false,
        }
    }
}

/// Whether a message holds one of these calls.
fn holds_any(message: &Message, calls: &HashSet<&CallId>) -> bool {
    match &message.body {
        Body::Assistant(assistant) => assistant.calls().any(|call| calls.contains(&call.id)),
        Body::User(_) | Body::Tool(_) | Body::Plan(_) | Body::Notice(_) => false,
    }
}

fn is_superseded_plan(message: &Message, outline: &MessageOutline) -> bool {
    let makes_nothing = matches!(outline.top_level, Some(TopLevel { makes: Makes::Nothing, .. }));
    matches!(message.body, Body::Plan(_)) && makes_nothing
}

/// Keeps the turns that messages name, the live one and the newest.
fn keep_turns(session: &mut Session, messages: &[Message]) {
    let named = messages.iter().filter_map(|message| message.turn.as_ref());
    let newest = session.turns.last().map(|turn| turn.id.clone());
    let kept: HashSet<&TurnId> = named.chain(&session.live_turn).chain(&newest).collect();
    session.turns.retain(|turn| kept.contains(&turn.id));
}

//! What an agent says becomes messages (docs/spec/record.md): the reducer.
//!
//! [`SessionRecord`] holds what must be known of a session to place the next event: the turns that are open, one open
//! round for each sub-agent, the calls by the agent's ids, and the plans. [`SessionRecord::apply`] turns an [`Event`]
//! into [`Change`]s; nothing else in the house makes any. It is pure: time and ids come from outside, so a live, a
//! replayed and an imported session give the same transcript for the same input.
//!
//! One file for each chapter of the specification: `rounds` and `user_text` (Text), `calls`, `call_output` and
//! `permissions` (Calls), `plans`, `turns` (turns and the rest), `replay`, `reconcile` and `align` (what `session/load`
//! repeats).

mod align;
mod call_output;
mod call_state;
mod calls;
mod coalesce;
mod permissions;
mod plans;
mod rebuild;
mod reconcile;
mod replay;
mod rounds;
mod superseding;
mod turns;
mod user_text;

pub use call_output::count_lines;
pub use coalesce::coalesce;
pub use rebuild::Unstored;
pub use superseding::Superseding;

use crate::change::{Change, SessionUpdate};
use crate::document::Document;
use crate::event::{Event, RequestKey};
use crate::ids::{AgentCallId, CallId, IdSource, MessageId, SessionId, TurnId};
use crate::message::{Body, Message, Notice, NoticeLevel};
use crate::session::Millis;
use calls::{CallPlace, Calls};
use permissions::OpenRequest;
use replay::Replay;
use rounds::Lane;
use std::collections::BTreeMap;
use turns::Turns;
use user_text::UserText;

/// What must be known of a session to record what comes next. Rebuilt from a stored transcript by
/// [`SessionRecord::from_document`].
#[derive(Debug, Clone)]
pub struct SessionRecord {
    session: SessionId,
    turns: Turns,
    /// The open round of the agent itself (no parent) and of each sub-agent's call.
    lanes: BTreeMap<Option<CallId>, Lane>,
    calls: Calls,
    requests: BTreeMap<RequestKey, OpenRequest>,
    user_text: UserText,
    titled: bool,
    /// Collects a replay apart, until it is compared with what is stored.
    replay: Option<Box<Replay>>,
    /// This record collects a replay: user messages are prompts, and open turns.
    replaying: bool,
}

/// The changes of one event as they are made.
struct Step<'a> {
    at: Millis,
    ids: &'a mut dyn IdSource,
    changes: Vec<Change>,
}

impl Step<'_> {
    fn push(&mut self, change: Change) {
        self.changes.push(change);
    }

    fn insert_message(&mut self, turn: Option<TurnId>, body: Body) -> MessageId {
        let id = MessageId::from_source(self.ids);
        let extra = crate::message::JsonObject::new();
        let message = Message { id: id.clone(), turn, created_at: Some(self.at), body, extra };
        self.push(Change::InsertMessage(Box::new(message)));
        id
    }
}

impl SessionRecord {
    /// The record of a session in which nothing was said yet.
    pub fn new(session: SessionId) -> Self {
        Self {
            session,
            turns: Turns::default(),
            lanes: BTreeMap::new(),
            calls: Calls::default(),
            requests: BTreeMap::new(),
            user_text: UserText::default(),
            titled: false,
            replay: None,
            replaying: false,
        }
    }

    /// What is to be stored because of an event at a time.
    ///
    /// Between [`Event::ReplayBegins`] and [`SessionRecord::finish_replay`], what the agent says is collected and
    /// changes nothing.
    pub fn apply(&mut self, event: Event, at: Millis, ids: &mut dyn IdSource) -> Vec<Change> {
        if let Some(replay) = &mut self.replay
            && replay::is_replayed(&event)
        {
            replay.collect(event, at, ids);
            return Vec::new();
        }
        let mut step = Step { at, ids, changes: Vec::new() };
        self.dispatch(event, &mut step);
        step.changes
    }

    /// Compares what was replayed with what is stored, and says what is to be added (docs/spec/record.md, "the rest" 5).
    /// With no replay under way it does nothing.
    pub fn finish_replay(&mut self, stored: &Document, at: Millis, ids: &mut dyn IdSource) -> Vec<Change> {
        let Some(replay) = self.replay.take() else { return Vec::new() };
        let mut step = Step { at, ids, changes: Vec::new() };
        let replayed = replay.finish(&mut step);
        let added = reconcile::reconcile(stored, &replayed);
        self.adopt(&added);
        step.changes.extend(added);
        step.changes
    }

    /// Whether a replay is being collected.
    pub fn is_replaying(&self) -> bool {
        self.replay.is_some()
    }

    /// Whether anything was ever asked.
    pub fn has_turns(&self) -> bool {
        self.turns.active().id.is_some()
    }

    /// The turn that is running.
    pub fn live_turn(&self) -> Option<&TurnId> {
        self.turns.live()
    }

    fn dispatch(&mut self, event: Event, step: &mut Step<'_>) {
        if !matches!(event, Event::UserText { .. } | Event::UserMedia { .. } | Event::Context(_) | Event::Title(_)) {
            self.end_user_text(step);
        }
        match event {
            Event::Prompt { prompt, text, attachments } => self.prompt(prompt, text, attachments, step),
            Event::PromptAnswered { prompt, answer } => self.prompt_answered(&prompt, answer, step),
            Event::CancelSent => self.turns.cancel_sent(),
            Event::Text(chunk) => self.text(chunk, step),
            Event::TextEnded { parent } => self.text_ended(parent.as_ref()),
            Event::Media { media, parent } => self.media(media, parent.as_ref(), step),
            Event::UserText { text, message_id } => self.user_text(&text, message_id, step),
            Event::UserMedia { media, message_id } => self.user_media(media, message_id, step),
            Event::Call(report) => self.call(*report, CallPlace::Mention, step),
            Event::PermissionAsked { request, report, options } => {
                self.permission_asked(request, *report, options, step);
            }
            Event::PermissionAnswered { request, outcome, by } => {
                self.permission_answered(&request, &outcome, by, step);
            }
            Event::Plan { entries } => self.plan_entries(entries, step),
            Event::Context(gauge) => {
                step.push(Change::UpdateSession(SessionUpdate { context: Some(gauge), ..SessionUpdate::default() }));
            }
            Event::Title(title) => self.title(title, step),
            Event::Notice { level, code, text } => self.notice(level, code, text, step),
            Event::AgentGone { reason, last_words } => self.agent_gone(reason.as_deref(), &last_words, step),
            Event::ReplayBegins => self.replay = Some(Box::new(Replay::begin(self.session.clone()))),
        }
    }

    fn title(&mut self, title: String, step: &mut Step<'_>) {
        if title.trim().is_empty() {
            return;
        }
        self.titled = true;
        step.push(Change::UpdateSession(SessionUpdate { title: Some(title), ..SessionUpdate::default() }));
    }

    fn notice(&mut self, level: NoticeLevel, code: &str, text: String, step: &mut Step<'_>) {
        self.end_round(None, step);
        let turn = self.turns.active().id.clone();
        self.turns.active_mut().said = true;
        step.insert_message(turn, Body::Notice(Notice { level, code: Some(code.to_owned()), text }));
    }

    /// Our id of the call that an agent's id names now.
    fn resolve(&self, agent_id: Option<&AgentCallId>) -> Option<CallId> {
        self.calls.newest(agent_id?).map(|call| call.call.id.clone())
    }
}

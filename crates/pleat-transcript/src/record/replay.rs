//! What an agent repeats after `session/load`, collected apart (docs/spec/record.md, "the rest" 5).

use super::turns::{TurnTrack, insert_turn};
use super::{SessionRecord, Step};
use crate::call::CallState;
use crate::change::{Change, TurnUpdate};
use crate::document::Document;
use crate::event::Event;
use crate::ids::{IdSource, SessionId, TurnId};
use crate::session::{Millis, Session, TurnState};

/// A replay under way: a session of its own, recorded as it comes.
#[derive(Debug, Clone)]
pub(super) struct Replay {
    record: SessionRecord,
    document: Document,
}

/// Whether an event belongs to a replay while one is under way. The rest is news even then.
pub(super) fn is_replayed(event: &Event) -> bool {
    match event {
        Event::Text(_)
        | Event::TextEnded { .. }
        | Event::Media { .. }
        | Event::UserText { .. }
        | Event::UserMedia { .. }
        | Event::Call(_)
        | Event::Plan { .. } => true,
        Event::Prompt { .. }
        | Event::PromptAnswered { .. }
        | Event::CancelSent
        | Event::PermissionAsked { .. }
        | Event::PermissionAnswered { .. }
        | Event::Context(_)
        | Event::Title(_)
        | Event::Notice { .. }
        | Event::AgentGone { .. }
        | Event::ReplayBegins => false,
    }
}

impl Replay {
    pub(super) fn begin(session: SessionId) -> Self {
        let mut record = SessionRecord::new(session.clone());
        record.replaying = true;
        Self { record, document: Document::new(Session::new(session)) }
    }

    pub(super) fn collect(&mut self, event: Event, at: Millis, ids: &mut dyn IdSource) {
        let changes = self.record.apply(event, at, ids);
        self.keep(&changes);
    }

    /// The replay is over: what it left open is closed.
    pub(super) fn finish(mut self, step: &mut Step<'_>) -> Document {
        let mut last = Step { at: step.at, ids: &mut *step.ids, changes: Vec::new() };
        self.record.end_user_text(&mut last);
        self.record.close_replayed_turn(&mut last);
        let changes = last.changes;
        self.keep(&changes);
        self.document
    }

    fn keep(&mut self, changes: &[Change]) {
        for change in changes {
            // They were made for this very document.
            let fits = self.document.apply(change);
            debug_assert!(fits.is_ok(), "{fits:?}");
        }
    }
}

impl SessionRecord {
    /// A replayed prompt opens a turn, and ends the one before.
    pub(super) fn open_replayed_turn(&mut self, step: &mut Step<'_>) {
        self.close_replayed_turn(step);
        let id = TurnId::from_source(step.ids);
        insert_turn(id.clone(), TurnState::Completed, step);
        self.turns.enter(TurnTrack::new(id, None, false));
    }

    fn close_replayed_turn(&mut self, step: &mut Step<'_>) {
        self.end_all_rounds(step);
        if let Some(turn) = self.turns.active().id.clone() {
            self.close_open_calls(&turn, CallState::Interrupted, step);
            let update = TurnUpdate { ended_at: Some(step.at), ..TurnUpdate::default() };
            step.push(Change::UpdateTurn { turn, update });
        }
    }
}

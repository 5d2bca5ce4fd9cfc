//! What an import changes of a document: nothing of it runs here (docs/spec/fold.md, "Input").

use super::Document;
use crate::call::{Call, CallState, PermissionState};
use crate::ids::TurnId;
use crate::message::{Body, Part, RoundState};
use crate::session::TurnState;
use std::collections::HashSet;

impl Document {
    /// Closes what the document left open, so that nothing of an imported session shows as running: its live turn and
    /// turns without an end become interrupted, and so do the unresolved calls of these turns; open questions expire
    /// and streaming rounds are complete. Doing it again changes nothing.
    pub fn prepare_import(&mut self) {
        let open_turns = self.close_turns();
        for message in &mut self.messages {
            let Body::Assistant(assistant) = &mut message.body else { continue };
            if assistant.state == Some(RoundState::Streaming) {
                assistant.state = Some(RoundState::Complete);
            }
            let was_open = message.turn.as_ref().is_some_and(|turn| open_turns.contains(turn));
            for part in &mut assistant.parts {
                if let Part::Call(call) = part {
                    close_call(call, was_open);
                }
            }
        }
    }

    /// Interrupts the turns that are open and returns their ids.
    fn close_turns(&mut self) -> HashSet<TurnId> {
        let mut open: HashSet<TurnId> = self.session.live_turn.take().into_iter().collect();
        for turn in &mut self.session.turns {
            if turn.state.is_open() || open.contains(&turn.id) {
                turn.state = TurnState::Interrupted;
                open.insert(turn.id.clone());
            }
        }
        open
    }
}

fn close_call(call: &mut Call, in_open_turn: bool) {
    if let Some(permission) = &mut call.permission
        && permission.state == Some(PermissionState::Open)
    {
        permission.state = Some(PermissionState::Expired);
    }
    if in_open_turn && call.state.is_unresolved() {
        call.state = CallState::Interrupted;
        call.closed_by_host = true;
    }
}

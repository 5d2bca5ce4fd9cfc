//! What an import changes of a document: nothing of it runs here (docs/spec/fold.md, "Input").

use super::{Document, chosen_to_json};
use crate::call::{Call, CallState, PermissionState};
use crate::ids::TurnId;
use crate::message::{Body, JsonObject, Part, RoundState};
use crate::session::TurnState;
use std::collections::HashSet;

/// Why a prompt is not sent by itself that waited when its session was exported.
const HELD: &str = "It was imported with its session. Send it or remove it.";

impl Document {
    /// Closes what the document left open, so that nothing of an imported session shows as running: its live turn and
    /// turns without an end become interrupted, and so do the unresolved calls of these turns; open questions expire
    /// and streaming rounds are complete. Prompts that wait are held, and what was chosen of the agent's modes and
    /// directories is kept under the key `imported` without being in force: nobody here asked for them. Doing it again
    /// changes nothing.
    pub fn prepare_import(&mut self) {
        self.set_grants_aside();
        for prompt in &mut self.session.waiting {
            prompt.held.get_or_insert_with(|| HELD.to_owned());
        }
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

    /// A document must not decide what an agent may do here: a mode can allow everything, a directory opens it.
    fn set_grants_aside(&mut self) {
        let session = &mut self.session;
        let mut aside = JsonObject::new();
        if !session.chosen.is_empty() {
            aside.insert("chosen".to_owned(), chosen_to_json(&std::mem::take(&mut session.chosen)));
        }
        if !session.directories.is_empty() {
            aside.insert("directories".to_owned(), std::mem::take(&mut session.directories).into());
        }
        if !aside.is_empty() {
            session.extra.insert("imported".to_owned(), aside.into());
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

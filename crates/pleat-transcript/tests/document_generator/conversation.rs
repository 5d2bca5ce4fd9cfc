//! Documents in which what belongs together stands together, as it does in real sessions: turns go on for a while and
//! still interleave, and calls name parents that stand near them. So runs of rounds, plans and sub-agents cross windows.

use super::{extra, message, numbered, session};
use pleat_transcript::document::{Document, Window};
use pleat_transcript::ids::{CallId, TurnId};
use pleat_transcript::message::{Body, Message, Part};
use proptest::collection::vec;
use proptest::prelude::*;

/// Of so many messages one begins another turn, on average.
const TURN_LENGTH: u32 = 8;

/// How far back a parent stands at most, in calls.
const REACH: usize = 8;

/// A conversation of at most so many messages.
pub(crate) fn conversation(most_messages: usize) -> BoxedStrategy<Document> {
    let switches = proptest::bool::weighted(1.0 / f64::from(TURN_LENGTH));
    let step = (message(), switches, 0..3 * REACH, proptest::bool::weighted(0.5));
    (session(), vec(step, 0..=most_messages), extra())
        .prop_map(|(session, steps, extra)| {
            let mut turn: Option<TurnId> = None;
            let mut messages = Vec::new();
            let mut distances = Vec::new();
            for (mut message, switches, distance, becomes_round) in steps {
                if switches || messages.is_empty() {
                    turn.clone_from(&message.turn);
                }
                message.turn.clone_from(&turn);
                distances.push((distance, becomes_round));
                messages.push(message);
            }
            let mut messages = numbered(messages);
            bring_parents_close(&mut messages, &distances);
            Document { session, messages, window: Window::Latest, extra }
        })
        .boxed()
}

/// Of each message, calls and results name a parent at its distance; two of three distances are too far for one.
fn bring_parents_close(messages: &mut [Message], distances: &[(usize, bool)]) {
    let mut known = 0;
    for (message, (distance, alone)) in messages.iter_mut().zip(distances) {
        let near = |known: usize, further: usize| {
            let back = distance + further;
            if back > REACH { None } else { CallId::new(format!("c{}", known.checked_sub(back + 1)?)).ok() }
        };
        match &mut message.body {
            Body::Tool(result) => result.call = near(known, 0).or(result.call.take()),
            Body::Assistant(assistant) => {
                assistant.parent = assistant.parent.take().and_then(|_| near(known, 0));
                for (further, part) in assistant.parts.iter_mut().enumerate() {
                    let Part::Call(call) = part else { continue };
                    // Some of a message's calls stand inside others, and some do not: it is shown in several places.
                    call.parent =
                        call.parent.take().filter(|_| !*alone || further > 0).and_then(|_| near(known, further));
                }
                known += assistant.calls().count();
            }
            Body::User(_) | Body::Plan(_) | Body::Notice(_) => {}
        }
    }
}

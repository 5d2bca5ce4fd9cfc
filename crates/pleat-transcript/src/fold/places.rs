//! What each top-level message makes (docs/spec/fold.md, section 2), decided over the whole session.

use super::index::{Index, shows_something};
use super::plans::{self, PlanPlace};
use crate::message::{Body, Message, RoundState};
use crate::rows::MessageRole;

/// What a top-level message makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// No row; and it ends no group.
    Nothing,
    /// No row, but it stands between what is before and after it: an emptied list.
    Emptied,
    /// A part of an activity row.
    Round,
    /// A reply without calls.
    Reply {
        /// More of it may come.
        streaming: bool,
    },
    /// A row for a user message or a result without its call.
    Message(MessageRole),
    /// A plan row, with the content of the message at this position.
    Plan {
        /// Where the content stands.
        content: usize,
    },
    /// A row for a notice.
    Notice,
}

/// The places of all top-level messages, in order.
pub(super) fn of(index: &Index) -> Vec<Place> {
    let plans = plans::places(index);
    let messages = index.all_top_level().zip(plans).enumerate();
    messages.map(|(position, (message, plan))| place(index, position, message, plan)).collect()
}

fn place(index: &Index, position: usize, message: &Message, plan: Option<PlanPlace>) -> Place {
    match &message.body {
        Body::User(_) => Place::Message(MessageRole::User),
        Body::Tool(_) => Place::Message(MessageRole::Tool),
        Body::Notice(_) => Place::Notice,
        Body::Plan(_) => match plan {
            Some(PlanPlace::Shown { content }) => Place::Plan { content },
            Some(PlanPlace::Emptied) => Place::Emptied,
            Some(PlanPlace::Superseded) | None => Place::Nothing,
        },
        Body::Assistant(_) if index.round_at(position).is_some() => Place::Round,
        Body::Assistant(assistant) if shows_something(assistant) => {
            Place::Reply { streaming: assistant.state == Some(RoundState::Streaming) }
        }
        Body::Assistant(_) => Place::Nothing,
    }
}

/// Whether a top-level message that is no plan makes a row.
pub(super) fn makes_row_of_its_own(message: &Message) -> bool {
    match &message.body {
        Body::User(_) | Body::Tool(_) | Body::Notice(_) => true,
        Body::Assistant(assistant) => shows_something(assistant),
        Body::Plan(_) => false,
    }
}

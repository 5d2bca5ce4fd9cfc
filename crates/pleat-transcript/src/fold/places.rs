//! What each top-level message makes (docs/spec/fold.md, section 2).

use super::index::{Index, shows_something};
use super::plans::PlanPlace;
use crate::message::{Body, Message, RoundState};
use crate::rows::MessageRole;

/// What a top-level message makes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place<'d> {
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
    /// A plan row, with the content of this message.
    Plan {
        /// The newest of its plan.
        content: &'d Message,
    },
    /// A row for a notice.
    Notice,
}

/// The places of all top-level messages, in order, from those of the plans among them.
pub(super) fn of<'d>(index: &Index<'d>, plans: Vec<Option<PlanPlace<'d>>>) -> Vec<Place<'d>> {
    let messages = index.all_top_level().zip(plans).enumerate();
    messages.map(|(position, (message, plan))| place(index, position, message, plan)).collect()
}

fn place<'d>(index: &Index<'d>, position: usize, message: &Message, plan: Option<PlanPlace<'d>>) -> Place<'d> {
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

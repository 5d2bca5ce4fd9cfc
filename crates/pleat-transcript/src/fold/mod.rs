//! Stored messages in, display rows out (docs/spec/fold.md).
//!
//! The way through: `index` finds which message stands inside which call, `plans` which plan is shown where,
//! `places` what each top-level message makes, `groups` which rounds belong together; all of it over the whole
//! session, so that no row depends on where a window ends. Then `window` picks a span, and `rows` draws it, with a
//! `summary` and a `headline` for each group and a [`label`] for each call. Everything is linear in the size of the session.

mod groups;
mod headline;
mod index;
pub mod label;
mod places;
mod plans;
mod rows;
mod summary;
mod text;
mod window;

use crate::document::{Document, Window};
use crate::ids::MessageId;
use crate::rows::{RowsDocument, WindowBounds};
use index::Index;

pub use window::{MOST_IN_RANGE, MOST_IN_WINDOW};

/// Why a document cannot be folded (docs/spec/fold.md, section 1).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FoldError {
    /// The window names a message that is not in the session.
    #[error("the window names message `{0}`, which is not in this session")]
    UnknownMessage(MessageId),
    /// The range ends before it begins.
    #[error("the window's range ends with message `{to}`, which stands before its first, `{from}`")]
    BackwardRange {
        /// Its first message.
        from: MessageId,
        /// Its last message.
        to: MessageId,
    },
    /// The range holds more than [`MOST_IN_RANGE`] top-level messages.
    #[error("the window's range from `{from}` to `{to}` holds {count} messages, more than {MOST_IN_RANGE}")]
    RangeTooLong {
        /// Its first message.
        from: MessageId,
        /// Its last message.
        to: MessageId,
        /// How many top-level messages it holds.
        count: usize,
    },
}

/// Folds one window of a whole transcript. The document's own window counts only where the caller passes it.
pub fn fold(document: &Document, window: &Window) -> Result<RowsDocument, FoldError> {
    let index = Index::of(document);
    let live_turn = document.session.live_turn.as_ref();
    let span = window::span(&index, window, live_turn.is_some())?;
    let id_at = |position: usize| index.top_level(position).map(|message| message.id.clone());
    let after = index.top_level_count().saturating_sub(span.end);
    let bounds = WindowBounds {
        first: if span.is_empty() { None } else { id_at(span.start) },
        last: if span.is_empty() { None } else { id_at(span.end - 1) },
        earlier: span.start > 0,
        later: after > 0,
        before: span.start,
        after,
    };
    let places = places::of(&index);
    let runs = groups::Runs::of(&index, &places, live_turn);
    let scene = rows::Scene { index: &index, places: &places, runs: &runs, session: &document.session };
    Ok(RowsDocument { rows: scene.rows(span), window: bounds })
}

/// The top-level messages of a session in order: those that windows count (docs/spec/fold.md, section 1).
pub fn top_level_messages(document: &Document) -> Vec<&MessageId> {
    let index = Index::of(document);
    index.all_top_level().map(|message| &message.id).collect()
}

//! Stored messages in, display rows out (docs/spec/fold.md).
//!
//! The way through: `index` finds which message stands inside which call, `plans` which plan is shown where,
//! `places` what each top-level message makes, `groups` which rounds belong together; all of it over the whole
//! session, so that no row depends on where a window ends. Then `window` picks a span, and `rows` draws it, with a
//! `summary` and a `headline` for each group and a [`label`] for each call. Everything is linear in the size of the session.
//!
//! Who does not have the whole session in memory keeps its [`Outline`], reads one window as an [`Excerpt`] and gets the
//! same rows from [`fold_excerpt`].

mod excerpt;
mod groups;
mod headline;
mod index;
pub mod label;
mod outline;
mod places;
mod plans;
mod rows;
mod summary;
mod text;
mod window;

use crate::document::{Document, Window};
use crate::ids::MessageId;
use crate::rows::{RowsDocument, WindowBounds};
use crate::session::Session;
use index::Index;
use places::Place;
use std::ops::Range;

pub use excerpt::{Around, Excerpt, excerpt, fold_excerpt, keep_shown};
pub use index::shows_something;
pub use outline::{CallOutline, Makes, MessageOutline, Outline, PlanOutline, TopLevel, outline};
pub use plans::{PlanIdentity, supersedes};
pub use text::is_blank;
pub use window::{MOST_IN_RANGE, MOST_IN_WINDOW, span};

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
    let live = document.session.live_turn.is_some();
    let span = window::span(window, index.top_level_count(), live, |id| Ok::<_, FoldError>(index.position_of(id)))?;
    let places = places::of(&index, plans::places(&index));
    Ok(draw(&index, &places, &document.session, span, &Around::default()))
}

/// The rows of a span of what is known of a session, and what stands around that.
fn draw(index: &Index, places: &[Place], session: &Session, span: Range<usize>, around: &Around) -> RowsDocument {
    let runs = groups::Runs::of(index, places, session.live_turn.as_ref(), around);
    let id_at = |position: usize| index.top_level(position).map(|message| message.id.clone());
    let (before, after) = (around.before + span.start, around.after + index.top_level_count().saturating_sub(span.end));
    let window = WindowBounds {
        first: if span.is_empty() { None } else { id_at(span.start) },
        last: if span.is_empty() { None } else { id_at(span.end - 1) },
        earlier: before > 0,
        later: after > 0,
        before,
        after,
    };
    let scene = rows::Scene { index, places, runs: &runs, session };
    RowsDocument { rows: scene.rows(span), window }
}

/// The top-level messages of a session in order: those that windows count (docs/spec/fold.md, section 1).
pub fn top_level_messages(document: &Document) -> Vec<&MessageId> {
    let index = Index::of(document);
    index.all_top_level().map(|message| &message.id).collect()
}

//! A window of the session, folded.

use pleat_store::StoredExcerpt;
use pleat_transcript::call::Call;
use pleat_transcript::fold::{Excerpt, fold_excerpt};
use pleat_transcript::ids::MessageId;
use pleat_transcript::rows::{Row, RowsDocument};
use pleat_transcript::session::Session;

/// A window of the session, folded.
pub(super) struct Page {
    pub(super) excerpt: Excerpt,
    pub(super) rows: RowsDocument,
    /// The calls that a person is asked about now, wherever they stand.
    pub(super) questions: Vec<Call>,
    /// The turn is over: nothing in it grows any more.
    pub(super) is_over: bool,
}

impl Page {
    pub(super) fn new(stored: StoredExcerpt, is_over: bool) -> Self {
        let StoredExcerpt { excerpt, questions, .. } = stored;
        Self { rows: fold_excerpt(&excerpt), excerpt, questions, is_over }
    }

    pub(super) fn session(&self) -> &Session {
        &self.excerpt.document.session
    }

    /// The top-level messages that make its rows.
    pub(super) fn top_level(&self) -> Vec<&MessageId> {
        let mut messages = Vec::new();
        for row in &self.rows.rows {
            match row {
                Row::Activity(row) => messages.extend(&row.messages),
                Row::Message(_) | Row::Plan(_) | Row::Notice(_) => messages.push(row.id()),
            }
        }
        messages
    }
}

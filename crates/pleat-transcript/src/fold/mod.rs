//! Stored messages in, display rows out (spec/fold.md).

use crate::document::{Document, Window};
use crate::ids::MessageId;
use crate::rows::RowsDocument;

/// Why a document cannot be folded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FoldError {
    /// The window names a message that is not in the session.
    #[error("the window names message `{0}`, which is not in this session")]
    UnknownMessage(MessageId),
}

/// Folds one window of a whole transcript.
pub fn fold(document: &Document, _window: &Window) -> Result<RowsDocument, FoldError> {
    let _ = document;
    Ok(RowsDocument { rows: vec![], window: crate::rows::WindowBounds { first: None, last: None, earlier: false, later: false, before: 0, after: 0 } })
}

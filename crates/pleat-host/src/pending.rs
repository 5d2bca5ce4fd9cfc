//! Changes that are not committed yet, and when they will be.

use pleat_transcript::change::Change;
use std::time::Duration;
use tokio::time::Instant;

/// Streaming text is committed at most this often (DESIGN.md, "Recording"); everything else at once.
const TEXT_INTERVAL: Duration = Duration::from_millis(50);

/// Changes that are not committed yet.
pub(crate) struct Pending {
    changes: Vec<Change>,
    urgent: bool,
    committed_at: Instant,
}

impl Pending {
    pub(crate) fn new() -> Self {
        Self { changes: Vec::new(), urgent: false, committed_at: Instant::now() }
    }

    pub(crate) fn add(&mut self, changes: Vec<Change>) {
        self.urgent |= changes.iter().any(is_urgent);
        self.changes.extend(changes);
    }

    /// Whether there is something that must not wait.
    pub(crate) fn is_urgent(&self) -> bool {
        self.urgent
    }

    /// When what is there must be committed.
    pub(crate) fn commit_at(&self) -> Option<Instant> {
        (!self.changes.is_empty()).then(|| self.committed_at + TEXT_INTERVAL)
    }

    /// Everything, to be committed now.
    pub(crate) fn take(&mut self) -> Vec<Change> {
        self.urgent = false;
        self.committed_at = Instant::now();
        std::mem::take(&mut self.changes)
    }
}

/// Whether a change is more than a text that grows.
fn is_urgent(change: &Change) -> bool {
    match change {
        Change::AppendText { .. } | Change::AppendOutput { .. } | Change::SetPartMessageId { .. } => false,
        Change::UpdateCall { update, .. } => update.state.is_some() || update.permission.is_some(),
        Change::UpdateSession(update) => update.live_turn.is_some(),
        Change::InsertTurn(_)
        | Change::UpdateTurn { .. }
        | Change::InsertMessage(_)
        | Change::UpdateMessage { .. }
        | Change::InsertPart { .. } => true,
    }
}

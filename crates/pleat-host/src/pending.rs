//! Changes that are not committed yet, and when they will be.

use pleat_store::Durability;
use pleat_transcript::change::Change;
use pleat_transcript::record::Superseding;
use pleat_transcript::session::Millis;
use std::time::Duration;
use tokio::time::Instant;

/// Streaming text is committed at most this often (ARCHITECTURE.md); everything else at once. It is paced here, and not
/// by the store ([`Durability::Stream`](pleat_store::Durability::Stream)): a session waits for each of its commits, and
/// what waited here must not wait there again.
const TEXT_INTERVAL: Duration = Duration::from_millis(50);

/// Changes that are not committed yet.
pub(crate) struct Pending {
    changes: Vec<Change>,
    urgent: bool,
    /// A person's deed is among them.
    persons: bool,
    /// Nothing waits any more.
    hurried: bool,
    committed_at: Instant,
    /// Values that supersede each other wait here.
    superseding: Superseding,
}

impl Pending {
    pub(crate) fn new() -> Self {
        Self {
            changes: Vec::new(),
            urgent: false,
            persons: false,
            hurried: false,
            committed_at: Instant::now(),
            superseding: Superseding::default(),
        }
    }

    pub(crate) fn add(&mut self, changes: Vec<Change>) {
        self.urgent |= changes.iter().any(is_urgent);
        self.changes.extend(changes);
    }

    /// What is there must survive a power cut.
    pub(crate) fn is_a_persons(&mut self) {
        self.persons = true;
    }

    /// What the next commit must survive: what it is made for, or what else is among it.
    pub(crate) fn durability(&self, asked: Durability) -> Durability {
        if self.persons { Durability::Person } else { asked }
    }

    /// Whether there is something that must not wait.
    pub(crate) fn is_urgent(&self) -> bool {
        self.urgent
    }

    /// When what is there must be committed; `now` is the time in milliseconds.
    pub(crate) fn commit_at(&self, now: Millis) -> Option<Instant> {
        let text = (!self.changes.is_empty()).then(|| self.committed_at + TEXT_INTERVAL);
        let superseding = self.superseding.due_at().map(|due| {
            let wait = u64::try_from(due - now).unwrap_or_default();
            Instant::now() + Duration::from_millis(wait)
        });
        text.into_iter().chain(superseding).min()
    }

    /// What is to be committed now.
    pub(crate) fn take(&mut self, now: Millis) -> Vec<Change> {
        self.urgent = false;
        self.persons = false;
        self.committed_at = Instant::now();
        let changes = std::mem::take(&mut self.changes);
        // What was hurried must not be made to wait again.
        if self.hurried { changes } else { self.superseding.take(changes, now) }
    }

    /// Lets nothing wait any more: what follows is the last commit.
    pub(crate) fn hurry(&mut self) {
        self.changes = self.superseding.take(std::mem::take(&mut self.changes), Millis::MAX);
        self.hurried = true;
    }
}

/// Whether a change is more than a text that grows.
fn is_urgent(change: &Change) -> bool {
    match change {
        Change::AppendText { .. } | Change::AppendOutput { .. } | Change::SetPartMessageId { .. } => false,
        Change::UpdateCall { update, .. } => update.state.is_some() || update.permission.is_some(),
        Change::UpdateSession(update) => {
            update.live_turn.is_some() || update.chosen.is_some() || update.directories.is_some()
        }
        Change::InsertTurn(_)
        | Change::UpdateTurn { .. }
        | Change::InsertMessage(_)
        | Change::UpsertPlan(_)
        | Change::UpdateMessage { .. }
        | Change::InsertPart { .. }
        | Change::QueuePrompt(_)
        | Change::UpdatePrompt { .. }
        | Change::RemovePrompt { .. } => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleat_transcript::change::CallUpdate;
    use pleat_transcript::ids::CallId;
    use serde_json::json;

    fn output(text: &str) -> Change {
        let update = CallUpdate { output: Some(vec![json!({"text": text})]), ..CallUpdate::default() };
        Change::UpdateCall { call: CallId::new("c").unwrap(), update: Box::new(update) }
    }

    /// A value that waits to be superseded is not lost with the last commit.
    #[test]
    fn what_is_hurried_is_committed() {
        let mut pending = Pending::new();
        pending.add(vec![output("x".repeat(100).as_str())]);
        assert_eq!(pending.take(1_000).len(), 1);
        let newer = output("y".repeat(100).as_str());
        pending.add(vec![newer.clone()]);
        assert_eq!(pending.take(1_001), []);
        pending.hurry();
        assert_eq!(pending.take(1_002), [newer]);
    }
}

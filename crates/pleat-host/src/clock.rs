//! The clock, and the ids that follow it: the only place of the host that asks for the time.

use pleat_transcript::ids::IdSource;
use pleat_transcript::session::Millis;
use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970.
pub(crate) fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// New ids: `UUIDv7` in text (ARCHITECTURE.md).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TimeOrderedIds;

impl IdSource for TimeOrderedIds {
    fn next_id(&mut self, _kind: char) -> String {
        uuid::Uuid::now_v7().to_string()
    }
}

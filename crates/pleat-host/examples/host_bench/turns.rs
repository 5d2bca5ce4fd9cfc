//! The overhead of a trivial turn: from the prompt until its end is seen in the store, with an agent that runs and
//! answers at once.

use super::figures::{milliseconds, percentile, print};
use super::house::House;
use super::{Outcome, replayed};
use std::path::Path;

/// Turns before the first that counts: the agent has opened its session, and every cache is warm.
const WARM_UP_TURNS: usize = 20;
const COUNTED_TURNS: usize = 500;

pub(crate) async fn measure(folder: &Path) -> Outcome<usize> {
    let trace = folder.join("trivial.jsonl");
    std::fs::write(&trace, replayed::trace_of(&[replayed::text("Done.")]))?;
    let house = House::open(folder, replayed::agent(&trace)?).await?;
    let session = house.new_session(folder).await?;
    for _ in 0..WARM_UP_TURNS {
        house.turn(&session).await?;
    }
    let mut took = Vec::new();
    for _ in 0..COUNTED_TURNS {
        took.push(house.turn(&session).await?);
    }
    print("turn_p50", milliseconds(percentile(&mut took, 50)), "ms");
    print("turn_p99", milliseconds(percentile(&mut took, 99)), "ms");
    house.close().await
}

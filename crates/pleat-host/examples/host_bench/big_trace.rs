//! The largest trace, 974 MB in 8,967 updates, through the whole host, with the replay agent as the child.

use super::calls::completed_calls;
use super::figures::print;
use super::house::House;
use super::watched_store::Note;
use super::{Outcome, process, replayed};
use pleat_transcript::ids::SessionId;
use pleat_transcript::session::TurnState;
use std::path::Path;
use std::time::Instant;

const TRACE: &str = "../pleat-acp/tests/traces/fast-agent-big-full.jsonl.zst";

/// Two commands, and a file that is written.
const CALLS: usize = 3;

pub(crate) async fn measure(folder: &Path) -> Outcome<usize> {
    let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join(TRACE);
    let mut house = House::open(folder, replayed::agent(&trace)?).await?;
    let session = house.new_session(folder).await?;
    let begun = Instant::now();
    turn(&mut house, &session).await?;
    print("big_trace_seconds", begun.elapsed().as_secs_f64(), "s");
    print("big_trace_read", process::megabytes_read()?, "MB");
    print("big_trace_cpu", process::cpu_seconds()?, "s");
    print("big_trace_peak_memory", process::peak_megabytes()?, "MB");
    let completed = completed_calls(&house.document(&session).await?);
    if completed != CALLS {
        return Err(format!("{completed} of {CALLS} calls were stored").into());
    }
    house.close().await
}

/// Allows what is asked, until the turn has ended.
async fn turn(house: &mut House, session: &SessionId) -> Outcome<()> {
    house.prompt(session).await?;
    loop {
        let commit = house.commits.recv().await.ok_or("the store is gone")?;
        for note in commit.notes {
            match note {
                Note::Asked { request, option } => house.host.answer(session, &request, &option).await?,
                Note::Ended(TurnState::Completed) => return Ok(()),
                Note::Ended(state) => return Err(format!("the turn has {}", state.word()).into()),
                Note::Written(_) => {}
            }
        }
    }
}

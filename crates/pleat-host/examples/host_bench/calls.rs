//! A turn of 3,000 calls, from the agent's stdio to the commit.

use super::figures::{milliseconds, percentile, print};
use super::house::House;
use super::{Outcome, replayed};
use pleat_transcript::call::CallState;
use pleat_transcript::document::Document;
use pleat_transcript::message::{Assistant, Body};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

const CALLS: usize = 3000;
/// `tool_call`, then two updates.
const EVENTS_PER_CALL: usize = 3;
/// The turn is played so often, each in a new database, and the median counts.
const TURNS: usize = 5;

pub(crate) async fn measure(folder: &Path) -> Outcome<usize> {
    let trace = folder.join("calls.jsonl");
    let updates: Vec<Value> = (0..CALLS).flat_map(call_updates).collect();
    std::fs::write(&trace, replayed::trace_of(&updates))?;
    let (mut took, mut left) = (Vec::new(), 0);
    for number in 0..TURNS {
        let folder = folder.join(number.to_string());
        std::fs::create_dir(&folder)?;
        let (time, processes) = turn(&folder, &trace).await?;
        took.push(time);
        left += processes;
    }
    let median = percentile(&mut took, 50);
    print("calls_took", milliseconds(median), "ms");
    let events = u32::try_from(CALLS * EVENTS_PER_CALL)?;
    print("events_per_second", f64::from(events) / median.as_secs_f64(), "events/s");
    Ok(left)
}

/// Tells how long it took, and how many processes it left.
async fn turn(folder: &Path, trace: &Path) -> Outcome<(Duration, usize)> {
    let house = House::open(folder, replayed::agent(trace)?).await?;
    let session = house.new_session(folder).await?;
    // The trace begins with a trivial turn, which opens the agent's session.
    house.turn(&session).await?;
    let took = house.turn(&session).await?;
    let completed = completed_calls(&house.document(&session).await?);
    let left = house.close().await?;
    if completed == CALLS { Ok((took, left)) } else { Err(format!("{completed} of {CALLS} calls were stored").into()) }
}

/// How many calls of a session have ended well.
pub(crate) fn completed_calls(document: &Document) -> usize {
    let rounds = document.messages.iter().filter_map(|message| match &message.body {
        Body::Assistant(round) => Some(round),
        Body::User(_) | Body::Tool(_) | Body::Plan(_) | Body::Notice(_) => None,
    });
    rounds.flat_map(Assistant::calls).filter(|call| call.state == CallState::Completed).count()
}

fn call_updates(number: usize) -> [Value; EVENTS_PER_CALL] {
    let id = format!("call-{number}");
    let path = format!("/workspace/src/file_{number}.rs");
    let text = format!("fn file_{number}() {{}}\n");
    [
        json!({
            "sessionUpdate": "tool_call", "toolCallId": id, "title": format!("Read src/file_{number}.rs"),
            "kind": "read", "status": "pending", "rawInput": {"path": path}, "locations": [{"path": path}],
        }),
        json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "in_progress"}),
        json!({
            "sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed",
            "content": [{"type": "content", "content": {"type": "text", "text": text}}],
        }),
    ]
}

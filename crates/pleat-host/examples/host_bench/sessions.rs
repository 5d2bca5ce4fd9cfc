//! Two hundred sessions at once, each with an agent process that says 50 things a second for 30 seconds.

use super::calls::completed_calls;
use super::figures::{percentile, print};
use super::house::House;
use super::watched_store::Note;
use super::{Outcome, process};
use pleat_host::Agent;
use pleat_transcript::document::Document;
use pleat_transcript::ids::SessionId;
use pleat_transcript::message::{Body, Part};
use pleat_transcript::session::TurnState;
use std::path::Path;
use std::time::{Instant, SystemTime};

const SESSIONS: usize = 200;
/// Of two seconds each.
const ROUNDS: usize = 15;
/// Texts in a round.
const TEXTS: usize = 98;
/// Texts, the beginning of a call and its end.
const EVENTS: usize = SESSIONS * ROUNDS * (TEXTS + 2);

/// A trivial turn opens the session; the second turn is the one that counts.
const SCRIPT: &str = r#"
open_session
hear session/prompt as opening
finish opening
hear session/prompt as prompt
repeat 15 {
    every 20ms for 1960ms { text "$i@$NOW " }
    sleep 20ms
    call "c$i" title="Look @$NOW" kind=read status=in_progress
    sleep 20ms
    call_update "c$i" status=completed output="found @$NOW"
}
finish prompt
listen
"#;

pub(crate) async fn measure(folder: &Path) -> Outcome<usize> {
    let script = folder.join("agent.script");
    std::fs::write(&script, SCRIPT)?;
    let program = scripted_agent::program();
    let mut agent = Agent::new("scripted", program.to_string_lossy());
    agent.args = vec![script.to_str().ok_or("the temporary folder's path is not UTF-8")?.to_owned()];
    let mut house = House::open(folder, agent).await?;
    let mut sessions = Vec::new();
    for number in 0..SESSIONS {
        let root = folder.join(number.to_string());
        std::fs::create_dir(&root)?;
        sessions.push(house.new_session(&root).await?);
    }
    turns_of_all(&mut house, &sessions).await?;
    let (begun, cpu) = (Instant::now(), process::cpu_seconds()?);
    let mut took = turns_of_all(&mut house, &sessions).await?;
    let seconds = begun.elapsed().as_secs_f64();
    print("sessions_seconds", seconds, "s");
    print("sessions_cpu", process::cpu_seconds()? - cpu, "s");
    // Before it reads everything again.
    print("sessions_peak_memory", process::peak_megabytes()?, "MB");
    print("sessions_line_to_commit_p50", f64::from(percentile(&mut took, 50)) / 1000.0, "ms");
    print("sessions_line_to_commit_p99", f64::from(percentile(&mut took, 99)) / 1000.0, "ms");
    print("sessions_line_to_commit_longest", f64::from(percentile(&mut took, 100)) / 1000.0, "ms");
    let mut stored = 0;
    for session in &sessions {
        stored += stored_events(&house.document(session).await?)?;
    }
    print("sessions_events_sent", EVENTS, "events");
    print("sessions_events_lost", EVENTS.abs_diff(stored), "events");
    house.close().await
}

/// Prompts all sessions at once, and waits until all have answered. Tells how long each line took until it was committed,
/// in microseconds.
async fn turns_of_all(house: &mut House, sessions: &[SessionId]) -> Outcome<Vec<u32>> {
    for session in sessions {
        house.prompt(session).await?;
    }
    let (mut took, mut running) = (Vec::new(), sessions.len());
    while running > 0 {
        let commit = house.commits.recv().await.ok_or("the store is gone")?;
        for note in commit.notes {
            match note {
                Note::Written(at) => took.push(microseconds_since(at, commit.at)?),
                Note::Ended(TurnState::Completed) => running -= 1,
                Note::Ended(state) => return Err(format!("a turn of {} has {}", commit.session, state.word()).into()),
                Note::Asked { .. } => return Err("an agent asks what its script does not".into()),
            }
        }
    }
    Ok(took)
}

fn microseconds_since(written: u64, committed: SystemTime) -> Outcome<u32> {
    let committed = u64::try_from(committed.duration_since(SystemTime::UNIX_EPOCH)?.as_micros())?;
    Ok(u32::try_from(committed.saturating_sub(written))?)
}

/// The times in a text: what stands after each `@`.
pub(crate) fn stamps(text: &str) -> impl Iterator<Item = u64> {
    text.split('@').skip(1).filter_map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok())
}

/// How many events of the turn are stored. They must stand in the order in which they were said, none twice.
fn stored_events(document: &Document) -> Outcome<usize> {
    let mut numbers = Vec::new();
    for message in &document.messages {
        match &message.body {
            Body::Assistant(round) => round.parts.iter().for_each(|part| match part {
                Part::Text(text) => numbers.extend(text.text.split_whitespace().map(number)),
                Part::Thinking(_) | Part::Call(_) | Part::Media(_) => {}
            }),
            Body::User(_) | Body::Tool(_) | Body::Plan(_) | Body::Notice(_) => {}
        }
    }
    let texts = numbers.len();
    let said = (0..ROUNDS).flat_map(|_| 0..TEXTS).map(Some);
    if texts == ROUNDS * TEXTS && !numbers.into_iter().eq(said) {
        return Err(format!("the texts of {} are not in order", document.session.id).into());
    }
    Ok(texts + 2 * completed_calls(document))
}

/// `7` of `7@1790000000000000`.
fn number(word: &str) -> Option<usize> {
    word.split_once('@')?.0.parse().ok()
}

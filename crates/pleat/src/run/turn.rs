//! One turn, from the prompt to its end.

use super::asking::{Asking, Party};
use super::face::Face;
use super::following::{Following, Seen};
use super::outcome::Outcome;
use super::stopping::Stage;
use crate::failure::Failure;
use pleat_host::{AgentState, LiveState};
use pleat_transcript::session::{Session, Turn};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// A reader follows no faster than this.
const PACE: Duration = Duration::from_millis(100);

/// Prints the turn that the session's prompt begins, until it is over.
pub(super) async fn follow(party: &Party<'_>, following: &mut Following, face: &mut Face) -> Result<Outcome, Failure> {
    let mut asking = Asking::new()?;
    // Subscribe first, then read: what is committed in between is seen as a change.
    let mut signals = party.host.signals(&party.session);
    let mut stage = party.stopper.stage();
    let (mut is_stale, mut not_before) = (true, Instant::now());
    loop {
        tokio::select! {
            () = sleep_until(not_before), if is_stale => {
                not_before = Instant::now() + PACE;
                is_stale = false;
                signals.mark_unchanged();
                if look(party, following, face, &mut asking).await? {
                    break;
                }
            }
            changed = signals.changed(), if !is_stale => {
                changed.map_err(|_| Failure::internal("the session cannot be followed any more"))?;
                is_stale = true;
            }
            // The stopper lives as long as its party.
            Ok(()) = stage.changed() => {
                is_stale = true;
                let stage = *stage.borrow_and_update();
                if asking.needed.is_none() {
                    face.screen.say(stage_words(stage));
                }
            }
            line = asking.typed() => {
                is_stale = true;
                asking.answer(line, party, face).await;
            }
        }
    }
    let seen = following.look_at_all(face).await?;
    Ok(Outcome { turn: seen.session.turns.last().cloned(), needed: asking.needed })
}

fn stage_words(stage: Stage) -> &'static str {
    match stage {
        Stage::No => "",
        Stage::Asked => "Stopping…; press Ctrl-C again to kill it",
        Stage::Forced => "Killing it…",
    }
}

/// Shows what is new and asks what is open; tells whether the turn is over.
async fn look(
    party: &Party<'_>,
    following: &mut Following,
    face: &mut Face,
    asking: &mut Asking,
) -> Result<bool, Failure> {
    // Before the transcript, which so is at least as new.
    let live = party.host.live(&party.session);
    let seen = if asking.is_open() { following.glance().await? } else { following.look(face).await? };
    let stage = *party.stopper.stage().borrow();
    if is_over(&seen.session, stage) {
        asking.close(stage, face);
        return Ok(true);
    }
    if is_let_go(&seen.session, &live) {
        return Err(Failure::internal(format!(
            "session {} could not be stored any further; what is stored is kept, and the log says more",
            party.session
        )));
    }
    asking.look(party, &seen, &live, face, &following.reader).await?;
    if !asking.is_open() {
        let status = status(&party.title, &seen, &live.0, stage);
        face.screen.show_status(&status);
    }
    Ok(false)
}

/// The turn has ended, or it was stopped before it began.
fn is_over(session: &Session, stage: Stage) -> bool {
    match session.turns.last() {
        Some(turn) => !turn.state.is_open(),
        None => stage != Stage::No && session.waiting.iter().all(|prompt| prompt.held.is_some()),
    }
}

/// Nobody works on what is not over: its actor could not store what it did.
fn is_let_go(session: &Session, (live, changes): &(LiveState, u64)) -> bool {
    let was_at_work = *changes > 0 && live.agent == AgentState::NotStarted;
    was_at_work && (session.live_turn.is_some() || session.waiting.iter().any(|prompt| prompt.held.is_none()))
}

/// What happens now, in one line.
fn status(title: &str, seen: &Seen, live: &LiveState, stage: Stage) -> String {
    if stage != Stage::No {
        return format!("{title} is stopping…");
    }
    match &live.agent {
        AgentState::Starting { says: Some(says), .. } => format!("{title} starts… ({says})"),
        AgentState::Starting { says: None, .. } | AgentState::NotStarted => format!("{title} starts…"),
        AgentState::NeedsLogin(_) | AgentState::Failed { .. } => String::new(),
        AgentState::Ready => seen.at_work.clone().map_or_else(|| format!("{title} is at work…"), |label| label + "…"),
    }
}

/// The turn as `--json` tells it.
pub(super) fn turn_json(turn: Option<&Turn>, code: u8) -> serde_json::Value {
    let turn = turn.map(|turn| {
        serde_json::json!({
            "id": turn.id.as_str(),
            "state": turn.state.word(),
            "stop_reason": turn.stop_reason,
            "usage": turn.usage,
        })
    });
    serde_json::json!({"turn": turn, "exit": code})
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleat_transcript::document::session_from_json;
    use serde_json::{Value, json};

    fn session(members: &Value) -> Session {
        let mut all = json!({"id": "s"});
        all.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        session_from_json(all).unwrap()
    }

    #[test]
    fn it_is_over_with_its_turn_or_stopped_before_it_began() {
        let waiting = |held: Value| session(&json!({"waiting": [{"id": "p", "text": "x", "held": held}]}));
        let turn = |state| session(&json!({"turns": [{"id": "t", "state": state}]}));
        for (session, stage, expected) in [
            (waiting(Value::Null), Stage::No, false),
            (waiting(Value::Null), Stage::Asked, false),
            (waiting(json!("Stop")), Stage::No, false),
            (waiting(json!("Stop")), Stage::Asked, true),
            (turn("running"), Stage::Forced, false),
            (turn("cancelled"), Stage::No, true),
            (turn("completed"), Stage::Asked, true),
        ] {
            assert_eq!(is_over(&session, stage), expected, "{session:?} {stage:?}");
        }
    }

    #[test]
    fn a_turn_that_nobody_works_on_any_more_is_noticed() {
        let live = session(&json!({"live_turn": "t", "turns": [{"id": "t", "state": "running"}]}));
        let waiting = session(&json!({"waiting": [{"id": "p", "text": "x"}]}));
        let over = session(&json!({"turns": [{"id": "t", "state": "failed"}]}));
        let state = |agent, changes| (LiveState { agent, ..LiveState::default() }, changes);
        for (session, state, expected) in [
            (&waiting, state(AgentState::NotStarted, 0), false),
            (&waiting, state(AgentState::NotStarted, 2), true),
            (&live, state(AgentState::Ready, 2), false),
            (&live, state(AgentState::NotStarted, 3), true),
            (&over, state(AgentState::NotStarted, 3), false),
        ] {
            assert_eq!(is_let_go(session, &state), expected, "{session:?} {state:?}");
        }
    }
}

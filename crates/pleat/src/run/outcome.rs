//! How a turn ended, as an exit code and a sentence.

use crate::failure::{Failure, Kind};
use pleat_transcript::session::{Turn, TurnState};

/// How it ended.
pub(super) struct Outcome {
    /// The turn; `None`: it never began.
    pub(super) turn: Option<Turn>,
    /// Why it was stopped, where it needed a person that was not there.
    pub(super) needed: Option<String>,
}

/// ACP's reason of a turn that the agent refused to go on with.
const REFUSAL: &str = "refusal";

impl Outcome {
    /// Nothing, or what went wrong: the exit code is told by it.
    pub(super) fn result(&self, title: &str, session: &str) -> Result<(), Failure> {
        if let Some(sentence) = &self.needed {
            return Err(Failure::new(Kind::NeedsPerson, sentence));
        }
        let stopped = || Failure::new(Kind::Stopped, format!("stopped; session {session} keeps what was done"));
        let Some(turn) = &self.turn else { return Err(stopped()) };
        match turn.state {
            TurnState::Completed if turn.stop_reason.as_deref() == Some(REFUSAL) => {
                let sentence = format!("{title} refused to go on; session {session} keeps what was said");
                Err(Failure::new(Kind::NeedsPerson, sentence))
            }
            TurnState::Completed => Ok(()),
            TurnState::Cancelled => Err(stopped()),
            TurnState::Failed => Err(Failure::user(format!("the turn failed; session {session} keeps what was said"))),
            TurnState::Interrupted | TurnState::Queued | TurnState::Running => {
                Err(Failure::user(format!("the turn was interrupted; session {session} keeps what was said")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleat_transcript::ids::TurnId;
    use pleat_transcript::message::JsonObject;

    fn ended(state: TurnState, stop_reason: &str) -> Outcome {
        let turn = Turn {
            id: TurnId::new("t").unwrap(),
            state,
            stop_reason: Some(stop_reason.to_owned()),
            started_at: None,
            ended_at: None,
            usage: None,
            extra: JsonObject::new(),
        };
        Outcome { turn: Some(turn), needed: None }
    }

    #[test]
    fn each_end_has_its_code() {
        let code = |outcome: &Outcome| outcome.result("The agent", "s").map_or_else(|failure| failure.code(), |()| 0);
        for (outcome, expected) in [
            (ended(TurnState::Completed, "end_turn"), 0),
            (ended(TurnState::Completed, "max_tokens"), 0),
            (ended(TurnState::Completed, "refusal"), 3),
            (ended(TurnState::Failed, "odd"), 1),
            (ended(TurnState::Interrupted, ""), 1),
            (ended(TurnState::Cancelled, "cancelled"), 130),
            (Outcome { turn: None, needed: None }, 130),
            (Outcome { needed: Some("a person".to_owned()), ..ended(TurnState::Cancelled, "cancelled") }, 3),
        ] {
            assert_eq!(code(&outcome), expected, "{:?}", outcome.turn);
        }
    }
}

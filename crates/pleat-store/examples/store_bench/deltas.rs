//! Change sets of one delta, from eight sessions at once, on any store.

use super::sample::{Outcome, message, session_id, text};
use pleat_store::{Durability, Store};
use pleat_transcript::change::Change;
use pleat_transcript::ids::MessageId;
use pleat_transcript::message::{Assistant, Body, RoundState};
use pleat_transcript::session::Session;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(crate) const SESSIONS: usize = 8;
pub(crate) const MESSAGES: usize = 10;
/// To each message.
pub(crate) const DELTAS: usize = 200;
pub(crate) const DELTA: &str = "some twenty letters ";

/// How many change sets there are.
#[allow(clippy::cast_precision_loss, reason = "a count")]
pub(crate) fn count() -> f64 {
    (SESSIONS * MESSAGES * DELTAS) as f64
}

/// Sessions with messages that nothing was said in yet.
pub(crate) async fn prepare(store: &dyn Store) -> Outcome<()> {
    for number in 0..SESSIONS {
        let session = session_id(&format!("deltas{number}"))?;
        store.create_session(Session::new(session.clone())).await?;
        let round = |number: usize| {
            let round = Assistant {
                parts: vec![text(String::new())],
                state: Some(RoundState::Streaming),
                ..Assistant::default()
            };
            Ok(Change::InsertMessage(Box::new(message(&format!("m{number}"), None, Body::Assistant(round))?)))
        };
        let changes = (0..MESSAGES).map(round).collect::<Outcome<Vec<_>>>()?;
        store.commit(session, changes, 1, Durability::Person).await?;
    }
    Ok(())
}

/// Each session waits for its commit before it makes the next, as an agent's does.
pub(crate) async fn run(store: &Arc<dyn Store>) -> Outcome<Duration> {
    let begun = Instant::now();
    let mut sessions = Vec::new();
    for number in 0..SESSIONS {
        let (store, session) = (Arc::clone(store), session_id(&format!("deltas{number}"))?);
        sessions.push(tokio::spawn(async move {
            for message in 0..MESSAGES {
                let message = MessageId::new(format!("m{message}")).map_err(|error| error.to_string())?;
                for _ in 0..DELTAS {
                    let delta = Change::AppendText { message: message.clone(), part: 0, text: DELTA.to_owned() };
                    let committed = store.commit(session.clone(), vec![delta], 2, Durability::Agent).await;
                    committed.map_err(|error| error.to_string())?;
                }
            }
            Ok::<(), String>(())
        }));
    }
    for session in sessions {
        session.await??;
    }
    Ok(begun.elapsed())
}

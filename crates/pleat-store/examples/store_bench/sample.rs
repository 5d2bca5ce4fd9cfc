//! What the figures are measured on: text with the frequencies of real text, and sessions of it.

use pleat_store::{Durability, Store};
use pleat_transcript::call::{Call, CallState};
use pleat_transcript::change::Change;
use pleat_transcript::ids::{CallId, MessageId, SessionId, TurnId};
use pleat_transcript::message::{Assistant, Body, JsonObject, Message, Part, RoundState, TextPart, User};
use pleat_transcript::session::{Session, Turn, TurnState};
use serde_json::json;
use std::error::Error;

pub(crate) type Outcome<T> = Result<T, Box<dyn Error>>;

/// Words by rank, the common ones often: the same at every run.
pub(crate) struct Words {
    state: u64,
}

/// So many different words there are.
const VOCABULARY: u64 = 20_000;

impl Words {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    fn random(&mut self) -> u64 {
        // SplitMix64.
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A word: that of rank n about 1/n as often as the first (Zipf).
    fn word(&mut self) -> String {
        #[allow(clippy::cast_precision_loss, reason = "a fraction")]
        let fraction = (self.random() >> 11) as f64 / (1_u64 << 53) as f64;
        #[allow(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a rank"
        )]
        let rank = ((VOCABULARY as f64).powf(fraction)) as u64;
        if rank == 1 {
            return "the".to_owned();
        }
        let mut mixed = rank.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 3;
        let length = 3 + (rank.ilog2() / 2) + u32::try_from(mixed % 3).unwrap_or_default();
        let mut word = String::new();
        for place in 0..length {
            let letters: &[u8] = if place % 2 == 0 { b"bcdfghklmnprstvwz" } else { b"aeiou" };
            let count = letters.len() as u64;
            word.push(char::from(letters[usize::try_from(mixed % count).unwrap_or_default()]));
            mixed /= count;
        }
        word
    }

    pub(crate) fn text(&mut self, words: usize) -> String {
        (0..words).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }
}

pub(crate) fn session_id(id: &str) -> Outcome<SessionId> {
    Ok(SessionId::new(id)?)
}

pub(crate) fn message(id: &str, turn: Option<TurnId>, body: Body) -> Outcome<Message> {
    Ok(Message { id: MessageId::new(id)?, turn, created_at: Some(1_790_000_000_000), body, extra: JsonObject::new() })
}

pub(crate) fn text(text: String) -> Part {
    Part::Text(TextPart { text, message_id: None, extra: JsonObject::new() })
}

/// Makes a session of so many messages: prompts, replies, and rounds of one call, as an agent at work makes them. Tells
/// how many bytes of text it holds.
pub(crate) async fn fill(store: &dyn Store, id: &str, messages: usize) -> Outcome<u64> {
    let session = session_id(id)?;
    let root = Some("/home/me/project".to_owned());
    store.create_session(Session { root, ..Session::new(session.clone()) }).await?;
    let mut words = Words::new(7);
    let (mut text_bytes, mut changes) = (0, Vec::new());
    let mut turn = TurnId::new("t")?;
    for number in 0..messages {
        if number.is_multiple_of(50) {
            turn = TurnId::new(format!("t{number}"))?;
            let ended = Turn {
                id: turn.clone(),
                state: TurnState::Completed,
                stop_reason: Some("end_turn".to_owned()),
                started_at: Some(1),
                ended_at: Some(2),
                usage: None,
                extra: JsonObject::new(),
            };
            changes.push(Change::InsertTurn(ended));
        }
        let (body, bytes) = body(number, &mut words)?;
        text_bytes += bytes;
        changes.push(Change::InsertMessage(Box::new(message(&format!("m{number}"), Some(turn.clone()), body)?)));
        if changes.len() >= 200 || number + 1 == messages {
            store.commit(session.clone(), std::mem::take(&mut changes), 1, Durability::Agent).await?;
        }
    }
    Ok(text_bytes)
}

fn body(number: usize, words: &mut Words) -> Outcome<(Body, u64)> {
    if number.is_multiple_of(50) {
        let text = words.text(40);
        let bytes = text.len() as u64;
        return Ok((Body::User(User { text, ..User::default() }), bytes));
    }
    let said = words.text(if number % 50 == 49 { 200 } else { 25 });
    let mut bytes = said.len() as u64;
    let mut parts = vec![text(said)];
    if number % 50 != 49 {
        let (command, output) = (words.text(12), words.text(90));
        bytes += (command.len() + output.len()) as u64;
        let title = format!("Run {}", words.text(3));
        bytes += title.len() as u64;
        parts.push(Part::Call(Box::new(Call {
            name: Some("Bash".to_owned()),
            kind_word: Some("execute".to_owned()),
            title: Some(title),
            state: CallState::Completed,
            input: Some(json!({"command": command})),
            output: vec![json!({"type": "content", "content": {"type": "text", "text": output}})],
            started_at: Some(1),
            ended_at: Some(2),
            announced: true,
            ..Call::new(CallId::new(format!("c{number}"))?)
        })));
    }
    Ok((Body::Assistant(Assistant { parts, state: Some(RoundState::Complete), ..Assistant::default() }), bytes))
}

/// The value at a fraction of sorted values.
pub(crate) fn quantile(values: &mut [f64], fraction: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
    let index = ((values.len() - 1) as f64 * fraction).round() as usize;
    values[index]
}

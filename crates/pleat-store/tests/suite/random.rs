//! Random lists of changes: the store must hold what [`Document::apply`] makes of them.

use super::sample::{self, call, entries, media, message, notice, permission, plan, round, terminal, text, thinking};
use super::{Twin, call_id, message_id, prompt_id, round_of, session_id, turn_id};
use pleat_store::Store;
use pleat_transcript::call::{Call, CallState, Lines, PermissionState};
use pleat_transcript::change::{CallUpdate, Change, MessageUpdate, PromptUpdate, SessionUpdate, TurnUpdate};
use pleat_transcript::document::Document;
use pleat_transcript::ids::{CallId, MessageId, PromptId};
use pleat_transcript::message::{Assistant, Body, MediaKind, Message, Part, PlanContent, RoundState, ToolResult, User};
use pleat_transcript::session::{ContextGauge, Session, Turn, TurnState, WaitingPrompt};
use proptest::collection::vec;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU32, Ordering};

const CASES: u32 = 8;
/// Where the tests may take long.
const MANY_CASES: u32 = 64;
const MAX_CHOICES: usize = 1_500;

#[allow(clippy::unused_async, reason = "the suite's functions are")]
pub(crate) async fn random_changes_leave_what_a_document_would_be(store: &dyn Store) {
    let runtime = tokio::runtime::Handle::current();
    let count = AtomicU32::new(0);
    // The runner is no async one: it has a thread of its own.
    let test = || {
        let cases = if std::env::var_os("PLEAT_TEST_HEAVY").is_some() { MANY_CASES } else { CASES };
        let config = Config { cases, failure_persistence: None, ..Config::default() };
        let run = |choices: Vec<u16>| {
            let id = session_id(&format!("random {}", count.fetch_add(1, Ordering::Relaxed)));
            runtime.block_on(follow(store, Session::new(id), &choices));
            Ok(())
        };
        TestRunner::new(config).run(&vec(0..u16::MAX, 1..MAX_CHOICES), run).unwrap();
    };
    std::thread::scope(|scope| scope.spawn(test).join().unwrap());
}

/// Commits lists of changes as the choices say, until there are no more.
async fn follow(store: &dyn Store, session: Session, choices: &[u16]) {
    let mut twin = Twin::create(store, session).await;
    twin.commit(sample::messages().into_iter().map(|message| Change::InsertMessage(Box::new(message))).collect()).await;
    let mut dice = Dice { choices: choices.iter(), prompts: 0 };
    while dice.choices.len() > 0 {
        let mut model = twin.document.clone();
        let mut changes = Vec::new();
        for _ in 0..=dice.below(6) {
            let change = dice.change(&model);
            if model.apply(&change).is_ok() && !takes_an_id(&change, &twin.document, &changes) {
                changes.push(change);
            } else {
                // Refused, whatever stands before it.
                model = twin.document.clone();
                let misfit = changes.drain(..).chain([change]).collect();
                twin.refuse(misfit).await;
            }
        }
        twin.commit(changes).await;
    }
}

/// Whether a change brings an id that the document, or a change before it, has: what a document does not look at.
fn takes_an_id(change: &Change, document: &Document, before: &[Change]) -> bool {
    let mut document = document.clone();
    for change in before {
        document.apply(change).unwrap();
    }
    if let Change::InsertTurn(turn) = change {
        document.session.turns.iter().any(|known| known.id == turn.id)
    } else if let Change::InsertMessage(message) = change {
        let mut ids: Vec<_> = calls(&document).chain(calls_of(message)).map(|call| &call.id).collect();
        ids.sort();
        document.messages.iter().any(|known| known.id == message.id) || ids.windows(2).any(|pair| pair[0] == pair[1])
    } else if let Change::InsertPart { part: Part::Call(call), .. } = change {
        calls(&document).any(|known| known.id == call.id)
    } else if let Change::QueuePrompt(prompt) = change {
        let mut waiting = document.session.waiting.iter();
        // One whose key is known is not stored at all.
        let is_known = |known: &WaitingPrompt| known.key.is_some() && known.key == prompt.key;
        waiting.clone().any(|known| known.id == prompt.id) && !waiting.any(is_known)
    } else {
        false
    }
}

fn calls(document: &Document) -> impl Iterator<Item = &Call> {
    document.messages.iter().flat_map(calls_of)
}

fn calls_of(message: &Message) -> impl Iterator<Item = &Call> {
    round_of(message).into_iter().flat_map(Assistant::calls)
}

/// Answers every question from a list of numbers; from 0 when it is at its end.
struct Dice<'a> {
    choices: std::slice::Iter<'a, u16>,
    /// How many prompts there were: ids and keys of those that wait no more are the store's to know.
    prompts: usize,
}

impl Dice<'_> {
    fn below(&mut self, end: usize) -> usize {
        usize::from(self.choices.next().copied().unwrap_or(0)) % end
    }

    fn maybe(&mut self) -> bool {
        self.below(3) == 0
    }

    fn some<T>(&mut self, value: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.maybe().then(|| value(self))
    }

    fn word(&mut self) -> String {
        ["", "a", "zwölf\n", " \0 ", "long enough to be a sentence. ", "{\"json\"}"][self.below(6)].to_owned()
    }

    fn value(&mut self) -> Value {
        [json!(null), json!({"b": 1, "a": [0.1]}), json!("text"), json!(u64::MAX)][self.below(4)].clone()
    }

    fn message_id(&mut self) -> MessageId {
        message_id(&format!("m{}", self.below(12)))
    }

    fn call_id(&mut self) -> CallId {
        call_id(&format!("c{}", self.below(8)))
    }

    fn message_of(&mut self, document: &Document) -> MessageId {
        let known = self.below(document.messages.len() + 1);
        document.messages.get(known).map_or_else(|| message_id("unknown"), |message| message.id.clone())
    }

    fn call_of(&mut self, document: &Document) -> CallId {
        let known: Vec<_> = calls(document).collect();
        let chosen = self.below(known.len() + 1);
        known.get(chosen).map_or_else(|| call_id("unknown"), |call| call.id.clone())
    }

    fn prompt_of(&mut self, document: &Document) -> PromptId {
        let chosen = self.below(document.session.waiting.len() + 1);
        document.session.waiting.get(chosen).map_or_else(|| prompt_id("unknown"), |prompt| prompt.id.clone())
    }

    /// A new prompt, or one with the id or the key of another that waits.
    fn prompt(&mut self, document: &Document) -> WaitingPrompt {
        self.prompts += 1;
        let new = WaitingPrompt { text: self.word(), ..sample::prompt(&format!("q{}", self.prompts)) };
        let waiting = &document.session.waiting;
        let other = waiting.get(self.below(waiting.len() + 3));
        match (self.below(5), other) {
            (0, Some(other)) => WaitingPrompt { id: other.id.clone(), ..new },
            (1, Some(other)) => WaitingPrompt { key: other.key.clone(), ..new },
            (2, _) => WaitingPrompt { key: None, held: None, attachments: Vec::new(), ..new },
            (_, _) => new,
        }
    }

    fn change(&mut self, document: &Document) -> Change {
        match self.below(22) {
            0..3 => Change::InsertMessage(Box::new(self.message())),
            3 => Change::InsertTurn(self.turn()),
            4 => Change::UpdateTurn { turn: turn_id(&format!("t{}", self.below(3))), update: self.turn_update() },
            5 => Change::UpdateSession(self.session_update()),
            6 | 7 => Change::UpdateMessage { message: self.message_of(document), update: self.message_update() },
            8 => Change::InsertPart { message: self.message_of(document), part: self.part() },
            9 | 10 => {
                let text = self.word();
                Change::AppendText { message: self.message_of(document), part: self.below(4), text }
            }
            11 => {
                let message_id = self.word();
                Change::SetPartMessageId { message: self.message_of(document), part: self.below(4), message_id }
            }
            12..15 => Change::UpdateCall { call: self.call_of(document), update: Box::new(self.call_update()) },
            15 | 16 => Change::QueuePrompt(Box::new(self.prompt(document))),
            17 => {
                let update =
                    PromptUpdate { text: self.some(Self::word), held: self.some(|dice| dice.some(Self::word)) };
                Change::UpdatePrompt { prompt: self.prompt_of(document), update }
            }
            18 => Change::RemovePrompt { prompt: self.prompt_of(document), sent: self.maybe() },
            _ => Change::AppendOutput { call: self.call_of(document), text: self.word() },
        }
    }

    fn message(&mut self) -> Message {
        let id = self.message_id();
        let word = self.word();
        let body = match self.below(8) {
            0 => sample::user(&word),
            1 => Body::User(User { text: word, ..User::default() }),
            2 => Body::Tool(ToolResult { call: self.some(Self::call_id), text: word }),
            3 => plan(self.plan()),
            4 => notice(&word),
            5 => Body::Assistant(Assistant::default()),
            _ => round((0..self.below(3)).map(|_| self.part()).collect()),
        };
        message(id.as_str(), body)
    }

    fn plan(&mut self) -> PlanContent {
        match self.below(3) {
            0 => PlanContent::Text(self.word()),
            1 => entries(&[]),
            _ => entries(&["pending", "completed"]),
        }
    }

    fn part(&mut self) -> Part {
        let id = self.call_id();
        match self.below(6) {
            0 => text(&self.word()),
            1 => thinking(&self.word()),
            2 => Part::Media(media(MediaKind::Image)),
            3 => Part::Call(Box::new(Call::new(id))),
            _ => Part::Call(Box::new(call(id.as_str()))),
        }
    }

    fn turn(&mut self) -> Turn {
        let state = self.turn_state();
        sample::turn(&format!("t{}", self.below(3)), state)
    }

    fn turn_state(&mut self) -> TurnState {
        TurnState::WORDS[self.below(6)].0
    }

    fn turn_update(&mut self) -> TurnUpdate {
        TurnUpdate {
            state: self.some(Self::turn_state),
            stop_reason: self.some(Self::word),
            ended_at: self.some(Self::number),
            usage: self.some(Self::value),
        }
    }

    fn number(&mut self) -> i64 {
        [0, 1, i64::MIN, i64::MAX][self.below(4)]
    }

    fn session_update(&mut self) -> SessionUpdate {
        SessionUpdate {
            live_turn: self.some(|dice| dice.some(|_| turn_id("t1"))),
            title: self.some(Self::word),
            context: self.some(|dice| ContextGauge { used: dice.number().cast_unsigned(), size: 1 }),
            chosen: self.some(|dice| dice.some(|dice| sample::chosen(&dice.word())).unwrap_or_default()),
            directories: self.some(|dice| dice.some(Self::word).into_iter().collect()),
        }
    }

    fn message_update(&mut self) -> MessageUpdate {
        MessageUpdate {
            state: self.some(|dice| RoundState::WORDS[dice.below(2)].0),
            error: self.some(Self::word),
            parent: self.some(Self::call_id),
            append_text: self.some(Self::word),
            append_attachments: self.some(|_| media(MediaKind::Resource)).into_iter().collect(),
            plan: self.some(Self::plan),
        }
    }

    fn call_update(&mut self) -> CallUpdate {
        CallUpdate {
            name: self.some(Self::word),
            server: self.some(Self::word),
            kind_word: self.some(Self::word),
            title: self.some(Self::word),
            state: self.some(|dice| CallState::WORDS[dice.below(9)].0),
            input: self.some(Self::value),
            output: self.some(Self::output),
            locations: self.some(|dice| vec![dice.value()]),
            parent: self.some(Self::call_id),
            ended_at: self.some(Self::number),
            waited_ms: self.some(Self::number),
            feedback: self.some(Self::word),
            lines: self.some(|dice| Lines { added: 3, removed: dice.number().cast_unsigned() }),
            permission: self.some(|dice| {
                let request = format!("p{}", dice.below(3));
                permission(&request, PermissionState::WORDS[dice.below(3)].0)
            }),
            announced: self.some(Self::maybe),
            closed_by_host: self.some(Self::maybe),
        }
    }

    fn output(&mut self) -> Vec<Value> {
        let blocks = [self.value(), terminal(&self.word()), terminal("$ "), json!({"type": "terminal", "output": 1})];
        let first = self.below(4);
        let end = first + self.below(5 - first);
        blocks[first..end].to_vec()
    }
}

//! A process that writes conversations without end, and what must be true of them whenever it was killed.
//!
//! Whatever grows in them is the numbers from 0 on, so that a hole or a doubled piece shows.

use crate::conversation::{
    BEFORE, asked, call, call_id, message, message_id, notice, round, session_id, text, turn, turn_id, user,
};
use pleat_store::{Claim, Durability, Signal, Store, StoreError};
use pleat_transcript::call::{Call, CallState, Permission, PermissionState};
use pleat_transcript::change::{CallUpdate, Change, MessageUpdate, PlanSnapshot, SessionUpdate, TurnUpdate};
use pleat_transcript::document::Document;
use pleat_transcript::ids::SessionId;
use pleat_transcript::message::{Body, JsonObject, Part, PlanContent, PlanEntry, RoundState};
use pleat_transcript::session::{Session, TurnState};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

/// So many sessions are written at once.
const SESSIONS: usize = 4;

/// Numbers that can be had again from the same seed.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }
}

/// The numbers of a range as words.
fn numbers(range: std::ops::Range<usize>) -> String {
    let mut words = String::new();
    for number in range {
        write!(words, "{number} ").unwrap();
    }
    words
}

fn assert_numbers(text: &str) {
    let count = text.split_whitespace().count();
    assert!(text == numbers(0..count), "a hole or a double in {count} numbers");
}

/// Writes to a store until the process ends, and prints what is answered and signalled.
pub(crate) async fn write_forever(store: Arc<dyn Store>, run: u64) {
    let mut signals = store.signals();
    tokio::spawn(async move {
        while let Some(signal) = signals.next().await {
            if let Signal::Changed { session, revision } = signal {
                println!("signalled {session} {} .", revision.0);
            }
        }
    });
    let writers = (0..SESSIONS).map(|place| {
        // Sessions grow over a few runs, then there are new ones.
        let session = session_id(&format!("s{place}-{}", run / 4));
        let dice = Dice::new(run * 1_000 + place as u64);
        tokio::spawn(Writer { store: Arc::clone(&store), session, name: format!("r{run}"), dice }.write_forever())
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
}

struct Writer {
    store: Arc<dyn Store>,
    session: SessionId,
    /// Begins all ids of this run.
    name: String,
    dice: Dice,
}

impl Writer {
    async fn write_forever(mut self) {
        match self.store.create_session(Session::new(self.session.clone())).await {
            Ok(_) | Err(StoreError::SessionExists(_)) => {}
            Err(error) => panic!("{error}"),
        }
        assert_eq!(self.store.claim(self.session.clone()).await.unwrap(), Claim::Ours);
        for number in 0.. {
            self.write_turn(number).await;
        }
    }

    async fn commit(&self, durability: Durability, changes: Vec<Change>) {
        let revision = self.store.commit(self.session.clone(), changes, BEFORE, durability).await.unwrap();
        println!("answered {} {} .", self.session, revision.0);
    }

    async fn write_turn(&mut self, number: usize) {
        let run = self.name.clone();
        let id = |what: &str| format!("{run} {what} {number}");
        let (turn_name, round_name) = (id("turn"), id("round"));
        self.commit(Durability::Person, begin(&turn_name, &id("user"))).await;
        let parts = vec![text("")];
        let inserted = message(&round_name, &turn_name, round(RoundState::Streaming, None, parts));
        self.commit(Durability::Agent, vec![Change::InsertMessage(Box::new(inserted))]).await;
        let words = 5 + self.number_below(25);
        for word in 0..words {
            let text = numbers(word..word + 1);
            let append = Change::AppendText { message: message_id(&round_name), part: 0, text };
            self.commit(growing(word), vec![append]).await;
        }
        for call in ["first", "second"] {
            self.write_call(&round_name, &id(call), &turn_name).await;
        }
        self.commit(Durability::Agent, end(&turn_name, &round_name)).await;
    }

    async fn write_call(&mut self, round: &str, id: &str, turn: &str) {
        let update = |update: CallUpdate| Change::UpdateCall { call: call_id(id), update: Box::new(update) };
        let output = vec![json!({"type": "terminal", "output": ""})];
        // The same for several calls.
        let input = json!({"command": numbers(0..self.large_or(10))});
        let new = Call { input: Some(input), output, ..call(id, CallState::Running) };
        let part = Part::Call(Box::new(new.clone()));
        self.commit(Durability::Agent, vec![Change::InsertPart { message: message_id(round), part }]).await;
        let question = asked(new, &format!("asks {id}")).permission;
        let asks = CallUpdate {
            permission: question.clone(),
            state: Some(CallState::AwaitingPermission),
            ..CallUpdate::default()
        };
        self.commit(Durability::Agent, vec![update(asks)]).await;
        let permission = question.map(|question| Permission { state: Some(PermissionState::Answered), ..question });
        let answered = CallUpdate { permission, state: Some(CallState::Running), ..CallUpdate::default() };
        self.commit(Durability::Person, vec![update(answered)]).await;
        let mut end = 0;
        for bulk in [1, 1, self.large_or(1), 1, 1] {
            let text = numbers(end..end + bulk);
            end += bulk;
            self.commit(growing(end), vec![Change::AppendOutput { call: call_id(id), text }]).await;
            let plan =
                PlanSnapshot { turn: Some(turn_id(turn)), call: call_id(id), content: entries(end), at: Some(BEFORE) };
            self.commit(Durability::Agent, vec![Change::UpsertPlan(Box::new(plan))]).await;
        }
        let done = CallUpdate { state: Some(CallState::Completed), ended_at: Some(BEFORE), ..CallUpdate::default() };
        self.commit(Durability::Agent, vec![update(done)]).await;
    }

    /// So many numbers that they make a large value, now and then.
    fn large_or(&mut self, usual: usize) -> usize {
        if self.dice.below(4) == 0 { 14_000 } else { usual }
    }

    fn number_below(&mut self, end: u64) -> usize {
        usize::try_from(self.dice.below(end)).unwrap()
    }
}

/// Some of what grows does not wait, so that a run is not made of waiting.
fn growing(number: usize) -> Durability {
    if number.is_multiple_of(3) { Durability::Stream } else { Durability::Agent }
}

fn begin(id: &str, prompt: &str) -> Vec<Change> {
    let live_turn = Some(Some(turn_id(id)));
    vec![
        Change::InsertTurn(turn(id, TurnState::Running)),
        Change::InsertMessage(Box::new(message(prompt, id, user("go on")))),
        Change::UpdateSession(SessionUpdate { live_turn, ..SessionUpdate::default() }),
    ]
}

fn end(id: &str, round: &str) -> Vec<Change> {
    let complete = MessageUpdate { state: Some(RoundState::Complete), ..MessageUpdate::default() };
    let update = TurnUpdate { state: Some(TurnState::Completed), ended_at: Some(BEFORE), ..TurnUpdate::default() };
    vec![
        Change::UpdateMessage { message: message_id(round), update: complete },
        Change::UpdateTurn { turn: turn_id(id), update },
        Change::UpdateSession(SessionUpdate { live_turn: Some(None), ..SessionUpdate::default() }),
    ]
}

fn entries(count: usize) -> PlanContent {
    let entry =
        PlanEntry { content: format!("after {count}"), status_word: None, priority: None, extra: JsonObject::new() };
    PlanContent::Entries(vec![entry])
}

/// What a killed process had printed: the highest revision of each session, by what was told of it.
#[derive(Debug, Default)]
pub(crate) struct Printed {
    pub(crate) lines: u64,
    revisions: BTreeMap<String, u64>,
}

impl Printed {
    /// Takes a line; one that was cut off tells nothing.
    pub(crate) fn take(&mut self, line: &str) {
        let Some(at) = line.find("answered ").or_else(|| line.find("signalled ")) else { return };
        let words: Vec<&str> = line[at..].split(' ').collect();
        let [_, session, revision, "."] = words[..] else { return };
        let highest = self.revisions.entry(session.to_owned()).or_default();
        *highest = (*highest).max(revision.parse().unwrap());
        self.lines += 1;
    }

    /// Everything that was told is there, and nothing in it is there twice or missing.
    pub(crate) async fn is_all_in(&self, store: &dyn Store) {
        for (session, revision) in &self.revisions {
            let stored = store.document(session_id(session)).await.unwrap();
            assert!(stored.revision.0 >= *revision, "{session} is at {:?}, {revision} was told", stored.revision);
            assert_counted(&stored.document);
        }
    }

    pub(crate) fn sessions(&self) -> impl Iterator<Item = SessionId> {
        self.revisions.keys().map(|session| session_id(session))
    }
}

fn assert_counted(document: &Document) {
    let mut prompts = BTreeMap::new();
    for message in &document.messages {
        match &message.body {
            Body::Assistant(round) => round.parts.iter().for_each(assert_part_counted),
            Body::User(_) => {
                let words: Vec<&str> = message.id.as_str().split(' ').collect();
                let next: &mut usize = prompts.entry(words[0].to_owned()).or_default();
                assert_eq!(words[2].parse::<usize>().unwrap(), *next, "{}", message.id);
                *next += 1;
            }
            Body::Tool(_) | Body::Plan(_) | Body::Notice(_) => {}
        }
    }
}

fn assert_part_counted(part: &Part) {
    match part {
        Part::Text(text) | Part::Thinking(text) => assert_numbers(&text.text),
        Part::Call(call) => {
            let command = call.input.as_ref().and_then(|input| input["command"].as_str());
            assert_numbers(command.unwrap());
            assert_numbers(call.output[0].get("output").and_then(Value::as_str).unwrap());
        }
        Part::Media(_) => panic!("nobody showed anything"),
    }
}

/// The notices that say that a turn was interrupted.
pub(crate) fn notices(document: &Document) -> usize {
    let like = notice("n", "t", "");
    let Body::Notice(like) = like.body else { return 0 };
    let codes = document.messages.iter().filter_map(|message| match &message.body {
        Body::Notice(notice) => Some(&notice.code),
        Body::User(_) | Body::Assistant(_) | Body::Tool(_) | Body::Plan(_) => None,
    });
    codes.filter(|code| **code == like.code).count()
}

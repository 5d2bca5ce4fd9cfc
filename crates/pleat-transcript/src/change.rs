//! Changes: what [`crate::record`] wants stored, each naming a message or call by our own id.
//!
//! A store commits a list of them in one transaction. [`Document::apply`] does the same to a transcript in memory; the
//! two must agree, and the store's conformance suite checks it.

use crate::call::{Call, CallState, Lines, Permission};
use crate::document::Document;
use crate::ids::{CallId, MessageId, PromptId, SessionId, TurnId};
use crate::message::{Body, JsonObject, Message, Part, Plan, PlanContent, RoundState};
use crate::session::{ChosenSettings, ContextGauge, Millis, Turn, TurnState, WaitingPrompt};
use serde_json::Value;

/// One thing to store.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Sets what is given of the session.
    UpdateSession(SessionUpdate),
    /// A turn after all others.
    InsertTurn(Turn),
    /// Sets what is given of a turn.
    UpdateTurn {
        /// Which.
        turn: TurnId,
        /// What.
        update: TurnUpdate,
    },
    /// A message after all others, with all its parts.
    InsertMessage(Box<Message>),
    /// A snapshot of the plan of a stream: the first creates its message, a later one replaces the content.
    UpsertPlan(Box<PlanSnapshot>),
    /// Sets what is given of a message.
    UpdateMessage {
        /// Which.
        message: MessageId,
        /// What.
        update: MessageUpdate,
    },
    /// A part after all others of an assistant message.
    InsertPart {
        /// Of which message.
        message: MessageId,
        /// The part.
        part: Part,
    },
    /// Text at the end of a thinking or text part.
    AppendText {
        /// Of which message.
        message: MessageId,
        /// The part's place in `parts`, from 0.
        part: usize,
        /// The text.
        text: String,
    },
    /// The id that a thinking or text part got later.
    SetPartMessageId {
        /// Of which message.
        message: MessageId,
        /// The part's place in `parts`, from 0.
        part: usize,
        /// ACP's `messageId`.
        message_id: String,
    },
    /// Sets what is given of a call.
    UpdateCall {
        /// Which.
        call: CallId,
        /// What.
        update: Box<CallUpdate>,
    },
    /// Text at the end of the `output` of the terminal block in a call's output. There is one, and only one.
    AppendOutput {
        /// Of which call.
        call: CallId,
        /// The text.
        text: String,
    },
    /// A prompt that waits, after all others. One with a `key` that this session has had before, whether that prompt
    /// waits, was sent or was removed, alters nothing.
    QueuePrompt(Box<WaitingPrompt>),
    /// Sets what is given of a prompt that waits.
    UpdatePrompt {
        /// Which.
        prompt: PromptId,
        /// What.
        update: PromptUpdate,
    },
    /// A prompt waits no more. Its key stays known.
    RemovePrompt {
        /// Which.
        prompt: PromptId,
        /// It was sent: its message is in the same list of changes. Else a person removed it.
        sent: bool,
    },
}

/// A snapshot of the plan that a call streams (docs/spec/record.md, Plans 1).
#[derive(Debug, Clone, PartialEq)]
pub struct PlanSnapshot {
    /// The call's turn.
    pub turn: Option<TurnId>,
    /// Our id of the call.
    pub call: CallId,
    /// The whole plan so far.
    pub content: PlanContent,
    /// When it was told; the message keeps that of the first.
    pub at: Option<Millis>,
}

impl PlanSnapshot {
    /// The id of the plan's message.
    pub fn message_id(&self, session: &SessionId) -> MessageId {
        MessageId::of_plan_stream(session, self.turn.as_ref(), &self.call)
    }

    /// The message that the first snapshot makes.
    pub fn into_message(self, session: &SessionId) -> Message {
        let id = self.message_id(session);
        let body = Body::Plan(Plan { stream: Some(self.call), content: self.content });
        Message { id, turn: self.turn, created_at: self.at, body, extra: JsonObject::new() }
    }
}

/// What changes of a session; `None` stays.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SessionUpdate {
    /// The live turn: `Some(None)` when none is live any more.
    pub live_turn: Option<Option<TurnId>>,
    /// Its title.
    pub title: Option<String>,
    /// Its context gauge.
    pub context: Option<ContextGauge>,
    /// What a person chose; replaced whole.
    pub chosen: Option<ChosenSettings>,
    /// The further directories; replaced whole.
    pub directories: Option<Vec<String>>,
}

/// What changes of a prompt that waits; `None` stays.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PromptUpdate {
    /// Its text.
    pub text: Option<String>,
    /// Why it is not sent by itself: `Some(None)` lets it be sent when its turn comes.
    pub held: Option<Option<String>>,
}

/// What changes of a turn; `None` stays.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TurnUpdate {
    /// Its state.
    pub state: Option<TurnState>,
    /// The agent's word.
    pub stop_reason: Option<String>,
    /// When it ended.
    pub ended_at: Option<Millis>,
    /// Its usage.
    pub usage: Option<Value>,
}

/// What changes of a message; `None` stays.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MessageUpdate {
    /// Of an assistant message.
    pub state: Option<RoundState>,
    /// Of an assistant message.
    pub error: Option<String>,
    /// Of an assistant message.
    pub parent: Option<CallId>,
    /// Text at the end of a user message.
    pub append_text: Option<String>,
    /// Attachments at the end of a user message's.
    pub append_attachments: Vec<crate::message::Media>,
    /// Of a plan message.
    pub plan: Option<PlanContent>,
}

/// What changes of a call; `None` stays.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CallUpdate {
    /// See [`Call`].
    pub name: Option<String>,
    /// See [`Call`].
    pub server: Option<String>,
    /// See [`Call`].
    pub kind_word: Option<String>,
    /// See [`Call`].
    pub title: Option<String>,
    /// See [`Call`].
    pub state: Option<CallState>,
    /// See [`Call`].
    pub input: Option<Value>,
    /// See [`Call`]; replaced whole.
    pub output: Option<Vec<Value>>,
    /// See [`Call`]; replaced whole.
    pub locations: Option<Vec<Value>>,
    /// See [`Call`].
    pub parent: Option<CallId>,
    /// See [`Call`].
    pub ended_at: Option<Millis>,
    /// See [`Call`].
    pub waited_ms: Option<i64>,
    /// See [`Call`].
    pub feedback: Option<String>,
    /// See [`Call`].
    pub lines: Option<Lines>,
    /// See [`Call`]; replaced whole.
    pub permission: Option<Permission>,
    /// See [`Call`].
    pub announced: Option<bool>,
    /// See [`Call`].
    pub closed_by_host: Option<bool>,
}

/// A change that does not fit the transcript it is applied to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    /// It names a turn that is not there.
    #[error("the change names turn `{0}`, which this session does not have")]
    UnknownTurn(TurnId),
    /// It names a message that is not there, or one of another role.
    #[error("the change names message `{0}`, which this session does not have in that role")]
    UnknownMessage(MessageId),
    /// A plan's message is not that of the snapshot's turn and call.
    #[error("message `{0}` is not the plan of the snapshot's turn and call")]
    OtherIdentity(MessageId),
    /// It names a part that is not there, or one of another type.
    #[error("the change names part {part} of message `{message}`, which is not there or of another type")]
    UnknownPart {
        /// The message.
        message: MessageId,
        /// The part's place.
        part: usize,
    },
    /// It names a call that is not there.
    #[error("the change names call `{0}`, which this session does not have")]
    UnknownCall(CallId),
    /// It names a prompt that does not wait.
    #[error("the change names prompt `{0}`, which does not wait in this session")]
    UnknownPrompt(PromptId),
}

fn set<T: Clone>(field: &mut Option<T>, update: Option<&T>) {
    if let Some(value) = update {
        *field = Some(value.clone());
    }
}

impl CallUpdate {
    /// Sets what is given.
    pub fn apply_to(&self, call: &mut Call) {
        set(&mut call.name, self.name.as_ref());
        set(&mut call.server, self.server.as_ref());
        set(&mut call.kind_word, self.kind_word.as_ref());
        set(&mut call.title, self.title.as_ref());
        set(&mut call.input, self.input.as_ref());
        set(&mut call.parent, self.parent.as_ref());
        set(&mut call.ended_at, self.ended_at.as_ref());
        set(&mut call.waited_ms, self.waited_ms.as_ref());
        set(&mut call.feedback, self.feedback.as_ref());
        set(&mut call.lines, self.lines.as_ref());
        set(&mut call.permission, self.permission.as_ref());
        if let Some(state) = self.state {
            call.state = state;
        }
        if let Some(output) = &self.output {
            call.output.clone_from(output);
        }
        if let Some(locations) = &self.locations {
            call.locations.clone_from(locations);
        }
        if let Some(announced) = self.announced {
            call.announced = announced;
        }
        if let Some(closed) = self.closed_by_host {
            call.closed_by_host = closed;
        }
    }
}

/// Appends to the `output` of the one terminal block among content blocks; false where there is none.
pub fn append_to_terminal(output: &mut [Value], text: &str) -> bool {
    for block in output {
        if block.get("type").and_then(Value::as_str) == Some("terminal")
            && let Some(Value::String(output)) = block.get_mut("output")
        {
            output.push_str(text);
            return true;
        }
    }
    false
}

impl Document {
    /// Applies one change, or says why it does not fit and changes nothing.
    ///
    /// A document holds the prompts that wait and no others. So the keys of those that were sent or removed are not known
    /// here, and a prompt with one of them waits again: the store, which remembers them, decides that.
    pub fn apply(&mut self, change: &Change) -> Result<(), ChangeError> {
        match change {
            Change::UpdateSession(update) => self.apply_to_session(update),
            Change::InsertTurn(turn) => self.session.turns.push(turn.clone()),
            Change::UpdateTurn { turn, update } => self.apply_to_turn(turn, update)?,
            Change::InsertMessage(message) => self.messages.push((**message).clone()),
            Change::UpsertPlan(snapshot) => self.apply_plan(snapshot)?,
            Change::UpdateMessage { message, update } => apply_to_message(self.message_mut(message)?, update)?,
            Change::InsertPart { message, part } => self.parts_mut(message)?.push(part.clone()),
            Change::AppendText { message, part, text } => self.text_mut(message, *part)?.text.push_str(text),
            Change::SetPartMessageId { message, part, message_id } => {
                self.text_mut(message, *part)?.message_id = Some(message_id.clone());
            }
            Change::UpdateCall { call, update } => update.apply_to(self.call_mut(call)?),
            Change::AppendOutput { call, text } => {
                if !append_to_terminal(&mut self.call_mut(call)?.output, text) {
                    return Err(ChangeError::UnknownCall(call.clone()));
                }
            }
            Change::QueuePrompt(prompt) => self.queue_prompt(prompt),
            Change::UpdatePrompt { prompt, update } => self.apply_to_prompt(prompt, update)?,
            Change::RemovePrompt { prompt, sent: _ } => {
                let place = self.prompt_place(prompt)?;
                self.session.waiting.remove(place);
            }
        }
        Ok(())
    }

    fn apply_plan(&mut self, snapshot: &PlanSnapshot) -> Result<(), ChangeError> {
        let id = snapshot.message_id(&self.session.id);
        let Some(message) = self.messages.iter_mut().rev().find(|message| message.id == id) else {
            self.messages.push(snapshot.clone().into_message(&self.session.id));
            return Ok(());
        };
        let turn = message.turn == snapshot.turn;
        match &mut message.body {
            Body::Plan(plan) if turn && plan.stream.as_ref() == Some(&snapshot.call) => {
                plan.content.clone_from(&snapshot.content);
                Ok(())
            }
            Body::Plan(_) | Body::User(_) | Body::Assistant(_) | Body::Tool(_) | Body::Notice(_) => {
                Err(ChangeError::OtherIdentity(id))
            }
        }
    }

    fn apply_to_session(&mut self, update: &SessionUpdate) {
        if let Some(live) = &update.live_turn {
            self.session.live_turn.clone_from(live);
        }
        set(&mut self.session.title, update.title.as_ref());
        set(&mut self.session.context, update.context.as_ref());
        if let Some(chosen) = &update.chosen {
            self.session.chosen.clone_from(chosen);
        }
        if let Some(directories) = &update.directories {
            self.session.directories.clone_from(directories);
        }
    }

    fn queue_prompt(&mut self, prompt: &WaitingPrompt) {
        let is_known = |waiting: &WaitingPrompt| prompt.key.is_some() && waiting.key == prompt.key;
        if !self.session.waiting.iter().any(is_known) {
            self.session.waiting.push(prompt.clone());
        }
    }

    fn apply_to_prompt(&mut self, id: &PromptId, update: &PromptUpdate) -> Result<(), ChangeError> {
        let place = self.prompt_place(id)?;
        let prompt = &mut self.session.waiting[place];
        if let Some(text) = &update.text {
            prompt.text.clone_from(text);
        }
        if let Some(held) = &update.held {
            prompt.held.clone_from(held);
        }
        Ok(())
    }

    fn prompt_place(&self, id: &PromptId) -> Result<usize, ChangeError> {
        let place = self.session.waiting.iter().position(|prompt| prompt.id == *id);
        place.ok_or_else(|| ChangeError::UnknownPrompt(id.clone()))
    }

    fn apply_to_turn(&mut self, id: &TurnId, update: &TurnUpdate) -> Result<(), ChangeError> {
        let turn = self.session.turns.iter_mut().rev().find(|turn| turn.id == *id);
        let turn = turn.ok_or_else(|| ChangeError::UnknownTurn(id.clone()))?;
        if let Some(state) = update.state {
            turn.state = state;
        }
        set(&mut turn.stop_reason, update.stop_reason.as_ref());
        set(&mut turn.ended_at, update.ended_at.as_ref());
        set(&mut turn.usage, update.usage.as_ref());
        Ok(())
    }

    // Changes name recent messages: looked for from the end.
    fn message_mut(&mut self, id: &MessageId) -> Result<&mut Message, ChangeError> {
        let found = self.messages.iter_mut().rev().find(|message| message.id == *id);
        found.ok_or_else(|| ChangeError::UnknownMessage(id.clone()))
    }

    fn parts_mut(&mut self, id: &MessageId) -> Result<&mut Vec<Part>, ChangeError> {
        match &mut self.message_mut(id)?.body {
            Body::Assistant(assistant) => Ok(&mut assistant.parts),
            Body::User(_) | Body::Tool(_) | Body::Plan(_) | Body::Notice(_) => {
                Err(ChangeError::UnknownMessage(id.clone()))
            }
        }
    }

    fn text_mut(&mut self, id: &MessageId, part: usize) -> Result<&mut crate::message::TextPart, ChangeError> {
        match self.parts_mut(id)?.get_mut(part) {
            Some(Part::Text(text) | Part::Thinking(text)) => Ok(text),
            Some(Part::Call(_) | Part::Media(_)) | None => Err(ChangeError::UnknownPart { message: id.clone(), part }),
        }
    }

    fn call_mut(&mut self, id: &CallId) -> Result<&mut Call, ChangeError> {
        for message in self.messages.iter_mut().rev() {
            let Body::Assistant(assistant) = &mut message.body else { continue };
            for part in &mut assistant.parts {
                if let Part::Call(call) = part
                    && call.id == *id
                {
                    return Ok(call);
                }
            }
        }
        Err(ChangeError::UnknownCall(id.clone()))
    }
}

fn apply_to_message(message: &mut Message, update: &MessageUpdate) -> Result<(), ChangeError> {
    match &mut message.body {
        Body::Assistant(assistant) => {
            set(&mut assistant.state, update.state.as_ref());
            set(&mut assistant.error, update.error.as_ref());
            set(&mut assistant.parent, update.parent.as_ref());
        }
        Body::User(user) => {
            user.text.push_str(update.append_text.as_deref().unwrap_or_default());
            user.attachments.extend(update.append_attachments.iter().cloned());
        }
        Body::Plan(plan) => {
            if let Some(content) = &update.plan {
                plan.content = content.clone();
            }
        }
        Body::Tool(_) | Body::Notice(_) => return Err(ChangeError::UnknownMessage(message.id.clone())),
    }
    Ok(())
}

//! Rounds: thinking, text and what they led to (docs/spec/record.md, Text 1 to 4 and 6).

use super::{SessionRecord, Step};
use crate::change::{Change, MessageUpdate};
use crate::event::{Channel, TextChunk};
use crate::ids::{AgentCallId, CallId, MessageId};
use crate::message::{Assistant, Body, JsonObject, Media, Part, RoundState, TextPart};

/// What one speaker (the agent, or a sub-agent by its call) is saying.
#[derive(Debug, Clone, Default)]
pub(super) struct Lane {
    round: Option<OpenRound>,
    /// White space that would have opened something (Text 3).
    held: Held,
}

#[derive(Debug, Clone, Default)]
struct Held {
    thinking: String,
    message: String,
}

impl Held {
    fn of(&mut self, channel: Channel) -> &mut String {
        match channel {
            Channel::Thinking => &mut self.thinking,
            Channel::Message => &mut self.message,
        }
    }
}

#[derive(Debug, Clone)]
struct OpenRound {
    message: MessageId,
    streaming: bool,
    parts: usize,
    has_calls: bool,
    /// The channel of the last part, where that is open for more text.
    open_channel: Option<Channel>,
    /// The `messageId` of the last chunk that had one, in the open part.
    chunk_id: Option<String>,
    /// The text that came without a `messageId`, and the parts that hold it (Text 4).
    without_id: String,
    parts_without_id: Vec<usize>,
}

impl OpenRound {
    fn new(message: MessageId, streaming: bool) -> Self {
        Self {
            message,
            streaming,
            parts: 0,
            has_calls: false,
            open_channel: None,
            chunk_id: None,
            without_id: String::new(),
            parts_without_id: Vec::new(),
        }
    }

    /// Whether a chunk goes on with the last part: same kind, and no change of `messageId` (Text 2).
    fn takes(&self, chunk: &TextChunk) -> bool {
        let same_id = match (&self.chunk_id, &chunk.message_id) {
            (Some(open), Some(new)) => open == new,
            (None, _) | (_, None) => true,
        };
        self.open_channel == Some(chunk.channel) && same_id
    }

    fn heard(&mut self, chunk: &TextChunk, text: &str) {
        if chunk.message_id.is_some() {
            self.chunk_id.clone_from(&chunk.message_id);
        } else if chunk.channel == Channel::Message {
            self.without_id.push_str(text);
            let part = self.parts - 1;
            if self.parts_without_id.last() != Some(&part) {
                self.parts_without_id.push(part);
            }
        }
    }
}

impl SessionRecord {
    pub(super) fn text(&mut self, chunk: TextChunk, step: &mut Step<'_>) {
        if chunk.text.is_empty() {
            return;
        }
        let parent = self.resolve(chunk.parent.as_ref());
        if self.is_consolidated_copy(parent.as_ref(), &chunk, step) {
            return;
        }
        if chunk.channel == Channel::Message
            && let Some(id) = &chunk.message_id
        {
            self.turns.active_mut().message_ids.insert(id.clone());
        }
        let lane = self.lanes.entry(parent.clone()).or_default();
        if let Some(round) = &mut lane.round
            && round.takes(&chunk)
        {
            round.heard(&chunk, &chunk.text);
            if parent.is_none() && chunk.channel == Channel::Message {
                self.turns.active_mut().heard(&chunk.text, false);
            }
            let (message, part) = (round.message.clone(), round.parts - 1);
            step.push(Change::AppendText { message, part, text: chunk.text });
        } else if chunk.text.trim().is_empty() {
            lane.held.of(chunk.channel).push_str(&chunk.text);
        } else {
            self.open_text(parent, &chunk, step);
        }
    }

    /// The whole text once more, now with an id: it gives the id and adds nothing (Text 4, case B02).
    fn is_consolidated_copy(&mut self, parent: Option<&CallId>, chunk: &TextChunk, step: &mut Step<'_>) -> bool {
        let (Channel::Message, Some(id)) = (chunk.channel, &chunk.message_id) else { return false };
        if self.turns.active().message_ids.contains(id) {
            return false;
        }
        let Some(round) = self.lanes.get_mut(&parent.cloned()).and_then(|lane| lane.round.as_mut()) else {
            return false;
        };
        if round.without_id != chunk.text {
            return false;
        }
        round.without_id.clear();
        for part in std::mem::take(&mut round.parts_without_id) {
            step.push(Change::SetPartMessageId { message: round.message.clone(), part, message_id: id.clone() });
        }
        round.chunk_id = Some(id.clone());
        self.turns.active_mut().message_ids.insert(id.clone());
        true
    }

    fn open_text(&mut self, parent: Option<CallId>, chunk: &TextChunk, step: &mut Step<'_>) {
        self.end_round_with_calls(parent.as_ref(), step);
        let lane = self.lanes.entry(parent.clone()).or_default();
        let text = std::mem::take(lane.held.of(chunk.channel)) + &chunk.text;
        let part = TextPart { text: text.clone(), message_id: chunk.message_id.clone(), extra: JsonObject::new() };
        let part = match chunk.channel {
            Channel::Thinking => Part::Thinking(part),
            Channel::Message => Part::Text(part),
        };
        if chunk.channel == Channel::Message {
            self.turns.active_mut().said = true;
            if parent.is_none() {
                self.turns.active_mut().heard(&text, true);
            }
        }
        let round = self.push_part(parent, part, step);
        round.open_channel = Some(chunk.channel);
        round.chunk_id.clone_from(&chunk.message_id);
        round.heard(chunk, &text);
    }

    pub(super) fn media(&mut self, media: Media, parent: Option<&AgentCallId>, step: &mut Step<'_>) {
        let parent = self.resolve(parent);
        self.end_round_with_calls(parent.as_ref(), step);
        self.turns.active_mut().said = true;
        self.push_part(parent, Part::Media(media), step);
    }

    /// The dialect says that a text is over: the next one is a part of its own (Text 2).
    pub(super) fn text_ended(&mut self, parent: Option<&AgentCallId>) {
        let parent = self.resolve(parent);
        self.break_text(parent.as_ref());
    }

    pub(super) fn break_text(&mut self, parent: Option<&CallId>) {
        if let Some(round) = self.lanes.get_mut(&parent.cloned()).and_then(|lane| lane.round.as_mut()) {
            round.open_channel = None;
        }
    }

    /// Puts a call at the end of the open round of its speaker.
    pub(super) fn push_call(&mut self, call: crate::call::Call, step: &mut Step<'_>) -> MessageId {
        let parent = call.parent.clone();
        let top_level = parent.is_none();
        self.turns.active_mut().said = true;
        let round = self.push_part(parent, Part::Call(Box::new(call)), step);
        round.has_calls = true;
        let message = round.message.clone();
        if top_level {
            self.turns.active_mut().last_round = Some((message.clone(), true));
        }
        message
    }

    /// Adds a part to the open round, or opens one with it. The part is closed for further text until the caller says
    /// otherwise.
    fn push_part(&mut self, parent: Option<CallId>, part: Part, step: &mut Step<'_>) -> &mut OpenRound {
        let turn = self.turns.active();
        let (turn, streaming) = (turn.id.clone(), turn.open);
        let slot = &mut self.lanes.entry(parent.clone()).or_default().round;
        let round = if let Some(round) = slot {
            step.push(Change::InsertPart { message: round.message.clone(), part });
            round
        } else {
            let top_level = parent.is_none();
            let state = if streaming { RoundState::Streaming } else { RoundState::Complete };
            let round = Assistant { parts: vec![part], state: Some(state), parent, ..Assistant::default() };
            let message = step.insert_message(turn, Body::Assistant(round));
            if top_level {
                self.turns.active_mut().last_round = Some((message.clone(), false));
            }
            slot.insert(OpenRound::new(message, streaming))
        };
        round.parts += 1;
        round.open_channel = None;
        round
    }

    fn end_round_with_calls(&mut self, parent: Option<&CallId>, step: &mut Step<'_>) {
        let round = self.lanes.get(&parent.cloned()).and_then(|lane| lane.round.as_ref());
        if round.is_some_and(|round| round.has_calls) {
            self.end_round(parent, step);
        }
    }

    /// Ends the open round of one speaker, if there is one; held white space is dropped (Text 3).
    pub(super) fn end_round(&mut self, parent: Option<&CallId>, step: &mut Step<'_>) {
        if let Some(lane) = self.lanes.remove(&parent.cloned()) {
            close(lane, step);
        }
    }

    pub(super) fn end_all_rounds(&mut self, step: &mut Step<'_>) {
        for (_, lane) in std::mem::take(&mut self.lanes) {
            close(lane, step);
        }
    }

    /// Takes up a round that is stored as streaming, so that it can be ended.
    pub(super) fn reopen_round(&mut self, parent: Option<CallId>, message: MessageId) {
        let round = OpenRound::new(message, true);
        self.lanes.insert(parent, Lane { round: Some(round), held: Held::default() });
    }
}

fn close(lane: Lane, step: &mut Step<'_>) {
    if let Some(round) = lane.round
        && round.streaming
    {
        let update = MessageUpdate { state: Some(RoundState::Complete), ..MessageUpdate::default() };
        step.push(Change::UpdateMessage { message: round.message, update });
    }
}

//! Turns: from a prompt to its answer (docs/spec/record.md, "Permissions, turns, the rest" 2 and 3).

use super::plans::EntryList;
use super::{SessionRecord, Step};
use crate::call::CallState;
use crate::change::{Change, MessageUpdate, SessionUpdate, TurnUpdate};
use crate::event::{PromptAnswer, PromptKey};
use crate::ids::{MessageId, TurnId};
use crate::message::{Body, JsonObject, Media, Notice, NoticeLevel, Origin, User};
use crate::session::{Turn, TurnState};
use serde_json::Value;
use std::collections::{HashSet, VecDeque};

/// JSON-RPC's code for a request that was cancelled (ACP, "Cancellation").
const REQUEST_CANCELLED: i64 = -32800;

/// What is said of an error whose text stands right above.
const ALREADY_SAID: &str = "The agent ended its turn with this error.";

/// How much of the last text is kept, in bytes: longer ones are no error's words.
const MAX_LAST_TEXT: usize = 4096;

/// The turn that updates belong to, and the overlapping ones that wait behind it.
#[derive(Debug, Clone, Default)]
pub(super) struct Turns {
    active: TurnTrack,
    /// Prompts sent while the active turn ran, in order.
    waiting: VecDeque<TurnTrack>,
}

/// What must be known of a turn while updates may belong to it. Without an id: before the first prompt.
#[derive(Debug, Clone, Default)]
pub(super) struct TurnTrack {
    pub(super) id: Option<TurnId>,
    prompt: Option<PromptKey>,
    /// Its prompt is not answered.
    pub(super) open: bool,
    pub(super) cancel_sent: bool,
    /// Something is there to see: text, a call, a plan, a notice.
    pub(super) said: bool,
    /// The ids that message chunks carried (Text 4).
    pub(super) message_ids: HashSet<String>,
    pub(super) entry_list: Option<EntryList>,
    /// The last text of the agent itself, as far as it may still be needed; see [`MAX_LAST_TEXT`].
    pub(super) last_text: String,
    /// Its last top-level round, and whether that has calls.
    pub(super) last_round: Option<(MessageId, bool)>,
}

impl TurnTrack {
    /// The agent itself said more: a new text, or the rest of the last.
    pub(super) fn heard(&mut self, text: &str, begins: bool) {
        if begins {
            self.last_text.clear();
        }
        if self.last_text.len() <= MAX_LAST_TEXT {
            self.last_text.push_str(text);
        }
    }

    pub(super) fn new(id: TurnId, prompt: Option<PromptKey>, open: bool) -> Self {
        Self { id: Some(id), prompt, open, ..Self::default() }
    }
}

impl Turns {
    pub(super) fn active(&self) -> &TurnTrack {
        &self.active
    }

    pub(super) fn active_mut(&mut self) -> &mut TurnTrack {
        &mut self.active
    }

    pub(super) fn live(&self) -> Option<&TurnId> {
        self.active.id.as_ref().filter(|_| self.active.open)
    }

    pub(super) fn cancel_sent(&mut self) {
        self.active.cancel_sent |= self.active.open;
        for turn in &mut self.waiting {
            turn.cancel_sent = true;
        }
    }

    /// Makes a turn the one that updates belong to, or lets it wait behind the one that is open.
    pub(super) fn enter(&mut self, turn: TurnTrack) {
        if self.active.open {
            self.waiting.push_back(turn);
        } else {
            self.active = turn;
        }
    }
}

/// How a turn ends, and what the transcript says of it.
struct Ending {
    state: TurnState,
    stop_reason: Option<String>,
    usage: Option<Value>,
    said: Said,
}

/// What is to be said of an ending.
enum Said {
    /// Nothing.
    Nothing,
    /// An error: at the last round where that has calls, else in a notice.
    Error(String),
    /// A notice.
    Notice(NoticeLevel, &'static str, String),
}

impl SessionRecord {
    pub(super) fn prompt(&mut self, prompt: PromptKey, text: String, attachments: Vec<Media>, step: &mut Step<'_>) {
        let id = TurnId::from_source(step.ids);
        let waits = self.turns.active.open;
        if waits {
            self.end_round(None, step);
        } else {
            self.end_all_rounds(step);
            self.calls.forget_contents(|_| false);
        }
        let state = if waits { TurnState::Queued } else { TurnState::Running };
        insert_turn(id.clone(), state, step);
        if !self.titled
            && let Some(title) = title_from(&text)
        {
            self.title(title, step);
        }
        self.user_text.expect_echo(text.clone());
        let user = User { text, lead: false, origin: Some(Origin::Typed), attachments };
        step.insert_message(Some(id.clone()), Body::User(user));
        self.turns.enter(TurnTrack::new(id.clone(), Some(prompt), true));
        if !waits {
            set_live(Some(id), step);
        }
    }

    pub(super) fn prompt_answered(&mut self, prompt: &PromptKey, answer: PromptAnswer, step: &mut Step<'_>) {
        if self.turns.active.open && self.turns.active.prompt.as_ref() == Some(prompt) {
            let ending = ending(answer, &self.turns.active);
            self.end_active_turn(ending, step);
            self.next_turn(step);
        } else if let Some(place) = self.turns.waiting.iter().position(|turn| turn.prompt.as_ref() == Some(prompt)) {
            self.end_waiting_turn(place, answer, step);
        }
    }

    fn end_active_turn(&mut self, ending: Ending, step: &mut Step<'_>) {
        let Some(id) = self.turns.active.id.clone() else { return };
        self.expire_requests(step);
        self.end_all_rounds(step);
        let close_as = match ending.state {
            TurnState::Cancelled => Some(CallState::Cancelled),
            TurnState::Failed | TurnState::Interrupted => Some(CallState::Interrupted),
            TurnState::Completed | TurnState::Queued | TurnState::Running => None,
        };
        if let Some(state) = close_as {
            self.close_open_calls(&id, state, step);
        }
        self.say(ending.said, step);
        if ending.state == TurnState::Completed && !self.turns.active.said {
            self.notice(NoticeLevel::Info, "nothing_said", "The agent ended its turn without a word.".to_owned(), step);
        }
        self.turns.active.open = false;
        let update = TurnUpdate {
            state: Some(ending.state),
            stop_reason: ending.stop_reason,
            ended_at: Some(step.at),
            usage: ending.usage,
        };
        step.push(Change::UpdateTurn { turn: id, update });
        set_live(None, step);
    }

    fn say(&mut self, said: Said, step: &mut Step<'_>) {
        match said {
            Said::Nothing => {}
            Said::Notice(level, code, text) => self.notice(level, code, text, step),
            Said::Error(text) => {
                self.turns.active.said = true;
                let text = if self.was_said(&text) { ALREADY_SAID.to_owned() } else { text };
                if let Some((message, true)) = self.turns.active.last_round.clone() {
                    let update = MessageUpdate { error: Some(text), ..MessageUpdate::default() };
                    step.push(Change::UpdateMessage { message, update });
                } else {
                    self.notice(NoticeLevel::Error, "failed", text, step);
                }
            }
        }
    }

    /// Whether the agent's last text of the turn is the error already (docs/spec/record.md, Rest.3.4).
    fn was_said(&self, error: &str) -> bool {
        self.turns.active.last_text.trim() == error.trim()
    }

    /// The oldest prompt that waits becomes the one that updates belong to.
    fn next_turn(&mut self, step: &mut Step<'_>) {
        if let Some(next) = self.turns.waiting.pop_front()
            && let Some(id) = next.id.clone()
        {
            self.turns.active = next;
            let update = TurnUpdate { state: Some(TurnState::Running), ..TurnUpdate::default() };
            step.push(Change::UpdateTurn { turn: id.clone(), update });
            set_live(Some(id), step);
        }
    }

    /// An answer to a prompt while an older one is open: refused as a rule. It took no updates.
    fn end_waiting_turn(&mut self, place: usize, answer: PromptAnswer, step: &mut Step<'_>) {
        let Some(track) = self.turns.waiting.remove(place) else { return };
        let Some(id) = track.id.clone() else { return };
        let ending = ending(answer, &track);
        let notice = match ending.said {
            Said::Nothing => None,
            Said::Error(text) => Some((NoticeLevel::Error, "failed", text)),
            Said::Notice(level, code, text) => Some((level, code, text)),
        };
        if let Some((level, code, text)) = notice {
            self.end_round(None, step);
            let notice = Notice { level, code: Some(code.to_owned()), text };
            step.insert_message(Some(id.clone()), Body::Notice(notice));
        }
        let update = TurnUpdate {
            state: Some(ending.state),
            stop_reason: ending.stop_reason,
            ended_at: Some(step.at),
            usage: ending.usage,
        };
        step.push(Change::UpdateTurn { turn: id, update });
    }

    /// The agent died, or Pleat did: what is open has no known outcome (Calls 5, "the rest" 3).
    pub(super) fn agent_gone(&mut self, reason: Option<&str>, last_words: &str, step: &mut Step<'_>) {
        self.expire_requests(step);
        while self.turns.active.open {
            let reason = reason.unwrap_or("The agent stopped before it had answered.");
            let mut text = format!("{reason} What was still running has no known outcome.");
            if !last_words.is_empty() {
                text = format!("{text} It wrote last:\n{last_words}");
            }
            let ending = Ending {
                state: TurnState::Interrupted,
                stop_reason: None,
                usage: None,
                said: Said::Notice(NoticeLevel::Warning, "interrupted", text),
            };
            self.end_active_turn(ending, step);
            self.next_turn(step);
        }
        self.end_all_rounds(step);
    }
}

fn ending(answer: PromptAnswer, turn: &TurnTrack) -> Ending {
    match answer {
        PromptAnswer::Stopped { reason, usage } => {
            let (state, said) = stopped(reason.as_deref());
            Ending { state, stop_reason: reason, usage, said }
        }
        PromptAnswer::Error { code, message } => {
            let cancelled = turn.cancel_sent && reports_cancel(code, &message);
            let (state, said) = if cancelled {
                (TurnState::Cancelled, Said::Nothing)
            } else {
                (TurnState::Failed, Said::Error(message))
            };
            Ending { state, stop_reason: None, usage: None, said }
        }
    }
}

fn stopped(reason: Option<&str>) -> (TurnState, Said) {
    let notice = |code, text: &str| Said::Notice(NoticeLevel::Warning, code, text.to_owned());
    match reason {
        Some("end_turn") => (TurnState::Completed, Said::Nothing),
        Some("cancelled") => (TurnState::Cancelled, Said::Nothing),
        Some("max_tokens") => {
            (TurnState::Completed, notice("max_tokens", "The reply was cut off: the model's output limit was reached."))
        }
        Some("max_turn_requests") => (
            TurnState::Completed,
            notice("max_turn_requests", "The agent stopped: it reached its limit of model requests for one turn."),
        ),
        Some("refusal") => (TurnState::Completed, notice("refusal", "The agent refused to go on.")),
        Some(unknown) => {
            let text = format!("The agent ended the turn for a reason that Pleat does not know: `{unknown}`.");
            (TurnState::Failed, Said::Notice(NoticeLevel::Error, "unknown_stop_reason", text))
        }
        None => {
            let text = "The agent ended the turn without giving a reason.".to_owned();
            (TurnState::Failed, Said::Notice(NoticeLevel::Error, "unknown_stop_reason", text))
        }
    }
}

/// Whether an error only reports our own cancel (case B58).
fn reports_cancel(code: i64, message: &str) -> bool {
    let message = message.to_lowercase();
    code == REQUEST_CANCELLED || message.contains("cancel") || message.contains("abort")
}

pub(super) fn insert_turn(id: TurnId, state: TurnState, step: &mut Step<'_>) {
    step.push(Change::InsertTurn(Turn {
        id,
        state,
        stop_reason: None,
        started_at: Some(step.at),
        ended_at: None,
        usage: None,
        extra: JsonObject::new(),
    }));
}

fn set_live(turn: Option<TurnId>, step: &mut Step<'_>) {
    step.push(Change::UpdateSession(SessionUpdate { live_turn: Some(turn), ..SessionUpdate::default() }));
}

/// The longest title that is taken from a prompt, in characters.
const MAX_TITLE: usize = 80;

/// A session's title, until the agent gives one: the first line of its first prompt that is not blank.
pub(super) fn title_from(prompt: &str) -> Option<String> {
    use unicode_segmentation::UnicodeSegmentation;
    let line = prompt.lines().map(str::trim).find(|line| !line.is_empty())?;
    match line.grapheme_indices(true).nth(MAX_TITLE) {
        None => Some(line.to_owned()),
        Some((end, _)) => Some(format!("{}…", line[..end].trim_end())),
    }
}

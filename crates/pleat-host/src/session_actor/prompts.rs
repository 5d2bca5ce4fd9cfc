//! Prompts: each waits until its turn comes, is sent once, and becomes a user message then.

use super::SessionActor;
use super::agent::LinkStage;
use crate::agent_process::{Login, Order};
use crate::clock::{TimeOrderedIds, now};
use crate::error::{HostError, path_text};
use crate::new_prompt::NewPrompt;
use crate::prompt_parts::prompt_parts;
use pleat_store::Durability;
use pleat_transcript::change::{Change, PromptUpdate, SessionUpdate};
use pleat_transcript::event::{Event, PromptAnswer, PromptKey};
use pleat_transcript::ids::PromptId;
use pleat_transcript::message::NoticeLevel;
use pleat_transcript::session::{TurnState, WaitingPrompt};
use std::path::PathBuf;

/// The longest key of a client, as long as an id.
const MAX_KEY_BYTES: usize = 128;

impl SessionActor {
    /// Takes a prompt. It is sent at once where nothing is in its way, else it waits.
    pub(super) async fn prompt(&mut self, prompt: NewPrompt) -> Result<(), HostError> {
        let NewPrompt { text, attachments, key } = prompt;
        if key.as_ref().is_some_and(|key| key.len() > MAX_KEY_BYTES) {
            return Err(HostError::KeyTooLong);
        }
        if let Some(key) = &key
            && self.shared.store.has_prompt(self.session.clone(), key.clone()).await?
        {
            return Ok(());
        }
        if text.trim().is_empty() && attachments.is_empty() {
            return Err(HostError::EmptyPrompt);
        }
        let id = PromptId::from_source(&mut TimeOrderedIds);
        let waiting = WaitingPrompt { id, key, text, attachments, created_at: Some(now()), held: None };
        self.pending.add(vec![Change::QueuePrompt(Box::new(waiting.clone()))]);
        self.waiting.push(waiting);
        self.send_if_open();
        Ok(self.commit(Durability::Person).await?)
    }

    /// Sends what is next in the same commit, where the agent takes it. An agent is started after the commit.
    fn send_if_open(&mut self) {
        if self.is_open() {
            self.go_on();
        }
    }

    pub(super) async fn edit_prompt(&mut self, prompt: &PromptId, text: String) -> Result<(), HostError> {
        let place = self.waiting_place(prompt)?;
        if text.trim().is_empty() && self.waiting[place].attachments.is_empty() {
            return Err(HostError::EmptyPrompt);
        }
        self.waiting[place].text.clone_from(&text);
        self.update_prompt(prompt, PromptUpdate { text: Some(text), held: None });
        Ok(self.commit(Durability::Person).await?)
    }

    pub(super) async fn remove_prompt(&mut self, prompt: &PromptId) -> Result<(), HostError> {
        let place = self.waiting_place(prompt)?;
        self.waiting.remove(place);
        self.pending.add(vec![Change::RemovePrompt { prompt: prompt.clone(), sent: false }]);
        Ok(self.commit(Durability::Person).await?)
    }

    pub(super) async fn release_prompt(&mut self, prompt: &PromptId) -> Result<(), HostError> {
        let place = self.waiting_place(prompt)?;
        if self.waiting[place].held.take().is_some() {
            self.update_prompt(prompt, PromptUpdate { text: None, held: Some(None) });
        }
        self.send_if_open();
        Ok(self.commit(Durability::Person).await?)
    }

    fn waiting_place(&self, prompt: &PromptId) -> Result<usize, HostError> {
        self.waiting.iter().position(|waiting| waiting.id == *prompt).ok_or(HostError::NotWaiting)
    }

    fn update_prompt(&mut self, prompt: &PromptId, update: PromptUpdate) {
        self.pending.add(vec![Change::UpdatePrompt { prompt: prompt.clone(), update }]);
    }

    /// Does what is next: looks at how the last turn ended, starts the agent for a prompt that waits, or sends it.
    pub(super) fn go_on(&mut self) {
        self.look_at_end();
        let Some(next) = self.waiting.iter().position(|prompt| prompt.held.is_none()) else { return };
        if self.record.live_turn().is_some() || !self.choices.are_settled() {
            return;
        }
        match self.link.as_ref().map(|link| &link.stage) {
            None => self.start_agent(),
            Some(LinkStage::Open { .. }) => self.send(next),
            Some(LinkStage::Opening { .. } | LinkStage::NeedsLogin) => {}
        }
        // Either may have failed the prompt at once.
        self.look_at_end();
    }

    /// Whether a prompt waits that nothing holds.
    pub(super) fn waits(&self) -> bool {
        self.waiting.iter().any(|prompt| prompt.held.is_none())
    }

    /// Looks at how the last turn ended, once.
    pub(super) fn look_at_end(&mut self) {
        if let Some(state) = self.ended.take() {
            self.turn_ended(state);
        }
    }

    /// What waits behind a turn that did not end well is not sent by itself.
    fn turn_ended(&mut self, state: TurnState) {
        let was_stopped = self.stop_by.take().is_some();
        self.live.stopping_since = None;
        let reason = match state {
            TurnState::Failed => "The turn before it failed.",
            TurnState::Interrupted => "The turn before it was interrupted.",
            TurnState::Cancelled if !was_stopped => "The agent ended the turn before it as cancelled.",
            // Stop holds what waits at once.
            TurnState::Cancelled | TurnState::Completed | TurnState::Queued | TurnState::Running => return,
        };
        self.hold_waiting(reason);
    }

    /// Keeps what waits from being sent until a person says so.
    pub(super) fn hold_waiting(&mut self, reason: &str) {
        let mut held = Vec::new();
        for prompt in self.waiting.iter_mut().filter(|prompt| prompt.held.is_none()) {
            prompt.held = Some(reason.to_owned());
            held.push(prompt.id.clone());
        }
        for prompt in held {
            self.update_prompt(&prompt, PromptUpdate { text: None, held: Some(Some(reason.to_owned())) });
        }
    }

    /// Takes a prompt out of the queue and makes it the message and the turn that it is from now on.
    fn begin_turn(&mut self, place: usize) -> (PromptKey, WaitingPrompt) {
        let waiting = self.waiting.remove(place);
        self.abandoned = None;
        self.prompts += 1;
        let prompt = self.newest_prompt();
        self.pending.add(vec![Change::RemovePrompt { prompt: waiting.id.clone(), sent: true }]);
        self.apply(Event::Prompt {
            prompt: prompt.clone(),
            text: waiting.text.clone(),
            attachments: waiting.attachments.clone(),
        });
        self.pending.is_a_persons();
        (prompt, waiting)
    }

    fn send(&mut self, place: usize) {
        let Some(LinkStage::Open { info }) = self.link.as_ref().map(|link| &link.stage) else { return };
        let info = info.clone();
        let (prompt, waiting) = self.begin_turn(place);
        let (parts, left_out) = prompt_parts(&waiting.text, &waiting.attachments, &info);
        let title = self.agent_title();
        if parts.is_empty() {
            self.fail(&prompt, &format!("{title} takes nothing of this prompt: {}.", left_out.join(", ")));
            return;
        }
        if !left_out.is_empty() {
            let text = format!("{title} does not take {}; it was told the rest.", left_out.join(", "));
            self.apply(Event::Notice { level: NoticeLevel::Warning, code: "attachment_not_sent", text });
        }
        if let Some(link) = &mut self.link {
            link.has_served = true;
        }
        self.outbox.push(Order::Prompt { session: self.session.clone(), prompt, parts });
    }

    /// The prompt that would be next fails, for this reason, and what waits behind it is held.
    pub(super) fn fail_next(&mut self, reason: &str) {
        if let Some(next) = self.waiting.iter().position(|prompt| prompt.held.is_none()) {
            let (prompt, _) = self.begin_turn(next);
            self.fail(&prompt, reason);
        }
    }

    /// Ends a turn that never reached its agent.
    fn fail(&mut self, prompt: &PromptKey, reason: &str) {
        let answer = PromptAnswer::Error { code: 0, message: reason.to_owned() };
        self.apply(Event::PromptAnswered { prompt: prompt.clone(), answer });
    }

    pub(super) fn answered(&mut self, prompt: PromptKey, answer: PromptAnswer, login: Option<&Login>) {
        let answer = match (answer, login) {
            (PromptAnswer::Error { code, message }, Some(login)) => {
                let title = self.agent_title();
                let message =
                    format!("{title}: {}.{} Then send it again.", message.trim_end_matches('.'), login.advice());
                PromptAnswer::Error { code, message }
            }
            (answer, _) => answer,
        };
        self.apply(Event::PromptAnswered { prompt, answer });
    }

    /// Adds a directory that the agent may work in. It is told of it when its session is next opened.
    pub(super) async fn add_directory(&mut self, directory: PathBuf) -> Result<(), HostError> {
        let found = directory.canonicalize().ok().filter(|path| path.is_dir());
        let directory = found.ok_or(HostError::NoDirectory(directory))?;
        if !self.directories.contains(&directory) {
            let mut all = self.directories.clone();
            all.push(directory);
            let texts = all.iter().map(|path| path_text(path)).collect::<Result<_, _>>()?;
            self.directories = all;
            let update = SessionUpdate { directories: Some(texts), ..SessionUpdate::default() };
            self.pending.add(vec![Change::UpdateSession(update)]);
            self.commit(Durability::Person).await?;
        }
        Ok(())
    }
}

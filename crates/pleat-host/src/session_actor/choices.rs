//! What a person chose of the agent's modes, models and options: kept with the session, and told to each new process.

use super::{Reply, SessionActor};
use crate::agent_process::{Order, Setting};
use crate::error::HostError;
use pleat_acp::connection::RpcError;
use pleat_acp::offers::{ConfigValue, SessionOffers};
use pleat_store::{Durability, StoreError};
use pleat_transcript::change::{Change, SessionUpdate};
use pleat_transcript::event::Event;
use pleat_transcript::message::NoticeLevel;
use pleat_transcript::session::ChosenSettings;
use serde_json::Value;
use std::time::Duration;
use tokio::time::Instant;

/// How long an agent may take to answer a choice: a prompt waits for it.
const PATIENCE: Duration = Duration::from_secs(30);

/// What was chosen, and what the agent has not answered yet.
pub(super) struct Choices {
    chosen: ChosenSettings,
    asked: Vec<AskedSetting>,
}

struct AskedSetting {
    setting: Setting,
    since: Instant,
    /// Who waits for it; `None`: it was chosen before, and is told to a new process again.
    reply: Option<Reply>,
}

impl Choices {
    pub(super) fn new(chosen: ChosenSettings) -> Self {
        Self { chosen, asked: Vec::new() }
    }

    /// Whether the agent has answered all of them: a prompt does not overtake the mode that was chosen for it.
    pub(super) fn are_settled(&self) -> bool {
        self.asked.is_empty()
    }

    /// When the oldest that is not answered is given up.
    pub(super) fn settle_by(&self) -> Option<Instant> {
        self.asked.first().map(|asked| asked.since + PATIENCE)
    }

    /// The process is gone, and with it its answers.
    pub(super) fn lost(&mut self, reason: &str) {
        for asked in self.asked.drain(..) {
            if let Some(reply) = asked.reply {
                let _ = reply.send(Err(HostError::AgentRefused(reason.to_owned())));
            }
        }
    }

    fn remember(&mut self, setting: &Setting) {
        match setting {
            Setting::Mode(mode) => self.chosen.mode = Some(mode.clone()),
            Setting::Model(model) => self.chosen.model = Some(model.clone()),
            Setting::Option { id, value } => {
                self.chosen.options.insert(id.clone(), value.clone());
            }
        }
    }

    /// What was chosen before and is not what a new process offers as current.
    fn to_repeat(&self, offers: &SessionOffers) -> Vec<Setting> {
        let mode =
            self.chosen.mode.iter().filter(|mode| offers.modes.as_ref().is_some_and(|modes| modes.current != **mode));
        let model = self
            .chosen
            .model
            .iter()
            .filter(|model| offers.models.as_ref().is_some_and(|models| models.current != **model));
        let options = self.chosen.options.iter().filter(|(id, value)| {
            offers.options.iter().any(|option| option.id == **id && !is_current(&option.value, value))
        });
        let options = options.map(|(id, value)| Setting::Option { id: id.clone(), value: value.clone() });
        mode.cloned().map(Setting::Mode).chain(model.cloned().map(Setting::Model)).chain(options).collect()
    }
}

fn is_current(offered: &ConfigValue, value: &Value) -> bool {
    match offered {
        ConfigValue::Select(selection) => value.as_str() == Some(selection.current.as_str()),
        ConfigValue::Boolean(current) => value.as_bool() == Some(*current),
    }
}

impl SessionActor {
    /// Chooses a mode, a model or an option: told to the agent where it runs, else with its start.
    pub(super) async fn choose(&mut self, setting: Setting, reply: Reply) -> Result<(), StoreError> {
        if self.is_open() {
            self.ask_for(setting, Some(reply));
            return Ok(());
        }
        self.choices.remember(&setting);
        let stored = self.store_choices().await;
        let _ = reply.send(stored.clone().map_err(HostError::Store));
        stored
    }

    fn ask_for(&mut self, setting: Setting, reply: Option<Reply>) {
        self.outbox.push(Order::Set { session: self.session.clone(), setting: setting.clone() });
        self.choices.asked.push(AskedSetting { setting, since: Instant::now(), reply });
    }

    async fn store_choices(&mut self) -> Result<(), StoreError> {
        let update = SessionUpdate { chosen: Some(self.choices.chosen.clone()), ..SessionUpdate::default() };
        self.pending.add(vec![Change::UpdateSession(update)]);
        self.commit(Durability::Person).await
    }

    /// Tells a new process what was chosen before.
    pub(super) fn repeat_choices(&mut self) {
        for setting in self.choices.to_repeat(&self.live.offers) {
            self.ask_for(setting, None);
        }
    }

    /// The agent has answered.
    pub(super) async fn set(&mut self, setting: &Setting, result: Result<Value, RpcError>) -> Result<(), StoreError> {
        let Some(place) = self.choices.asked.iter().position(|asked| asked.setting == *setting) else { return Ok(()) };
        let reply = self.choices.asked.remove(place).reply;
        match result {
            Ok(answer) => {
                match setting {
                    Setting::Mode(mode) => self.live.offers.mode_set(mode),
                    Setting::Model(model) => self.live.offers.model_set(model),
                    Setting::Option { .. } => self.live.offers.option_set(&answer),
                }
                self.choices.remember(setting);
                self.store_choices().await?;
                if let Some(reply) = reply {
                    let _ = reply.send(Ok(()));
                }
            }
            Err(error) => self.refused(setting, reply, error.message),
        }
        Ok(())
    }

    /// An agent that does not answer holds nobody up.
    pub(super) fn choices_took_too_long(&mut self) {
        let asked = self.choices.asked.remove(0);
        let seconds = PATIENCE.as_secs();
        self.refused(&asked.setting, asked.reply, format!("it did not answer within {seconds} s"));
    }

    /// Tells who waits for a choice, or the transcript where nobody does.
    fn refused(&mut self, setting: &Setting, reply: Option<Reply>, said: String) {
        match reply {
            Some(reply) => drop(reply.send(Err(HostError::AgentRefused(said)))),
            None => self.not_repeated(setting, &said),
        }
    }

    fn not_repeated(&mut self, setting: &Setting, said: &str) {
        let what = match setting {
            Setting::Mode(mode) => format!("the mode `{mode}`"),
            Setting::Model(model) => format!("the model `{model}`"),
            Setting::Option { id, .. } => format!("the option `{id}`"),
        };
        let text = format!("{} did not take {what}, which was chosen before: {said}", self.agent_title());
        self.apply(Event::Notice { level: NoticeLevel::Warning, code: "choice_lost", text });
    }
}

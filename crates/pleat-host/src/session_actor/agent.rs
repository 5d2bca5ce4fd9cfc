//! The session's place at an agent: from its start to its end.

use super::SessionActor;
use crate::agent_process::{AgentProcess, Ending, News, Order, Tenant, it_wrote};
use crate::agents::Agent;
use crate::clock::now;
use crate::error::HostError;
use crate::processes::Processes;
use crate::session_state::AgentState;
use pleat_acp::connection::RequestId;
use pleat_acp::connection::messages::AgentInfo;
use pleat_acp::offers::SessionOffers;
use pleat_acp::process::SpawnError;
use pleat_store::StoreError;
use pleat_transcript::event::{Event, RequestKey};
use pleat_transcript::ids::AgentSessionId;
use pleat_transcript::message::NoticeLevel;
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

/// A place at an agent's process.
pub(super) struct Link {
    pub(super) process: AgentProcess,
    pub(super) news: mpsc::UnboundedReceiver<News>,
    pub(super) stage: LinkStage,
    /// The agent's permission requests that wait for an answer.
    pub(super) permissions: HashMap<RequestKey, RequestId>,
    /// It was given a prompt.
    pub(super) has_served: bool,
}

pub(super) enum LinkStage {
    /// It has not opened the session.
    Opening { since: Instant },
    /// It wants a login first.
    NeedsLogin,
    /// It takes prompts.
    Open { info: Arc<AgentInfo> },
}

impl SessionActor {
    pub(super) fn is_open(&self) -> bool {
        matches!(self.link.as_ref().map(|link| &link.stage), Some(LinkStage::Open { .. }))
    }

    pub(super) fn opening_deadline(&self) -> Option<Instant> {
        match self.link.as_ref()?.stage {
            LinkStage::Opening { since } => Some(since + self.shared.settings.opening_patience),
            LinkStage::NeedsLogin | LinkStage::Open { .. } => None,
        }
    }

    /// Starts the agent, or joins the process that it shares with other sessions.
    pub(super) fn start_agent(&mut self) {
        self.start_agent_with(Processes::for_session);
    }

    fn start_agent_with(&mut self, start: impl FnOnce(&Processes, &Agent, &Path) -> Result<AgentProcess, SpawnError>) {
        let started = match &self.agent {
            Ok(agent) => start(&self.shared.processes, agent, &self.root)
                .map_err(|error| format!("{} could not be started: {error}.{}", agent.title, advice(agent))),
            Err(name) => Err(format!(
                "This session belongs to the agent `{name}`, which is not known any more. Add it to pleat.toml."
            )),
        };
        match started {
            Ok(process) => self.join(process),
            Err(reason) => self.agent_failed(&reason),
        }
    }

    fn join(&mut self, process: AgentProcess) {
        let (news, received) = mpsc::unbounded_channel();
        process.order(Order::Open(Tenant {
            session: self.session.clone(),
            root: self.root.clone(),
            directories: self.directories.clone(),
            news,
        }));
        let stage = LinkStage::Opening { since: Instant::now() };
        self.link = Some(Link { process, news: received, stage, permissions: HashMap::new(), has_served: false });
        self.live.agent = AgentState::Starting { since: now(), says: None };
        self.live.offers = SessionOffers::default();
    }

    /// Starts the agent for a person who wants it now: where it could not be used, anew.
    pub(super) async fn start_anew(&mut self) -> Result<(), HostError> {
        if self.is_open() {
            return Ok(());
        }
        if !matches!(self.link.as_ref().map(|link| &link.stage), Some(LinkStage::Opening { .. })) {
            self.let_go_of_agent();
            self.start_agent();
        }
        Ok(self.commit_if_urgent().await?)
    }

    pub(super) fn log_in(&mut self, method: String) -> Result<(), HostError> {
        match &mut self.link {
            Some(link) if matches!(link.stage, LinkStage::NeedsLogin) => {
                link.stage = LinkStage::Opening { since: Instant::now() };
                link.process.order(Order::LogIn { session: self.session.clone(), method });
                self.live.agent = AgentState::Starting { since: now(), says: None };
                Ok(())
            }
            Some(_) | None => Err(HostError::NoLoginWanted),
        }
    }

    pub(super) async fn news(&mut self, news: News) -> Result<(), StoreError> {
        match news {
            News::Starting { says } => {
                if let AgentState::Starting { says: said, .. } = &mut self.live.agent {
                    *said = Some(says);
                }
            }
            News::Open { agent_session, answer, info } => self.opened(agent_session, &answer, info).await?,
            News::NeedsLogin(login) => {
                if let Some(link) = &mut self.link {
                    link.stage = LinkStage::NeedsLogin;
                }
                self.live.agent = AgentState::NeedsLogin(login);
            }
            News::Taken => {
                self.link = None;
                self.start_agent_with(Processes::alone);
            }
            News::Failed(reason) => {
                let reason = format!("{} cannot be used: {reason}", self.agent_title());
                self.let_go_of_agent();
                self.agent_failed(&reason);
            }
            News::Happened { events, weight } => {
                for event in events {
                    self.apply(event);
                }
                drop(weight);
            }
            News::Offered { update, weight } => {
                self.live.offers.update(&update);
                drop(weight);
            }
            News::Asked { events, request, id, weight } => {
                self.asked(events, &request, id);
                drop(weight);
            }
            News::Answered { prompt, answer, login } => self.answered(prompt, answer, login.as_ref()),
            News::Set { setting, result } => self.set(&setting, result).await?,
            News::SkippedLine { bytes } => {
                let text =
                    format!("The agent sent a line of {bytes} bytes, which is more than Pleat reads. It was skipped.");
                self.apply(Event::Notice { level: NoticeLevel::Warning, code: "line_skipped", text });
            }
            News::Ended(ending) => self.process_ended(&ending),
        }
        Ok(())
    }

    async fn opened(&mut self, id: AgentSessionId, answer: &Value, info: Arc<AgentInfo>) -> Result<(), StoreError> {
        let store = &self.shared.store;
        let earlier = store.agent_sessions(self.session.clone()).await?;
        store.add_agent_session(self.session.clone(), id, now()).await?;
        if let Some(link) = &mut self.link {
            link.stage = LinkStage::Open { info };
        }
        self.live.agent = AgentState::Ready;
        self.live.offers.opened(answer);
        if !earlier.is_empty() && self.record.has_turns() {
            let text =
                "The agent was started anew and does not know what was said before. What you see is what Pleat kept.";
            self.apply(Event::Notice { level: NoticeLevel::Warning, code: "context_lost", text: text.to_owned() });
        }
        self.repeat_choices();
        Ok(())
    }

    /// The agent cannot be used: the prompt that waited for it fails.
    fn agent_failed(&mut self, reason: &str) {
        self.live.agent = AgentState::Failed { reason: reason.to_owned() };
        self.fail_next(reason);
    }

    pub(super) fn opening_took_too_long(&mut self) {
        let says = match &self.live.agent {
            AgentState::Starting { says, .. } => says.clone().unwrap_or_default(),
            AgentState::NotStarted | AgentState::Ready | AgentState::NeedsLogin(_) | AgentState::Failed { .. } => {
                String::new()
            }
        };
        let seconds = self.shared.settings.opening_patience.as_secs_f64();
        let reason = format!(
            "{} cannot be used: it opened no session within {seconds} s. Run its command in a terminal to see whether it speaks the Agent Client Protocol.{}",
            self.agent_title(),
            it_wrote(&says)
        );
        self.retire_process();
        self.let_go_of_agent();
        self.agent_failed(&reason);
    }

    /// The process has ended by itself.
    fn process_ended(&mut self, ending: &Ending) {
        let Some(link) = &self.link else { return };
        let title = self.agent_title();
        let (how, words) = (&ending.how, ending.it_wrote());
        let failed = match (&link.stage, &self.live.agent) {
            (LinkStage::Open { .. }, _) if self.record.live_turn().is_some() => None,
            // One that ends before it was ever asked would be started for ever.
            (LinkStage::Open { .. }, _) if !link.has_served => {
                Some(format!("{title} ended before it could be asked{how}.{words}"))
            }
            (LinkStage::Open { .. }, _) => None,
            (_, AgentState::NeedsLogin(login)) => {
                Some(format!("{title} wants a login, and has ended{how}: {}.{}", login.said, login.advice()))
            }
            (LinkStage::Opening { .. } | LinkStage::NeedsLogin, _) => Some(format!(
                "{title} ended as soon as it was started{how}. Run its command in a terminal to see why.{words}"
            )),
        };
        let was_open = self.is_open();
        self.end_stopped_turn();
        self.forget_link("the agent has ended");
        match failed {
            Some(reason) if !was_open || self.waits() => self.agent_failed(&reason),
            Some(_) => {}
            None => {
                let reason = format!("{title} ended before it had answered{how}.");
                self.apply(Event::AgentGone { reason: Some(reason), last_words: ending.last_words.clone() });
            }
        }
    }

    /// The process is gone without a word.
    pub(super) fn process_lost(&mut self) {
        let ending = Ending { how: String::new(), last_words: String::new() };
        self.process_ended(&ending);
    }

    /// An agent that ended after Stop has stopped.
    fn end_stopped_turn(&mut self) {
        if self.stop_by.is_some() {
            self.end_turn_cancelled();
        }
    }

    /// What an agent that did not answer Stop still says belongs to the turn that was ended without it, until the next
    /// one begins (docs/spec/record.md, Rest 3).
    pub(super) fn late_news(&mut self, news: News) {
        match news {
            News::Happened { events, weight: _ } if self.record.live_turn().is_none() => {
                for event in events {
                    self.apply(event);
                }
            }
            News::Asked { id, .. } => {
                if let Some(link) = &self.abandoned {
                    link.process.order(Order::AnswerPermission { id, option: None });
                }
            }
            News::Happened { .. }
            | News::Starting { .. }
            | News::Open { .. }
            | News::NeedsLogin(_)
            | News::Taken
            | News::Failed(_)
            | News::Offered { .. }
            | News::Answered { .. }
            | News::Set { .. }
            | News::SkippedLine { .. }
            | News::Ended(_) => {}
        }
    }

    /// A process that hangs gets no further sessions.
    pub(super) fn retire_process(&self) {
        if let Some(link) = &self.link {
            self.shared.processes.retire(&link.process);
        }
    }

    /// Tells the agent what was to be told once it was stored.
    pub(super) fn tell_agent(&mut self) {
        match &self.link {
            Some(link) => {
                for order in self.outbox.drain(..) {
                    link.process.order(order);
                }
            }
            None => self.outbox.clear(),
        }
    }

    /// Leaves the process, which ends with its last session. What it still asks is answered; what it still says can be
    /// heard by whoever keeps the link.
    pub(super) fn let_go_of_agent(&mut self) -> Option<Link> {
        let mut link = self.forget_link("the agent was ended")?;
        for (_, id) in link.permissions.drain() {
            link.process.order(Order::AnswerPermission { id, option: None });
        }
        let (done, ending) = oneshot::channel();
        link.process.order(Order::Leave { session: self.session.clone(), done });
        self.endings.retain_mut(|ending| matches!(ending.try_recv(), Err(oneshot::error::TryRecvError::Empty)));
        self.endings.push(ending);
        Some(link)
    }

    fn forget_link(&mut self, reason: &str) -> Option<Link> {
        self.choices.lost(reason);
        self.outbox.clear();
        self.stop_by = None;
        self.live.stopping_since = None;
        self.live.agent = AgentState::NotStarted;
        self.link.take()
    }
}

/// What a person can do about an agent that could not be started.
fn advice(agent: &Agent) -> String {
    match (agent.program(), &agent.install) {
        (Some(_), _) => String::new(),
        (None, Some(install)) => format!(" Install it with: {install}"),
        (None, None) => format!(" Install it, or set the `command` of [agents.{}] in pleat.toml.", agent.name.0),
    }
}

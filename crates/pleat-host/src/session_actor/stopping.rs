//! Stop: told to the agent at once, and carried out without it after a while.

use super::{SessionActor, gone};
use crate::agent_process::Order;
use crate::clock::now;
use crate::error::HostError;
use pleat_store::{Durability, StoreError};
use pleat_transcript::event::{Event, PermissionOutcome, PromptAnswer};
use tokio::time::Instant;

/// Why prompts that wait at Stop are not sent by themselves.
const STOPPED: &str = "You pressed Stop before it was sent.";

impl SessionActor {
    /// Stops the running turn. Prompts that wait are held, so that Stop does not begin the next one.
    pub(super) async fn stop(&mut self) -> Result<(), HostError> {
        if self.stop_by.is_some() {
            return Ok(());
        }
        if self.record.live_turn().is_none() {
            self.hold_waiting(STOPPED);
            return Ok(self.commit(Durability::Person).await?);
        }
        self.stop_by = Some(Instant::now() + self.shared.settings.stop_grace);
        self.live.stopping_since = Some(now());
        // At once: it is seen before anything is written or answered.
        self.publish();
        self.apply(Event::CancelSent);
        self.cancel_open_requests();
        self.hold_waiting(STOPPED);
        self.outbox.push(Order::Cancel { session: self.session.clone() });
        self.commit(Durability::Person).await?;
        self.cancel_moot_requests();
        Ok(self.commit(Durability::Person).await?)
    }

    /// Ends a turn that was told to stop without waiting any longer.
    pub(super) async fn force_stop(&mut self) -> Result<(), HostError> {
        if self.stop_by.is_none() {
            self.stop().await?;
        }
        if self.stop_by.is_some() {
            self.stop_by_force().await?;
        }
        Ok(())
    }

    /// The agent did not answer Stop: its turn ends as cancelled, and the next prompt gets another process.
    pub(super) async fn stop_by_force(&mut self) -> Result<(), StoreError> {
        self.end_turn_cancelled();
        self.commit(Durability::Person).await?;
        self.retire_process();
        self.abandoned = self.let_go_of_agent();
        Ok(())
    }

    pub(super) fn end_turn_cancelled(&mut self) {
        let answer = PromptAnswer::Stopped { reason: Some("cancelled".to_owned()), usage: None };
        self.apply(Event::PromptAnswered { prompt: self.newest_prompt(), answer });
        self.look_at_end();
    }

    /// Ends the agent for a person who is done with it. What it was at is interrupted; what waits is held.
    pub(super) async fn end_agent(&mut self) -> Result<(), HostError> {
        self.hold_waiting("You ended the agent before it was sent.");
        self.apply(gone("You ended the agent while it was at work."));
        self.commit(Durability::Person).await?;
        self.let_go_of_agent();
        Ok(())
    }

    pub(super) fn cancel_open_requests(&mut self) {
        for request in self.record.open_requests() {
            self.apply(Event::PermissionAnswered { request, outcome: PermissionOutcome::Cancelled, by: None });
        }
    }
}

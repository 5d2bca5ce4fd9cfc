//! What a session makes of each line of its agent (docs/spec/record.md): events for the record, answers for the agent.

use super::SessionActor;
use crate::agent_link::{AgentLink, Answered};
use crate::clock::now;
use pleat_acp::adapter::session_id;
use pleat_acp::connection::{CloseReason, Incoming, RequestId, RpcError};
use pleat_store::{Durability, StoreError};
use pleat_transcript::event::{Event, PromptAnswer, PromptKey, RequestKey};
use pleat_transcript::ids::AgentSessionId;
use pleat_transcript::message::NoticeLevel;
use serde_json::{Value, json};
use std::process::ExitStatus;

/// ACP's code for an error that a login ends.
const AUTHENTICATION_REQUIRED: i64 = -32000;

impl SessionActor {
    pub(super) async fn incoming(&mut self, line: Incoming) -> Result<(), StoreError> {
        match line {
            Incoming::Notification { method, params } if method == "session/update" => self.update(params),
            Incoming::Notification { method, .. } => {
                tracing::debug!(session = %self.session, method, "a notification that Pleat does not know");
            }
            Incoming::Request { id, method, params } => self.request(id, &method, &params).await?,
            Incoming::Answer { to, result } => {
                if let Some(link) = &mut self.link {
                    match link.answered(to, result) {
                        Answered::Nothing => {}
                        Answered::Opened(agent_session, early) => self.opened(agent_session, early).await?,
                        Answered::Prompt(prompt, result) => self.answered(prompt, result),
                        Answered::Failed(reason) => self.failed_to_open(&reason).await?,
                    }
                }
            }
            Incoming::Noise(line) => {
                tracing::debug!(session = %self.session, bytes = line.len(), "the agent printed a line that is no message");
                if let Some(link) = &mut self.link {
                    link.keep_noise(line);
                }
            }
            Incoming::SkippedLine { bytes } => {
                let text =
                    format!("The agent sent a line of {bytes} bytes, which is more than Pleat reads. It was skipped.");
                self.apply(Event::Notice { level: NoticeLevel::Warning, code: "line_skipped", text });
            }
            Incoming::Closed(reason) => self.closed(&reason),
        }
        Ok(())
    }

    fn update(&mut self, params: Value) {
        let Some(link) = &mut self.link else { return };
        if !link.is_open() {
            link.keep_early(params);
            return;
        }
        let events = link.adapter.update(&params, self.record.is_replaying());
        for (session, event) in events {
            if self.link.as_ref().is_some_and(|link| link.is_ours(&session)) {
                self.apply(event);
            }
        }
    }

    async fn request(&mut self, id: RequestId, method: &str, params: &Value) -> Result<(), StoreError> {
        let Some(link) = &mut self.link else { return Ok(()) };
        if method != "session/request_permission" || session_id(params).is_none() {
            link.connection.respond(&id, Err(RpcError::method_not_found(method)));
            return Ok(());
        }
        let request = RequestKey(id.to_string());
        let events = link.adapter.permission(request.clone(), params);
        link.permission_asked(request, id);
        if self.record.live_turn().is_none() {
            // Nobody is there to be asked; it is answered as a moot one.
            return Ok(());
        }
        for (_, event) in events {
            self.apply(event);
        }
        if self.stop_by.is_some() {
            // It crossed Stop on its way (B10).
            self.cancel_open_requests();
            self.commit(Durability::Person).await?;
        }
        Ok(())
    }

    async fn opened(&mut self, agent_session: AgentSessionId, early: Vec<Value>) -> Result<(), StoreError> {
        let earlier = self.store.agent_sessions(self.session.clone()).await?;
        self.store.add_agent_session(self.session.clone(), agent_session, now()).await?;
        if !earlier.is_empty() {
            let text =
                "The agent was started anew and does not know what was said before. What you see is what Pleat kept.";
            self.apply(Event::Notice { level: NoticeLevel::Warning, code: "context_lost", text: text.to_owned() });
        }
        for params in early {
            self.update(params);
        }
        Ok(())
    }

    fn answered(&mut self, prompt: PromptKey, result: Result<Value, RpcError>) {
        self.stop_by = None;
        let Some(link) = &self.link else { return };
        let answer = match result {
            Ok(result) => link.adapter.prompt_answer(Ok(&result)),
            Err(error) => self.with_advice(link.adapter.prompt_answer(Err(&json!(error))), link),
        };
        self.apply(Event::PromptAnswered { prompt, answer });
    }

    /// An error that only a login can end says so.
    fn with_advice(&self, answer: PromptAnswer, link: &AgentLink) -> PromptAnswer {
        let PromptAnswer::Error { code: AUTHENTICATION_REQUIRED, message } = answer else { return answer };
        let message = format!("{}: {}.{}", self.agent_title(), message.trim_end_matches('.'), link.login_advice());
        PromptAnswer::Error { code: AUTHENTICATION_REQUIRED, message }
    }

    async fn failed_to_open(&mut self, reason: &str) -> Result<(), StoreError> {
        let title = self.agent_title();
        let prompt = PromptKey(self.prompts.to_string());
        self.fail(&prompt, &format!("{title} cannot be used: {reason}"));
        // Before the agent is ended, which may take a while.
        self.commit(Durability::Agent).await?;
        self.end_agent().await;
        Ok(())
    }

    pub(super) async fn opening_took_too_long(&mut self) -> Result<(), StoreError> {
        let Some(link) = &self.link else { return Ok(()) };
        let words = it_wrote(&link.last_words());
        let seconds = self.settings.opening_patience.as_secs_f64();
        let reason = format!(
            "it opened no session within {seconds} s. Run its command in a terminal to see whether it speaks the Agent Client Protocol.{words}"
        );
        self.failed_to_open(&reason).await
    }

    /// Ends a turn that never reached its agent.
    pub(super) fn fail(&mut self, prompt: &PromptKey, reason: &str) {
        let answer = PromptAnswer::Error { code: 0, message: reason.to_owned() };
        self.apply(Event::PromptAnswered { prompt: prompt.clone(), answer });
    }

    fn closed(&mut self, reason: &CloseReason) {
        let Some(link) = self.link.take() else { return };
        self.stop_by = None;
        let title = self.agent_title();
        let exit = reason.exit.map_or_else(String::new, exit_words);
        let words = link.last_words();
        if link.is_open() {
            self.agent_gone(&format!("{title} ended before it had answered{exit}."), words);
        } else {
            let prompt = PromptKey(self.prompts.to_string());
            let words = it_wrote(&words);
            let text = format!(
                "{title} ended as soon as it was started{exit}. Run its command in a terminal to see why.{words}"
            );
            self.fail(&prompt, &text);
        }
    }

    pub(super) fn agent_gone(&mut self, reason: &str, last_words: String) {
        self.apply(Event::AgentGone { reason: Some(reason.to_owned()), last_words });
    }

    fn agent_title(&self) -> String {
        self.agent.as_ref().map_or_else(Clone::clone, |agent| agent.title.clone())
    }
}

/// The last lines that an agent printed, as the end of a notice; empty where there are none.
fn it_wrote(last_words: &str) -> String {
    if last_words.is_empty() { String::new() } else { format!(" It wrote last:\n{last_words}") }
}

/// How a process ended, as a part of a sentence.
fn exit_words(exit: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&exit) {
        return format!(", killed by signal {signal}");
    }
    exit.code().map_or_else(String::new, |code| format!(", with exit code {code}"))
}

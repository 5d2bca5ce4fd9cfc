//! A session that is told step by step, so that its transcript can be looked at in between.

use pleat_acp::adapter::{Adapter, SessionEvent};
use pleat_transcript::document::{Document, Window};
use pleat_transcript::event::{Event, PermissionOutcome, PromptKey, RequestKey};
use pleat_transcript::fold::fold;
use pleat_transcript::ids::{CountedIds, SessionId};
use pleat_transcript::record::SessionRecord;
use pleat_transcript::session::{Millis, Session};
use serde_json::{Value, json};

/// Between two things that happen.
const STEP_MS: Millis = 100;

pub(crate) struct Live {
    adapter: Adapter,
    pub(crate) record: SessionRecord,
    pub(crate) document: Document,
    ids: CountedIds,
    at: Millis,
    prompts: usize,
}

impl Live {
    pub(crate) fn new() -> Self {
        Self::with_agent("test-agent")
    }

    pub(crate) fn with_agent(agent: &str) -> Self {
        let id = SessionId::new("s1").unwrap();
        let mut adapter = Adapter::new();
        adapter.initialized(&json!({"agentInfo": {"name": agent}}));
        Self {
            adapter,
            record: SessionRecord::new(id.clone()),
            document: Document::new(Session::new(id)),
            ids: CountedIds::default(),
            at: 0,
            prompts: 0,
        }
    }

    pub(crate) fn happens(&mut self, event: Event) -> &mut Self {
        self.at += STEP_MS;
        for change in self.record.apply(event, self.at, &mut self.ids) {
            self.document.apply(&change).unwrap();
        }
        self
    }

    fn happen(&mut self, events: Vec<SessionEvent>) -> &mut Self {
        for (_, event) in events {
            self.happens(event);
        }
        self
    }

    pub(crate) fn prompt(&mut self, text: &str) -> &mut Self {
        self.prompts += 1;
        let prompt = PromptKey(self.prompts.to_string());
        self.happens(Event::Prompt { prompt, text: text.to_owned(), attachments: Vec::new() })
    }

    /// An update; a key named `sessionUpdate` says which.
    pub(crate) fn update(&mut self, update: Value) -> &mut Self {
        let replaying = self.record.is_replaying();
        let events = self.adapter.update(&json!({"sessionId": "agents-own", "update": update}), replaying);
        self.happen(events)
    }

    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.update(json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}))
    }

    pub(crate) fn text_with_id(&mut self, text: &str, id: &str) -> &mut Self {
        self.update(json!({"sessionUpdate": "agent_message_chunk", "messageId": id,
            "content": {"type": "text", "text": text}}))
    }

    pub(crate) fn user_text(&mut self, text: &str) -> &mut Self {
        self.update(json!({"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": text}}))
    }

    pub(crate) fn thought_with_id(&mut self, text: &str, id: &str) -> &mut Self {
        self.update(json!({"sessionUpdate": "agent_thought_chunk", "messageId": id,
            "content": {"type": "text", "text": text}}))
    }

    /// `tool_call` with an id and a status, and whatever else is given.
    pub(crate) fn call(&mut self, id: &str, status: &str, more: Value) -> &mut Self {
        let call = json!({"sessionUpdate": "tool_call", "toolCallId": id, "status": status});
        self.update(merged(call, more))
    }

    /// `tool_call_update` with an id, and whatever else is given.
    pub(crate) fn call_update(&mut self, id: &str, more: Value) -> &mut Self {
        self.update(merged(json!({"sessionUpdate": "tool_call_update", "toolCallId": id}), more))
    }

    pub(crate) fn plan(&mut self, entries: &[(&str, &str)]) -> &mut Self {
        let entries: Vec<Value> =
            entries.iter().map(|(content, status)| json!({"content": content, "status": status})).collect();
        self.update(json!({"sessionUpdate": "plan", "entries": entries}))
    }

    pub(crate) fn asks(&mut self, request: &str, call: Value, options: Value) -> &mut Self {
        let params = json!({"sessionId": "agents-own", "toolCall": call, "options": options});
        let events = self.adapter.permission(RequestKey(request.to_owned()), &params);
        self.happen(events)
    }

    pub(crate) fn answer(&mut self, request: &str, option: &str) -> &mut Self {
        let outcome = PermissionOutcome::Selected { option: option.to_owned() };
        self.happens(Event::PermissionAnswered { request: RequestKey(request.to_owned()), outcome, by: None })
    }

    pub(crate) fn answer_without_choice(&mut self, request: &str) -> &mut Self {
        let request = RequestKey(request.to_owned());
        self.happens(Event::PermissionAnswered { request, outcome: PermissionOutcome::Cancelled, by: None })
    }

    pub(crate) fn cancel(&mut self) -> &mut Self {
        self.happens(Event::CancelSent)
    }

    /// The answer to the last prompt.
    pub(crate) fn answered(&mut self, answer: Result<Value, Value>) -> &mut Self {
        let prompt = PromptKey(self.prompts.to_string());
        let answer = self.adapter.prompt_answer(answer.as_ref());
        self.happens(Event::PromptAnswered { prompt, answer })
    }

    pub(crate) fn stops(&mut self, reason: &str) -> &mut Self {
        self.answered(Ok(json!({"stopReason": reason})))
    }

    pub(crate) fn dies(&mut self) -> &mut Self {
        self.happens(Event::AgentGone { reason: None, last_words: String::new() })
    }

    /// `session/load`: from its request to its answer.
    pub(crate) fn loads(&mut self, replay: impl FnOnce(&mut Self)) -> &mut Self {
        self.happens(Event::ReplayBegins);
        replay(self);
        self.at += STEP_MS;
        for change in self.record.finish_replay(&self.document, self.at, &mut self.ids) {
            self.document.apply(&change).unwrap();
        }
        self
    }

    /// The host starts anew: what it knows is what is stored.
    pub(crate) fn restarts(&mut self) -> &mut Self {
        self.record = SessionRecord::from_document(&self.document);
        self.dies()
    }

    pub(crate) fn json(&self) -> Value {
        self.document.to_json()
    }

    /// The rows of the latest window.
    pub(crate) fn rows(&self) -> Vec<Value> {
        let rows = serde_json::to_value(fold(&self.document, &Window::Latest).unwrap()).unwrap();
        rows["rows"].as_array().unwrap().clone()
    }

    /// The kinds of the latest window's rows.
    pub(crate) fn row_kinds(&self) -> Vec<String> {
        self.rows().iter().map(|row| row["kind"].as_str().unwrap().to_owned()).collect()
    }

    /// The summaries of the latest window's groups.
    pub(crate) fn groups(&self) -> Vec<Value> {
        self.rows().iter().filter(|row| row["kind"] == "activity").map(|row| row["summary"].clone()).collect()
    }
}

fn merged(mut object: Value, more: Value) -> Value {
    let (Value::Object(fields), Value::Object(more)) = (&mut object, more) else { panic!("objects") };
    fields.extend(more);
    object
}

/// Content blocks of one text.
pub(crate) fn content(text: &str) -> Value {
    json!([{"type": "content", "content": {"type": "text", "text": text}}])
}

//! Recorded ids made fresh: a conversation played twice must not reuse them.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::trace::TraceItem;

/// The ids that a recording holds.
#[derive(Debug, Clone, Default)]
pub(super) struct RecordedIds {
    sessions: HashSet<String>,
    /// Of calls, messages and agents.
    others: HashSet<String>,
}

impl RecordedIds {
    pub(super) fn collect(&mut self, item: &TraceItem) {
        match item {
            TraceItem::ClientToAgent(message) | TraceItem::AgentToClient(message) => self.collect_in(message),
            TraceItem::AgentRaw(_) | TraceItem::AgentStderr(_) | TraceItem::Note(_) => {}
        }
    }

    fn collect_in(&mut self, value: &Value) {
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    match (key.as_str(), value) {
                        ("sessionId", Value::String(id)) => {
                            self.sessions.insert(id.clone());
                        }
                        ("toolCallId" | "messageId" | "agentId", Value::String(id)) => {
                            self.others.insert(id.clone());
                        }
                        (_, _) => self.collect_in(value),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.collect_in(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

/// From recorded ids to those that are said.
#[derive(Debug, Clone)]
pub(super) struct IdMap {
    recorded: RecordedIds,
    /// Sessions that the client knows, and sub-agents' once they were mentioned.
    sessions: HashMap<String, String>,
    /// Ids that the client gave instead of those it gave in the recording.
    clients: HashMap<String, String>,
    /// How often the prompts were begun, from 1.
    round: usize,
    /// Ids of the agent's requests that were used.
    requests_used: HashSet<Value>,
    last_request: i64,
}

impl IdMap {
    pub(super) fn new(recorded: RecordedIds) -> Self {
        Self {
            recorded,
            sessions: HashMap::new(),
            clients: HashMap::new(),
            round: 1,
            requests_used: HashSet::new(),
            last_request: -1,
        }
    }

    /// The prompts begin again: what they make is new.
    pub(super) fn begin_round(&mut self) {
        self.round += 1;
        self.sessions.clear();
        self.clients.clear();
    }

    /// The recorded session is from now on the one that the client names.
    pub(super) fn bind_session(&mut self, recorded: &str, actual: &str) {
        self.sessions.insert(recorded.to_owned(), actual.to_owned());
    }

    /// The recorded session is from now on one that was never there before.
    pub(super) fn bind_fresh_session(&mut self, recorded: &str) {
        self.bind_session(recorded, &fresh_session());
    }

    /// Goes back to what was bound before; ids that were given since stay given.
    pub(super) fn keep_bindings_of(&mut self, before: Self) {
        self.sessions = before.sessions;
        self.clients = before.clients;
    }

    /// Where the client's answer holds an id that it made (a terminal's), it stands for the recorded one.
    pub(super) fn bind_client_ids(&mut self, recorded: &Value, actual: &Value) {
        let Value::Object(fields) = recorded else { return };
        for (key, value) in fields {
            if let (true, Some(recorded), Some(actual)) = (is_id_key(key), value.as_str(), actual[key].as_str()) {
                self.clients.insert(recorded.to_owned(), actual.to_owned());
            }
        }
    }

    /// An id for a request of the agent's: as recorded, if it was not used yet.
    pub(super) fn request_id(&mut self, recorded: &Value) -> Value {
        let mut id = recorded.clone();
        while !self.requests_used.insert(id.clone()) {
            self.last_request += 1;
            id = match recorded {
                Value::String(text) => Value::from(format!("{text}~{}", self.last_request)),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                    Value::from(self.last_request)
                }
            };
        }
        id
    }

    /// Replaces the recorded ids in what the agent says.
    pub(super) fn replace_in(&mut self, value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    if let (true, Value::String(id)) = (is_id_key(key), &mut *value) {
                        self.replace(id);
                    } else {
                        self.replace_in(value);
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.replace_in(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn replace(&mut self, id: &mut String) {
        if let Some(actual) = self.clients.get(id) {
            id.clone_from(actual);
        } else if self.recorded.sessions.contains(id) {
            *id = self.session(id);
        } else if self.round > 1 && self.recorded.others.contains(id) {
            *id = format!("{id}~{}", self.round);
        }
    }

    /// A session that nobody bound is a sub-agent's.
    fn session(&mut self, recorded: &str) -> String {
        if !self.sessions.contains_key(recorded) {
            self.bind_fresh_session(recorded);
        }
        self.sessions.get(recorded).cloned().unwrap_or_default()
    }
}

/// An id that no other has, not even in another process that gets the same pid later.
fn fresh_session() -> String {
    static MADE: AtomicU64 = AtomicU64::new(0);
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    format!("replay-{:x}-{:x}-{number}", since_epoch.as_millis(), std::process::id())
}

/// Whether a field names something: `toolCallId`, `parentToolUseId`, `terminal_id`, `senderSessionId` …
fn is_id_key(key: &str) -> bool {
    key.ends_with("Id") || key.ends_with("_id")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ids() -> IdMap {
        let mut recorded = RecordedIds::default();
        recorded
            .collect(&TraceItem::AgentToClient(json!({"params": {"sessionId": "s", "update": {"toolCallId": "t"}}})));
        recorded.collect(&TraceItem::AgentToClient(
            json!({"params": {"sessionId": "child", "update": {"messageId": "m"}}}),
        ));
        IdMap::new(recorded)
    }

    fn replaced(ids: &mut IdMap, mut value: Value) -> Value {
        ids.replace_in(&mut value);
        value
    }

    #[test]
    fn the_first_round_keeps_calls_and_later_ones_do_not() {
        let mut ids = ids();
        let value = json!({"toolCallId": "t", "_meta": [{"parentToolUseId": "t", "text": "t"}], "messageId": "m", "otherId": "x"});
        assert_eq!(replaced(&mut ids, value.clone()), value);
        ids.begin_round();
        assert_eq!(
            replaced(&mut ids, value),
            json!({"toolCallId": "t~2", "_meta": [{"parentToolUseId": "t~2", "text": "t"}], "messageId": "m~2", "otherId": "x"})
        );
    }

    #[test]
    fn sessions_are_the_clients_or_new() {
        let mut ids = ids();
        ids.bind_session("s", "client's");
        let value = json!({"sessionId": "s", "update": {"senderSessionId": "child"}});
        let first = replaced(&mut ids, value.clone());
        assert_eq!(first["sessionId"], "client's");
        assert_eq!(replaced(&mut ids, value.clone()), first);
        ids.begin_round();
        assert_ne!(replaced(&mut ids, value)["update"], first["update"]);
    }

    #[test]
    fn request_ids_are_counted_on() {
        let mut ids = ids();
        for (recorded, expect) in [
            (json!(0), json!(0)),
            (json!(1), json!(1)),
            (json!("a"), json!("a")),
            (json!(0), json!(2)),
            (json!("a"), json!("a~3")),
        ] {
            assert_eq!(ids.request_id(&recorded), expect);
        }
    }

    #[test]
    fn a_terminal_is_the_clients() {
        let mut ids = ids();
        ids.bind_client_ids(&json!({"terminalId": "term_1", "exit": 0}), &json!({"terminalId": "ours"}));
        assert_eq!(replaced(&mut ids, json!({"terminalId": "term_1"})), json!({"terminalId": "ours"}));
    }
}

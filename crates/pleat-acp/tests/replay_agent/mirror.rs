//! A client that does what the recorded client did, and compares what the agent says with what the
//! recorded agent said.

use std::collections::{HashMap, HashSet};

use pleat_acp::trace::{self, TraceItem};
use serde_json::Value;

use crate::client::{Client, trace_path};

/// The items of one part of a recording, as far as both sides take part in it.
pub(crate) fn part(name: &str, part: usize) -> Vec<TraceItem> {
    let mut current = 1;
    let mut items = Vec::new();
    for line in trace::open(&trace_path(name)).expect("a trace") {
        match line.expect("a line").what {
            TraceItem::Note(note) if note.get("event").is_some() => current += 1,
            TraceItem::Note(_) | TraceItem::AgentStderr(_) => {}
            what @ (TraceItem::ClientToAgent(_) | TraceItem::AgentToClient(_) | TraceItem::AgentRaw(_)) => {
                if current == part {
                    items.push(what);
                }
            }
        }
    }
    items
}

/// From the first prompt on.
pub(crate) fn prompts_of(items: &[TraceItem]) -> &[TraceItem] {
    let first =
        items.iter().position(|item| matches!(item, TraceItem::ClientToAgent(m) if m["method"] == "session/prompt"));
    &items[first.expect("a prompt")..]
}

/// Recorded ids and those that came in their place.
#[derive(Default)]
pub(crate) struct Mirror {
    /// The client's requests, by recorded id.
    requests: HashMap<Value, Value>,
    /// The agent's requests, by recorded id.
    asked: HashMap<Value, Value>,
    /// Every other id.
    ids: HashMap<String, String>,
}

impl Mirror {
    /// Does what the recorded client did, in that session where it is given.
    pub(crate) fn follow(&mut self, client: &mut Client, items: &[TraceItem], session: Option<&Value>) {
        for item in items {
            match item {
                TraceItem::ClientToAgent(message) => self.send(client, message.clone(), session),
                TraceItem::AgentToClient(expected) => self.compare(expected, &client.next()),
                TraceItem::AgentRaw(expected) => assert_eq!(client.line(), *expected),
                TraceItem::AgentStderr(_) | TraceItem::Note(_) => panic!("left out above"),
            }
        }
    }

    fn send(&mut self, client: &mut Client, mut message: Value, session: Option<&Value>) {
        if let Some(recorded) = message["params"].get_mut("sessionId") {
            let known = recorded.as_str().and_then(|recorded| self.ids.get(recorded)).cloned();
            *recorded = session.cloned().or(known.map(Value::from)).unwrap_or_else(|| recorded.clone());
        }
        match (message.get("method").and_then(Value::as_str), message.get("id")) {
            (Some(method), Some(id)) => {
                let id = id.clone();
                let sent = client.request(method, message["params"].clone());
                self.requests.insert(id, sent);
            }
            (Some(method), None) => client.notify(method, message["params"].clone()),
            (None, _) => {
                message["id"] = self.asked[&message["id"]].clone();
                client.send(&message);
            }
        }
    }

    fn compare(&mut self, expected: &Value, got: &Value) {
        let mut got = got.clone();
        if let Some(id) = expected.get("id") {
            if expected.get("method").is_some() {
                self.asked.insert(id.clone(), got["id"].clone());
            } else {
                assert_eq!(self.requests.get(id), got.get("id"), "{expected}");
            }
            got["id"] = id.clone();
        }
        self.compare_in("", expected, &got);
    }

    /// Equal but for ids, and each id replaced by always the same.
    fn compare_in(&mut self, key: &str, expected: &Value, got: &Value) {
        match (expected, got) {
            (Value::Object(expected), Value::Object(got)) => {
                assert!(expected.keys().eq(got.keys()), "{expected:?}\n{got:?}");
                expected.iter().for_each(|(key, value)| self.compare_in(key, value, &got[key]));
            }
            (Value::Array(expected), Value::Array(got)) => {
                assert_eq!(expected.len(), got.len());
                expected.iter().zip(got).for_each(|(expected, got)| self.compare_in("", expected, got));
            }
            (Value::String(expected), Value::String(got)) if key.ends_with("Id") || key.ends_with("_id") => {
                let known = self.ids.entry(expected.clone()).or_insert_with(|| got.clone());
                assert_eq!(known, got, "{key} {expected}");
            }
            (_, _) => assert_eq!(expected, got, "{key}"),
        }
    }

    /// What came in place of one recorded id.
    pub(crate) fn id(&self, recorded: &str) -> &str {
        &self.ids[recorded]
    }

    /// The ids of calls, messages and the like that were said, and of the agent's requests.
    pub(crate) fn said(&self, kind: &str) -> HashSet<String> {
        match kind {
            "request" => self.asked.values().map(Value::to_string).collect(),
            prefix => self.ids.iter().filter(|(id, _)| id.starts_with(prefix)).map(|(_, got)| got.clone()).collect(),
        }
    }
}

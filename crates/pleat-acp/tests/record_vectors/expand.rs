//! The shorthand of a vector's `trace`, written out as trace lines.

use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet, VecDeque};

/// The lines of a vector's trace, without line ends.
pub(crate) fn expand(vector: &Value) -> Vec<String> {
    let mut expander =
        Expander { agent: vector["agent"].as_str().unwrap_or("test-agent").to_owned(), ..Expander::default() };
    for line in vector["trace"].as_array().unwrap() {
        expander.line(line);
    }
    expander.lines
}

#[derive(Default)]
struct Expander {
    agent: String,
    lines: Vec<String>,
    clock: i64,
    alive: bool,
    last_id: i64,
    opened: HashSet<u64>,
    prompts: HashMap<u64, VecDeque<i64>>,
    loads: HashMap<u64, i64>,
}

impl Expander {
    fn put(&mut self, dir: &str, what: Value) {
        self.clock += 100;
        let mut line = Map::new();
        line.insert("t_ms".to_owned(), json!(self.clock));
        line.insert("dir".to_owned(), json!(dir));
        line.extend(what.as_object().unwrap().clone());
        self.lines.push(Value::Object(line).to_string());
    }

    fn send(&mut self, dir: &str, message: Value) {
        let mut full = Map::new();
        full.insert("jsonrpc".to_owned(), json!("2.0"));
        full.extend(message.as_object().unwrap().clone());
        self.put(dir, json!({"msg": full}));
    }

    fn ask(&mut self, method: &str, params: Value) -> i64 {
        self.last_id += 1;
        let id = self.last_id;
        self.send("client->agent", json!({"id": id, "method": method, "params": params}));
        id
    }

    fn connect(&mut self) {
        if self.alive {
            return;
        }
        self.alive = true;
        self.last_id = 0;
        self.prompts.clear();
        self.loads.clear();
        let id = self.ask("initialize", json!({"protocolVersion": 1}));
        let agent = self.agent.clone();
        self.send(
            "agent->client",
            json!({"id": id, "result": {"protocolVersion": 1, "agentInfo": {"name": agent, "version": "1.0"},
                "agentCapabilities": {"loadSession": true}}}),
        );
    }

    fn open(&mut self, number: u64) {
        self.connect();
        if self.opened.insert(number) {
            let id = self.ask("session/new", json!({"cwd": "/workspace", "mcpServers": []}));
            self.send("agent->client", json!({"id": id, "result": {"sessionId": format!("sess-{number}")}}));
        }
    }

    fn dies(&mut self, torn: Option<&Value>, code: i64, event: &str, event_first: bool) {
        if event_first {
            self.put("note", json!({"msg": {"event": event}}));
        }
        if let Some(torn) = torn {
            self.put("agent->client", json!({"raw": torn}));
        }
        self.put("note", json!({"msg": {"agent_stdout": "eof"}}));
        self.put("note", json!({"msg": {"agent_exit": code}}));
        if !event_first {
            self.put("note", json!({"msg": {"event": event}}));
        }
        self.alive = false;
    }

    fn line(&mut self, line: &Value) {
        if let Some(at) = line["t_ms"].as_i64() {
            self.clock = at - 100;
        }
        let number = line["session"].as_u64().unwrap_or(1);
        let session = format!("sess-{number}");
        if let Some(dir) = line["dir"].as_str() {
            self.open(number);
            self.forget_answered(number, &line["msg"]);
            let what = ["msg", "raw"].iter().filter_map(|key| Some(((*key).to_owned(), line.get(key)?.clone())));
            self.put(dir, Value::Object(what.collect()));
        } else if line.get("kill").is_some() {
            self.dies(line.get("torn"), -9, "SIGKILL the agent", true);
        } else if line.get("restart").is_some() {
            self.dies(None, 0, "agent ended in order; a new one is started", false);
        } else if line.get("load").is_some() {
            self.connect();
            self.opened.insert(number);
            let id = self.ask("session/load", json!({"sessionId": session, "cwd": "/workspace", "mcpServers": []}));
            self.loads.insert(number, id);
        } else {
            self.open(number);
            self.said(line, number, &session);
        }
    }

    fn said(&mut self, line: &Value, number: u64, session: &str) {
        let (client, agent) = ("client->agent", "agent->client");
        if let Some(prompt) = line.get("prompt") {
            let blocks = match prompt.as_str() {
                Some(text) => json!([{"type": "text", "text": text}]),
                None => prompt.clone(),
            };
            let id = self.ask("session/prompt", json!({"sessionId": session, "prompt": blocks}));
            self.prompts.entry(number).or_default().push_back(id);
        } else if let Some(update) = line.get("update") {
            self.send(agent, json!({"method": "session/update", "params": {"sessionId": session, "update": update}}));
        } else if let Some(permission) = line.get("permission") {
            let mut params = Map::new();
            params.insert("sessionId".to_owned(), json!(session));
            params.insert(
                "options".to_owned(),
                json!([{"optionId": "allow", "name": "Allow", "kind": "allow_once"},
                    {"optionId": "reject", "name": "Reject", "kind": "reject_once"}]),
            );
            params.extend(permission.as_object().unwrap().clone());
            self.send(agent, json!({"id": line["id"], "method": "session/request_permission", "params": params}));
        } else if let Some(id) = line.get("answer") {
            let outcome = match line["outcome"].as_str().unwrap() {
                "cancelled" => json!({"outcome": "cancelled"}),
                option => json!({"outcome": "selected", "optionId": option}),
            };
            self.send(client, json!({"id": id, "result": {"outcome": outcome}}));
        } else if line.get("cancel").is_some() {
            self.send(client, json!({"method": "session/cancel", "params": {"sessionId": session}}));
        } else if let Some(stop) = line.get("stop") {
            let mut result = Map::new();
            result.insert("stopReason".to_owned(), stop.clone());
            result.extend(line["result"].as_object().cloned().unwrap_or_default());
            let id = self.answered(number);
            self.send(agent, json!({"id": id, "result": result}));
        } else if let Some(error) = line.get("error") {
            let id = self.answered(number);
            self.send(agent, json!({"id": id, "error": error}));
        } else if let Some(loaded) = line.get("loaded") {
            let id = self.loads.remove(&number).unwrap();
            let result = if loaded.is_null() { Value::Null } else { json!({}) };
            self.send(agent, json!({"id": id, "result": result}));
        } else if let Some(raw) = line.get("raw") {
            self.put(agent, json!({"raw": raw}));
        } else {
            panic!("unknown shorthand: {line}");
        }
    }

    /// A full line may answer a prompt itself: then no later `stop` does.
    fn forget_answered(&mut self, number: u64, message: &Value) {
        if message.get("method").is_none()
            && let Some(id) = message["id"].as_i64()
        {
            self.prompts.entry(number).or_default().retain(|prompt| *prompt != id);
        }
    }

    /// The oldest open prompt, which the next answer is for.
    fn answered(&mut self, number: u64) -> i64 {
        self.prompts.get_mut(&number).and_then(VecDeque::pop_front).unwrap()
    }
}

//! The replay agent at full speed, and traces for it.

use super::Outcome;
use pleat_host::Agent;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The replay agent with a trace.
pub(crate) fn agent(trace: &Path) -> Outcome<Agent> {
    let pleat = pleat_binary();
    if !pleat.exists() {
        let sentence = format!("`{}` is not there; build it with `cargo build --release -p pleat`", pleat.display());
        return Err(sentence.into());
    }
    let trace = trace.to_str().ok_or("the path of the trace is not UTF-8")?;
    Ok(Agent {
        args: ["agent", "replay", trace, "--speed", "0"].map(str::to_owned).to_vec(),
        ..Agent::new("player", pleat.to_string_lossy())
    })
}

fn pleat_binary() -> PathBuf {
    std::env::var_os("PLEAT_BINARY")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/release/pleat"), PathBuf::from)
}

/// A recorded conversation of two turns: a trivial one, and one with these updates.
pub(crate) fn trace_of(updates: &[Value]) -> String {
    let mut trace = String::new();
    let mut line = |direction: &str, message: &Value| {
        trace.push_str(&json!({"t_ms": 0, "dir": direction, "msg": message}).to_string());
        trace.push('\n');
    };
    let mut exchange = |id: u64, method: &str, updates: &[Value], result: &Value| {
        let params = if id > 2 { json!({"sessionId": "recorded"}) } else { json!({}) };
        line("client->agent", &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        for update in updates {
            line("agent->client", &message(update));
        }
        line("agent->client", &json!({"jsonrpc": "2.0", "id": id, "result": result}));
    };
    exchange(1, "initialize", &[], &json!({"protocolVersion": 1, "agentCapabilities": {}}));
    exchange(2, "session/new", &[], &json!({"sessionId": "recorded"}));
    exchange(3, "session/prompt", &[text("Hello.")], &json!({"stopReason": "end_turn"}));
    exchange(4, "session/prompt", updates, &json!({"stopReason": "end_turn"}));
    trace
}

/// An update that says something.
pub(crate) fn text(text: &str) -> Value {
    json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}})
}

fn message(update: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "recorded", "update": update}})
}

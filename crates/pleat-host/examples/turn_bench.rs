//! The figures of a turn, with the replay agent at full speed as the child: the overhead of a trivial turn from prompt
//! to committed reply, and events per second from stdio to committed in a turn of 3,000 calls.
//!
//! `cargo xtask bench` runs it. It needs the release binary (`cargo build --release -p pleat`, or `PLEAT_BINARY`), and
//! prints its two figures and nothing else.

use pleat_host::{Agent, AgentName, AgentRegistry, Host};
use pleat_store::Revision;
use pleat_store::sqlite::SqliteStore;
use pleat_transcript::call::CallState;
use pleat_transcript::ids::SessionId;
use pleat_transcript::message::{Assistant, Body};
use pleat_transcript::session::TurnState;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Turns before the first that counts: the agent has opened its session, and every cache is warm.
const WARM_UP_TURNS: usize = 20;
const COUNTED_TURNS: usize = 300;
const CALLS: usize = 3000;
/// `tool_call`, then two updates.
const EVENTS_PER_CALL: usize = 3;
/// The synthetic turn is played so often, and the median counts.
const LONG_TURNS: usize = 5;

#[tokio::main]
async fn main() -> Outcome<()> {
    let folder = tempfile::tempdir()?;
    let overhead = turn_overhead(folder.path()).await?;
    println!("turn_overhead {:.3} ms", overhead.as_secs_f64() * 1000.0);
    let events = u32::try_from(CALLS * EVENTS_PER_CALL)?;
    let took = long_turn(folder.path()).await?;
    println!("events_per_second {:.0} events/s", f64::from(events) / took.as_secs_f64());
    Ok(())
}

/// The median of many trivial turns of one session.
async fn turn_overhead(folder: &Path) -> Outcome<Duration> {
    let reply = update(&json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Done."}}));
    let bench = Bench::start(folder, "trivial", &[reply]).await?;
    for _ in 0..WARM_UP_TURNS {
        bench.turn().await?;
    }
    let mut took = Vec::new();
    for _ in 0..COUNTED_TURNS {
        took.push(bench.turn().await?);
    }
    bench.host.shut_down().await;
    Ok(median(took))
}

/// The median of a few synthetic turns, each the first of its session and after a trivial one that opens the agent.
async fn long_turn(folder: &Path) -> Outcome<Duration> {
    let updates: Vec<Value> = (0..CALLS).flat_map(call_updates).collect();
    let mut took = Vec::new();
    for number in 0..LONG_TURNS {
        let bench = Bench::start(folder, &format!("long-{number}"), &updates).await?;
        took.push(bench.turn().await?);
        assert_eq!(bench.completed_calls().await?, CALLS, "not all calls were stored");
        bench.host.shut_down().await;
    }
    Ok(median(took))
}

fn call_updates(number: usize) -> [Value; EVENTS_PER_CALL] {
    let id = format!("call-{number}");
    let begun = json!({
        "sessionUpdate": "tool_call", "toolCallId": id, "title": format!("Read src/file_{number}.rs"), "kind": "read",
        "status": "pending", "rawInput": {"path": format!("/workspace/src/file_{number}.rs")},
        "locations": [{"path": format!("/workspace/src/file_{number}.rs")}],
    });
    let running = json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "in_progress"});
    let done = json!({
        "sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed",
        "content": [{"type": "content", "content": {"type": "text", "text": format!("fn file_{number}() {{}}\n")}}],
    });
    [begun, running, done].map(|each| update(&each))
}

/// A host with one session of an agent that plays one trace, over a database in a file.
struct Bench {
    host: Host,
    session: SessionId,
    revisions: watch::Receiver<Revision>,
}

impl Bench {
    /// The agent's session is open when this returns.
    async fn start(folder: &Path, name: &str, updates: &[Value]) -> Outcome<Self> {
        let trace = folder.join(format!("{name}.jsonl"));
        std::fs::write(&trace, trace_of(updates))?;
        let store = Arc::new(SqliteStore::open(&folder.join(format!("{name}.db")))?);
        let agent = replay_agent(&trace)?;
        let agent_name = agent.name.clone();
        let mut agents = AgentRegistry::default();
        agents.set(agent);
        let host = Host::start(store, agents).await?;
        let session = host.new_session(&agent_name, folder.to_owned()).await?;
        let revisions = host.revisions(&session);
        let bench = Self { host, session, revisions };
        // Its trace begins with a trivial turn.
        bench.turn().await?;
        Ok(bench)
    }

    async fn completed_calls(&self) -> Outcome<usize> {
        let stored = self.host.store().document(self.session.clone()).await?;
        let rounds = stored.document.messages.iter().filter_map(|message| match &message.body {
            Body::Assistant(round) => Some(round),
            Body::User(_) | Body::Tool(_) | Body::Plan(_) | Body::Notice(_) => None,
        });
        Ok(rounds.flat_map(Assistant::calls).filter(|call| call.state == CallState::Completed).count())
    }

    /// From the prompt until the turn's end is committed.
    async fn turn(&self) -> Outcome<Duration> {
        let mut revisions = self.revisions.clone();
        let begun = Instant::now();
        self.host.prompt(&self.session, "Go on.".to_owned(), None).await?;
        loop {
            revisions.borrow_and_update();
            let listings = self.host.store().sessions(None, 1).await?;
            match listings.first().and_then(|listing| listing.last_turn) {
                Some(TurnState::Completed) => return Ok(begun.elapsed()),
                Some(TurnState::Queued | TurnState::Running) | None => revisions.changed().await?,
                Some(ended @ (TurnState::Cancelled | TurnState::Failed | TurnState::Interrupted)) => {
                    return Err(format!("a turn has {}", ended.word()).into());
                }
            }
        }
    }
}

/// A recorded conversation of two turns: a trivial one, and one with these updates.
fn trace_of(updates: &[Value]) -> String {
    let mut trace = String::new();
    let mut line = |direction: &str, message: &Value| {
        trace.push_str(&json!({"t_ms": 0, "dir": direction, "msg": message}).to_string());
        trace.push('\n');
    };
    let mut exchange = |id: u64, method: &str, updates: &[Value], result: &Value| {
        let params = if id > 2 { json!({"sessionId": "recorded"}) } else { json!({}) };
        line("client->agent", &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        for update in updates {
            line("agent->client", update);
        }
        line("agent->client", &json!({"jsonrpc": "2.0", "id": id, "result": result}));
    };
    exchange(1, "initialize", &[], &json!({"protocolVersion": 1, "agentCapabilities": {}}));
    exchange(2, "session/new", &[], &json!({"sessionId": "recorded"}));
    let hello = update(&json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Hello."}}));
    exchange(3, "session/prompt", &[hello], &json!({"stopReason": "end_turn"}));
    exchange(4, "session/prompt", updates, &json!({"stopReason": "end_turn"}));
    trace
}

fn update(update: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "recorded", "update": update}})
}

fn replay_agent(trace: &Path) -> Outcome<Agent> {
    let pleat = pleat_binary();
    if !pleat.exists() {
        let sentence = format!("`{}` is not there; build it with `cargo build --release -p pleat`", pleat.display());
        return Err(sentence.into());
    }
    let trace = trace.to_str().ok_or("the temporary folder's path is not UTF-8")?;
    Ok(Agent {
        name: AgentName("player".to_owned()),
        title: "Player".to_owned(),
        description: None,
        command: pleat.to_string_lossy().into_owned(),
        args: ["agent", "replay", trace, "--speed", "0"].map(str::to_owned).to_vec(),
        env: BTreeMap::new(),
        install: None,
    })
}

fn pleat_binary() -> PathBuf {
    std::env::var_os("PLEAT_BINARY")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/release/pleat"), PathBuf::from)
}

fn median(mut durations: Vec<Duration>) -> Duration {
    durations.sort_unstable();
    durations.get(durations.len() / 2).copied().unwrap_or_default()
}

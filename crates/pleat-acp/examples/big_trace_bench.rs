//! What the largest trace costs from its lines to the final transcript, as `cargo xtask bench core` prints it: CPU time,
//! peak memory, and the bytes that would be written to a store.
//!
//! Reads plain lines from stdin, or the trace that is named. With `--unpack FILE` it only prints the plain lines.

#![allow(clippy::print_stdout, reason = "what is measured is printed")]

use pleat_acp::adapter::Adapter;
use pleat_acp::connection::messages::method;
use pleat_acp::trace::{self, TraceItem};
use pleat_transcript::change::Change;
use pleat_transcript::document::Document;
use pleat_transcript::event::{Event, PromptKey};
use pleat_transcript::ids::{CountedIds, SessionId};
use pleat_transcript::record::{SessionRecord, Superseding};
use pleat_transcript::session::Session;
use std::error::Error;
use std::io::{BufRead, Write};
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [] => measure(Box::new(std::io::stdin().lock())),
        [file] => measure(trace::open_unpacked(Path::new(file))?),
        [_, file] => {
            let mut lines = trace::open_unpacked(Path::new(file))?;
            let mut stdout = std::io::stdout().lock();
            std::io::copy(&mut lines, &mut stdout)?;
            Ok(stdout.flush()?)
        }
        _ => Err("one trace, or none".into()),
    }
}

fn measure(lines: Box<dyn BufRead>) -> Result<(), Box<dyn Error>> {
    let session = SessionId::new("s1")?;
    let mut document = Document::new(Session::new(session.clone()));
    let (mut record, mut ids) = (SessionRecord::new(session), CountedIds::default());
    let (mut adapter, mut superseding) = (Adapter::new(), Superseding::default());
    let mut written = 0;
    for line in trace::read(lines) {
        let line = line?;
        for event in events(&mut adapter, &line.what) {
            let changes = record.apply(event, line.at_ms, &mut ids);
            for change in superseding.take(changes, line.at_ms) {
                written += size_of(&change);
                document.apply(&change)?;
            }
        }
    }
    assert!(document.messages.len() > 3, "the trace holds a conversation");
    let megabytes = |bytes: u64| u32::try_from(bytes / 1000).map(|kilobytes| f64::from(kilobytes) / 1000.0);
    println!("replay_cpu {:.2} s", cpu_seconds()?);
    println!("replay_peak_memory {:.1} MB", megabytes(peak_memory()?)?);
    println!("replay_written {:.2} MB", megabytes(written)?);
    Ok(())
}

fn events(adapter: &mut Adapter, what: &TraceItem) -> Vec<Event> {
    match what {
        TraceItem::AgentToClient(message) => {
            if let Some(result) = message.get("result").filter(|result| result.get("agentInfo").is_some()) {
                adapter.initialized(result);
            }
            let params = message.get("params").filter(|_| message["method"] == method::SESSION_UPDATE);
            let events = params.map(|params| adapter.update(params, false)).unwrap_or_default();
            events.into_iter().map(|(_, event)| event).collect()
        }
        TraceItem::ClientToAgent(message) if message["method"] == method::SESSION_PROMPT => {
            let (text, attachments) = Adapter::prompt(&message["params"]);
            vec![Event::Prompt { prompt: PromptKey(message["id"].to_string()), text, attachments }]
        }
        TraceItem::ClientToAgent(_) | TraceItem::AgentRaw(_) | TraceItem::AgentStderr(_) | TraceItem::Note(_) => {
            Vec::new()
        }
    }
}

/// About how many bytes a change writes.
fn size_of(change: &Change) -> u64 {
    match change {
        Change::AppendText { text, .. } | Change::AppendOutput { text, .. } => text.len() as u64,
        Change::UpdateCall { update, .. } => {
            let values = update.input.iter().chain(update.output.iter().flatten());
            values.map(|value| value.to_string().len() as u64).sum::<u64>() + 100
        }
        Change::UpdateSession(_)
        | Change::InsertTurn(_)
        | Change::UpdateTurn { .. }
        | Change::InsertMessage(_)
        | Change::UpsertPlan(_)
        | Change::UpdateMessage { .. }
        | Change::InsertPart { .. }
        | Change::SetPartMessageId { .. }
        | Change::QueuePrompt(_)
        | Change::UpdatePrompt { .. }
        | Change::RemovePrompt { .. } => format!("{change:?}").len() as u64,
    }
}

/// Of this process, so far: user and system, in hundredths (Linux's clock ticks).
fn cpu_seconds() -> Result<f64, Box<dyn Error>> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |place: usize| fields.get(place).ok_or("no such field")?.parse::<f64>().map_err(Box::<dyn Error>::from);
    Ok((ticks(11)? + ticks(12)?) / 100.0)
}

/// In bytes.
fn peak_memory() -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    let kilobytes: u64 = line.split_whitespace().next().ok_or("no number")?.parse()?;
    Ok(kilobytes * 1024)
}

//! The log of one agent process.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pleat_transcript::ids::{AgentSessionId, SessionId};

use super::line::LogLine;
use super::queue::{ProcessId, Queue, Told};
use crate::connection::{WireLine, WireTap};

/// The log of one agent process: a tap of its connection, told which sessions it serves. Clones are handles to the same;
/// when the last one is dropped, the process is taken to be over.
///
/// A line about a session goes to that session's file, every other line to the files of all sessions of the process:
/// those of sub-agents' sessions, noise, what is about no session. What came before the first session was open
/// (`initialize`, `authenticate`) stands at the head of each session's files.
#[derive(Debug, Clone)]
pub struct ProcessLog(Arc<Process>);

#[derive(Debug)]
struct Process {
    id: ProcessId,
    queue: Queue,
    /// Lines that were dropped since the last one that was not.
    dropped: AtomicU64,
}

impl ProcessLog {
    pub(super) fn new(queue: Queue) -> Self {
        Self(Arc::new(Process { id: queue.new_process(), queue, dropped: AtomicU64::new(0) }))
    }

    /// From now on the process serves this session too. To be told before the request that opens it. A session that
    /// has files already goes on in them, after a note that a new process is started; from another process that served
    /// it nothing is written any more.
    pub fn add_session(&self, session: &SessionId) {
        self.0.queue.tell(Told::AddSession(self.0.id, session.clone()));
    }

    /// What the agent calls a session: to be told when `session/new` is answered, and before a session is loaded or
    /// resumed.
    pub fn name_session(&self, session: &SessionId, agent_session: &AgentSessionId) {
        self.0.queue.tell(Told::NameSession(self.0.id, session.clone(), agent_session.clone()));
    }

    /// The process no longer serves this session; what the agent still says of it is dropped.
    pub fn remove_session(&self, session: &SessionId) {
        self.0.queue.tell(Told::RemoveSession(self.0.id, session.clone()));
    }
}

impl WireTap for ProcessLog {
    fn line(&self, line: WireLine<'_>) {
        self.0.line(&line);
    }
}

impl Process {
    fn line(&self, line: &WireLine<'_>) {
        if !self.queue.has_room(line.bytes.len()) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        self.tell_dropped();
        self.queue.tell(Told::Line(self.id, LogLine::new(line)));
    }

    fn tell_dropped(&self) {
        let dropped = self.dropped.swap(0, Ordering::Relaxed);
        if dropped > 0 {
            self.queue.tell(Told::Dropped(self.id, dropped));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.tell_dropped();
        self.queue.tell(Told::ProcessOver(self.id));
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::super::queue::{ToldReceiver, queue};
    use super::*;
    use crate::connection::WireDirection;

    fn say(log: &ProcessLog, text: &str) {
        let direction = WireDirection::FromAgent;
        let (at, bytes) = (UNIX_EPOCH, text.as_bytes());
        log.line(WireLine { direction, at, bytes, is_object: false, session: None, opens: None });
    }

    fn next(told: &ToldReceiver) -> String {
        match told.next(Duration::ZERO) {
            Ok(Told::Line(_, line)) => format!("a line of {}", line.text.len()),
            Ok(other) => format!("{other:?}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn lines_are_dropped_while_the_thread_is_behind_and_one_note_says_how_many() {
        let (queue, told) = queue(1000);
        let log = ProcessLog::new(queue.clone());
        let text = "x".repeat(400);
        let line = format!("a line of {}", 400 + r#"{"t_ms":0,"dir":"agent->client","raw":""}"#.len() + 1);
        // Of these four two have room.
        for _ in 0..4 {
            say(&log, &text);
        }
        assert_eq!(next(&told), line);
        // There would be room again, but it is half empty only after the next.
        say(&log, &text);
        assert_eq!(next(&told), line);
        say(&log, &text);
        assert_eq!(next(&told), "Dropped(ProcessId(0), 3)");
        assert_eq!(next(&told), line);
        // Whatever its length, one line passes.
        say(&log, &text.repeat(10));
        say(&log, "dropped");
        assert!(next(&told).starts_with("a line of 40"));
        drop(log);
        assert_eq!(next(&told), "Dropped(ProcessId(0), 1)");
        assert_eq!(next(&told), "ProcessOver(ProcessId(0))");
        drop(queue);
        assert!(matches!(told.next(Duration::ZERO), Err(std::sync::mpsc::RecvTimeoutError::Disconnected)));
    }
}

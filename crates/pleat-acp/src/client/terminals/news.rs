//! What is told of terminals.

use super::running::Running;
#[cfg(doc)]
use crate::client::ClientLimits;
use crate::connection::{Room, Weight};
use serde_json::Value;
use std::collections::VecDeque;
use tokio::sync::{mpsc, watch};

/// What happens to the terminals of a session, in order. Each begins with `Started`; `Exited` and `Ended` come once
/// each, in this order. After `Exited`, output comes of what the command left running; after `Ended`, only of processes
/// that left its group.
#[derive(Debug)]
pub enum TerminalNews {
    /// One was created.
    Started {
        /// Its id.
        terminal: String,
        /// Its process, which leads a process group of this number.
        pid: u32,
        /// When that started: clock ticks since the machine did (field 22 of `/proc/PID/stat`); `None` where there is no
        /// `/proc`. With it the process can be recognised however soon it exited.
        start: Option<u64>,
    },
    /// It printed something.
    Output {
        /// Its id.
        terminal: String,
        /// The next of its output, at most 64 KiB.
        text: String,
        /// To be kept until the text is worked off, then dropped: what is kept longer makes the session's commands wait
        /// at their pipes ([`ClientLimits::waiting_output_bytes`]).
        weight: Weight,
    },
    /// Its command has exited. What it printed itself was told before.
    Exited {
        /// Its id.
        terminal: String,
        /// The exit code, or the name of the signal that ended it; null where the system could not tell.
        exit: Value,
    },
    /// Nothing of its process group is left.
    Ended {
        /// Its id.
        terminal: String,
        /// As it was started.
        pid: u32,
    },
}

/// Where the terminals of a session tell of themselves. Cheap to clone; all clones are one.
#[derive(Debug, Clone)]
pub(super) struct Newsroom {
    news: mpsc::UnboundedSender<TerminalNews>,
    room: Room,
    has_session_ended: watch::Sender<bool>,
}

impl Newsroom {
    /// Of output, so many bytes may wait to be worked off.
    pub(super) fn new(news: mpsc::UnboundedSender<TerminalNews>, waiting_bytes: usize) -> Self {
        Self { news, room: Room::new(waiting_bytes), has_session_ended: watch::Sender::default() }
    }

    /// Tells something now. Nobody may listen any more; the terminals go on for the agent.
    pub(super) fn tell(&self, news: TerminalNews) {
        let _ = self.news.send(news);
    }

    /// From now on a terminal of which nothing is left waits for no room.
    pub(super) fn session_ended(&self) {
        self.has_session_ended.send_replace(true);
    }
}

/// The news of one terminal, in their order. Output waits for room, and what comes after it waits with it.
#[derive(Debug)]
pub(super) struct NewsQueue {
    terminal: String,
    newsroom: Newsroom,
    waiting: VecDeque<Waiting>,
    /// Whether nothing of the terminal is left.
    has_ended: bool,
}

#[derive(Debug)]
enum Waiting {
    Output(String),
    Exited(Value),
    /// With what counts the terminal until then, so that what waits is bounded.
    Ended(u32, Option<Running>),
}

impl NewsQueue {
    /// Nothing waits.
    pub(super) fn new(terminal: String, newsroom: Newsroom) -> Self {
        Self { terminal, newsroom, waiting: VecDeque::new(), has_ended: false }
    }

    pub(super) fn output(&mut self, text: String) {
        self.push(Waiting::Output(text));
    }

    pub(super) fn exited(&mut self, exit: Value) {
        self.push(Waiting::Exited(exit));
    }

    pub(super) fn ended(&mut self, pid: u32, running: Option<Running>) {
        self.has_ended = true;
        self.push(Waiting::Ended(pid, running));
    }

    /// Whether all was told.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Waits until the first of what waits may be told.
    pub(super) async fn room(&self) -> Weight {
        let Some(bytes) = self.bytes_wanted().filter(|_| !self.needs_no_room()) else { return Weight::default() };
        let mut session = self.newsroom.has_session_ended.subscribe();
        tokio::select! {
            weight = self.newsroom.room.take(bytes) => weight,
            () = self.newsroom.news.closed() => Weight::default(),
            _ = session.wait_for(|ended| *ended && self.has_ended) => Weight::default(),
        }
    }

    /// Tells the first of what waits, with the room that it takes, and what needs no waiting after it.
    pub(super) fn tell_first(&mut self, weight: Weight) {
        if let Some(first) = self.waiting.pop_front() {
            self.tell(first, weight);
        }
        self.tell_what_may();
    }

    fn push(&mut self, waiting: Waiting) {
        self.waiting.push_back(waiting);
        self.tell_what_may();
    }

    fn tell_what_may(&mut self) {
        while let Some(weight) = self.room_now() {
            let Some(first) = self.waiting.pop_front() else { return };
            self.tell(first, weight);
        }
    }

    fn room_now(&self) -> Option<Weight> {
        match self.bytes_wanted().filter(|_| !self.needs_no_room()) {
            Some(bytes) => self.newsroom.room.try_take(bytes),
            None => Some(Weight::default()),
        }
    }

    /// The memory that the first of what waits takes, if it takes any to speak of.
    fn bytes_wanted(&self) -> Option<usize> {
        match self.waiting.front()? {
            Waiting::Output(text) => Some(size_of::<TerminalNews>() + text.len()),
            Waiting::Exited(_) | Waiting::Ended(..) => None,
        }
    }

    /// Nobody listens, or the session waits for the end of a terminal that has no more to say than what is there.
    fn needs_no_room(&self) -> bool {
        self.newsroom.news.is_closed() || (self.has_ended && *self.newsroom.has_session_ended.borrow())
    }

    fn tell(&self, waiting: Waiting, weight: Weight) {
        let terminal = self.terminal.clone();
        match waiting {
            Waiting::Output(text) => self.newsroom.tell(TerminalNews::Output { terminal, text, weight }),
            Waiting::Exited(exit) => self.newsroom.tell(TerminalNews::Exited { terminal, exit }),
            Waiting::Ended(pid, running) => {
                self.newsroom.tell(TerminalNews::Ended { terminal, pid });
                drop(running);
            }
        }
    }
}

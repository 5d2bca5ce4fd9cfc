//! Watches over one terminal: hears what it prints, tells when it has exited, and kills it in order.

use super::Heard;
use super::exit::exit_status;
use super::news::NewsQueue;
use super::running::Running;
use super::transcript_output::TranscriptOutput;
use super::utf8_stream::Utf8Stream;
use crate::adapter::exit_value;
use crate::connection::Weight;
use crate::process::{GroupLeader, SIGKILL, SIGTERM};
use serde_json::Value;
use std::future::pending;
use std::io;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

/// How long the rest of the output is waited for after an exit. What was printed before stands in the pipe by then; only
/// another process that still holds the pipe makes us wait.
const OUTPUT_GRACE: Duration = Duration::from_millis(100);

/// How long SIGTERM has before SIGKILL follows.
const KILL_GRACE: Duration = Duration::from_secs(2);

/// How often a group whose leader has exited is asked whether anything of it is left: soon, then less and less often.
const FIRST_ASK: Duration = Duration::from_millis(25);
const LAST_ASK: Duration = Duration::from_secs(1);

/// How much is read at once, in bytes.
const READ_BYTES: usize = 64 * 1024;

/// So many reads are more than any pipe holds at once (pipe(7), 1 MiB): enough for what a command that has exited left
/// there, and an end for one that goes on printing in the background.
const READS_OF_A_PIPE: usize = 17;

/// What the agent wants of a terminal.
#[derive(Debug, Clone, Copy)]
pub(super) enum Order {
    /// End it.
    Kill,
    /// End it, and stop listening then.
    Release,
}

/// What a supervisor works with.
pub(super) struct Parts {
    /// The terminal's id.
    pub(super) id: String,
    pub(super) leader: GroupLeader,
    pub(super) pipe: pipe::Receiver,
    /// When nobody can give orders any more, that is one to release.
    pub(super) orders: mpsc::UnboundedReceiver<Order>,
    pub(super) heard: Arc<Heard>,
    pub(super) output: TranscriptOutput,
    pub(super) news: NewsQueue,
    /// Kept while anything of the terminal runs, or is to be told.
    pub(super) running: Running,
}

struct Supervisor {
    id: String,
    leader: GroupLeader,
    /// Until its end.
    pipe: Option<pipe::Receiver>,
    buffer: Vec<u8>,
    orders: mpsc::UnboundedReceiver<Order>,
    heard: Arc<Heard>,
    characters: Utf8Stream,
    output: TranscriptOutput,
    /// While any of it waits for room, nothing more is read.
    news: NewsQueue,
    running: Option<Running>,
    stage: Stage,
    released: bool,
    kill_at: Option<Instant>,
}

/// How far the command has come.
enum Stage {
    /// It runs.
    Running,
    /// It has exited; this is told when all of its output is there, or at this time.
    Exiting { status: Value, tell_at: Instant },
    /// That has been told. Something of its group may be left, which is asked then.
    Exited { ask_at: Instant, interval: Duration },
    /// Nothing is left; this is told when all of its output is there, or at this time.
    Ending { tell_at: Instant },
    /// That has been told too.
    Gone,
}

/// What a supervisor waits for.
enum Happening {
    Ordered(Option<Order>),
    Exited(io::Result<ExitStatus>),
    /// So many bytes; none at the end.
    Read(usize),
    /// There is room for what waits to be told.
    Room(Weight),
    ItIsTime,
}

/// Watches over a terminal until nothing of it runs, it is released or has no more to say, and all of that was told.
pub(super) async fn supervise(parts: Parts) {
    let mut supervisor = Supervisor {
        id: parts.id,
        leader: parts.leader,
        pipe: Some(parts.pipe),
        buffer: vec![0; READ_BYTES],
        orders: parts.orders,
        heard: parts.heard,
        characters: Utf8Stream::default(),
        output: parts.output,
        news: parts.news,
        running: Some(parts.running),
        stage: Stage::Running,
        released: false,
        kill_at: None,
    };
    while !supervisor.is_over() {
        let happening = supervisor.next().await;
        supervisor.take(happening);
        supervisor.do_what_is_due().await;
    }
    supervisor.tell_rest();
    while !supervisor.news.is_empty() {
        let weight = supervisor.news.room().await;
        supervisor.news.tell_first(weight);
    }
}

impl Supervisor {
    fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Gone) && (self.released || self.pipe.is_none()) && self.news.is_empty()
    }

    async fn next(&mut self) -> Happening {
        let due = self.next_due();
        let runs = matches!(self.stage, Stage::Running);
        let all_is_told = self.news.is_empty();
        tokio::select! {
            order = self.orders.recv(), if !self.released => Happening::Ordered(order),
            exit = self.leader.wait(), if runs => Happening::Exited(exit),
            read = read_some(&mut self.pipe, &mut self.buffer), if all_is_told => Happening::Read(read),
            weight = self.news.room(), if !all_is_told => Happening::Room(weight),
            () = at(due) => Happening::ItIsTime,
        }
    }

    fn take(&mut self, happening: Happening) {
        match happening {
            Happening::Ordered(Some(Order::Kill)) => self.kill(),
            Happening::Ordered(Some(Order::Release) | None) => {
                self.released = true;
                self.kill();
            }
            Happening::Exited(exit) => {
                self.stage = Stage::Exiting { status: exit_status(&exit), tell_at: Instant::now() + OUTPUT_GRACE };
            }
            Happening::Read(count) => self.take_read(count),
            Happening::Room(weight) => self.news.tell_first(weight),
            Happening::ItIsTime => {}
        }
    }

    fn take_read(&mut self, count: usize) {
        if count == 0 {
            self.pipe = None;
            let rest = self.characters.finish();
            self.hear(rest);
        } else {
            let text = self.characters.push(&self.buffer[..count]);
            self.hear(&text);
        }
    }

    /// Takes what stands in the pipe by now, however late it is, and does not wait for more.
    fn hear_what_is_there(&mut self) {
        for _ in 0..READS_OF_A_PIPE {
            let Some(pipe) = &self.pipe else { return };
            match pipe.try_read(&mut self.buffer) {
                Ok(count) => self.take_read(count),
                Err(_) => return,
            }
        }
    }

    fn hear(&mut self, text: &str) {
        self.heard.hear(text);
        self.output.push(text);
    }

    fn kill(&mut self) {
        if matches!(self.stage, Stage::Ending { .. } | Stage::Gone) || self.kill_at.is_some() {
            return;
        }
        self.leader.signal_group(SIGTERM);
        let now = Instant::now();
        self.kill_at = Some(now + KILL_GRACE);
        self.ask_soon(now);
    }

    fn ask_soon(&mut self, now: Instant) {
        if matches!(self.stage, Stage::Exited { .. }) {
            self.stage = Stage::Exited { ask_at: now, interval: FIRST_ASK };
        }
    }

    /// The next time at which something is to be done unasked.
    fn next_due(&self) -> Option<Instant> {
        let of_stage = match &self.stage {
            Stage::Running | Stage::Gone => None,
            Stage::Exiting { tell_at, .. } | Stage::Ending { tell_at } => Some(*tell_at),
            Stage::Exited { ask_at, .. } => Some(*ask_at),
        };
        [of_stage, self.kill_at, self.output.due()].into_iter().flatten().min()
    }

    async fn do_what_is_due(&mut self) {
        let now = Instant::now();
        for piece in self.output.take_due(now) {
            self.news.output(piece);
        }
        if self.kill_at.is_some_and(|at| at <= now) {
            self.kill_at = None;
            self.leader.signal_group(SIGKILL);
            self.ask_soon(now);
        }
        self.tell_exit_when_due(now);
        self.ask_when_due(now).await;
        self.tell_end_when_due(now);
    }

    fn tell_exit_when_due(&mut self, now: Instant) {
        let Stage::Exiting { status, tell_at } = &self.stage else { return };
        if self.pipe.is_some() && *tell_at > now {
            return;
        }
        let status = status.clone();
        self.hear_what_is_there();
        self.stage = Stage::Exited { ask_at: now, interval: FIRST_ASK };
        self.tell_rest();
        self.news.exited(exit_value(&status).unwrap_or_default());
        // However long the transcript takes, the agent need not wait for it.
        self.heard.exited(status);
    }

    async fn ask_when_due(&mut self, now: Instant) {
        let Stage::Exited { ask_at, interval } = self.stage else { return };
        if ask_at > now {
            return;
        }
        self.stage = if self.leader.is_group_gone().await {
            self.kill_at = None;
            Stage::Ending { tell_at: now + OUTPUT_GRACE }
        } else {
            Stage::Exited { ask_at: now + interval, interval: LAST_ASK.min(interval * 2) }
        };
    }

    fn tell_end_when_due(&mut self, now: Instant) {
        let Stage::Ending { tell_at } = self.stage else { return };
        if self.pipe.is_some() && tell_at > now {
            return;
        }
        self.stage = Stage::Gone;
        self.hear_what_is_there();
        self.tell_rest();
        let pid = self.leader.pid();
        tracing::debug!(terminal = self.id, pid, "nothing of a terminal is left");
        self.news.ended(pid, self.running.take());
    }

    /// Tells what waits for the end of the command, or of its output.
    fn tell_rest(&mut self) {
        for piece in self.output.take_rest(Instant::now()) {
            self.news.output(piece);
        }
    }
}

/// Reads what is there; nothing is the end, and so is an error: no more can come.
async fn read_some(pipe: &mut Option<pipe::Receiver>, buffer: &mut [u8]) -> usize {
    match pipe {
        Some(pipe) => pipe.read(buffer).await.unwrap_or(0),
        None => pending().await,
    }
}

async fn at(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => pending().await,
    }
}

//! The thread that writes the logs of all sessions.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant, SystemTime};

use pleat_transcript::ids::SessionId;
use zstd::bulk::Compressor;

use super::WireLogSettings;
use super::line::LogLine;
use super::names::Files;
use super::queue::{ProcessId, Told, ToldReceiver};
use super::retention::remove_old;
use super::routing::{Delivery, Routing};
use super::session_file::SessionFile;

/// How long lines are gathered for one frame.
const GATHER_TIME: Duration = Duration::from_secs(1);

/// How much of one session is gathered for one frame.
const GATHER_BYTES: usize = 1024 * 1024;

/// How much of all sessions together is gathered.
const GATHER_BYTES_OF_ALL: usize = 16 * 1024 * 1024;

/// How often old files are looked for.
const RETENTION_INTERVAL: Duration = Duration::from_hours(1);

/// Measured on a second of recorded conversations: 1 is hardly faster, and 6 packs 6 % better in five times the time.
const COMPRESSION_LEVEL: i32 = 3;

/// What the thread knows.
pub(super) struct Writer {
    settings: WireLogSettings,
    processes: HashMap<ProcessId, Routing>,
    sessions: HashMap<SessionId, Served>,
    /// When sessions' lines are to be written, the first first.
    due: VecDeque<(Instant, SessionId)>,
    gathered_bytes: usize,
    /// One for all: it holds far more memory than a session may cost.
    compressor: Compressor<'static>,
    retention_at: Instant,
}

/// A session that a process serves.
struct Served {
    /// The process that was told of last. What an older one still says does not belong into the same conversation.
    by: ProcessId,
    file: SessionFile,
}

impl Writer {
    pub(super) fn new(settings: WireLogSettings) -> io::Result<Self> {
        let mut compressor = Compressor::new(COMPRESSION_LEVEL)?;
        compressor.include_checksum(true)?;
        Ok(Self {
            settings,
            processes: HashMap::new(),
            sessions: HashMap::new(),
            due: VecDeque::new(),
            gathered_bytes: 0,
            compressor,
            retention_at: Instant::now(),
        })
    }

    /// Writes until nobody can tell anything any more.
    pub(super) fn run(mut self, queue: &ToldReceiver) {
        loop {
            self.do_what_is_due(Instant::now());
            match queue.next(self.patience(Instant::now())) {
                Ok(told) => self.told(told),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return self.write_all(),
            }
        }
    }

    fn told(&mut self, told: Told) {
        match told {
            Told::Line(process, line) => {
                let deliveries = self.process(process).line(line);
                self.deliver(process, deliveries);
            }
            Told::Dropped(process, lines) => {
                let event = format!("{lines} lines are missing here: writing them could not keep up");
                let deliveries = self.process(process).lines_missing(LogLine::note(SystemTime::now(), &event));
                self.deliver(process, deliveries);
            }
            Told::AddSession(process, session) => self.add_session(process, &session),
            Told::NameSession(process, session, agent_session) => {
                let deliveries = self.process(process).name(&session, agent_session);
                self.deliver(process, deliveries);
            }
            Told::RemoveSession(process, session) => self.remove_session(process, &session),
            Told::ProcessOver(process) => self.end_process(process),
            Told::RemoveOld => self.remove_old(),
            Told::Flush(written) => {
                self.write_all();
                // Who asked may not wait any more.
                let _ = written.send(());
            }
        }
    }

    fn process(&mut self, process: ProcessId) -> &mut Routing {
        self.processes.entry(process).or_default()
    }

    fn add_session(&mut self, process: ProcessId, session: &SessionId) {
        match self.sessions.get(session).map(|served| served.by) {
            Some(by) if by == process => return,
            // The process that is replaced has nothing to say in it any more.
            Some(by) => self.remove_session(by, session),
            None => {}
        }
        let files = Files::of(&self.settings.folder, session);
        let file = SessionFile::new(files, self.settings.max_bytes / 2);
        self.sessions.insert(session.clone(), Served { by: process, file });
        self.gather(session, |file, _| file.begin(SystemTime::now()));
        let deliveries = self.process(process).add(session.clone());
        self.deliver(process, deliveries);
    }

    fn remove_session(&mut self, process: ProcessId, session: &SessionId) {
        let deliveries = self.process(process).remove(session);
        self.deliver(process, deliveries);
        self.end_session(process, session);
    }

    fn deliver(&mut self, process: ProcessId, deliveries: Vec<Delivery>) {
        for Delivery { sessions, line, part } in deliveries {
            for session in sessions {
                if self.sessions.get(&session).is_some_and(|served| served.by == process) {
                    self.gather(&session, |file, compressor| file.line(&line, part, compressor));
                }
            }
        }
    }

    /// Adds something to what is gathered for a session, and writes what has become enough.
    fn gather(&mut self, session: &SessionId, add: impl FnOnce(&mut SessionFile, &mut Compressor<'_>)) {
        let Some(served) = self.sessions.get_mut(session) else { return };
        let before = served.file.gathered_bytes();
        add(&mut served.file, &mut self.compressor);
        let gathered = served.file.gathered_bytes();
        self.gathered_bytes += gathered - before;
        if gathered > GATHER_BYTES {
            self.write(session);
        } else if self.gathered_bytes > GATHER_BYTES_OF_ALL {
            self.write_all();
        } else if gathered > 0 && served.file.due.is_none() {
            let due = Instant::now() + GATHER_TIME;
            served.file.due = Some(due);
            self.due.push_back((due, session.clone()));
        }
    }

    fn write(&mut self, session: &SessionId) {
        if let Some(served) = self.sessions.get_mut(session) {
            self.gathered_bytes -= served.file.gathered_bytes();
            served.file.write(&mut self.compressor);
        }
    }

    fn write_all(&mut self) {
        for served in self.sessions.values_mut() {
            served.file.write(&mut self.compressor);
        }
        self.gathered_bytes = 0;
        self.due.clear();
    }

    /// Forgets a session, unless another process serves it by now.
    fn end_session(&mut self, process: ProcessId, session: &SessionId) {
        if self.sessions.get(session).is_some_and(|served| served.by == process) {
            self.write(session);
            self.sessions.remove(session);
        }
    }

    fn end_process(&mut self, process: ProcessId) {
        let Some(mut routing) = self.processes.remove(&process) else { return };
        let deliveries = routing.release_held();
        self.deliver(process, deliveries);
        for session in routing.sessions() {
            self.end_session(process, session);
        }
    }

    fn do_what_is_due(&mut self, now: Instant) {
        while let Some((due, session)) = self.due.pop_front_if(|(due, _)| *due <= now) {
            // Otherwise it was written meanwhile, and is due later if at all.
            if self.sessions.get(&session).is_some_and(|served| served.file.due == Some(due)) {
                self.write(&session);
            }
        }
        if self.retention_at <= now {
            self.remove_old();
        }
    }

    fn remove_old(&mut self) {
        remove_old(&self.settings.folder, self.settings.keep, SystemTime::now());
        self.retention_at = Instant::now() + RETENTION_INTERVAL;
    }

    /// How long nothing is due.
    fn patience(&self, now: Instant) -> Duration {
        let first = self.due.front().map_or(self.retention_at, |(due, _)| (*due).min(self.retention_at));
        first.saturating_duration_since(now)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use tempfile::TempDir;

    use super::super::names::files;
    use super::super::queue::{Queue, queue};
    use super::*;
    use crate::trace::{self, TraceItem};

    struct House {
        folder: TempDir,
        writer: Writer,
        queue: Queue,
        told: ToldReceiver,
        process: ProcessId,
    }

    impl House {
        fn new() -> Self {
            let folder = tempfile::tempdir().expect("a folder");
            let writer = Writer::new(WireLogSettings::new(folder.path())).expect("a compressor");
            let (queue, told) = queue(u64::MAX);
            let process = queue.new_process();
            Self { folder, writer, queue, told, process }
        }

        fn add(&mut self, number: usize) -> SessionId {
            let session = SessionId::new(format!("s{number}")).expect("an id");
            self.writer.told(Told::AddSession(self.process, session.clone()));
            session
        }

        fn line(&mut self, text: &str) {
            self.writer.told(Told::Line(self.process, note(text)));
        }

        /// The notes in the files of a session.
        fn notes(&self, session: &SessionId) -> Vec<String> {
            let lines = trace::open_all(self.files(session)).map(|line| match line.expect("a trace line").what {
                TraceItem::Note(note) => note["event"].as_str().expect("an event").to_owned(),
                TraceItem::ClientToAgent(_)
                | TraceItem::AgentToClient(_)
                | TraceItem::AgentRaw(_)
                | TraceItem::AgentStderr(_) => panic!("only notes were told"),
            });
            lines.collect()
        }

        fn files(&self, session: &SessionId) -> Vec<PathBuf> {
            files(self.folder.path(), session)
        }
    }

    fn note(text: &str) -> LogLine {
        LogLine::note(SystemTime::now(), text)
    }

    #[test]
    fn lines_are_gathered_for_a_while() {
        let mut house = House::new();
        let (one, two) = (house.add(1), house.add(2));
        house.line("a");
        let soon = Instant::now() + GATHER_TIME / 2;
        house.writer.do_what_is_due(soon);
        assert!(house.notes(&one).is_empty());
        assert!(house.writer.patience(soon) <= GATHER_TIME / 2);
        house.line("b");
        house.writer.do_what_is_due(Instant::now() + GATHER_TIME);
        for session in [&one, &two] {
            assert_eq!(house.notes(session), ["a", "b"]);
        }
        assert_eq!(house.writer.gathered_bytes, 0);
        // Nothing is due but the removal of old files.
        assert!(house.writer.patience(Instant::now()) > GATHER_TIME * 10);
    }

    #[test]
    fn what_has_become_enough_is_written_at_once() {
        let mut house = House::new();
        let one = house.add(1);
        house.line(&"x".repeat(GATHER_BYTES / 2));
        assert_eq!(house.notes(&one).len(), 0);
        house.line(&"x".repeat(GATHER_BYTES / 2));
        assert_eq!(house.notes(&one).len(), 2);
        // All sessions together.
        let sessions: Vec<_> = (2..40).map(|number| house.add(number)).collect();
        house.line(&"x".repeat(GATHER_BYTES / 2));
        assert!(house.writer.gathered_bytes < GATHER_BYTES_OF_ALL);
        assert_eq!(house.notes(&sessions[0]).len(), 1);
    }

    #[test]
    fn everything_is_written_when_the_last_one_has_told() {
        let mut house = House::new();
        let (one, process) = (house.add(1), house.process);
        let House { queue, told, mut writer, folder, .. } = house;
        writer.retention_at = Instant::now();
        queue.tell(Told::Line(process, note("a")));
        queue.tell(Told::Dropped(process, 3));
        drop(queue);
        writer.run(&told);
        let files = files(folder.path(), &one);
        let text = zstd::decode_all(fs::File::open(&files[0]).expect("a file")).expect("whole frames");
        let text = String::from_utf8(text).expect("text");
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(text.contains("3 lines are missing here: writing them could not keep up"), "{text}");
    }

    /// What they held is given back.
    #[test]
    fn sessions_and_processes_that_are_over_are_forgotten() {
        let mut house = House::new();
        let (one, two) = (house.add(1), house.add(2));
        house.line("a");
        house.writer.told(Told::RemoveSession(house.process, one.clone()));
        assert_eq!(house.notes(&one), ["a"]);
        house.line("b");
        house.writer.told(Told::ProcessOver(house.process));
        assert_eq!(house.notes(&two), ["a", "b"]);
        assert!(house.writer.sessions.is_empty() && house.writer.processes.is_empty());
        assert_eq!(house.writer.gathered_bytes, 0);
        assert_eq!(house.notes(&one), ["a"]);
    }
}

//! The wire log: each session's raw traffic, both directions with times, as files that `pleat replay` reads.
//!
//! Lines have the form of a recorded conversation ([`crate::trace`]) and are written as they went over the wire. A
//! session has two files at most, the current one and an older one; both are zstd frames one after the other, so what a
//! kill tears is the last frame and nothing else. Each file begins with what the agent said before the session was
//! open, so that it can be replayed alone; such repeated lines are marked (`"again": true`) and left out where the
//! files are read after each other ([`crate::trace::open_all`]).
//!
//! The files hold prompts and outputs: they are their owner's only, and nothing of them is written anywhere else.
//!
//! Telling only enqueues. One thread writes for all sessions of a host; while it is behind, lines are dropped and a note
//! in the log says how many, so that a slow disk never blocks an agent.

mod held;
mod line;
mod names;
mod process_log;
mod queue;
mod retention;
mod routing;
mod session_file;
mod writer;

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::sync::oneshot;

pub use self::names::files;
pub use self::process_log::ProcessLog;
use self::queue::{Queue, Told};

/// For how long files are kept after they were written to last: a week.
pub const KEEP: Duration = Duration::from_hours(7 * 24);

/// How large the files of a session may become together.
pub const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// How much may wait to be written before lines are dropped.
const MAX_QUEUED_BYTES: u64 = 64 * 1024 * 1024;

/// The folder's mode: its owner only.
const FOLDER_MODE: u32 = 0o700;

/// Where wire logs are written and for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireLogSettings {
    /// The folder, which is made if it is missing. It holds nothing else.
    pub folder: PathBuf,
    /// For how long a file is kept after it was written to last.
    pub keep: Duration,
    /// How large the files of a session may become together, compressed, in bytes: the current one is turned over at
    /// half of it. One frame, which holds about 1 MiB of lines or one line that is longer, is always written whole.
    pub max_bytes: u64,
}

impl WireLogSettings {
    /// Files in this folder, for [`KEEP`] and up to [`MAX_BYTES`].
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), keep: KEEP, max_bytes: MAX_BYTES }
    }
}

/// The wire logs of a host. Clones are handles to the same; the thread ends, with everything written, after the last of
/// them and of their [`ProcessLog`]s. Before the program ends, [`WireLogs::flush`] is to be awaited.
#[derive(Debug, Clone)]
pub struct WireLogs(Queue);

impl WireLogs {
    /// Makes the folder, removes old files and begins to write. Fails where the folder cannot be made.
    pub fn start(settings: WireLogSettings) -> io::Result<Self> {
        make_folder(&settings.folder)?;
        let (queue, told) = queue::queue(MAX_QUEUED_BYTES);
        let writer = writer::Writer::new(settings)?;
        std::thread::Builder::new().name("wire-log".to_owned()).spawn(move || writer.run(&told))?;
        Ok(Self(queue))
    }

    /// The log of one agent process, which begins without a session.
    pub fn process(&self) -> ProcessLog {
        ProcessLog::new(self.0.clone())
    }

    /// Waits until everything that was told so far is in the files. It is not synchronised to the disk: a kill loses
    /// nothing of it, a power cut may.
    pub async fn flush(&self) {
        let (written, is_written) = oneshot::channel();
        self.0.tell(Told::Flush(written));
        // An error means that the thread is gone, and then nothing is left to be written.
        let _ = is_written.await;
    }

    /// Removes the files that were not written to for as long as they are kept; also done at the start and every hour.
    /// It only enqueues, like everything here; [`WireLogs::flush`] waits for it.
    pub fn remove_old(&self) {
        self.0.tell(Told::RemoveOld);
    }
}

fn make_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(folder)?;
    fs::set_permissions(folder, Permissions::from_mode(FOLDER_MODE))
}

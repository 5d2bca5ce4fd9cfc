//! What the process leaves in its working directory for the test.

use super::end::Ending;
use super::wire::lock;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The pids of the agents that were started there, one a line.
const PIDS: &str = "pids";

/// The pids of their children.
const CHILDREN: &str = "children";

/// Every line that they heard, as it came.
const HEARD: &str = "heard";

/// What was wrong with a script, for nobody to take it for something that an agent does.
const SCRIPT_ERROR: &str = "script_error";

/// The notes in a folder.
pub(crate) struct Notes {
    folder: PathBuf,
    heard: Mutex<Option<File>>,
}

impl Notes {
    /// Those of this process, in its working directory.
    pub(crate) fn of_process() -> Self {
        Self::in_folder(Path::new("."))
    }

    pub(crate) fn in_folder(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), heard: Mutex::new(None) }
    }

    /// Notes this process; the how manieth in the folder it is, from 1.
    pub(crate) fn pid(&self, pid: u32) -> io::Result<usize> {
        self.add(PIDS, &pid.to_string())?;
        let pids = fs::read_to_string(self.folder.join(PIDS))?;
        let before = pids.lines().take_while(|line| *line != pid.to_string()).count();
        Ok(before + 1)
    }

    pub(crate) fn child(&self, pid: u32) -> io::Result<()> {
        self.add(CHILDREN, &pid.to_string())
    }

    pub(crate) fn script_error(&self, error: &str) -> io::Result<()> {
        self.add(SCRIPT_ERROR, error)
    }

    pub(crate) fn heard(&self, line: &[u8]) -> Result<(), Ending> {
        let mut heard = lock(&self.heard);
        let noted = match heard.as_mut() {
            Some(file) => file.write_all(line),
            None => self.open(HEARD).and_then(|file| heard.insert(file).write_all(line)),
        };
        noted.map_err(|error| Ending::trouble(format!("`{HEARD}` cannot be written: {error}")))
    }

    fn add(&self, name: &str, line: &str) -> io::Result<()> {
        self.open(name)?.write_all(format!("{line}\n").as_bytes())
    }

    fn open(&self, name: &str) -> io::Result<File> {
        OpenOptions::new().create(true).append(true).open(self.folder.join(name))
    }
}

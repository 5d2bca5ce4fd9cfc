//! A home with agents in its pleat.toml, and what they leave.

use serde_json::Value;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;
use tempfile::TempDir;

/// Nothing here takes a fraction of it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A home in which agents are known that play scripts or recorded conversations.
pub(crate) struct House {
    folder: TempDir,
}

impl House {
    /// With one agent, `player`, that plays this script.
    pub(crate) fn with(script: &str) -> Self {
        Self::with_settings(script, "")
    }

    /// The same with what stands before the agents in pleat.toml.
    pub(crate) fn with_settings(script: &str, settings: &str) -> Self {
        let house = Self { folder: TempDir::new().unwrap() };
        std::fs::create_dir(house.work()).unwrap();
        house.write("script", script);
        let program = quoted(&scripted_agent::program());
        house.write(
            "pleat.toml",
            &format!(
                "{settings}\n[agents.player]\ntitle = \"The Player\"\ncommand = {program}\nargs = [{}]\n",
                quoted(&house.path("script"))
            ),
        );
        house
    }

    /// With one agent, `player`, that plays a recorded conversation as fast as it can.
    pub(crate) fn with_trace(name: &str) -> Self {
        let house = Self::with("listen");
        let trace = quoted(&trace(name));
        house.write(
            "pleat.toml",
            &format!(
                "[agents.player]\ncommand = {:?}\nargs = [\"agent\", \"replay\", {trace}, \"--speed\", \"0\"]\n",
                env!("CARGO_BIN_EXE_pleat")
            ),
        );
        house
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The agents' working directory, in which they leave their notes.
    pub(crate) fn work(&self) -> PathBuf {
        self.path("work")
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pleat"));
        command.args(words).current_dir(self.work()).stdin(Stdio::null());
        for name in ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"] {
            command.env(name, self.folder.path());
        }
        for name in ["PLEAT_STORE", "PLEAT_DATA", "PLEAT_LOG", "NO_COLOR"] {
            command.env_remove(name);
        }
        command.env("PLEAT_CONFIG", self.path("pleat.toml"));
        command
    }

    /// What a command came to. No agent is left of it.
    #[track_caller]
    pub(crate) fn output(&self, words: &[&str]) -> Ended {
        let output = self.command(words).output().unwrap();
        self.ended(output)
    }

    /// `pleat run player WORDS`.
    #[track_caller]
    pub(crate) fn run(&self, words: &[&str]) -> Ended {
        self.output(&[&["run", "player"], words].concat())
    }

    /// `pleat run player WORDS` while it runs.
    pub(crate) fn start(&self, words: &[&str]) -> Running<'_> {
        self.start_command(&[&["run", "player"], words].concat())
    }

    /// A command while it runs.
    pub(crate) fn start_command(&self, words: &[&str]) -> Running<'_> {
        let mut child = self.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (stdout, stderr) = (Stream::of(child.stdout.take().unwrap()), Stream::of(child.stderr.take().unwrap()));
        Running { house: self, child, stdout, stderr }
    }

    /// What a command that must succeed prints.
    #[track_caller]
    pub(crate) fn prints(&self, words: &[&str]) -> String {
        let ended = self.output(words);
        assert_eq!(ended.code, Some(0), "{words:?}: {}", ended.said);
        ended.printed
    }

    #[track_caller]
    fn ended(&self, output: Output) -> Ended {
        self.expect_nothing_left();
        Ended {
            code: output.status.code(),
            printed: String::from_utf8(output.stdout).unwrap(),
            said: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// No agent of this home runs, nor any of their children.
    #[track_caller]
    pub(crate) fn expect_nothing_left(&self) {
        let notes =
            ["pids", "children"].map(|name| std::fs::read_to_string(self.work().join(name)).unwrap_or_default());
        for pid in notes.iter().flat_map(|note| note.lines()) {
            assert!(!runs(pid), "process {pid} is left running");
        }
        let error = std::fs::read_to_string(self.work().join("script_error")).unwrap_or_default();
        assert_eq!(error, "", "the script is wrong");
    }

    /// Makes a pipe in the agents' working directory.
    pub(crate) fn make_pipe(&self, name: &str) {
        assert!(Command::new("mkfifo").arg(self.work().join(name)).status().unwrap().success());
    }

    /// Opens a gate that an agent waits at: a pipe that it reads.
    pub(crate) fn open_gate(&self, name: &str) {
        std::fs::OpenOptions::new().write(true).open(self.work().join(name)).unwrap();
    }

    /// Waits until something was written into a pipe.
    pub(crate) fn wait_at_pipe(&self, name: &str) {
        std::fs::read(self.work().join(name)).unwrap();
    }

    /// The messages that the agents heard with this method.
    pub(crate) fn heard(&self, method: &str) -> Vec<Value> {
        let heard = std::fs::read_to_string(self.work().join("heard")).unwrap_or_default();
        let messages = heard.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        messages.filter(|message| message["method"] == method).collect()
    }

    /// The sessions of the store, by their transcript documents.
    pub(crate) fn sessions(&self) -> Vec<Value> {
        let wire = std::fs::read_dir(self.path("pleat/wire")).map(|files| files.map(|file| file.unwrap().file_name()));
        let names = wire.into_iter().flatten().map(|name| name.into_string().unwrap());
        let ids = names.filter_map(|name| Some(name.strip_suffix(".jsonl.zst")?.to_owned()));
        ids.map(|id| serde_json::from_str(&self.prints(&["export", &id])).unwrap()).collect()
    }

    /// The one session of the store.
    #[track_caller]
    pub(crate) fn session(&self) -> Value {
        let mut sessions = self.sessions();
        assert_eq!(sessions.len(), 1);
        sessions.remove(0)
    }
}

/// A path as TOML writes it.
pub(crate) fn quoted(path: &Path) -> String {
    format!("{:?}", path.to_str().unwrap())
}

/// A recorded conversation.
pub(crate) fn trace(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../pleat-acp/tests/traces/{name}.jsonl.zst"))
}

/// Whether a process is there; one that ended and was not waited for is not.
fn runs(pid: &str) -> bool {
    let state = Command::new("ps").args(["-o", "stat=", "-p", pid]).output().unwrap();
    let state = String::from_utf8(state.stdout).unwrap();
    !state.trim().is_empty() && !state.trim().starts_with('Z')
}

/// What a command came to.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    /// stdout
    pub(crate) printed: String,
    /// stderr
    pub(crate) said: String,
}

impl Ended {
    #[track_caller]
    pub(crate) fn expect(&self, code: i32, printed: &str) {
        assert_eq!((self.code, self.printed.as_str()), (Some(code), printed), "{}", self.said);
    }

    #[track_caller]
    pub(crate) fn expect_said(&self, words: &[&str]) {
        for words in words {
            assert!(self.said.contains(words), "`{words}` is missing: {}", self.said);
        }
    }
}

/// A command while it runs; it is ended when it is dropped.
pub(crate) struct Running<'h> {
    house: &'h House,
    child: Child,
    stdout: Stream,
    stderr: Stream,
}

impl Running<'_> {
    /// Waits until stdout holds these words.
    #[track_caller]
    pub(crate) fn until_printed(&mut self, words: &str) {
        self.stdout.until(words);
    }

    /// Waits until stderr holds these words.
    #[track_caller]
    pub(crate) fn until_said(&mut self, words: &str) {
        self.stderr.until(words);
    }

    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &pid]).status().unwrap();
        assert!(sent.success());
    }

    /// Waits for its end; others may go on.
    #[track_caller]
    pub(crate) fn end_beside_others(mut self) -> Ended {
        self.stdout.rest();
        self.stderr.rest();
        let (printed, said) = (self.stdout.all(), self.stderr.all());
        Ended { code: self.child.wait().unwrap().code(), printed, said }
    }

    /// Waits for its end. No agent is left of it.
    #[track_caller]
    pub(crate) fn end(self) -> Ended {
        let house = self.house;
        let ended = self.end_beside_others();
        house.expect_nothing_left();
        ended
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a program writes, as it comes.
pub(crate) struct Stream {
    chunks: mpsc::Receiver<Vec<u8>>,
    bytes: Vec<u8>,
    /// So many bytes were waited for.
    taken: usize,
}

impl Stream {
    /// Reads on its own. A terminal whose program has ended gives an error, which is its end.
    pub(crate) fn of(mut reader: impl Read + Send + 'static) -> Self {
        let (sender, chunks) = mpsc::channel();
        std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut chunk) {
                if sender.send(chunk[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { chunks, bytes: Vec::new(), taken: 0 }
    }

    /// Waits for these words, and gives what came since the last wait, up to their end.
    #[track_caller]
    pub(crate) fn until(&mut self, words: &str) -> String {
        loop {
            let fresh = &self.bytes[self.taken..];
            let found = fresh.windows(words.len()).position(|window| window == words.as_bytes());
            if let Some(place) = found {
                let text = text(&fresh[..place + words.len()]);
                self.taken += text.len();
                return text;
            }
            assert!(self.read_on(), "it ended without `{words}`: {}", self.all());
        }
    }

    /// Waits for the end, and gives what came since the last wait.
    #[track_caller]
    pub(crate) fn rest(&mut self) -> String {
        while self.read_on() {}
        text(&self.bytes[std::mem::replace(&mut self.taken, self.bytes.len())..])
    }

    /// All that came.
    fn all(&self) -> String {
        text(&self.bytes)
    }

    /// Waits for more; `false`: there is none.
    #[track_caller]
    fn read_on(&mut self) -> bool {
        match self.chunks.recv_timeout(PATIENCE) {
            Ok(chunk) => self.bytes.extend(chunk),
            Err(mpsc::RecvTimeoutError::Disconnected) => return false,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                panic!("nothing comes any more: {}", String::from_utf8_lossy(&self.bytes))
            }
        }
        true
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

//! The built program, started and asked from outside as a person's browser would.

use super::http;
use crate::command::Failure;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A running `pleat`, ended when dropped.
pub(crate) struct Server {
    child: Child,
    link: Link,
    // Held open: a program whose stdout is closed would fail at its next line.
    _output: Option<BufReader<ChildStdout>>,
}

/// The link that `pleat` prints for the browser.
#[derive(Debug, PartialEq)]
struct Link {
    authority: String,
    path: String,
}

impl Server {
    /// Starts the program and waits for its link.
    pub(crate) fn start(binary: &Path, data: &Path) -> Result<Self, Failure> {
        let mut command = Command::new(binary);
        command.arg("--data").arg(data).args(["--listen", "127.0.0.1:0", "--no-open"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child =
            command.spawn().map_err(|error| Failure::new(format!("{} did not start: {error}.", binary.display())))?;
        let mut output = child.stdout.take().map(BufReader::new);
        if let Some(link) = output.as_mut().and_then(read_link) {
            return Ok(Self { child, link, _output: output });
        }
        end(&mut child);
        Err(Failure::new(format!("{} ended without printing its link.", binary.display())))
    }

    /// Follows the printed link and gives the cookie it grants.
    pub(crate) fn log_in(&self) -> Result<String, Failure> {
        let Link { authority, path } = &self.link;
        let answer = http::get(authority, path, None)?;
        answer.cookie.ok_or_else(|| {
            Failure::new(format!("the printed link was answered with status {} and no cookie.", answer.status))
        })
    }

    /// Asks for the first page.
    pub(crate) fn first_page(&self, cookie: &str) -> Result<(), Failure> {
        match http::get(&self.link.authority, "/", Some(cookie))?.status {
            200 => Ok(()),
            status => Err(Failure::new(format!("the first page was answered with status {status}."))),
        }
    }

    /// Its process id.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

/// Whatever is stored is safe from a kill, and nothing is left running.
fn end(child: &mut Child) {
    child.kill().ok();
    child.wait().ok();
}

fn read_link(output: &mut BufReader<ChildStdout>) -> Option<Link> {
    output.lines().map_while(Result::ok).find_map(|line| link_in(&line))
}

fn link_in(line: &str) -> Option<Link> {
    let (_, rest) = line.split_once("http://")?;
    let (authority, path) = rest.split_whitespace().next()?.split_once('/')?;
    Some(Link { authority: authority.to_owned(), path: format!("/{path}") })
}

/// A new folder that is removed when dropped.
pub(crate) struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    pub(crate) fn create() -> Result<Self, Failure> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("pleat-bench-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder)
            .map_err(|error| Failure::new(format!("{} could not be made: {error}.", folder.display())))?;
        Ok(Self(folder))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_link_in_a_line() {
        let link = link_in("Pleat is at http://127.0.0.1:7420/login?token=abc (keep it private)").unwrap();
        assert_eq!(link, Link { authority: "127.0.0.1:7420".into(), path: "/login?token=abc".into() });
        assert_eq!(link_in("no link here"), None);
    }

    #[test]
    fn a_temporary_folder_goes_when_dropped() {
        let folder = TemporaryFolder::create().unwrap();
        let path = folder.path().to_path_buf();
        assert!(path.is_dir());
        drop(folder);
        assert!(!path.exists());
    }
}

//! The built program as a server: its link, its lock, and its end.

#![allow(clippy::unwrap_used, reason = "the helpers of tests may panic too")]

#[cfg(unix)]
#[path = "run/signals.rs"]
mod signals;

#[cfg(unix)]
use signals::stop_signals;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// A server on a folder, killed when it is dropped.
struct Server {
    child: Child,
    link: String,
}

impl Server {
    fn start(folder: &TempDir) -> Self {
        let mut child = command(folder).stdout(Stdio::piped()).spawn().unwrap();
        let mut printed = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut printed).unwrap();
        let link = printed.trim().split_once("http://").unwrap().1.to_owned();
        Self { child, link }
    }

    fn address(&self) -> &str {
        self.link.split_once('/').unwrap().0
    }

    /// The whole answer to a request without a cookie.
    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(self.address()).unwrap();
        let host = self.address();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(folder: &TempDir) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pleat"));
    command.args(["--listen", "127.0.0.1:0", "--no-open", "--data"]).arg(folder.path());
    command.env("HOME", folder.path()).env("XDG_CONFIG_HOME", folder.path());
    command
}

#[test]
fn without_the_link_nothing_is_served() {
    let folder = TempDir::new().unwrap();
    let server = Server::start(&folder);
    for path in ["/", "/s/x", "/assets/pleat.js", "/events", "/login?token=wrong"] {
        let answer = server.get(path);
        assert!(answer.starts_with("HTTP/1.1 401"), "{path}: {answer}");
        assert!(!answer.contains("<script") && !answer.to_lowercase().contains("access-control"), "{path}: {answer}");
    }
    let answer = server.get(&format!("/{}", server.link.split_once('/').unwrap().1));
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("HttpOnly; SameSite=Strict"), "{answer}");
}

#[test]
fn the_link_stays_the_same_after_a_restart() {
    let folder = TempDir::new().unwrap();
    let token = |server: &Server| server.link.split_once("token=").unwrap().1.to_owned();
    let first = token(&Server::start(&folder));
    assert_eq!(token(&Server::start(&folder)), first);
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_in_order() {
    for signal in stop_signals() {
        let folder = TempDir::new().unwrap();
        let mut server = Server::start(&folder);
        let sent = Command::new("kill").args([&format!("-{signal}"), &server.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        assert_eq!(server.child.wait().unwrap().code(), Some(0), "{signal}");
    }
}

#[test]
fn two_servers_do_not_share_a_folder() {
    let folder = TempDir::new().unwrap();
    let _server = Server::start(&folder);
    let output = command(&folder).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let sentence = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(sentence.contains("another Pleat"), "{sentence}");
}

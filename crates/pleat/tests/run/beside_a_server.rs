//! `pleat run` beside a Pleat that serves the same store.

use crate::house::{House, PATIENCE};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// A server, ended when it is dropped.
struct Server {
    child: Child,
    address: String,
    cookie: String,
}

impl Server {
    fn start(house: &House) -> Self {
        let mut child =
            house.command(&["--listen", "127.0.0.1:0", "--no-open"]).stdout(Stdio::piped()).spawn().unwrap();
        let mut printed = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut printed).unwrap();
        let link = printed.trim().split_once("http://").unwrap().1;
        let (address, path) = link.split_once('/').unwrap();
        let answer = get(address, &format!("/{path}"), "");
        let cookie = answer.lines().find(|line| line.to_lowercase().starts_with("set-cookie:"));
        let cookie = cookie.unwrap().split_once(':').unwrap().1.split(';').next().unwrap().trim().to_owned();
        Self { child, address: address.to_owned(), cookie }
    }

    fn get(&self, path: &str) -> String {
        get(&self.address, path, &self.cookie)
    }

    /// Waits until a page holds these words.
    fn until_shown(&self, path: &str, words: &str) {
        let start = Instant::now();
        while !self.get(path).contains(words) {
            assert!(start.elapsed() < PATIENCE, "`{words}` is not shown: {}", self.get(path));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // In order: what it started is ended.
        let _ = Command::new("kill").arg(self.child.id().to_string()).status();
        let _ = self.child.wait();
    }
}

fn get(address: &str, path: &str, cookie: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

const WAITS: &str = r#"
open_session
hear session/prompt as prompt
text "I wait here."
wait_at gate
text " I went on."
finish prompt
listen
"#;

#[test]
fn the_page_shows_what_runs_and_leaves_it_alone() {
    let house = House::with(WAITS);
    house.make_pipe("gate");
    let server = Server::start(&house);
    let mut running = house.start(&["x"]);
    running.until_printed("I wait here.");
    let front = server.get("/");
    let page = format!("/s/{}", front.split_once("\"/s/").unwrap().1.split_once('"').unwrap().0);
    server.until_shown(&page, "I wait here.");
    // One that starts now finds a turn that is open, and is not its own.
    drop(server);
    let server = Server::start(&house);
    server.until_shown(&page, "I wait here.");
    house.open_gate("gate");
    running.end().expect(0, "I wait here. I went on.\n");
    server.until_shown(&page, "I went on.");
    assert_eq!(house.session()["session"]["turns"][0]["state"], "completed");
}

#[test]
fn several_run_at_once() {
    let script =
        "open_session\nhear session/prompt as prompt\ntext \"I am here.\"\nwait_at gate\nfinish prompt\nlisten";
    let house = House::with(script);
    house.make_pipe("gate");
    let mut running: Vec<_> = (0..3).map(|_| house.start(&["x"])).collect();
    for each in &mut running {
        each.until_printed("I am here.");
    }
    house.open_gate("gate");
    // All that wait go on once it is open.
    for each in running {
        each.end_beside_others().expect(0, "I am here.\n");
    }
    house.expect_nothing_left();
    assert_eq!(house.sessions().len(), 3);
}

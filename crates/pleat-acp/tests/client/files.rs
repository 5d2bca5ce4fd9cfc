//! `fs/read_text_file` and `fs/write_text_file`.

use crate::{PATIENCE, Scene, and, text_of_lines};
use pleat_acp::client::{ClientLimits, ClientSession};
use serde_json::json;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::process::Command;
use tokio::time::timeout;

#[tokio::test]
async fn text_comes_and_goes_exactly_as_it_is() {
    let scene = Scene::new();
    for text in ["", "one", "one\n", "one\r\ntwo\rthree\n\n", "\u{feff}ä€🦀\0\u{1b}[31m", "\n"] {
        let path = scene.app("file");
        assert_eq!(scene.write(&path, text).await.unwrap(), json!({}));
        assert_eq!(fs::read(&path).unwrap(), text.as_bytes());
        assert_eq!(scene.read(&path).await.unwrap(), text);
    }
}

#[tokio::test]
async fn line_and_limit_are_honoured() {
    let scene = Scene::new();
    let path = scene.app("file");
    let text = text_of_lines(1..5001, |line| format!("line {line}\r\n"));
    fs::write(&path, format!("{text}last")).unwrap();
    let lines = async |lines| scene.read_lines(&path, lines).await.unwrap();
    assert_eq!(lines(json!({"line": 1, "limit": 1})).await, "line 1\r\n");
    assert_eq!(lines(json!({"line": 0, "limit": 1})).await, "line 1\r\n");
    assert_eq!(lines(json!({"limit": 2})).await, "line 1\r\nline 2\r\n");
    assert_eq!(lines(json!({"line": 4999, "limit": 2})).await, "line 4999\r\nline 5000\r\n");
    assert_eq!(lines(json!({"line": 5000})).await, "line 5000\r\nlast");
    assert_eq!(lines(json!({"line": 5001, "limit": 100})).await, "last");
    assert_eq!(lines(json!({"line": 5002})).await, "");
    assert_eq!(lines(json!({"line": 4_000_000_000_u32, "limit": 1})).await, "");
    assert_eq!(lines(json!({"limit": 0})).await, "");
    assert_eq!(lines(json!({"line": null, "limit": null})).await.len(), text.len() + 4);
    let mut parts = String::new();
    for line in (1..=5001).step_by(700) {
        parts += &lines(json!({"line": line, "limit": 700})).await;
    }
    assert_eq!(parts, format!("{text}last"));
    for wrong in [json!({"line": -1}), json!({"limit": "3"}), json!({"line": 1.5})] {
        let error = scene.read_lines(&path, wrong).await.expect_err("it is no number of lines");
        assert_eq!(error.code, -32602, "{error}");
    }
}

#[tokio::test]
async fn what_is_no_readable_text_is_an_error_that_says_why() {
    let scene = Scene::new();
    fs::write(scene.app("bytes"), b"tell-nobody\xff\xfe").unwrap();
    fs::create_dir(scene.app("directory")).unwrap();
    fs::write(scene.app("file"), "").unwrap();
    for (path, code, says) in [
        ("missing", -32002, "does not exist"),
        ("missing/too", -32002, "does not exist"),
        ("file/below", -32602, "below something"),
        ("directory", -32602, "is a directory"),
        ("", -32602, "is a directory"),
        ("bytes", -32602, "not UTF-8"),
    ] {
        let error = scene.read(scene.app(path)).await.expect_err("it is no text");
        assert_eq!(error.code, code, "{error}");
        let path = scene.app(path);
        assert!(error.message.contains(says) && error.message.contains(path.to_str().unwrap()), "{error}");
        assert!(!error.message.contains("tell-nobody"), "{error}");
    }
    let error = scene.ask("fs/read_text_file", json!({})).await.expect_err("the path is missing");
    assert!(error.code == -32602 && error.message.contains("path"), "{error}");
}

#[tokio::test]
async fn pipes_and_devices_make_nobody_wait() {
    let scene = Scene::new();
    let fifo = scene.app("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(scene.app("socket")).unwrap();
    for path in ["fifo", "socket"] {
        for answer in [scene.read(scene.app(path)).await.map(drop), scene.write(scene.app(path), "x").await.map(drop)] {
            let error = answer.expect_err("it is no file");
            assert!(error.code == -32602 && error.message.contains("no regular file"), "{error}");
        }
    }
    fs::write(scene.app("file"), "still served").unwrap();
    assert_eq!(scene.read(scene.app("file")).await.unwrap(), "still served");
}

#[tokio::test]
async fn a_text_has_a_bound_and_its_parts_are_to_be_had() {
    let scene = Scene::with(ClientLimits { read_bytes: 10, ..ClientLimits::default() });
    fs::write(scene.app("file"), "12345\n123456\n").unwrap();
    let error = scene.read(scene.app("file")).await.expect_err("it is too long");
    assert!(error.code == -32602 && error.message.contains("line and limit"), "{error}");
    let lines = json!({"line": 2, "limit": 1});
    assert_eq!(scene.read_lines(scene.app("file"), lines).await.unwrap(), "123456\n");
}

#[tokio::test]
async fn only_what_is_asked_for_is_read_of_a_large_file() {
    let scene = Scene::new();
    let path = scene.app("sparse");
    fs::write(&path, "first\n").unwrap();
    // More than any memory; it takes no room on the disk.
    fs::File::options().write(true).open(&path).unwrap().set_len(1 << 40).unwrap();
    assert_eq!(scene.read_lines(&path, json!({"limit": 1})).await.unwrap(), "first\n");
    let error = scene.read(&path).await.expect_err("it is too long");
    assert!(error.message.contains("line and limit"), "{error}");
}

#[tokio::test]
async fn writing_keeps_what_the_file_is() {
    let scene = Scene::new();
    let path = scene.app("script");
    fs::write(&path, "a long text that is replaced by a short one").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o741)).unwrap();
    fs::hard_link(&path, scene.app("second-name")).unwrap();
    let before = fs::metadata(&path).unwrap();
    scene.write(&path, "short").await.unwrap();
    let after = fs::metadata(&path).unwrap();
    assert_eq!(fs::read_to_string(scene.app("second-name")).unwrap(), "short");
    assert_eq!((before.mode(), before.ino()), (after.mode(), after.ino()));
}

#[tokio::test]
async fn writing_makes_what_is_missing() {
    let scene = Scene::new();
    scene.write(scene.app("a/b/c.txt"), "new").await.unwrap();
    assert_eq!(fs::read_to_string(scene.app("a/b/c.txt")).unwrap(), "new");
    let ordinary = scene.app("ordinary");
    fs::write(&ordinary, "").unwrap();
    let mode = |path| fs::metadata(path).unwrap().mode();
    assert_eq!(mode(scene.app("a/b/c.txt")), mode(ordinary));
    let error = scene.write(scene.app("a/b/c.txt/d"), "x").await.expect_err("a file has nothing below it");
    assert_eq!(error.code, -32602, "{error}");
    let error = scene.write(scene.app("a/b"), "x").await.expect_err("it is a directory");
    assert!(error.message.contains("is a directory"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn operations_happen_in_the_order_they_were_asked_for() {
    let scene = Scene::new();
    let path = scene.app("file");
    let mut reads = Vec::new();
    for number in 0..300 {
        let text = format!("{number} ").repeat(1000);
        let request = |more| and(json!({"sessionId": "s", "path": path}), more);
        // The answer of the write is not even waited for.
        drop(scene.client.serve("fs/write_text_file", request(json!({"content": text}))));
        let read = scene.client.serve("fs/read_text_file", request(json!({})));
        reads.push((text, tokio::spawn(read)));
    }
    let params = json!({"sessionId": "s", "command": "cat", "args": ["file"]});
    let created = scene.client.serve("terminal/create", params);
    drop(scene.client.serve("fs/write_text_file", json!({"sessionId": "s", "path": scene.app("b"), "content": "b"})));
    for (text, read) in reads {
        let answer = timeout(PATIENCE, read).await.unwrap().unwrap().unwrap();
        assert_eq!(answer["content"], text);
    }
    let created = timeout(PATIENCE, created).await.unwrap().unwrap();
    assert_eq!(scene.printed(created["terminalId"].as_str().unwrap()).await, "299 ".repeat(1000));
    assert_eq!(scene.read(scene.app("b")).await.unwrap(), "b");
}

#[tokio::test]
async fn only_what_is_served_is_served() {
    let scene = Scene::new();
    for method in ["fs/read_text_file", "fs/write_text_file", "terminal/create", "terminal/output"] {
        assert!(ClientSession::serves(method), "{method}");
    }
    for method in ["terminal/wait_for_exit", "terminal/kill", "terminal/release"] {
        assert!(ClientSession::serves(method), "{method}");
    }
    for method in ["session/request_permission", "fs/delete", "terminal/", ""] {
        assert!(!ClientSession::serves(method), "{method}");
    }
    let error = scene.ask("fs/delete", json!({})).await.expect_err("nobody knows it");
    assert_eq!(error.code, -32601);
}

//! `terminal/*`: what is run, and what is heard of it.

use crate::{Scene, and, text_of_lines};
use pleat_acp::client::{ClientLimits, ClientSession, Workspace};
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

#[tokio::test]
async fn a_command_is_run_without_a_shell() {
    let scene = Scene::new();
    let args = json!(["%s|", "two words", "$HOME", "*", "; exit 3", ""]);
    let terminal = scene.create(json!({"command": "printf", "args": args})).await.unwrap();
    assert_eq!(scene.printed(&terminal).await, "two words|$HOME|*|; exit 3||");
    assert_eq!(scene.exit(&terminal).await, json!({"exitCode": 0, "signal": null}));
    let output = scene.of("output", &terminal).await.unwrap();
    assert_eq!(output["exitStatus"], json!({"exitCode": 0, "signal": null}));
    assert_eq!(output["truncated"], false);
}

#[tokio::test]
async fn a_command_line_of_an_older_agent_is_given_to_a_shell() {
    let scene = Scene::new();
    let terminal = scene.create(json!({"command": "cd / && echo \"$PWD\" | tr / x; exit 4"})).await.unwrap();
    assert_eq!(scene.printed(&terminal).await, "x\n");
    assert_eq!(scene.exit(&terminal).await["exitCode"], 4);
    let terminal = scene.create(json!({"command": "printf 'a b'", "args": []})).await.unwrap();
    assert_eq!(scene.printed(&terminal).await, "a b");
    // With arguments it is a program, and so it is where there is one of this name.
    let error = scene.create(json!({"command": "printf a", "args": ["b"]})).await.expect_err("no such program");
    assert!(error.code == -32602 && error.message.contains("printf a"), "{error}");
    fs::write(scene.app("my script"), "#!/bin/sh\necho \"$0 was run\"\n").unwrap();
    fs::set_permissions(scene.app("my script"), Permissions::from_mode(0o755)).unwrap();
    let terminal = scene.create(json!({"command": scene.app("my script")})).await.unwrap();
    assert_eq!(scene.printed(&terminal).await, format!("{} was run\n", scene.app("my script").display()));
}

#[tokio::test]
async fn what_cannot_be_run_is_named() {
    let scene = Scene::new();
    fs::write(scene.app("text"), "").unwrap();
    for (params, says) in [
        (json!({"command": "pleat-no-such-program"}), "pleat-no-such-program was not found"),
        (json!({"command": "/no/such/program", "args": ["x"]}), "/no/such/program was not found"),
        (json!({"command": "./text"}), "./text is not executable"),
        (json!({"command": "echo", "args": ["a\0b"]}), "NUL"),
        (json!({"command": "echo", "env": [{"name": "A", "value": "\0"}]}), "NUL"),
        (json!({"command": "echo", "env": [{"name": "A=B", "value": ""}]}), "equals sign"),
        (json!({"args": []}), "command"),
    ] {
        let error = scene.create(params).await.expect_err("it cannot be run");
        assert!(error.code == -32602 && error.message.contains(says), "{error}");
    }
    let error = scene.of("output", "none").await.expect_err("there is no such terminal");
    assert!(error.code == -32002 && error.message.contains("no terminal none"), "{error}");
}

#[tokio::test]
async fn the_environment_is_ours_and_what_the_agent_adds() {
    let scene = Scene::new();
    let env = json!([{"name": "ADDED", "value": "by the agent"}, {"name": "HOME", "value": "/changed"}]);
    let params = json!({"command": "/bin/sh", "args": ["-c", "echo $ADDED, $HOME, $PATH"], "env": env});
    let terminal = scene.create(params).await.unwrap();
    let path = std::env::var("PATH").unwrap();
    assert_eq!(scene.printed(&terminal).await, format!("by the agent, /changed, {path}\n"));
}

#[tokio::test]
async fn what_is_hidden_is_not_inherited() {
    let (sender, _news) = tokio::sync::mpsc::unbounded_channel();
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(folder.path(), &[]).unwrap();
    let client = ClientSession::new(workspace, ClientLimits::default(), vec!["HOME".to_owned()], sender);
    let ask = async |method: &str, params: Value| crate::ask(&client, method, params).await.unwrap();
    let line = "echo ${HOME-none}, ${PATH:+some}";
    for (env, expect) in [(json!([]), "none, some\n"), (json!([{"name": "HOME", "value": "/given"}]), "/given, some\n")]
    {
        let params = json!({"command": "/bin/sh", "args": ["-c", line], "env": env});
        let terminal = json!({"terminalId": ask("terminal/create", params).await["terminalId"]});
        ask("terminal/wait_for_exit", terminal.clone()).await;
        assert_eq!(ask("terminal/output", terminal).await["output"], expect);
    }
}

#[tokio::test]
async fn stdout_and_stderr_keep_their_order() {
    let scene = Scene::new();
    let line = "i=0; while [ $i -lt 300 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done";
    let terminal = scene.shell(line).await;
    let expect = text_of_lines(0..300, |i| format!("out {i}\nerr {i}\n"));
    assert_eq!(scene.printed(&terminal).await, expect);
}

#[tokio::test]
async fn a_command_has_nothing_to_read() {
    let scene = Scene::new();
    let terminal = scene.create(json!({"command": "cat"})).await.unwrap();
    assert_eq!(scene.exit(&terminal).await["exitCode"], 0);
}

#[tokio::test]
async fn output_is_there_while_the_command_runs() {
    let mut scene = Scene::new();
    let terminal = scene.shell("echo begun; sleep 1000").await;
    scene.printed_so_far("begun\n").await;
    let output = scene.of("output", &terminal).await.unwrap();
    assert_eq!(output, json!({"output": "begun\n", "truncated": false}));
}

#[tokio::test]
async fn characters_that_are_cut_anywhere_stay_whole() {
    let scene = Scene::new();
    // Each byte is written by itself, with a pause that lets it be read by itself.
    let line = r"for byte in '\303' '\244' '\342' '\202' '\254' '\360' '\237' '\246' '\200' '\377' 'x' '\342'; do
        printf $byte; sleep 0.01; done";
    let terminal = scene.shell(line).await;
    assert_eq!(scene.printed(&terminal).await, "ä€🦀\u{fffd}x\u{fffd}");
}

#[tokio::test]
async fn output_for_the_agent_is_bounded_on_a_character_boundary() {
    let scene = Scene::new();
    let check = async |limit: Value, expect: Value| {
        let params = json!({"command": "printf", "args": ["a€€b"], "outputByteLimit": limit});
        let terminal = scene.create(params).await.unwrap();
        scene.exit(&terminal).await;
        let output = scene.of("output", &terminal).await.unwrap();
        assert_eq!(json!([output["output"], output["truncated"]]), expect, "{limit}");
    };
    check(json!(8), json!(["a€€b", false])).await;
    check(json!(7), json!(["€€b", true])).await;
    check(json!(6), json!(["€b", true])).await;
    check(json!(4), json!(["€b", true])).await;
    check(json!(3), json!(["b", true])).await;
    check(json!(0), json!(["", true])).await;
    check(json!(u64::MAX), json!(["a€€b", false])).await;
    check(json!(null), json!(["a€€b", false])).await;
}

#[tokio::test]
async fn our_bounds_hold_whatever_the_agent_asks_for() {
    let scene = Scene::with(ClientLimits { output_bytes: 10, most_output_bytes: 20, ..ClientLimits::default() });
    let line =
        json!({"command": "/bin/sh", "args": ["-c", "i=0; while [ $i -lt 9000 ]; do echo $i; i=$((i+1)); done"]});
    let terminal = scene.create(line.clone()).await.unwrap();
    assert_eq!(scene.printed(&terminal).await, "8998\n8999\n");
    let terminal = scene.create(and(line, json!({"outputByteLimit": 1000}))).await.unwrap();
    assert_eq!(scene.printed(&terminal).await, "8996\n8997\n8998\n8999\n");
}

#[tokio::test]
async fn the_exit_may_be_waited_for_by_many_and_afterwards() {
    let mut scene = Scene::new();
    let terminal = scene.shell("echo ready; while [ ! -e go ]; do sleep 0.01; done; exit 7").await;
    let params = json!({"sessionId": "s", "terminalId": terminal});
    let wait = || tokio::spawn(scene.client.serve("terminal/wait_for_exit", params.clone()));
    let waits = [wait(), wait(), wait()];
    scene.printed_so_far("ready\n").await;
    assert!(waits.iter().all(|wait| !wait.is_finished()));
    fs::write(scene.app("go"), "").unwrap();
    for wait in waits {
        let exit = tokio::time::timeout(crate::PATIENCE, wait).await.unwrap().unwrap().unwrap();
        assert_eq!(exit, json!({"exitCode": 7, "signal": null}));
    }
    assert_eq!(scene.exit(&terminal).await["exitCode"], 7);
}

#[tokio::test]
async fn what_runs_at_once_is_bounded() {
    let mut scene = Scene::with(ClientLimits { running_terminals: 2, ..ClientLimits::default() });
    let first = scene.shell("sleep 1000").await;
    scene.shell("sleep 1000").await;
    let error = scene.create(json!({"command": "true"})).await.expect_err("two run already");
    assert!(error.message.contains("2 terminals run already"), "{error}");
    scene.of("kill", &first).await.unwrap();
    scene.ended().await;
    let third = scene.create(json!({"command": "true"})).await.unwrap();
    assert_eq!(scene.exit(&third).await["exitCode"], 0);
    // What could not be started counts no more than what has ended.
    scene.ended().await;
    scene.create(json!({"command": "pleat-no-such-program"})).await.expect_err("there is none");
    scene.create(json!({"command": "true"})).await.unwrap();
}

#[tokio::test]
async fn agents_that_never_release_do_not_fill_the_memory() {
    let scene = Scene::with(ClientLimits { unreleased_terminals: 2, ..ClientLimits::default() });
    let running = scene.shell("sleep 1000").await;
    let mut exited = Vec::new();
    for _ in 0..3 {
        let terminal = scene.shell("echo said").await;
        assert_eq!(scene.printed(&terminal).await, "said\n");
        exited.push(terminal);
    }
    scene.of("output", &exited[1]).await.expect_err("it is released");
    scene.of("output", &exited[2]).await.unwrap();
    scene.of("output", &running).await.unwrap();
}

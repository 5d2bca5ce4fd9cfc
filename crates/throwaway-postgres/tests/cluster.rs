//! Clusters that start, stop, come back, and are gone.

#![allow(clippy::unwrap_used, reason = "this is a test, its helpers too")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use throwaway_postgres::{Cluster, ClusterError, Stop};

/// Set for the process that is killed.
const VICTIM: &str = "THROWAWAY_POSTGRES_TEST_VICTIM";

/// Set for the process that finds no program that it needs, or one that fails.
const UNLUCKY: &str = "THROWAWAY_POSTGRES_TEST_UNLUCKY";

fn psql(cluster: &Cluster, command: &str) -> Output {
    let url = cluster.url("postgres");
    Command::new("psql").args(["-X", "-A", "-t", "-q", "-c", command]).arg(url).output().unwrap()
}

/// What a command printed that must succeed.
fn ask(cluster: &Cluster, command: &str) -> String {
    let output = psql(cluster, command);
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// The command lines of processes that were started with something of that folder.
fn processes_with(folder: &Path) -> Vec<String> {
    let folder = folder.to_str().unwrap();
    let lines = fs::read_dir("/proc").unwrap().filter_map(|entry| fs::read(entry.ok()?.path().join("cmdline")).ok());
    lines.map(|line| String::from_utf8_lossy(&line).into_owned()).filter(|line| line.contains(folder)).collect()
}

/// Waits until nothing of a cluster is left whose owner could not wait for it.
fn wait_until_gone(folder: &Path) {
    let deadline = Instant::now() + Duration::from_mins(1);
    while folder.exists() || !processes_with(folder).is_empty() {
        assert!(Instant::now() < deadline, "left: {} {:?}", folder.display(), processes_with(folder));
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Whether somebody who tests with a server elsewhere has none here.
fn has_none_here() -> bool {
    std::env::var_os("PLEAT_TEST_POSTGRES").is_some() && !throwaway_postgres::is_installed()
}

/// This program again, running one of its tests with a variable set.
fn again(test: &str, variable: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(variable, "1").stdout(Stdio::piped());
    command
}

#[test]
fn a_cluster_answers_and_leaves_nothing() {
    if has_none_here() {
        return;
    }
    let cluster = Cluster::start().unwrap();
    assert_eq!(ask(&cluster, "select 1"), "1");
    assert_eq!(ask(&cluster, "select current_user, current_setting('fsync')"), "postgres|off");
    assert_eq!(ask(&cluster, "show server_encoding"), "UTF8");
    let folder = cluster.folder().to_owned();
    assert!(!processes_with(&folder).is_empty());
    drop(cluster);
    assert!(!folder.exists());
    assert_eq!(processes_with(&folder), [""; 0]);
}

#[test]
fn a_stopped_server_comes_back_with_its_data() {
    if has_none_here() {
        return;
    }
    let mut cluster = Cluster::builder().durable(true).start().unwrap();
    assert_eq!(ask(&cluster, "show fsync"), "on");
    ask(&cluster, "create table kept (n int)");
    for (n, how) in [Stop::Fast, Stop::Immediate, Stop::Immediate].into_iter().enumerate() {
        ask(&cluster, &format!("insert into kept values ({n})"));
        cluster.stop(how).unwrap();
        // A second time changes nothing.
        cluster.stop(how).unwrap();
        assert!(!psql(&cluster, "select 1").status.success());
        cluster.start_again().unwrap();
        cluster.start_again().unwrap();
        assert_eq!(ask(&cluster, "select count(*) from kept"), (n + 1).to_string());
    }
    cluster.stop(Stop::Fast).unwrap();
    let folder = cluster.folder().to_owned();
    drop(cluster);
    assert!(!folder.exists());
}

#[test]
fn a_server_that_ended_by_itself_comes_back() {
    if has_none_here() {
        return;
    }
    let mut cluster = Cluster::start().unwrap();
    let pid = fs::read_to_string(cluster.folder().join("data/postmaster.pid")).unwrap();
    let ended = Command::new("sh").args(["-c", "kill -s QUIT $0", pid.lines().next().unwrap()]).status().unwrap();
    assert!(ended.success());
    cluster.stop(Stop::Fast).unwrap();
    cluster.start_again().unwrap();
    assert_eq!(ask(&cluster, "select 1"), "1");
}

#[test]
fn clusters_are_apart() {
    if has_none_here() {
        return;
    }
    let clusters = [Cluster::start().unwrap(), Cluster::start().unwrap()];
    ask(&clusters[0], "create table here (n int)");
    assert!(!psql(&clusters[1], "select n from here").status.success());
}

/// No test of its own: the process that [`a_killed_owner_leaves_nothing`] kills.
#[test]
fn victim() {
    if std::env::var_os(VICTIM).is_none() {
        return;
    }
    let cluster = Cluster::start().unwrap();
    println!("\nfolder {}", cluster.folder().display());
    loop {
        std::thread::park();
    }
}

#[test]
fn a_killed_owner_leaves_nothing() {
    if has_none_here() {
        return;
    }
    let mut victim = again("victim", VICTIM).spawn().unwrap();
    let mut lines = BufReader::new(victim.stdout.take().unwrap()).lines().map(Result::unwrap);
    let folder = lines.find_map(|line| line.strip_prefix("folder ").map(PathBuf::from)).unwrap();
    assert!(!processes_with(&folder).is_empty());
    victim.kill().unwrap();
    victim.wait().unwrap();
    wait_until_gone(&folder);
}

/// No test of its own: the process whose programs fail.
#[test]
fn unlucky() {
    if std::env::var_os(UNLUCKY).is_none() {
        return;
    }
    match Cluster::start() {
        Ok(cluster) => println!("started {}", cluster.folder().display()),
        Err(error @ ClusterError::NotStarted { .. }) => println!("{error}"),
        Err(error) => panic!("{error}"),
    }
    let prefix = format!("throwaway-pg-{}-", std::process::id());
    let left = fs::read_dir(std::env::temp_dir()).unwrap();
    let left = left.filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with(&prefix));
    println!("left {}", left.count());
}

#[test]
fn a_failure_says_what_the_programs_said_and_leaves_nothing() {
    let programs = std::env::temp_dir().join(format!("throwaway-postgres-programs-{}", std::process::id()));
    fs::create_dir(&programs).unwrap();
    for (initdb, postgres, said) in [
        ("echo no space >&2; exit 1", "exit 0", "no space"),
        ("exit 0", "echo bad setting >&2; exit 1", "bad setting"),
        ("exit 0", "exit 0", "did not start"),
    ] {
        for (name, script) in [("initdb", initdb), ("postgres", postgres)] {
            let file = programs.join(name);
            fs::write(&file, format!("#!/bin/sh\n[ $1 = -D ] && mkdir -p $2\n{script}\n")).unwrap();
            assert!(Command::new("chmod").arg("755").arg(&file).status().unwrap().success());
        }
        let path = std::env::join_paths(
            std::iter::once(programs.clone()).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
        );
        let output = again("unlucky", UNLUCKY).env("PATH", path.unwrap()).output().unwrap();
        let output = String::from_utf8(output.stdout).unwrap();
        assert!(output.contains("PostgreSQL did not start") && output.contains(said), "{output}");
        assert!(output.contains("left 0"), "{output}");
    }
    fs::remove_dir_all(&programs).unwrap();
}

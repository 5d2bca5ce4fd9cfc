//! Which processes run, as `/proc` tells.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Stands in the environment of all that runs because of a scenario.
pub(super) const MARK: &str = "PLEAT_REAL_RUN";

/// A process as it is now.
#[derive(Debug, Clone)]
pub(super) struct Process {
    pub(super) pid: u32,
    parent: u32,
    pub(super) command_line: String,
    environment: Vec<u8>,
}

/// All processes that run; those that have ended and were not waited for do not.
pub(super) fn all() -> Vec<Process> {
    let folders = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    folders.filter_map(|entry| read(&entry.path())).collect()
}

fn read(folder: &Path) -> Option<Process> {
    let pid = folder.file_name()?.to_str()?.parse().ok()?;
    let parent = parent_of(&fs::read_to_string(folder.join("stat")).ok()?)?;
    let command_line = fs::read(folder.join("cmdline")).ok()?;
    let command_line = String::from_utf8_lossy(&command_line).replace('\0', " ");
    // Another user's cannot be read, and are none of ours.
    let environment = fs::read(folder.join("environ")).unwrap_or_default();
    Some(Process { pid, parent, command_line, environment })
}

/// The parent that a `stat` file names; `None` for what has ended.
fn parent_of(stat: &str) -> Option<u32> {
    // What stands before may hold anything: the program's name.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    (state != "Z").then_some(parent)
}

/// Those with a mark in their environment.
pub(super) fn marked(mark: &str) -> Vec<Process> {
    let variable = format!("{MARK}={mark}");
    let has_mark = |process: &Process| process.environment.split(|byte| *byte == 0).any(|it| it == variable.as_bytes());
    all().into_iter().filter(has_mark).collect()
}

/// Those that a process started, however far down, nearest first.
pub(super) fn below(ancestor: u32) -> Vec<Process> {
    let all = all();
    let (mut found, mut parents) = (Vec::new(), vec![ancestor]);
    while !parents.is_empty() {
        let children: Vec<Process> = all.iter().filter(|process| parents.contains(&process.parent)).cloned().collect();
        parents = children.iter().map(|process| process.pid).collect();
        found.extend(children);
    }
    found
}

/// Sends a signal, by its name. A process that is gone needs none.
pub(super) fn signal(name: &str, pid: u32) {
    let sent = Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).output();
    if let Err(error) = sent {
        eprintln!("xtask: `kill` could not be run: {error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_in_a_stat_file() {
        assert_eq!(parent_of("7 (a) b (c)) S 5 7 7 0"), Some(5));
        assert_eq!(parent_of("7 (a) Z 5 7 7 0"), None);
        assert_eq!(parent_of("nothing"), None);
    }

    #[test]
    fn a_child_is_found_below_us_and_by_its_mark() {
        let mut command = Command::new("sleep");
        let mut child = command.arg("1000").env(MARK, "a test's").spawn().unwrap();
        // Its environment is its own once its command line is.
        while !below(std::process::id()).iter().any(|process| process.command_line.starts_with("sleep 1000")) {
            std::thread::yield_now();
        }
        assert!(marked("a test's").iter().any(|process| process.pid == child.id()));
        signal("KILL", child.id());
        child.wait().unwrap();
        assert!(marked("a test's").is_empty());
    }
}

//! What the system tells of this process, and of those that were started.

use super::Outcome;
use std::fs;
use std::path::Path;

/// Is in the environment of all that runs because of a bench.
pub(crate) const MARK: &str = "PLEAT_HOST_BENCH";

/// User and system time of this process alone, so far, in hundredths of a second (Linux' clock ticks).
pub(crate) fn cpu_seconds() -> Outcome<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    // What stands before may hold blanks: the program's name.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let [user, system] = [11, 12].map(|place| fields.get(place).and_then(|ticks| ticks.parse::<f64>().ok()));
    Ok((user.ok_or("no user time")? + system.ok_or("no system time")?) / 100.0)
}

/// The most that this process has had in memory, in MB.
pub(crate) fn peak_megabytes() -> Outcome<f64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    let kibibytes: f64 = line.split_whitespace().next().ok_or("no number")?.parse()?;
    Ok(kibibytes * 1024.0 / 1e6)
}

/// What this process has read so far, from files and pipes, in MB.
pub(crate) fn megabytes_read() -> Outcome<f64> {
    let counters = fs::read_to_string("/proc/self/io")?;
    let read = counters.lines().find_map(|line| line.strip_prefix("rchar:")).ok_or("no rchar")?;
    Ok(read.trim().parse::<f64>()? / 1e6)
}

/// How many processes run that were started here, however far down.
pub(crate) fn left_running() -> Outcome<usize> {
    let (mark, ourselves) = (mark(), std::process::id().to_string());
    let mut left = 0;
    for entry in fs::read_dir("/proc")? {
        let folder = entry?.path();
        let is_ourselves = folder.file_name().is_some_and(|name| name == ourselves.as_str());
        if !is_ourselves && (has_in_environment(&folder, &mark) || is_child(&folder, &ourselves)) {
            left += 1;
        }
    }
    Ok(left)
}

/// Tells processes of this run from those of another.
pub(crate) fn mark() -> String {
    std::process::id().to_string()
}

fn has_in_environment(process: &Path, mark: &str) -> bool {
    let environment = fs::read(process.join("environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|variable| variable == format!("{MARK}={mark}").as_bytes())
}

/// Also one that has ended and was not waited for.
fn is_child(process: &Path, parent: &str) -> bool {
    let stat = fs::read_to_string(process.join("stat")).unwrap_or_default();
    stat.rsplit(')').next().and_then(|fields| fields.split_whitespace().nth(1)) == Some(parent)
}

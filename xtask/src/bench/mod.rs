//! `cargo xtask bench`: what the aims are and what this machine measures. A miss is shown, never a failure.

mod big_trace;
mod core;
mod host;
mod http;
mod printed;
mod server;
mod table;

use crate::command::{self, Failure};
use crate::paths;
use crate::postgres::{Postgres, Use};
use server::{Server, TemporaryFolder};
use std::path::Path;
use std::time::{Duration, Instant};
use table::{Aim, Figure};

/// Odd, so that the median is one of the runs.
const STARTS: usize = 11;

/// How long a program that has answered is left alone before it counts as idle.
const SETTLING: Duration = Duration::from_secs(2);

const BYTES_PER_KIB: f64 = 1024.0;
const BYTES_PER_MB: f64 = 1_000_000.0;

/// Builds the release, measures everything and prints the table.
pub(crate) fn run() -> Result<(), Failure> {
    command::succeed(&mut command::cargo(["build", "--release", "--package", "pleat"]))?;
    let binary = paths::release_binary()?;
    let mut figures = outside_figures(&binary)?;
    let rest = host::measure_turns().map(|measured| figures.extend(measured));
    let rest = rest.and_then(|()| core::measure().map(|measured| figures.extend(measured)));
    // What was measured is shown, also where the rest could not be.
    print!("{}", table::table(&figures));
    rest
}

/// Measures record and fold alone, and prints the table.
pub(crate) fn run_core() -> Result<(), Failure> {
    print!("{}", table::table(&core::measure()?));
    Ok(())
}

/// Measures the host alone, with child processes as its agents, and prints the table.
pub(crate) fn run_host() -> Result<(), Failure> {
    command::succeed(&mut command::cargo(["build", "--release", "--package", "pleat"]))?;
    print!("{}", table::table(&host::measure()?));
    Ok(())
}

/// Has the store measure itself, with a Postgres that writes to the disk as a real one does.
pub(crate) fn run_store() -> Result<(), Failure> {
    let example = ["--release", "--package", "pleat-store", "--example", "store_bench"];
    // Before there is a server, so that it does not wait for the compiler.
    command::succeed(command::cargo(["build"]).args(example))?;
    let postgres = Postgres::start(Use::Bench)?;
    let mut bench = command::cargo(["run", "--quiet"]);
    postgres.name_to(bench.args(example));
    command::succeed(&mut bench)
}

/// The figures that show from outside, over HTTP and `/proc`.
fn outside_figures(binary: &Path) -> Result<Vec<Figure>, Failure> {
    let kept = TemporaryFolder::create()?;
    let on_new_folder = start_figure("start to first answer, new data folder", || {
        start_to_first_answer(binary, TemporaryFolder::create()?.path())
    })?;
    let on_kept_folder = start_figure("start to first answer", || start_to_first_answer(binary, kept.path()))?;
    let memory = Figure {
        name: "idle memory".to_owned(),
        aim: Some(Aim::AtMost(30.0)),
        measured: idle_megabytes(binary, kept.path())?,
        unit: "MB".to_owned(),
    };
    Ok(vec![on_new_folder, on_kept_folder, memory])
}

fn start_figure(name: &str, start: impl Fn() -> Result<Duration, Failure>) -> Result<Figure, Failure> {
    let mut times = (0..STARTS).map(|_| start()).collect::<Result<Vec<_>, _>>()?;
    times.sort_unstable();
    let median = times[times.len() / 2].as_secs_f64() * 1000.0;
    Ok(Figure { name: name.to_owned(), aim: Some(Aim::AtMost(50.0)), measured: median, unit: "ms".to_owned() })
}

fn start_to_first_answer(binary: &Path, data: &Path) -> Result<Duration, Failure> {
    let start = Instant::now();
    let server = Server::start(binary, data)?;
    server.log_in()?;
    Ok(start.elapsed())
}

fn idle_megabytes(binary: &Path, data: &Path) -> Result<f64, Failure> {
    let server = Server::start(binary, data)?;
    server.first_page(&server.log_in()?)?;
    std::thread::sleep(SETTLING);
    let file = format!("/proc/{}/status", server.process());
    let status = std::fs::read_to_string(&file)
        .map_err(|error| Failure::new(format!("idle memory is read from {file}, which failed: {error}.")))?;
    resident_kib(&status)
        .map(|kib| kib * BYTES_PER_KIB / BYTES_PER_MB)
        .ok_or_else(|| Failure::new(format!("{file} has no line `VmRSS: N kB`.")))
}

fn resident_kib(status: &str) -> Option<f64> {
    status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resident_memory_of_a_status_file() {
        let kib = resident_kib("Name:\tpleat\nVmRSS:\t   12345 kB\nVmData:\t 1 kB\n");
        assert!(kib.is_some_and(|kib| (kib - 12345.0).abs() < f64::EPSILON));
        assert_eq!(resident_kib("Name:\tpleat\n"), None);
    }
}

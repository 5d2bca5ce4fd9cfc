//! What the host costs, which only its process itself can measure: `pleat-host`'s example `host_bench`.

use super::printed::{self, Known};
use super::table::{Aim, Figure};
use crate::command::{self, Failure};
use crate::paths;
use std::process::{Command, Stdio};

/// The agents that speak to the host are no part of what is measured: they are as fast as they can be, though cargo builds
/// the scripted one as what is only run while building.
const FAST_AGENTS: &str = "profile.release.package.scripted-agent.opt-level=3";

/// Measurements, each in a process of its own, with the example's names for the figures that have an aim.
const MEASUREMENTS: [(&str, &[Known]); 4] = [
    (
        "turns",
        &[
            ("turn_p50", "trivial turn, prompt to its end stored, p50", Aim::AtMost(5.0)),
            ("turn_p99", "trivial turn, prompt to its end stored, p99", Aim::AtMost(20.0)),
        ],
    ),
    (
        "calls",
        &[
            ("calls_took", "3,000 calls, stdio to committed", Aim::AtMost(400.0)),
            ("events_per_second", "stdio to committed, turn of 3,000 calls", Aim::AtLeast(10_000.0)),
        ],
    ),
    (
        "sessions",
        &[
            ("sessions_events_lost", "200 sessions, events lost", Aim::AtMost(0.0)),
            ("sessions_line_to_commit_p99", "200 sessions, line to commit, p99", Aim::AtMost(120.0)),
            ("sessions_peak_memory", "200 sessions, peak memory", Aim::AtMost(250.0)),
        ],
    ),
    (
        "big_trace",
        &[
            ("big_trace_cpu", "largest trace, CPU time", Aim::AtMost(8.0)),
            ("big_trace_peak_memory", "largest trace, peak memory", Aim::AtMost(400.0)),
        ],
    ),
];

/// What every measurement prints.
const LEFT: Known = ("processes_left", "processes left afterwards", Aim::AtMost(0.0));

/// Builds the example, runs every measurement and reads its figures.
pub(crate) fn measure() -> Result<Vec<Figure>, Failure> {
    measure_some(|_| true)
}

/// The figures of a turn alone.
pub(crate) fn measure_turns() -> Result<Vec<Figure>, Failure> {
    measure_some(|measurement| matches!(measurement, "turns" | "calls"))
}

fn measure_some(is_wanted: impl Fn(&str) -> bool) -> Result<Vec<Figure>, Failure> {
    let example = ["--package", "pleat-host", "--example", "host_bench", "--config", FAST_AGENTS];
    command::succeed(command::cargo(["build", "--release"]).args(example))?;
    let (example, binary) = (paths::release_example("host_bench")?, paths::release_binary()?);
    let (mut figures, mut left) = (Vec::new(), 0.0);
    for (measurement, known) in MEASUREMENTS.into_iter().filter(|(measurement, _)| is_wanted(measurement)) {
        let mut run = Command::new(&example);
        run.arg(measurement).env("PLEAT_BINARY", &binary).stderr(Stdio::inherit());
        let printed = command::output(&mut run)?;
        let known: Vec<Known> = known.iter().copied().chain([LEFT]).collect();
        let (of_processes, of_measurement): (Vec<_>, Vec<_>) =
            printed::figures("host_bench", &printed, &known)?.into_iter().partition(|figure| figure.name == LEFT.1);
        left += of_processes.iter().map(|figure| figure.measured).sum::<f64>();
        figures.extend(of_measurement);
    }
    let (_, name, aim) = LEFT;
    figures.push(Figure { name: name.to_owned(), aim: Some(aim), measured: left, unit: "processes".to_owned() });
    Ok(figures)
}

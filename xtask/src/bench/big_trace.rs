//! What the largest trace costs: `pleat-acp`'s example `big_trace_bench`, on the packed file and on its plain lines.

use super::printed::{self, Known};
use super::table::{Aim, Figure};
use crate::command::{self, Failure};
use crate::paths;
use std::path::Path;
use std::process::{Command, Stdio};

/// 974 MB in 8,967 updates.
const TRACE: &str = "crates/pleat-acp/tests/traces/fast-agent-big-full.jsonl.zst";

const PACKED: [Known; 1] = [("replay_peak_memory", "largest trace, peak memory from .zst", Aim::AtMost(250.0))];

const PLAIN: [Known; 3] = [
    ("replay_cpu", "largest trace, CPU time", Aim::AtMost(4.0)),
    ("replay_peak_memory", "largest trace, peak memory from stdin", Aim::AtMost(100.0)),
    ("replay_written", "largest trace, would be written", Aim::AtMost(5.0)),
];

/// Runs the example both ways and reads its figures.
pub(crate) fn measure() -> Result<Vec<Figure>, Failure> {
    command::succeed(&mut command::cargo([
        "build",
        "--release",
        "--package",
        "pleat-acp",
        "--example",
        "big_trace_bench",
    ]))?;
    let example = paths::release_example("big_trace_bench")?;
    let plain = printed::figures("big_trace_bench", &on_plain_lines(&example)?, &PLAIN)?;
    let packed = command::output(Command::new(&example).arg(TRACE).current_dir(paths::root()))?;
    let packed = printed::figures("big_trace_bench", &packed, &PACKED)?;
    Ok(plain.into_iter().chain(packed).filter(|figure| figure.aim.is_some()).collect())
}

fn on_plain_lines(example: &Path) -> Result<String, Failure> {
    let failed = |error| Failure::new(format!("{} could not be run: {error}.", example.display()));
    let mut unpacking = Command::new(example);
    unpacking.args(["--unpack", TRACE]).current_dir(paths::root()).stdout(Stdio::piped());
    let mut unpacking = unpacking.spawn().map_err(failed)?;
    let lines = unpacking.stdout.take().map_or_else(Stdio::null, Stdio::from);
    let printed = command::output(Command::new(example).stdin(lines))?;
    unpacking.wait().map_err(failed)?;
    Ok(printed)
}

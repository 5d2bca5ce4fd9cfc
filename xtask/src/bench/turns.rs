//! The figures of a turn, which only the process itself can measure: `pleat-host`'s example `turn_bench`.

use super::printed::{self, Known};
use super::table::{Aim, Figure};
use crate::command::{self, Failure};
use std::process::Stdio;

const KNOWN: [Known; 2] = [
    ("turn_overhead", "trivial turn, prompt to committed reply", Aim::AtMost(5.0)),
    ("events_per_second", "stdio to committed, turn of 3,000 calls", Aim::AtLeast(10_000.0)),
];

/// Runs the example and reads its figures.
pub(crate) fn measure() -> Result<Vec<Figure>, Failure> {
    let mut example = command::cargo(["run", "--release", "--package", "pleat-host", "--example", "turn_bench"]);
    let printed = command::output(example.stderr(Stdio::inherit()))?;
    printed::figures("turn_bench", &printed, &KNOWN)
}

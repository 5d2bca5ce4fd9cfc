//! The figures of a turn, which only the process itself can measure.
//!
//! `pleat-host`'s example `turn_bench` prints them as `NAME VALUE UNIT`, a line each; a name without an aim here is
//! shown all the same.

use super::table::{Aim, Figure};
use crate::command::{self, Failure};
use std::process::Stdio;

/// The example's name for a figure, ours, and the aim.
const AIMS: [(&str, &str, Aim); 2] = [
    ("turn_overhead", "trivial turn, prompt to committed reply", Aim::AtMost(5.0)),
    ("events_per_second", "stdio to committed, turn of 3,000 calls", Aim::AtLeast(10_000.0)),
];

/// Runs the example and reads its figures.
pub(crate) fn measure() -> Result<Vec<Figure>, Failure> {
    let mut example = command::cargo(["run", "--release", "--package", "pleat-host", "--example", "turn_bench"]);
    let figures = figures_in(&command::output(example.stderr(Stdio::inherit()))?);
    for (key, name, _) in AIMS {
        if !figures.iter().any(|figure| figure.name == name) {
            return Err(Failure::new(format!("the example turn_bench printed no line `{key} VALUE UNIT`.")));
        }
    }
    Ok(figures)
}

fn figures_in(text: &str) -> Vec<Figure> {
    text.lines().filter_map(figure_in).collect()
}

fn figure_in(line: &str) -> Option<Figure> {
    let mut words = line.split_whitespace();
    let (key, value, unit) = (words.next()?, words.next()?.parse().ok()?, words.next()?);
    let known = AIMS.iter().find(|(name, _, _)| *name == key);
    Some(Figure {
        name: known.map_or(key, |(_, name, _)| name).to_owned(),
        aim: known.map(|(_, _, aim)| *aim),
        measured: value,
        unit: unit.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_the_example() {
        let figures = figures_in("turn_overhead 2.5 ms\nwarming up\nbare_spawn 1.5 ms\n");
        assert_eq!(figures.len(), 2);
        assert_eq!(figures[0].aim, Some(Aim::AtMost(5.0)));
        assert_eq!((figures[1].name.as_str(), figures[1].aim), ("bare_spawn", None));
    }
}

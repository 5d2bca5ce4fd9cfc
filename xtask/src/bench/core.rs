//! The figures of the core, which divan measures inside the process.
//!
//! A bench prints a table; what is read of it is the median of each row, by the bench's name and its argument.

use super::table::{Aim, Figure};
use crate::command::{self, Failure};
use std::process::Stdio;

/// A row of a bench, our name for it, and the aim in microseconds.
struct Row {
    file: &'static str,
    bench: &'static str,
    argument: &'static str,
    name: &'static str,
    aim: f64,
}

const ROWS: [Row; 3] = [
    Row { file: "fold", bench: "latest_window", argument: "40", name: "fold of 40 messages with 40 calls", aim: 50.0 },
    Row {
        file: "fold",
        bench: "latest_window",
        argument: "400",
        name: "fold of 40 messages with 400 calls",
        aim: 1000.0,
    },
    // 1,000,000 events a second.
    Row {
        file: "record",
        bench: "plain_deltas",
        argument: "100000",
        name: "record of 100,000 plain deltas",
        aim: 100_000.0,
    },
];

/// Runs the benches and reads their figures.
pub(crate) fn measure() -> Result<Vec<Figure>, Failure> {
    let mut figures = Vec::new();
    for file in ["fold", "record"] {
        let mut bench = command::cargo(["bench", "--quiet", "--package", "pleat-transcript", "--bench", file]);
        let table = command::output(bench.env("CARGO_TERM_COLOR", "never").stderr(Stdio::inherit()))?;
        let medians = medians(&table);
        for row in ROWS.iter().filter(|row| row.file == file) {
            figures.push(figure(row, &medians)?);
        }
    }
    figures.extend(super::big_trace::measure()?);
    Ok(figures)
}

fn figure(row: &Row, medians: &[Median]) -> Result<Figure, Failure> {
    let found = medians.iter().find(|median| median.bench == row.bench && median.argument == row.argument);
    let Some(median) = found else {
        return Err(Failure::new(format!("the bench {} printed no median for {}.", row.bench, row.argument)));
    };
    Ok(Figure {
        name: row.name.to_owned(),
        aim: Some(Aim::AtMost(row.aim)),
        measured: median.microseconds,
        unit: "µs".to_owned(),
    })
}

/// A measured row of a bench.
#[derive(Debug, PartialEq)]
struct Median {
    bench: String,
    argument: String,
    microseconds: f64,
}

/// The medians of a table: a line with a name alone is a bench, those with figures below it are its arguments.
fn medians(table: &str) -> Vec<Median> {
    let mut bench = String::new();
    let mut found = Vec::new();
    for line in table.lines() {
        let row = line.trim_start_matches(['│', '├', '╰', '─', ' ']);
        let columns: Vec<&str> = row.split('│').map(str::trim).collect();
        let Some(name) = columns.first().and_then(|column| column.split_whitespace().next()) else { continue };
        match columns.get(2).and_then(|column| microseconds(column)) {
            Some(microseconds) => {
                found.push(Median { bench: bench.clone(), argument: name.to_owned(), microseconds });
            }
            None if columns.iter().skip(1).all(|column| column.is_empty()) => name.clone_into(&mut bench),
            // The throughput of the row above.
            None => {}
        }
    }
    found
}

/// `45.5 µs`
fn microseconds(column: &str) -> Option<f64> {
    let (number, unit) = column.split_once(' ')?;
    let factor = match unit {
        "ns" => 0.001,
        "µs" => 1.0,
        "ms" => 1_000.0,
        "s" => 1_000_000.0,
        _ => return None,
    };
    Some(number.parse::<f64>().ok()? * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
Timer precision: 20 ns
fold              fastest       │ slowest       │ median        │ mean          │ samples │ iters
╰─ latest_window                │               │               │               │         │
   ├─ 40          43.95 µs      │ 164.4 µs      │ 45.5 µs       │ 48.67 µs      │ 100     │ 100
   │              910 Kitem/s   │ 243.2 Kitem/s │ 880 Kitem/s   │ 821.8 Kitem/s │         │
   ╰─ 400         1.2 ms        │ 2 ms          │ 1.5 ms        │ 1.6 ms        │ 100     │ 100
";

    #[test]
    fn medians_of_a_table() {
        let median = |argument: &str, microseconds| Median {
            bench: "latest_window".to_owned(),
            argument: argument.to_owned(),
            microseconds,
        };
        let found = medians(TABLE);
        assert_eq!(found, [median("40", 45.5), median("400", 1500.0)]);
    }

    #[test]
    fn a_row_that_is_not_there_is_named() {
        let failure = figure(&ROWS[0], &[]).unwrap_err();
        assert_eq!(failure.to_string(), "the bench latest_window printed no median for 40.");
    }
}

//! What came of a scenario, as a row of the table.

use std::process::ExitStatus;
use std::time::Duration;

pub(super) struct Outcome {
    /// `None`: it had to be ended.
    pub(super) exit: Option<ExitStatus>,
    pub(super) took: Duration,
    pub(super) left: Left,
    /// The turn, its calls and the answers to permission requests, separated by tabs; `None` where there is no session.
    pub(super) summary: Option<String>,
}

/// Processes that outlived `pleat run`.
#[derive(Debug, Default)]
pub(super) struct Left {
    pub(super) at_once: usize,
    /// A little later.
    pub(super) later: usize,
    pub(super) names: Vec<String>,
}

const COLUMNS: [&str; 7] = ["scenario", "exit", "turn", "calls", "permissions", "seconds", "left"];

/// A row of the table.
pub(super) type Row = [String; COLUMNS.len()];

pub(super) fn head() -> Row {
    COLUMNS.map(str::to_owned)
}

impl Outcome {
    pub(super) fn row(&self, scenario: &str) -> Row {
        for name in &self.left.names {
            eprintln!("xtask: {scenario}: left running: {name}");
        }
        let exit = match self.exit {
            None => "ended by us".to_owned(),
            Some(status) => status.code().map_or_else(|| status.to_string(), |code| code.to_string()),
        };
        let mut columns = self.summary.as_deref().unwrap_or_default().split('\t');
        let mut column = || columns.next().filter(|column| !column.is_empty()).unwrap_or("-").to_owned();
        let [turn, calls, permissions] = [column(), column(), column()];
        let left = match &self.left {
            Left { at_once: 0, .. } => "0".to_owned(),
            Left { at_once, later, .. } => format!("{at_once}, later {later}"),
        };
        [scenario.to_owned(), exit, turn, calls, permissions, format!("{:.1}", self.took.as_secs_f64()), left]
    }
}

/// The table in Markdown, its columns as wide as they must be.
pub(super) fn table(rows: &[Row]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: [usize; COLUMNS.len()] = std::array::from_fn(width);
    let line = |row: &Row| {
        let cells: Vec<String> = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let mut lines: Vec<String> = rows.iter().map(line).collect();
    lines.insert(1, line(&widths.map(|width| "-".repeat(width))));
    lines.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_what_came() {
        let mut outcome = Outcome {
            exit: None,
            took: Duration::from_millis(1260),
            left: Left { at_once: 2, later: 0, names: Vec::new() },
            summary: Some("failed (odd)\t2 completed\t-".to_owned()),
        };
        assert_eq!(
            outcome.row("s"),
            ["s", "ended by us", "failed (odd)", "2 completed", "-", "1.3", "2, later 0"].map(str::to_owned)
        );
        outcome.summary = None;
        assert_eq!(outcome.row("s")[2], "-");
        let table = table(&[head(), outcome.row("s")]);
        let lines: Vec<&str> = table.lines().collect();
        assert!(
            lines[1].starts_with("| -------- | -") && lines[2].starts_with("| s        | ended by us | -    |"),
            "{table}"
        );
    }
}

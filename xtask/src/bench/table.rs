//! Aim and measured, side by side.

use std::fmt;

/// A figure with what it should be and what it is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figure {
    pub(crate) name: String,
    pub(crate) aim: Option<Aim>,
    pub(crate) measured: f64,
    pub(crate) unit: String,
}

/// What a figure should be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Aim {
    AtMost(f64),
    AtLeast(f64),
}

impl Aim {
    fn is_met_by(self, measured: f64) -> bool {
        match self {
            Self::AtMost(most) => measured <= most,
            Self::AtLeast(least) => measured >= least,
        }
    }
}

impl fmt::Display for Aim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(most) => write!(f, "at most {most}"),
            Self::AtLeast(least) => write!(f, "at least {least}"),
        }
    }
}

/// The table of all figures, a line each.
pub(crate) fn table(figures: &[Figure]) -> String {
    let head = row("figure", "aim", "measured", "");
    let rows = figures.iter().map(|figure| {
        let aim = figure.aim.map_or_else(|| "-".to_owned(), |aim| format!("{aim} {}", figure.unit));
        let verdict = match figure.aim.map(|aim| aim.is_met_by(figure.measured)) {
            Some(true) => "met",
            Some(false) => "missed",
            None => "",
        };
        row(&figure.name, &aim, &format!("{:.1} {}", figure.measured, figure.unit), verdict)
    });
    std::iter::once(head).chain(rows).collect()
}

fn row(name: &str, aim: &str, measured: &str, verdict: &str) -> String {
    let line = format!("{name:<44}  {aim:>24}  {measured:>20}  {verdict}");
    format!("{}\n", line.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(aim: Option<Aim>, measured: f64) -> String {
        let figure = Figure { name: "f".into(), aim, measured, unit: "ms".into() };
        table(&[figure]).lines().last().unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_miss_stays_in_the_table() {
        assert_eq!(verdict(Some(Aim::AtMost(50.0)), 50.0), "f at most 50 ms 50.0 ms met");
        assert_eq!(verdict(Some(Aim::AtMost(50.0)), 50.1), "f at most 50 ms 50.1 ms missed");
        assert_eq!(verdict(Some(Aim::AtLeast(50.0)), 49.0), "f at least 50 ms 49.0 ms missed");
        assert_eq!(verdict(None, 1.0), "f - 1.0 ms");
    }
}

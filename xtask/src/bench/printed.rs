//! Figures that an example prints as `NAME VALUE UNIT`, a line each.

use super::table::{Aim, Figure};
use crate::command::Failure;

/// An example's name for a figure, ours, and the aim.
pub(super) type Known = (&'static str, &'static str, Aim);

/// The figures in what `example` printed: all the known ones, and others without an aim.
pub(super) fn figures(example: &str, printed: &str, known: &[Known]) -> Result<Vec<Figure>, Failure> {
    let figures: Vec<Figure> = printed.lines().filter_map(|line| figure(line, known)).collect();
    for (key, name, _) in known {
        if !figures.iter().any(|figure| figure.name == *name) {
            return Err(Failure::new(format!("the example {example} printed no line `{key} VALUE UNIT`.")));
        }
    }
    Ok(figures)
}

fn figure(line: &str, known: &[Known]) -> Option<Figure> {
    let mut words = line.split_whitespace();
    let (key, value, unit) = (words.next()?, words.next()?.parse().ok()?, words.next()?);
    let known = known.iter().find(|(name, _, _)| *name == key);
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

    const KNOWN: [Known; 1] = [("turn_overhead", "a trivial turn", Aim::AtMost(5.0))];

    #[test]
    fn the_lines_of_an_example() {
        let figures = figures("e", "turn_overhead 2.5 ms\nwarming up\nbare_spawn 1.5 ms\n", &KNOWN).unwrap();
        assert_eq!(figures.len(), 2);
        assert_eq!((figures[0].name.as_str(), figures[0].aim), ("a trivial turn", Some(Aim::AtMost(5.0))));
        assert_eq!((figures[1].name.as_str(), figures[1].aim), ("bare_spawn", None));
    }

    #[test]
    fn a_figure_that_is_missing_is_named() {
        let failure = figures("e", "", &KNOWN).unwrap_err();
        assert_eq!(failure.to_string(), "the example e printed no line `turn_overhead VALUE UNIT`.");
    }
}

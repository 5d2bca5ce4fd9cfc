//! The rules that tests name in their documentation.

use super::{entries, list_of_rules, read, relative};
use crate::command::Failure;
use crate::paths;
use std::path::Path;

/// What a test says of itself.
const MARK: &str = "/// Rule: ";

/// A test, and a rule that it checks.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) rule: String,
    pub(super) test: String,
}

/// The rules that the tests of all crates name.
pub(super) fn in_tests() -> Result<Vec<Named>, Failure> {
    let mut named = Vec::new();
    in_folder(&paths::root().join("crates"), &mut named)?;
    Ok(named)
}

fn in_folder(folder: &Path, named: &mut Vec<Named>) -> Result<(), Failure> {
    for path in entries(folder)? {
        if path.is_dir() {
            in_folder(&path, named)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let found = in_source(&read(&path)?).map_err(|line| {
                Failure::new(format!("{}:{line}: no test follows the rules named here.", relative(&path).display()))
            })?;
            named.extend(found);
        }
    }
    Ok(())
}

/// The names in a source file, or the line of some that stand before no function.
fn in_source(source: &str) -> Result<Vec<Named>, usize> {
    let mut named = Vec::new();
    let mut rules: Vec<String> = Vec::new();
    let mut last = 0;
    for (number, line) in source.lines().enumerate() {
        let line = line.trim();
        if let Some(list) = line.strip_prefix(MARK) {
            rules.extend(list_of_rules(list));
            last = number + 1;
        } else if let Some(test) = function_in(line) {
            named.extend(rules.drain(..).map(|rule| Named { rule, test: test.to_owned() }));
        } else if !rules.is_empty() && !belongs_to_function(line) {
            return Err(last);
        }
    }
    if rules.is_empty() { Ok(named) } else { Err(last) }
}

/// Whether a line may stand between what a test says of itself and its first line.
fn belongs_to_function(line: &str) -> bool {
    line.starts_with("#[") || line.starts_with("///")
}

/// The name of the function that begins in a line.
pub(super) fn function_in(line: &str) -> Option<&str> {
    let name = line.trim().trim_start_matches("async ").strip_prefix("fn ")?;
    name.split(['(', '<']).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_names_rules_above_it() {
        let source =
            "/// Words.\n/// Rule: fold 1.1, fold 1.2\n/// Rule: fold 1.3\n#[test]\nfn one() {\n}\n\nfn two() {}\n";
        let rules: Vec<_> = in_source(source).unwrap().into_iter().map(|it| (it.rule, it.test)).collect();
        let expected = ["fold 1.1", "fold 1.2", "fold 1.3"].map(|rule| (rule.to_owned(), "one".to_owned()));
        assert_eq!(rules, expected);
    }

    #[test]
    fn rules_before_no_test_are_a_mistake() {
        assert_eq!(in_source("fn a() {}\n/// Rule: fold 1.1\nstruct B;\n"), Err(2));
        assert_eq!(in_source("/// Rule: fold 1.1\n"), Err(1));
    }
}

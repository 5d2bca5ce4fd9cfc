//! `cargo xtask spec`: every rule of `docs/spec` with the tests that name it.
//!
//! A test names its rules in a line of its documentation, `/// Rule: fold 4.3, fold 5.live`. Vectors are copies and
//! name a whole section: what they check exactly stands in `docs/spec/coverage.txt`, and so does what a test checks
//! besides its own topic. A rule that nothing names fails, and so does a name of no rule.

mod coverage;
mod named;
mod rules;

use crate::command::Failure;
use crate::paths;
use named::Named;
use rules::Rule;
use std::fs;
use std::path::{Path, PathBuf};

/// Prints the list, and fails as [`check`] does.
pub(crate) fn run() -> Result<(), Failure> {
    let (rules, named) = (rules::all()?, all_named()?);
    for rule in &rules {
        println!("{}", line(rule, &named));
    }
    check_coverage(&rules, &named)
}

/// Fails where a rule has no test or a test names no rule; prints nothing where all is well.
pub(crate) fn check() -> Result<(), Failure> {
    check_coverage(&rules::all()?, &all_named()?)
}

fn all_named() -> Result<Vec<Named>, Failure> {
    let mut named = named::in_tests()?;
    named.extend(coverage::named()?);
    Ok(named)
}

fn line(rule: &Rule, named: &[Named]) -> String {
    let tests: Vec<&str> = named.iter().filter(|it| it.rule == rule.name).map(|it| it.test.as_str()).collect();
    if tests.is_empty() {
        return format!("{:<20} NO TEST: {}", rule.name, rule.beginning);
    }
    format!("{:<20} {}", rule.name, tests.join(", "))
}

fn check_coverage(rules: &[Rule], named: &[Named]) -> Result<(), Failure> {
    let untested: Vec<&str> = rules
        .iter()
        .filter(|rule| named.iter().all(|it| it.rule != rule.name))
        .map(|rule| rule.name.as_str())
        .collect();
    let unknown: Vec<String> = named
        .iter()
        .filter(|it| !rules.iter().any(|rule| rule.is_within(&it.rule)))
        .map(|it| format!("{} ({})", it.rule, it.test))
        .collect();
    let mut sentences = Vec::new();
    if !untested.is_empty() {
        sentences.push(format!("{} of {} rules have no test: {}.", untested.len(), rules.len(), untested.join(", ")));
    }
    if !unknown.is_empty() {
        sentences.push(format!("what these tests name is no rule of docs/spec: {}.", unknown.join(", ")));
    }
    if sentences.is_empty() { Ok(()) } else { Err(Failure::new(sentences.join(" "))) }
}

fn read(file: &Path) -> Result<String, Failure> {
    fs::read_to_string(file)
        .map_err(|error| Failure::new(format!("{} cannot be read: {error}.", relative(file).display())))
}

/// A path as a reader of the project knows it.
fn relative(file: &Path) -> &Path {
    file.strip_prefix(paths::root()).unwrap_or(file)
}

/// What a folder holds, in the order of names.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failed = |error| Failure::new(format!("{} cannot be read: {error}.", relative(folder).display()));
    let found = fs::read_dir(folder).map_err(failed)?;
    let mut paths =
        found.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>().map_err(failed)?;
    paths.sort();
    Ok(paths)
}

/// The rules of a list such as `fold 4.3, fold 5.live`.
fn list_of_rules(text: &str) -> impl Iterator<Item = String> {
    text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(name: &str) -> Rule {
        Rule { name: name.to_owned(), beginning: String::new() }
    }

    fn named(rule: &str) -> Named {
        Named { rule: rule.to_owned(), test: "t".to_owned() }
    }

    #[test]
    fn a_rule_without_a_test_is_named() {
        let rules = [rule("fold 1.1"), rule("fold 1.10")];
        assert!(check_coverage(&rules, &[named("fold 1.1"), named("fold 1.10")]).is_ok());
        let failure = check_coverage(&rules, &[named("fold 1.10")]).unwrap_err();
        assert_eq!(failure.to_string(), "1 of 2 rules have no test: fold 1.1.");
    }

    #[test]
    fn a_name_of_no_rule_is_told_and_a_whole_section_tests_no_rule() {
        let rules = [rule("fold 1.1")];
        let failure = check_coverage(&rules, &[named("fold 1.1"), named("fold 1"), named("fold 9.9")]).unwrap_err();
        assert_eq!(failure.to_string(), "what these tests name is no rule of docs/spec: fold 9.9 (t).");
        let failure = check_coverage(&rules, &[named("fold 1")]).unwrap_err();
        assert_eq!(failure.to_string(), "1 of 1 rules have no test: fold 1.1.");
    }
}

//! `cargo xtask test`: everything that must hold before a change lands.

use crate::command::{self, Failure};
use crate::install::{self, BrowserTools};
use crate::paths;
use crate::postgres::{Postgres, Use};
use std::process::Command;
use std::time::{Duration, Instant};

/// Set for tests that are to repeat what they do more often than at every change.
const HEAVY: &str = "PLEAT_TEST_HEAVY";

/// How much the tests do.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Extent {
    /// What can be waited for at every change.
    Usual,
    /// Also what repeats something hundreds of times.
    Heavy,
}

/// Installs what is missing and runs every step up to the first that fails.
pub(crate) fn run(extent: Extent) -> Result<(), Failure> {
    let mut report = Report::default();
    let outcome = run_steps(&mut report, extent);
    report.print();
    outcome
}

fn run_steps(report: &mut Report, extent: Extent) -> Result<(), Failure> {
    let tools = report.step("install what is missing", || install::test_tools(Use::Test.named().is_none()))?;
    report.cargo_step("format", &["fmt", "--all", "--check"])?;
    report.cargo_step("clippy", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])?;
    report.step("rules have tests", crate::spec::check)?;
    let postgres = report.step("start PostgreSQL", || Postgres::start(Use::Test))?;
    run_rust_tests(report, &postgres, extent)?;
    report.step("docs", || {
        let mut docs = command::cargo(["doc", "--workspace", "--no-deps"]);
        command::succeed(docs.env("RUSTDOCFLAGS", "-D warnings"))
    })?;
    report.cargo_step("release build", &["build", "--release", "--package", "pleat"])?;
    report.step("browser tests", || run_browser_tests(&tools))
}

fn run_rust_tests(report: &mut Report, postgres: &Postgres, extent: Extent) -> Result<(), Failure> {
    let run = |arguments: &[&str]| {
        let mut tests = command::cargo(arguments);
        postgres.name_to(&mut tests);
        if extent == Extent::Heavy {
            tests.env(HEAVY, "1");
        }
        command::succeed(&mut tests)
    };
    if paths::on_path("cargo-nextest").is_none() {
        return report.step("tests", || run(&["test", "--workspace"]));
    }
    report.step("tests", || run(&["nextest", "run", "--workspace"]))?;
    report.step("documentation tests", || run(&["test", "--workspace", "--doc"]))
}

fn run_browser_tests(tools: &BrowserTools) -> Result<(), Failure> {
    let mut node = Command::new(&tools.node);
    node.args(["--test", "--test-reporter=spec"])
        .current_dir(paths::e2e())
        .env("PLEAT_BINARY", paths::release_binary()?)
        .env("CHROMIUM", &tools.chromium);
    command::succeed(&mut node)
}

/// What ran, how it ended and how long it took.
#[derive(Default)]
struct Report {
    lines: Vec<Line>,
}

struct Line {
    name: &'static str,
    passed: bool,
    took: Duration,
}

impl Report {
    fn cargo_step(&mut self, name: &'static str, arguments: &[&str]) -> Result<(), Failure> {
        self.step(name, || command::succeed(&mut command::cargo(arguments)))
    }

    fn step<T>(&mut self, name: &'static str, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
        println!("xtask: {name}");
        let start = Instant::now();
        let outcome = work();
        self.lines.push(Line { name, passed: outcome.is_ok(), took: start.elapsed() });
        outcome.map_err(|failure| Failure::new(format!("the step \"{name}\" did not pass: {failure}")))
    }

    fn print(&self) {
        for Line { name, passed, took } in &self.lines {
            let word = if *passed { "passed" } else { "FAILED" };
            println!("xtask: {name:<24} {word} {:>8.1} s", took.as_secs_f64());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_step_is_named_and_counted() {
        let mut report = Report::default();
        let outcome: Result<(), Failure> = report.step("docs", || Err(Failure::new("`cargo doc` failed.")));
        assert_eq!(outcome.unwrap_err().to_string(), "the step \"docs\" did not pass: `cargo doc` failed.");
        assert!(matches!(report.lines[..], [Line { name: "docs", passed: false, .. }]));
    }
}

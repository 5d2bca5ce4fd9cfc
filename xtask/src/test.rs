//! `cargo xtask test`: everything that must hold before a change lands.

use crate::command::{self, Failure};
use crate::install::{self, BrowserTools};
use crate::paths;
use std::process::Command;
use std::time::{Duration, Instant};

/// Installs what is missing and runs every step up to the first that fails.
pub(crate) fn run() -> Result<(), Failure> {
    let mut report = Report::default();
    let outcome = run_steps(&mut report);
    report.print();
    outcome
}

fn run_steps(report: &mut Report) -> Result<(), Failure> {
    let tools = report.step("install what is missing", install::browser_tools)?;
    report.cargo_step("format", &["fmt", "--all", "--check"])?;
    report.cargo_step("clippy", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])?;
    report.step("rules have tests", crate::spec::check)?;
    run_rust_tests(report)?;
    report.step("docs", || {
        let mut docs = command::cargo(["doc", "--workspace", "--no-deps"]);
        command::succeed(docs.env("RUSTDOCFLAGS", "-D warnings"))
    })?;
    report.cargo_step("release build", &["build", "--release", "--package", "pleat"])?;
    report.step("browser tests", || run_browser_tests(&tools))
}

fn run_rust_tests(report: &mut Report) -> Result<(), Failure> {
    if paths::on_path("cargo-nextest").is_none() {
        return report.cargo_step("tests", &["test", "--workspace"]);
    }
    report.cargo_step("tests", &["nextest", "run", "--workspace"])?;
    report.cargo_step("documentation tests", &["test", "--workspace", "--doc"])
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

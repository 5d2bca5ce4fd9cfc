//! The project's own commands: `cargo xtask test`, `bless`, `bench`, `postgres`, `real` and `spec`.

mod bench;
mod bless;
mod command;
mod install;
mod paths;
mod postgres;
mod real;
mod spec;
mod test;

use command::Failure;
use std::process::ExitCode;
use test::Extent;

const USAGE: &str = "\
Usage: cargo xtask COMMAND

  test       install what is missing, then format, clippy, tests, docs, release build and browser tests;
             `test --heavy`: with the tests that repeat something hundreds of times
  bless      run the tests and accept every snapshot as it is now
  bench      print the aims and what this machine measures, side by side; `bench core`: of record and fold alone;
             `bench host`: of the host, its agents as child processes;
             `bench store`: what the store measures of itself, on SQLite and PostgreSQL
  postgres   run a command with a PostgreSQL for tests: `postgres -- cargo test -p pleat-store`
  real       run a real agent (claude, codex or gemini) through `pleat run`, on a model that plays a script; never in CI
  spec       list the rules of docs/spec with the tests that name each; a rule without a test fails
";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[String]) -> Result<(), Failure> {
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["test"] => test::run(Extent::Usual),
        ["test", "--heavy"] => test::run(Extent::Heavy),
        ["bless"] => bless::run(),
        ["bench"] => bench::run(),
        ["bench", "core"] => bench::run_core(),
        ["bench", "host"] => bench::run_host(),
        ["bench", "store"] => bench::run_store(),
        ["postgres", "--", program, ref arguments @ ..] => postgres::run(program, arguments),
        ["real", agent] => real::run(agent),
        ["spec"] => spec::run(),
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(())
        }
        [] => Err(Failure::new(format!("say which command to run.\n{USAGE}"))),
        _ => Err(Failure::new(format!("there is no command `{}`.\n{USAGE}", words.join(" ")))),
    }
}

//! `cargo xtask bless`: what the tests see now is right.

use crate::command::{self, Failure};
use crate::postgres::{Postgres, Use};

/// Runs all tests with every snapshot accepted.
pub(crate) fn run() -> Result<(), Failure> {
    // One failing test must not keep the snapshots of the next from being written.
    let mut tests = command::cargo(["test", "--workspace", "--no-fail-fast"]);
    let postgres = Postgres::start(Use::Test)?;
    postgres.name_to(&mut tests);
    command::succeed(tests.env("INSTA_UPDATE", "always"))?;
    println!("xtask: all snapshots are accepted; `git diff` shows what changed.");
    Ok(())
}

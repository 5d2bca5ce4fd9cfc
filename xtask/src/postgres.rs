//! A Postgres for what xtask runs.

use crate::command::{self, Failure};
use crate::install;
use std::ffi::OsString;
use std::process::Command;
use throwaway_postgres::Cluster;

/// What a Postgres is for.
#[derive(Clone, Copy)]
pub(crate) enum Use {
    /// Tests: as fast as it can be.
    Test,
    /// Benches: writing to the disk as a real one does.
    Bench,
}

impl Use {
    /// The one that a person names.
    pub(crate) fn named(self) -> Option<OsString> {
        std::env::var_os(self.variable()).filter(|url| !url.is_empty())
    }

    /// The variable with its URL.
    fn variable(self) -> &'static str {
        match self {
            Self::Test => "PLEAT_TEST_POSTGRES",
            Self::Bench => "PLEAT_BENCH_POSTGRES",
        }
    }
}

/// A Postgres to name to other programs, gone when dropped unless it is a person's own.
pub(crate) struct Postgres {
    variable: &'static str,
    url: OsString,
    _cluster: Option<Cluster>,
}

impl Postgres {
    /// The one that a person names, or else a new one, installed where it is missing.
    pub(crate) fn start(purpose: Use) -> Result<Self, Failure> {
        let variable = purpose.variable();
        if let Some(url) = purpose.named() {
            println!("xtask: {variable} names the PostgreSQL");
            return Ok(Self { variable, url, _cluster: None });
        }
        install::postgres()?;
        let durable = matches!(purpose, Use::Bench);
        let cluster = Cluster::builder().durable(durable).start().map_err(|error| Failure::new(error.to_string()))?;
        Ok(Self { variable, url: cluster.url("postgres").into(), _cluster: Some(cluster) })
    }

    /// Tells a program where it is.
    pub(crate) fn name_to(&self, command: &mut Command) {
        command.env(self.variable, &self.url);
    }
}

/// Runs any program with a Postgres for tests.
pub(crate) fn run(program: &str, arguments: &[&str]) -> Result<(), Failure> {
    let postgres = Postgres::start(Use::Test)?;
    let mut command = Command::new(program);
    postgres.name_to(command.args(arguments));
    command::succeed(&mut command)
}

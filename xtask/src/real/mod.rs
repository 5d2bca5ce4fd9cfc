//! `cargo xtask real AGENT`: a real agent through the built `pleat run`, on a model that plays a script. Never part of CI.
//!
//! It needs npm, Python 3.9 or newer and Linux. Node and the agent are installed into `target/real/agents` where they are
//! missing, in the versions that the recorded traces are of; `PLEAT_REAL_AGENTS` names another folder that has them, and
//! `PLEAT_BINARY` another program than the release. A run leaves in `target/real/runs/AGENT` what was printed, and a data
//! folder for `pleat trace`.

mod agent;
mod install;
mod model;
mod outcome;
mod processes;
mod running;
mod scenario;
mod stage;

use crate::command::{self, Failure};
use crate::paths;
use agent::RealAgent;
use model::Model;
use scenario::SCENARIOS;
use stage::Stage;
use std::path::PathBuf;

/// Runs all scenarios with an agent and prints the table.
pub(crate) fn run(name: &str) -> Result<(), Failure> {
    let agent = RealAgent::named(name)?;
    let pleat = built_pleat()?;
    let installed = install::installed(agent)?;
    let stage = Stage::create(agent)?;
    let model = Model::start(&stage)?;
    stage.furnish(&installed, &model)?;
    let mut rows = vec![outcome::head()];
    for scenario in SCENARIOS {
        println!("xtask: {name}: {}", scenario.name);
        let outcome = running::play(&scenario, agent, &pleat, &stage)?;
        rows.push(outcome.row(scenario.name));
    }
    print!("{}", outcome::table(&rows));
    println!("What was printed and kept is in {}.", stage.folder().display());
    Ok(())
}

/// The release, or the program that a person names.
fn built_pleat() -> Result<PathBuf, Failure> {
    if let Some(named) = std::env::var_os("PLEAT_BINARY") {
        return Ok(PathBuf::from(named));
    }
    command::succeed(&mut command::cargo(["build", "--release", "--package", "pleat"]))?;
    paths::release_binary()
}

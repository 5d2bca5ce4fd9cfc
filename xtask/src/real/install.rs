//! Node and the agents, by npm.

use super::agent::RealAgent;
use crate::command::{self, Failure};
use crate::paths;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Names a folder that has them.
const FOLDER: &str = "PLEAT_REAL_AGENTS";

/// The adapters need Node 22 or newer; npm has it as a package.
const NODE: (&str, &str) = ("node", "24");
const NODE_FOLDER: &str = "node24";

/// Node, and one agent.
pub(super) struct Installed {
    folder: PathBuf,
    agent: RealAgent,
}

impl Installed {
    pub(super) fn node(&self) -> PathBuf {
        self.node_folder().join("node")
    }

    /// What is to stand first on PATH.
    pub(super) fn node_folder(&self) -> PathBuf {
        programs(&self.folder.join(NODE_FOLDER))
    }

    /// A program of the agent's package.
    pub(super) fn program(&self, name: &str) -> PathBuf {
        programs(&self.folder.join(self.agent.name())).join(name)
    }
}

/// Finds both, or installs what is missing.
pub(super) fn installed(agent: RealAgent) -> Result<Installed, Failure> {
    let named = std::env::var_os(FOLDER).map(PathBuf::from);
    let may_install = named.is_none();
    let folder = match named {
        Some(folder) => folder,
        None => paths::target()?.join("real/agents"),
    };
    let installed = Installed { folder, agent };
    for (place, (package, version)) in [(NODE_FOLDER, NODE), (agent.name(), agent.package())] {
        let place = installed.folder.join(place);
        if is_installed(&place, package, version) {
            continue;
        }
        if !may_install {
            return Err(Failure::new(format!(
                "{FOLDER} names a folder without {package} {version} in {}: install it there, or unset the variable.",
                place.display()
            )));
        }
        println!("xtask: installing {package} {version}");
        install(&place, package, version, &installed.node_folder())?;
    }
    Ok(installed)
}

fn programs(place: &Path) -> PathBuf {
    place.join("node_modules/.bin")
}

fn is_installed(place: &Path, package: &str, version: &str) -> bool {
    // npm writes this file last, so it stands for a whole installation.
    let is_whole = place.join("node_modules/.package-lock.json").is_file();
    let described = fs::read_to_string(place.join("node_modules").join(package).join("package.json"));
    is_whole && described.is_ok_and(|described| has_version(&described, version))
}

/// Whether a `package.json` is of a version, or of one that begins with it.
fn has_version(described: &str, version: &str) -> bool {
    let mut values = described.lines().filter_map(|line| line.trim().strip_prefix("\"version\":"));
    let Some(value) = values.next().map(|value| value.trim().trim_end_matches(',').trim_matches('"')) else {
        return false;
    };
    value.strip_prefix(version).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn install(place: &Path, package: &str, version: &str, node: &Path) -> Result<(), Failure> {
    fs::create_dir_all(place)
        .map_err(|error| Failure::new(format!("{} could not be made: {error}.", place.display())))?;
    let path = std::env::var("PATH").unwrap_or_default();
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--save-exact", "--prefix"]).arg(place);
    // An older Node would choose other packages for itself.
    npm.arg(format!("{package}@{version}")).env("PATH", format!("{}:{path}", node.display()));
    command::succeed(&mut npm)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_and_one_that_begins_with_it() {
        let described = "{\n  \"name\": \"node\",\n  \"version\": \"24.18.0\",\n  \"main\": \"x\"\n}\n";
        assert!(has_version(described, "24") && has_version(described, "24.18.0"));
        assert!(!has_version(described, "2") && !has_version(described, "24.1"));
        assert!(!has_version("{}", "24"));
    }
}

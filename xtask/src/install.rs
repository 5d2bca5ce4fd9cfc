//! Installing what the tests need and the machine lacks.

use crate::command::{self, Failure};
use crate::paths;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// The oldest Node.js that the browser tests run on.
const OLDEST_NODE: u32 = 20;

/// The programs of the browser tests.
pub(crate) struct BrowserTools {
    pub(crate) node: PathBuf,
    pub(crate) chromium: PathBuf,
}

/// Finds or installs everything that the tests need; Postgres only where nobody names another.
pub(crate) fn test_tools(postgres: bool) -> Result<BrowserTools, Failure> {
    let mut packages = missing_browser_packages();
    if postgres {
        packages.extend(missing_postgres_package());
    }
    install_packages(&packages)?;
    let chromium = chromium().ok_or_else(|| missing("Chromium", "chromium"))?;
    let node = paths::on_path("node").ok_or_else(|| missing("Node.js", "node"))?;
    check_node(&node)?;
    install_npm_packages(&paths::e2e())?;
    Ok(BrowserTools { node, chromium })
}

/// Installs Postgres where it is missing.
pub(crate) fn postgres() -> Result<(), Failure> {
    install_packages(missing_postgres_package().as_slice())
}

fn missing(name: &str, program: &str) -> Failure {
    Failure::new(format!("{name} was installed, but `{program}` is still not on PATH."))
}

fn chromium() -> Option<PathBuf> {
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
    let usual = Path::new("/usr/bin/chromium");
    named.or_else(|| usual.is_file().then(|| usual.to_path_buf())).or_else(|| paths::on_path("chromium"))
}

fn missing_postgres_package() -> Option<&'static str> {
    (!throwaway_postgres::is_installed()).then_some("postgresql")
}

fn missing_browser_packages() -> Vec<&'static str> {
    let mut packages = Vec::new();
    if chromium().is_none() {
        packages.push("chromium");
    }
    if paths::on_path("node").is_none() {
        packages.push("nodejs");
    }
    if paths::on_path("npm").is_none() {
        packages.push("npm");
    }
    packages
}

fn install_packages(packages: &[&str]) -> Result<(), Failure> {
    if packages.is_empty() {
        return Ok(());
    }
    let list = packages.join(" ");
    if paths::on_path("apt-get").is_none() {
        return Err(Failure::new(format!(
            "the tests need {list}, and without apt-get xtask cannot install that: install it, or name a Chromium in \
             the variable CHROMIUM and the URL of a PostgreSQL in PLEAT_TEST_POSTGRES."
        )));
    }
    println!("xtask: installing {list} from the distribution's packages");
    // A source that cannot be reached need not be the one that has them: the installation decides.
    command::succeed(apt_get()?.arg("update")).unwrap_or_else(|failure| eprintln!("xtask: {failure}"));
    command::succeed(apt_get()?.args(["install", "--yes", "--no-install-recommends"]).args(packages))
}

/// `apt-get` with the rights it needs, waiting for another one that is at work.
fn apt_get() -> Result<Command, Failure> {
    let is_root = command::output(Command::new("id").arg("-u"))?.trim() == "0";
    let mut command = if is_root {
        Command::new("apt-get")
    } else if let Some(sudo) = paths::on_path("sudo") {
        let mut command = Command::new(sudo);
        command.arg("apt-get");
        command
    } else {
        return Err(Failure::new("installing packages needs root: run `cargo xtask test` as root once, or with sudo."));
    };
    command.args(["-o", "DPkg::Lock::Timeout=600"]).env("DEBIAN_FRONTEND", "noninteractive");
    Ok(command)
}

fn check_node(node: &Path) -> Result<(), Failure> {
    let version = command::output(Command::new(node).arg("--version"))?;
    match major_of(&version) {
        Some(major) if major >= OLDEST_NODE => Ok(()),
        Some(_) | None => Err(Failure::new(format!(
            "the browser tests need Node.js {OLDEST_NODE} or newer, and {} is {}: install a newer one.",
            node.display(),
            version.trim()
        ))),
    }
}

/// `20` of `v20.1.0`.
fn major_of(version: &str) -> Option<u32> {
    version.trim().strip_prefix('v')?.split('.').next()?.parse().ok()
}

fn install_npm_packages(folder: &Path) -> Result<(), Failure> {
    let lock = modified(&folder.join("package-lock.json"));
    // npm writes this file last, so it stands for a whole installation.
    let installed = modified(&folder.join("node_modules").join(".package-lock.json"));
    if installed.is_some() && installed >= lock {
        return Ok(());
    }
    println!("xtask: installing the npm packages of the browser tests");
    command::succeed(Command::new("npm").args(["ci", "--no-audit", "--no-fund"]).current_dir(folder))
}

fn modified(file: &Path) -> Option<SystemTime> {
    file.metadata().and_then(|metadata| metadata.modified()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_major_version_of_node() {
        assert_eq!(major_of("v20.20.2\n"), Some(20));
        assert_eq!(major_of("v8.1"), Some(8));
        assert_eq!(major_of("20.1"), None);
        assert_eq!(major_of(""), None);
    }
}

//! The folder of a run: a home and a workspace for the agent, the configuration, and what comes out.

use super::agent::RealAgent;
use super::install::Installed;
use super::model::Model;
use crate::command::{self, Failure};
use crate::paths;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(super) struct Stage {
    agent: RealAgent,
    folder: PathBuf,
}

impl Stage {
    /// A new folder in the place of that of the agent's last run.
    pub(super) fn create(agent: RealAgent) -> Result<Self, Failure> {
        let folder = paths::target()?.join("real/runs").join(agent.name());
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(|error| could_not("removed", &folder, &error))?;
        }
        let stage = Self { agent, folder };
        fs::create_dir_all(stage.home().join("tmp")).map_err(|error| could_not("made", &stage.folder, &error))?;
        Ok(stage)
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    pub(super) fn workspace(&self) -> PathBuf {
        self.folder.join("workspace")
    }

    pub(super) fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    pub(super) fn configuration(&self) -> PathBuf {
        self.folder.join("pleat.toml")
    }

    /// Writes the home's files and the configuration.
    pub(super) fn furnish(&self, installed: &Installed, model: &Model) -> Result<(), Failure> {
        let home = source(&format!("home/{}", self.agent.name()));
        let with_address = |text: String| text.replace("{MODEL}", &model.address());
        copy(&home, &self.home(), &with_address).map_err(|error| could_not("copied", &home, &error))?;
        let file = self.configuration();
        let settings = self.agent.settings(installed, self, model);
        fs::write(&file, settings).map_err(|error| could_not("written", &file, &error))
    }

    /// A new workspace, a git repository, in the place of the last one: the script knows its path.
    pub(super) fn renew_workspace(&self) -> Result<(), Failure> {
        let (template, workspace) = (source("workspace"), self.workspace());
        if workspace.exists() {
            fs::remove_dir_all(&workspace).map_err(|error| could_not("removed", &workspace, &error))?;
        }
        copy(&template, &workspace, &|text| text).map_err(|error| could_not("copied", &template, &error))?;
        let identity = ["-c", "user.name=Pleat", "-c", "user.email=pleat@localhost"];
        for words in [&["init", "--quiet"][..], &["add", "--all"], &["commit", "--quiet", "--message", "As it was"]] {
            let mut git = Command::new("git");
            command::output(git.args(identity).args(words).current_dir(&workspace))?;
        }
        Ok(())
    }
}

fn could_not(what: &str, path: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("{} could not be {what}: {error}.", path.display()))
}

/// A script of `xtask/real`, which leaves nothing in the source tree.
pub(super) fn python(script: &str) -> Command {
    let mut command = Command::new("python3");
    command.arg(source(script)).env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

fn source(name: &str) -> PathBuf {
    paths::root().join("xtask/real").join(name)
}

/// Copies a folder of texts.
fn copy(from: &Path, to: &Path, text: &impl Fn(String) -> String) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target, text)?;
        } else {
            fs::write(target, text(fs::read_to_string(entry.path())?))?;
        }
    }
    Ok(())
}

//! Finding Postgres's programs.

use crate::error::ClusterError;
use std::path::{Path, PathBuf};

/// Where Debian keeps the programs of each major version, away from PATH.
const DEBIAN: &str = "/usr/lib/postgresql";

/// The programs that a cluster is made with, both of one version.
#[derive(Debug, PartialEq)]
pub(crate) struct Programs {
    pub(crate) initdb: PathBuf,
    pub(crate) postgres: PathBuf,
}

impl Programs {
    /// Those on PATH, or else the newest that Debian keeps.
    pub(crate) fn find() -> Result<Self, ClusterError> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let debian = newest_first(Path::new(DEBIAN));
        std::env::split_paths(&path)
            .chain(debian)
            .find_map(|folder| Self::of(&folder))
            .ok_or(ClusterError::NotInstalled)
    }

    fn of(folder: &Path) -> Option<Self> {
        let programs = Self { initdb: folder.join("initdb"), postgres: folder.join("postgres") };
        (programs.initdb.is_file() && programs.postgres.is_file()).then_some(programs)
    }
}

/// The folders of programs of all versions.
fn newest_first(versions: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(versions).into_iter().flatten().flatten();
    let mut found: Vec<(u32, PathBuf)> = entries
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin"))))
        .collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    found.into_iter().map(|(_, folder)| folder).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::Folder;

    #[test]
    fn the_newest_version_is_first() {
        let folder = Folder::create().unwrap();
        for name in ["9", "15", "17", "common"] {
            std::fs::create_dir_all(folder.path().join(name).join("bin")).unwrap();
        }
        let found = newest_first(folder.path());
        assert_eq!(found, ["17", "15", "9"].map(|version| folder.path().join(version).join("bin")));
        assert!(newest_first(&folder.path().join("nowhere")).is_empty());
    }

    #[test]
    fn one_program_of_two_is_none() {
        let folder = Folder::create().unwrap();
        std::fs::write(folder.path().join("initdb"), "").unwrap();
        assert_eq!(Programs::of(folder.path()), None);
        std::fs::write(folder.path().join("postgres"), "").unwrap();
        assert!(Programs::of(folder.path()).is_some());
    }
}

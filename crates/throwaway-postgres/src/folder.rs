//! The folder of a cluster.

use crate::error::ClusterError;
use crate::user::User;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, chown};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// What every system takes as the path of a socket; the strictest takes 103.
const LONGEST_SOCKET_PATH: usize = 100;

/// The name that Postgres gives the socket of its usual port.
const SOCKET: &str = ".s.PGSQL.5432";

/// A new folder that only its owner and root can enter, removed when dropped.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Makes it for the process's own user.
    pub(crate) fn create() -> Result<Self, ClusterError> {
        Ok(Self { path: new_folder(&parent())? })
    }

    /// Makes it for somebody whom Postgres can run as, and says who that is where it is not the process's own user.
    pub(crate) fn for_postgres() -> Result<(Self, Option<User>), ClusterError> {
        let folder = Self::create()?;
        // The one way to learn it from the standard library.
        let owner = folder.path.metadata().map_err(|source| folder.error(source))?.uid();
        if owner != 0 {
            return Ok((folder, None));
        }
        let user = User::unprivileged()?;
        chown(&folder.path, Some(user.id), Some(user.group)).map_err(|source| folder.error(source))?;
        Ok((folder, Some(user)))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn error(&self, source: io::Error) -> ClusterError {
        ClusterError::Folder { path: self.path.clone(), source }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // The watcher has usually removed it.
        std::fs::remove_dir_all(&self.path).ok();
    }
}

/// The system's temporary folder, where the path of a socket in it is short enough.
fn parent() -> PathBuf {
    let usual = std::env::temp_dir();
    let longest = usual.join(name(u32::MAX)).join(SOCKET);
    if longest.as_os_str().as_bytes().len() <= LONGEST_SOCKET_PATH { usual } else { PathBuf::from("/tmp") }
}

fn name(number: u32) -> String {
    format!("throwaway-pg-{}-{number}", std::process::id())
}

fn new_folder(parent: &Path) -> Result<PathBuf, ClusterError> {
    // Counted for the whole process, so that no name comes twice.
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let path = parent.join(name(NEXT.fetch_add(1, Ordering::Relaxed)));
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            // Left by a process long gone that had the same id.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(ClusterError::Folder { path, source }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_private_apart_and_removed() {
        let folders = [Folder::create().unwrap(), Folder::create().unwrap()];
        assert_ne!(folders[0].path(), folders[1].path());
        let paths = folders.each_ref().map(|folder| folder.path().to_owned());
        for path in &paths {
            assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o700);
        }
        drop(folders);
        assert!(paths.iter().all(|path| !path.exists()));
    }
}

//! The directories that a session may use, and the way to what lies inside.

use super::error::{FileFault, ServeError};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, MetadataExt as _};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// A session's directory and further ones that the person added. Cheap to clone.
///
/// Each is opened once, and everything is reached through these handles: what is outside is out of reach, whatever a
/// path looks like or a link says (docs/cases.md, B40).
#[derive(Debug, Clone)]
pub struct Workspace(Arc<Directories>);

#[derive(Debug)]
struct Directories {
    root: Directory,
    further: Vec<Directory>,
}

#[derive(Debug)]
struct Directory {
    /// Its path as it was given.
    given: PathBuf,
    /// Its path without links.
    real: PathBuf,
    handle: Dir,
}

/// Why a session's directories cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// It is relative, and nobody says to what.
    #[error("the session's directory {} is no absolute path; give it from / on", path.display())]
    NotAbsolute {
        /// As it was given.
        path: PathBuf,
    },
    /// It is missing, no directory, or closed to us.
    #[error("the session's directory {} cannot be used: {source}", path.display())]
    Unusable {
        /// As it was given.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl Workspace {
    /// Opens the session's directory and further ones. All must be there, and their paths absolute.
    pub fn open(root: &Path, further: &[PathBuf]) -> Result<Self, WorkspaceError> {
        let root = Directory::open(root)?;
        let further = further.iter().map(|path| Directory::open(path)).collect::<Result<_, _>>()?;
        Ok(Self(Arc::new(Directories { root, further })))
    }

    /// Whether a path lies inside, links followed. It need not exist: then its nearest ancestor that does decides. A
    /// relative one is taken from the session's directory. In doubt it does not: what a tool may read in another way
    /// (`~/x`, `$HOME/x`, `D:\x`, a URL, nothing at all) is in doubt.
    pub fn contains(&self, path: &Path) -> bool {
        if !path.is_absolute() && may_mean_another(path) {
            return false;
        }
        let absolute = self.0.root.given.join(path);
        let Some(place) = Place::of(&absolute) else { return false };
        self.directories().any(|directory| directory.holds(&place.existing))
    }

    /// The session's directory, as it was given.
    pub(super) fn root(&self) -> &Path {
        &self.0.root.given
    }

    /// Does something with what an absolute path names, through the handle of the directory that it lies in.
    pub(super) fn reach<T>(
        &self,
        path: &Path,
        act: impl Fn(&Dir, &Path) -> Result<T, FileFault>,
    ) -> Result<T, ServeError> {
        self.try_to_reach(path, act).map_err(|fault| fault.of(path))
    }

    fn try_to_reach<T>(&self, path: &Path, act: impl Fn(&Dir, &Path) -> Result<T, FileFault>) -> Result<T, FileFault> {
        if path.as_os_str().as_bytes().contains(&0) {
            return Err(FileFault::Nul);
        }
        if !path.is_absolute() {
            return Err(FileFault::Relative);
        }
        let (directory, rest) = self.below(path).ok_or(FileFault::Outside)?;
        match act(&directory.handle, or_itself(rest)) {
            Err(FileFault::Outside) => {
                // No handle follows a link with an absolute path. Where that leads inside, there is another way.
                let (directory, rest) = self.way_without_links(path).ok_or(FileFault::Outside)?;
                act(&directory.handle, or_itself(&rest))
            }
            outcome => outcome,
        }
    }

    /// The innermost directory that a path names as an ancestor, and the rest of the path.
    fn below<'a>(&self, path: &'a Path) -> Option<(&Directory, &'a Path)> {
        let ways = self.directories().flat_map(|directory| {
            let paths = [&directory.given, &directory.real];
            paths.into_iter().filter_map(move |above| Some((directory, path.strip_prefix(above).ok()?)))
        });
        ways.min_by_key(|(_, rest)| rest.components().count())
    }

    fn way_without_links(&self, path: &Path) -> Option<(&Directory, PathBuf)> {
        let goes_up = path.components().any(|component| component == Component::ParentDir);
        let place = Place::of(path).filter(|_| !goes_up)?;
        let ways = self
            .directories()
            .filter_map(|directory| Some((directory, place.existing.strip_prefix(&directory.real).ok()?)));
        let (directory, rest) = ways.min_by_key(|(_, rest)| rest.components().count())?;
        // Collected, since joining nothing would say that it is a directory.
        Some((directory, rest.components().chain(place.missing.components()).collect()))
    }

    fn directories(&self) -> impl Iterator<Item = &Directory> {
        std::iter::once(&self.0.root).chain(&self.0.further)
    }
}

impl Directory {
    fn open(path: &Path) -> Result<Self, WorkspaceError> {
        if !path.is_absolute() {
            return Err(WorkspaceError::NotAbsolute { path: path.to_owned() });
        }
        let unusable = |source| WorkspaceError::Unusable { path: path.to_owned(), source };
        let handle = Dir::open_ambient_dir(path, ambient_authority()).map_err(unusable)?;
        let real = fs::canonicalize(path).map_err(unusable)?;
        Ok(Self { given: path.to_owned(), real, handle })
    }

    /// Whether a path without links lies in here: by its name, and because the handle finds the same thing there.
    fn holds(&self, real: &Path) -> bool {
        let Ok(rest) = real.strip_prefix(&self.real) else { return false };
        let (Ok(by_handle), Ok(by_path)) = (self.handle.metadata(or_itself(rest)), fs::metadata(real)) else {
            return false;
        };
        (by_handle.dev(), by_handle.ino()) == (by_path.dev(), by_path.ino())
    }
}

/// What of an absolute path is there, without links, and what is not.
struct Place {
    existing: PathBuf,
    missing: PathBuf,
}

impl Place {
    /// None where it cannot be told: something else is wrong than that it is missing, or what is missing leads
    /// somewhere else (`..`, a link to nothing).
    fn of(path: &Path) -> Option<Self> {
        for ancestor in path.ancestors() {
            match fs::canonicalize(ancestor) {
                Ok(existing) => {
                    let missing = path.strip_prefix(ancestor).ok()?.to_owned();
                    return Self { existing, missing }.if_plain();
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(_) => return None,
            }
        }
        None
    }

    fn if_plain(self) -> Option<Self> {
        let plain = self.missing.components().all(|component| matches!(component, Component::Normal(_)));
        let is_there = |name| fs::symlink_metadata(self.existing.join(name)).is_ok();
        let dangles = self.missing.components().next().is_some_and(is_there);
        (plain && !dangles).then_some(self)
    }
}

/// Whether a relative path may be none to whoever uses it.
fn may_mean_another(path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    bytes.is_empty() || bytes.starts_with(b"~") || bytes.iter().any(|byte| b"$%:\\".contains(byte))
}

/// A directory's handle knows itself by this name.
fn or_itself(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

//! What can go wrong with a cluster, and what to do then.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why there is no cluster, or not in the state that was asked for.
#[derive(Debug)]
pub enum ClusterError {
    /// `initdb` and `postgres` are nowhere.
    NotInstalled,
    /// The process is root, Postgres refuses to be, and there is nobody else to run it as.
    NoUnprivilegedUser,
    /// The folder of the cluster could not be made.
    Folder {
        /// Where it should have been.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The shell that starts and ends the server could not be started.
    NoShell(io::Error),
    /// The server ended, or never was, instead of accepting connections.
    NotStarted {
        /// The last lines that it wrote.
        log: String,
    },
    /// The server neither did what it was told nor ended.
    TooSlow {
        /// What was waited for.
        awaited: &'static str,
        /// The last lines that it wrote.
        log: String,
    },
}

impl fmt::Display for ClusterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotInstalled => f.write_str(
                "PostgreSQL is not installed: install it (on Debian the package `postgresql`), or put its folder with \
                 `initdb` and `postgres` on PATH.",
            ),
            Self::NoUnprivilegedUser => f.write_str(
                "PostgreSQL does not run as root, and /etc/passwd has neither `postgres` nor `nobody`: add one of \
                 them, or run this as another user.",
            ),
            Self::Folder { path, source } => write!(
                f,
                "the folder of the PostgreSQL cluster could not be made at {}: {source}; set TMPDIR to a folder that \
                 can be written to.",
                path.display()
            ),
            Self::NoShell(source) => {
                write!(f, "`sh`, which starts PostgreSQL, could not be started: {source}; put it on PATH.")
            }
            Self::NotStarted { log } => {
                write!(f, "PostgreSQL did not start: put right what its last lines complain of.\n{log}")
            }
            Self::TooSlow { awaited, log } => write!(
                f,
                "PostgreSQL was told to {awaited} and did not in time: try again when the machine is less busy, or put \
                 right what its last lines complain of.\n{log}"
            ),
        }
    }
}

impl std::error::Error for ClusterError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Folder { source, .. } | Self::NoShell(source) => Some(source),
            Self::NotInstalled | Self::NoUnprivilegedUser | Self::NotStarted { .. } | Self::TooSlow { .. } => None,
        }
    }
}

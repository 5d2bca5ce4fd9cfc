//! A Postgres cluster for tests and benches that is gone when its owner is.
//!
//! It is made of the system's own binaries in a folder below the system's temporary one, and listens on a socket there
//! and nowhere else. Dropping the [`Cluster`] stops the server and removes the folder; so does the end of the process
//! that holds it, whatever ended it.

mod cluster;
mod error;
mod folder;
mod programs;
mod url;
mod user;
mod watcher;

pub use cluster::{Builder, Cluster, Stop};
pub use error::ClusterError;

/// Whether the system has the programs that a [`Cluster`] is made of.
pub fn is_installed() -> bool {
    programs::Programs::find().is_ok()
}

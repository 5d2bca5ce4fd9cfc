//! The cluster.

use crate::error::ClusterError;
use crate::folder::Folder;
use crate::programs::Programs;
use crate::url;
use crate::watcher::Watcher;
use std::path::Path;

/// Settings of every cluster, also where the environment has others.
const ALWAYS: [&str; 7] = [
    "listen_addresses=",
    "port=5432",
    "max_connections=200",
    "shared_buffers=32MB",
    "logging_collector=off",
    "log_destination=stderr",
    "lc_messages=C",
];

/// Settings of a cluster whose data nobody misses after a crash of the machine.
const FAST: [&str; 2] = ["fsync=off", "full_page_writes=off"];

/// Settings of a cluster that keeps data as a real one does.
const DURABLE: [&str; 2] = ["fsync=on", "full_page_writes=on"];

/// How a server is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Its clients are disconnected and everything is written.
    Fast,
    /// As in a crash: the next start recovers from the log.
    Immediate,
}

/// What a cluster is to be like.
#[derive(Debug, Clone, Copy, Default)]
pub struct Builder {
    durable: bool,
}

impl Builder {
    /// Whether what is committed survives a crash of the machine, as it must where that is measured. It does not by
    /// default, which is faster; an end of the server alone loses nothing either way.
    #[must_use]
    pub fn durable(mut self, durable: bool) -> Self {
        self.durable = durable;
        self
    }

    /// Makes the cluster and waits until it accepts connections.
    pub fn start(self) -> Result<Cluster, ClusterError> {
        let programs = Programs::find()?;
        let (folder, user) = Folder::for_postgres()?;
        let mut watcher = Watcher::start(&programs, folder.path(), self.settings(), user)?;
        watcher.start_server()?;
        Ok(Cluster { watcher, folder })
    }

    fn settings(self) -> impl Iterator<Item = &'static str> {
        ALWAYS.into_iter().chain(if self.durable { DURABLE } else { FAST })
    }
}

/// A Postgres server with data of its own, both gone when this is dropped or its process ends.
#[derive(Debug)]
pub struct Cluster {
    // In this order: the server ends before its folder is removed.
    watcher: Watcher,
    folder: Folder,
}

impl Cluster {
    /// Makes a cluster for tests and waits until it accepts connections.
    pub fn start() -> Result<Self, ClusterError> {
        Self::builder().start()
    }

    /// For a cluster that is not like that of [`Cluster::start`].
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// The URL of a database, for the superuser `postgres` without a password. The first database is `postgres`.
    pub fn url(&self, database: &str) -> String {
        url::of_database(self.folder.path(), database)
    }

    /// The folder of the socket and, in `data`, of everything else.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Stops the server, where it is running, and waits until its last process has ended. The data stays.
    pub fn stop(&mut self, how: Stop) -> Result<(), ClusterError> {
        self.watcher.stop_server(match how {
            Stop::Fast => "fast",
            Stop::Immediate => "immediate",
        })
    }

    /// Starts the server, where it is not running, with the same data on the same socket, and waits until it accepts
    /// connections.
    pub fn start_again(&mut self) -> Result<(), ClusterError> {
        self.watcher.start_server()
    }
}

//! Commits of others: a second process on the same file (`pleat run` beside a server) cannot signal to us. It changes the
//! file's version, which is looked at now and then.

use super::connection::SqliteConnection;
use crate::failure::Failure;
use std::time::{Duration, Instant};

/// The version is looked at this often at most.
const INTERVAL: Duration = Duration::from_secs(1);

/// What others have committed, as the connection of the writer sees it.
pub(super) struct OtherCommits {
    /// It changes with every commit but those of the connection itself.
    version: i64,
    looked_at: Instant,
}

impl OtherCommits {
    /// From now on.
    pub(super) fn after_now(connection: &SqliteConnection) -> Result<Self, Failure> {
        Ok(Self { version: version(connection)?, looked_at: Instant::now() })
    }

    /// How long it is until the next look.
    pub(super) fn due_in(&self) -> Duration {
        INTERVAL.saturating_sub(self.looked_at.elapsed())
    }

    /// Whether others have committed since the last look.
    pub(super) fn look(&mut self, connection: &SqliteConnection) -> Result<bool, Failure> {
        self.looked_at = Instant::now();
        let before = self.version;
        self.version = version(connection)?;
        Ok(self.version != before)
    }
}

fn version(connection: &SqliteConnection) -> Result<i64, Failure> {
    let connection = connection.get();
    let mut statement = connection.prepare_cached("PRAGMA data_version")?;
    Ok(statement.query_row([], |row| row.get(0))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::open::open_writer;

    #[test]
    fn our_own_commits_are_not_those_of_others() {
        let folder = tempfile::tempdir().unwrap();
        let open = || SqliteConnection::new(open_writer(&folder.path().join("pleat.db")).unwrap());
        let (ours, theirs) = (open(), open());
        let write = |connection: &SqliteConnection| {
            connection.get().execute("INSERT INTO setting VALUES (hex(randomblob(8)), '1')", []).unwrap();
        };
        let mut others = OtherCommits::after_now(&ours).unwrap();
        write(&ours);
        assert!(!others.look(&ours).unwrap());
        write(&theirs);
        write(&ours);
        assert!(others.look(&ours).unwrap());
        assert!(!others.look(&ours).unwrap());
        assert!(others.due_in() <= INTERVAL);
    }
}

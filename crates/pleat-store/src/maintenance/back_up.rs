//! Backups: files that open as stores. They are made beside their place and appear there when they are whole.

use super::{Maintained, OnProgress, copy};
use crate::StoreError;
use crate::database::Opening;
use crate::sqlite::{SqliteStore, snapshot_into};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Makes a backup of a file.
pub(super) async fn of_file(store: &SqliteStore, file: &Path) -> Result<u64, StoreError> {
    let (source, place) = (store.file().to_owned(), Place::new(file)?);
    let made = tokio::task::spawn_blocking(move || {
        snapshot_into(&source, &place.draft())?;
        place.publish()
    });
    made.await.map_err(|_| StoreError::Closed)?
}

/// Makes a backup of a database on a server: a copy of it into a file.
pub(super) async fn of_database<D: Maintained>(
    database: &D,
    file: &Path,
    on_progress: OnProgress<'_>,
) -> Result<u64, StoreError> {
    let place = Place::new(file)?;
    let destination = SqliteStore::open_for(&place.draft(), Opening::ToCopyInto)?;
    let report = copy::copy(database, &destination, on_progress).await?;
    // Its log goes with it.
    drop(destination);
    if let Some(table) = report.tables.iter().find(|table| !table.is_same()) {
        let reason = format!("the backup's table `{}` differs from it", table.name);
        return Err(StoreError::Failed { database: database.name(), reason });
    }
    tokio::task::spawn_blocking(move || place.publish()).await.map_err(|_| StoreError::Closed)?
}

/// Where a backup shall be, and a folder beside that for what is not whole yet.
struct Place {
    file: PathBuf,
    folder: PathBuf,
    drafts: TempDir,
}

impl Place {
    fn new(file: &Path) -> Result<Self, StoreError> {
        if file.symlink_metadata().is_ok() {
            return Err(exists(file));
        }
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let drafts = TempDir::with_prefix_in(".pleat-backup-", folder).map_err(|error| unwritable(folder, &error))?;
        Ok(Self { file: file.to_owned(), folder: folder.to_owned(), drafts })
    }

    fn draft(&self) -> PathBuf {
        self.drafts.path().join("pleat.db")
    }

    /// Puts the whole backup at its place, safe on the disk; tells its size.
    fn publish(self) -> Result<u64, StoreError> {
        let publish = || {
            let draft = File::open(self.draft())?;
            draft.sync_all()?;
            put(&self.draft(), &self.file)?;
            #[cfg(unix)]
            File::open(&self.folder)?.sync_all()?;
            draft.metadata().map(|metadata| metadata.len())
        };
        publish().map_err(|error| {
            let is_taken = error.kind() == ErrorKind::AlreadyExists;
            if is_taken { exists(&self.file) } else { unwritable(&self.file, &error) }
        })
    }
}

/// Moves a file to a place where none is.
fn put(draft: &Path, file: &Path) -> std::io::Result<()> {
    match fs::hard_link(draft, file) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            // A file system without links.
            File::create_new(file)?;
            fs::rename(draft, file)
        }
        linked => linked,
    }
}

fn exists(file: &Path) -> StoreError {
    StoreError::FileExists { file: file.display().to_string() }
}

fn unwritable(path: &Path, error: &std::io::Error) -> StoreError {
    StoreError::Unwritable { database: path.display().to_string(), reason: error.to_string() }
}

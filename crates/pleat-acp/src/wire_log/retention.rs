//! Old files are removed.

use std::fs::{self, DirEntry};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::names::SUFFIX;

/// Removes the files of wire logs in the folder that were written to longer ago than they are kept.
pub(super) fn remove_old(folder: &Path, keep: Duration, now: SystemTime) {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => {
            tracing::warn!(folder = %folder.display(), %error, "old wire logs cannot be looked for");
            return;
        }
    };
    for entry in entries.flatten().filter(is_wire_log) {
        if let Err(error) = remove_if_old(&entry, keep, now) {
            tracing::warn!(file = %entry.path().display(), %error, "an old wire log cannot be removed");
        }
    }
}

fn is_wire_log(entry: &DirEntry) -> bool {
    entry.file_name().to_str().is_some_and(|name| name.ends_with(SUFFIX))
}

fn remove_if_old(entry: &DirEntry, keep: Duration, now: SystemTime) -> io::Result<()> {
    let age = now.duration_since(entry.metadata()?.modified()?).unwrap_or_default();
    if age > keep { fs::remove_file(entry.path()) } else { Ok(()) }
}

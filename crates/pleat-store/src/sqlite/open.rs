//! Opening the database file: what is there is looked at before anything is touched.

use super::failure::{name, sqlite_error};
use crate::StoreError;
use refinery::Migration;
use refinery::error::Kind;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::fmt::Write;
use std::fs::{DirBuilder, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long we wait for another process that writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a commit waits for one: an agent whose words cannot be stored is ended, so patience costs less than haste.
const COMMIT_TIMEOUT: Duration = Duration::from_secs(30);

/// What every database file begins with.
const SQLITE_MAGIC: &[u8] = b"SQLite format 3\0";

/// More than all the statements there are.
const CACHED_STATEMENTS: usize = 128;

/// What a connection keeps of the file in memory; KiB stand as a negative number.
const CACHE_KIB: i64 = -16 * 1024;

/// A write-ahead log that grew larger is cut back to this.
const LOG_SIZE_LIMIT: i64 = 64 * 1024 * 1024;

#[allow(unreachable_pub, missing_docs, reason = "written by refinery's macro")]
mod embedded {
    refinery::embed_migrations!("migrations/sqlite");
}

/// Creates the file's folder where it is missing, readable by its owner alone: conversations are private.
pub(super) fn create_folder_of(file: &Path) -> Result<(), StoreError> {
    let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) else { return Ok(()) };
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|error| unwritable(folder, &error))
}

/// Opens the database for writing, in the newest form. A file that is not ours, or of a newer Pleat, is left untouched.
pub(super) fn open_writer(file: &Path) -> Result<Connection, StoreError> {
    check(file)?;
    let _alone = lock(&beside(file, "-opening"))?;
    create(file).map_err(|error| unwritable(file, &error))?;
    let mut connection = connect(file, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    set_up_log(&connection, file)?;
    migrate(&mut connection, file)?;
    connection.busy_timeout(COMMIT_TIMEOUT).map_err(|error| sqlite_error(&error, file))?;
    Ok(connection)
}

/// Opens the database, which [`open_writer`] has opened before, for reading.
pub(super) fn open_reader(file: &Path) -> Result<Connection, StoreError> {
    // Not opened read-only: a reader takes part in the log's shared memory. It only promises not to write.
    let connection = connect(file, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.pragma_update(None, "query_only", true).map_err(|error| sqlite_error(&error, file))?;
    Ok(connection)
}

/// Opens the database beside the store that has it open, for what is done with it as a whole.
pub(super) fn open_beside(file: &Path) -> Result<Connection, StoreError> {
    connect(file, OpenFlags::SQLITE_OPEN_READ_WRITE)
}

fn connect(file: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    let open = || {
        let connection = Connection::open_with_flags(file, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
        // A plan is made once, whatever is bound: with the statistics that the planner may have it would otherwise make
        // one anew with nearly every value.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.pragma_update(None, "cache_size", CACHE_KIB)?;
        // What a savepoint sets aside stays in memory.
        connection.pragma_update(None, "temp_store", "MEMORY")?;
        Ok(connection)
    };
    open().map_err(|error| sqlite_error(&error, file))
}

/// Makes sure that the file is absent, empty, or a database of ours that is not newer than we are.
fn check(file: &Path) -> Result<(), StoreError> {
    match file.metadata() {
        Ok(found) if !found.is_file() => return Err(not_ours(file, "it is no file")),
        Ok(found) if found.len() == 0 => return Ok(()),
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(unwritable(file, &error)),
    }
    // SQLite takes a very short file for an empty one.
    if !begins_like_sqlite(file).map_err(|error| unwritable(file, &error))? {
        return Err(not_ours(file, "it has another format"));
    }
    let contents = connect_to_look(file).and_then(|connection| contents(&connection));
    match contents.map_err(|error| sqlite_error(&error, file))? {
        Contents::Foreign => Err(not_ours(file, "it is the database of another program")),
        Contents::Version(found) if found > known_version() => {
            Err(StoreError::NewerVersion { database: name(file), found, known: known_version() })
        }
        Contents::Nothing | Contents::Version(_) => Ok(()),
    }
}

fn begins_like_sqlite(file: &Path) -> std::io::Result<bool> {
    let mut beginning = Vec::new();
    File::open(file)?.take(SQLITE_MAGIC.len() as u64).read_to_end(&mut beginning)?;
    Ok(beginning == SQLITE_MAGIC)
}

/// Opens the file so that nothing is written: where no log lies beside it, nobody has it open, and none is made.
fn connect_to_look(file: &Path) -> Result<Connection, rusqlite::Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = if beside(file, "-wal").exists() {
        Connection::open_with_flags(file, flags)?
    } else {
        let uri = format!("file:{}?immutable=1", percent_encoded(file));
        Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI)?
    };
    connection.busy_timeout(BUSY_TIMEOUT)?;
    Ok(connection)
}

/// The write-ahead log of a database file.
pub(super) fn log_of(file: &Path) -> PathBuf {
    beside(file, "-wal")
}

/// The file that has the database's name and this ending.
fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

fn percent_encoded(path: &Path) -> String {
    let mut encoded = String::new();
    for byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(byte) {
            encoded.push(char::from(*byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

fn not_ours(file: &Path, reason: &str) -> StoreError {
    StoreError::NotADatabase { database: name(file), reason: reason.to_owned() }
}

/// What a database file holds.
enum Contents {
    Nothing,
    /// Tables, but not ours.
    Foreign,
    /// Our tables of this version.
    Version(i64),
}

fn contents(connection: &Connection) -> Result<Contents, rusqlite::Error> {
    let count = "SELECT count(*), count(*) FILTER (WHERE name = 'refinery_schema_history') FROM sqlite_schema";
    let (tables, history): (i64, i64) = connection.query_row(count, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if history > 0 {
        let newest = "SELECT coalesce(max(version), 0) FROM refinery_schema_history";
        return Ok(Contents::Version(connection.query_row(newest, [], |row| row.get(0))?));
    }
    Ok(if tables > 0 { Contents::Foreign } else { Contents::Nothing })
}

fn known_version() -> i64 {
    let runner = embedded::migrations::runner();
    runner.get_migrations().iter().map(|migration| i64::from(migration.version())).max().unwrap_or(0)
}

/// Creates the file where it is missing, readable by its owner alone; the log beside it becomes so too.
pub(super) fn create(file: &Path) -> std::io::Result<()> {
    let mut options = File::options();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file).map(drop)
}

/// Waits until no other process opens the database: two must not migrate it at once.
fn lock(path: &Path) -> Result<File, StoreError> {
    let lock = || {
        let file = File::options().create(true).truncate(false).write(true).open(path)?;
        file.lock()?;
        Ok(file)
    };
    lock().map_err(|error| unwritable(path, &error))
}

fn set_up_log(connection: &Connection, file: &Path) -> Result<(), StoreError> {
    let set_up = || {
        connection.pragma_update(None, "journal_size_limit", LOG_SIZE_LIMIT)?;
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0))
    };
    let mode = set_up().map_err(|error| sqlite_error(&error, file))?;
    if mode == "wal" {
        return Ok(());
    }
    let reason = "its file system does not allow a write-ahead log".to_owned();
    Err(StoreError::Unwritable { database: name(file), reason })
}

fn migrate(connection: &mut Connection, file: &Path) -> Result<(), StoreError> {
    // Grouped: a migration that fails leaves the version before it.
    let migrated = embedded::migrations::runner().set_grouped(true).run(connection);
    let report = migrated.map_err(|error| migration_error(&error, file))?;
    for migration in report.applied_migrations() {
        tracing::info!(file = %file.display(), %migration, "migrated the database");
    }
    Ok(())
}

fn migration_error(error: &refinery::Error, file: &Path) -> StoreError {
    let database = name(file);
    match error.kind() {
        // One was applied that we do not know: another process was newer and quicker.
        Kind::MissingVersion(migration) => {
            StoreError::NewerVersion { database, found: version(migration), known: known_version() }
        }
        Kind::Connection(_, source) => match source.downcast_ref::<rusqlite::Error>() {
            Some(error) => sqlite_error(error, file),
            None => StoreError::Failed { database, reason: source.to_string() },
        },
        Kind::DivergentVersion(..)
        | Kind::RepeatedVersion(_)
        | Kind::InvalidName
        | Kind::InvalidVersion
        | Kind::InvalidMigrationPath(..)
        | Kind::InvalidMigrationFile(..)
        | Kind::ConfigError(_) => StoreError::Failed { database, reason: error.to_string() },
    }
}

fn version(migration: &Migration) -> i64 {
    i64::from(migration.version())
}

/// The error for a path that the system does not let us write.
pub(super) fn unwritable(path: &Path, error: &std::io::Error) -> StoreError {
    StoreError::Unwritable { database: name(path), reason: error.to_string() }
}

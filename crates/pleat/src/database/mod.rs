//! Which store conversations are kept in, and what is done with it as a whole (`pleat db`).
//!
//! A password never stands on a command line: everyone on the machine can read those. It comes from the environment or
//! from a file of passwords, and is told nowhere.

mod commands;
mod copy_command;
mod password;
mod progress;

pub(crate) use commands::run;
pub(crate) use password::hidden_variables;

use crate::command_line::ServeArguments;
use crate::data_folder::DataFolder;
use crate::failure::Failure;
use pleat_store::StoreError;
use pleat_store::maintenance::{AnyStore, StoreAddress};
use std::ffi::OsString;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};

/// Names the store where the command line does not.
const VARIABLE: &str = "PLEAT_STORE";

/// The store that was asked for: on the command line, in the environment, or the data folder's.
pub(crate) fn chosen(arguments: &ServeArguments) -> Result<StoreAddress, Failure> {
    if let Some(address) = &arguments.store {
        return parse(address);
    }
    match std::env::var(VARIABLE) {
        Ok(address) if !address.is_empty() => parse(&address),
        Ok(_) | Err(std::env::VarError::NotPresent) => {
            Ok(StoreAddress::Sqlite(DataFolder::open(arguments.data.as_deref())?.database()))
        }
        Err(std::env::VarError::NotUnicode(_)) => Err(StoreError::NoAddress.into()),
    }
}

/// Reads an address, and finds the password that it wants.
fn parse(address: &str) -> Result<StoreAddress, Failure> {
    Ok(match StoreAddress::parse(address)? {
        StoreAddress::Postgres(address) => StoreAddress::Postgres(password::found_for(address)),
        StoreAddress::Sqlite(file) => StoreAddress::Sqlite(file),
    })
}

/// Refuses a command line that holds a password. What it says repeats nothing of it.
pub(crate) fn refuse_passwords(words: impl Iterator<Item = OsString>) -> Result<(), Failure> {
    for word in words {
        let word = word.to_string_lossy();
        let value =
            word.strip_prefix("--").and_then(|option| option.split_once('=')).map_or(&*word, |(_, value)| value);
        let Ok(StoreAddress::Postgres(address)) = StoreAddress::parse(value) else {
            if StoreAddress::is_postgres(value) {
                return Err(StoreError::NoAddress.into());
            }
            continue;
        };
        if address.has_password() {
            return Err(Failure::user(format!(
                "a password on the command line can be read by everyone on this machine; put the whole address into \
                 the environment variable {VARIABLE}, or the password into PGPASSWORD or ~/.pgpass, and change the \
                 password if others can log in here"
            )));
        }
    }
    Ok(())
}

/// Opens the store; one that is not there is made.
pub(crate) async fn open(address: &StoreAddress) -> Result<AnyStore, Failure> {
    Ok(AnyStore::open(address).await?)
}

/// Keeps other servers away from a file for as long as the lock lives: two would each interrupt the other's turns. A
/// database on a server is there to be shared.
pub(crate) fn lock(address: &StoreAddress) -> Result<Option<File>, Failure> {
    let StoreAddress::Sqlite(database) = address else { return Ok(None) };
    let unwritable = |error: std::io::Error| {
        let name = database.display();
        Failure::configuration(format!("the lock of `{name}` cannot be written: {error}; choose another with --data"))
    };
    if let Some(folder) = database.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder).map_err(unwritable)?;
    }
    let path = database.with_extension("lock");
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path).map_err(unwritable)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(Failure::configuration(format!(
            "another Pleat works with the database `{}`; use its page, stop it, or choose another with --data or --store",
            database.display()
        ))),
        Err(TryLockError::Error(error)) => Err(unwritable(error)),
    }
}

/// Does what a command needs of a store; one that is not there is made.
pub(crate) fn with_store<T>(
    address: &StoreAddress,
    work: impl AsyncFnOnce(&AnyStore) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(Failure::internal)?.block_on(async {
        let store = open(address).await?;
        let done = work(&store).await;
        // A command owns nothing; whoever shares the database need not wait to see that it is gone.
        let left = store.store().leave().await;
        done.and_then(|done| left.map(|()| done).map_err(Failure::from))
    })
}

/// The same with a store that is there.
pub(crate) fn with_existing_store<T>(
    address: &StoreAddress,
    work: impl AsyncFnOnce(&AnyStore) -> Result<T, Failure>,
) -> Result<T, Failure> {
    match address {
        StoreAddress::Sqlite(file) if !file.exists() => {
            Err(Failure::user(format!("there is no database `{}`; check --store and --data", file.display())))
        }
        StoreAddress::Sqlite(_) | StoreAddress::Postgres(_) => with_store(address, work),
    }
}

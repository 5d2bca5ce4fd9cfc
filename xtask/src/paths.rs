//! Where things are.

use crate::command::Failure;
use std::path::{Path, PathBuf};

/// The workspace's root.
pub(crate) fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_path_buf()
}

/// The folder of the browser tests.
pub(crate) fn e2e() -> PathBuf {
    root().join("e2e")
}

/// The program as `cargo build --release` leaves it.
pub(crate) fn release_binary() -> Result<PathBuf, Failure> {
    release_file("pleat")
}

/// An example as `cargo build --release --example NAME` leaves it.
pub(crate) fn release_example(name: &str) -> Result<PathBuf, Failure> {
    release_file(&format!("examples/{name}"))
}

/// The folder of what was built.
pub(crate) fn target() -> Result<PathBuf, Failure> {
    let xtask = std::env::current_exe()
        .map_err(|error| Failure::new(format!("the folder of built programs is unknown: {error}.")))?;
    // TARGET/debug/xtask: right wherever the target folder was configured to be.
    Ok(xtask.ancestors().nth(2).unwrap_or(&xtask).to_path_buf())
}

fn release_file(name: &str) -> Result<PathBuf, Failure> {
    let file = target()?.join("release").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    if file.is_file() {
        Ok(file)
    } else {
        Err(Failure::new(format!("the release build left no program at {}.", file.display())))
    }
}

/// The first file of that name in the folders of PATH.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

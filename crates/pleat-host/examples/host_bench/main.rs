//! The figures of the host, in a process that does nothing else. Agents are child processes with real pipes, the
//! database is a file, and the raw traffic is kept, as it is by default.
//!
//! `cargo xtask bench host` runs it, once for each measurement: `host_bench turns`, `calls`, `sessions` or `big_trace`.
//! CPU time and peak memory are then those of the measurement. It needs the release binary (`cargo build --release -p
//! pleat`, or `PLEAT_BINARY`) and Linux' `/proc`, and prints `NAME VALUE UNIT`, a line for each figure.

mod big_trace;
mod calls;
mod figures;
mod house;
mod process;
mod replayed;
mod sessions;
mod turns;
mod watched_store;

use std::error::Error;

type Outcome<T> = Result<T, Box<dyn Error>>;

#[tokio::main]
async fn main() -> Outcome<()> {
    let folder = tempfile::tempdir()?;
    let left = match std::env::args().nth(1).as_deref() {
        Some("turns") => turns::measure(folder.path()).await?,
        Some("calls") => calls::measure(folder.path()).await?,
        Some("sessions") => sessions::measure(folder.path()).await?,
        Some("big_trace") => big_trace::measure(folder.path()).await?,
        Some(_) | None => return Err("say what is measured: turns, calls, sessions or big_trace".into()),
    };
    figures::print("processes_left", left, "processes");
    Ok(())
}

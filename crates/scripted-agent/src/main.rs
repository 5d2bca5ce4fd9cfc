//! The program: plays the script that its first argument names.
//!
//! Cargo builds a package's programs for the tests of that package only, but its build script for whoever depends on
//! its library. So this is the build script too: run without arguments, it leaves a copy of itself where the library
//! says that the program is.

#[allow(dead_code, unused_imports, unreachable_pub, reason = "the library has the same code and offers more of it")]
mod agent;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs, io};

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1);
    match (arguments.next(), env::var_os("OUT_DIR")) {
        (Some(script), _) => agent::play(Path::new(&script), &texts(arguments)),
        (None, Some(folder)) => built(install(&Path::new(&folder).join("scripted-agent"))),
        (None, None) => {
            eprintln!("scripted agent: name the file of a script: `scripted-agent FILE [ARGUMENT…]`.");
            ExitCode::FAILURE
        }
    }
}

fn texts(arguments: impl Iterator<Item = OsString>) -> Vec<String> {
    arguments.map(|argument| argument.to_string_lossy().into_owned()).collect()
}

/// At once as a whole: tests may be running the one that was there before.
fn install(program: &Path) -> io::Result<()> {
    let copy = program.with_extension("new");
    fs::copy(env::current_exe()?, &copy)?;
    fs::rename(copy, program)
}

fn built(outcome: io::Result<()>) -> ExitCode {
    // Cargo builds and runs it again when its own code changes, and has nothing else to look at.
    println!("cargo::rerun-if-changed=src/main.rs");
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("scripted agent: the program cannot be put into OUT_DIR: {error}.");
            ExitCode::FAILURE
        }
    }
}

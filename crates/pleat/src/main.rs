//! The program: commands, configuration and what it says when something is wrong.
//!
//! `pleat` without a command serves the web face, `pleat run` is a face in the terminal. The other commands read or write
//! transcripts. Every one ends with exit code 0, or with a sentence on stderr that names the thing and says what to do
//! (see [`failure`]).

mod agent_host;
mod agent_sessions;
mod command_line;
mod configuration;
mod data_folder;
mod database;
mod demonstrations;
mod documents;
mod failure;
mod plain_text;
mod replay_command;
mod run;
mod serve;
mod stop_signals;
mod text_face;
mod trace_command;

use clap::Parser;
use command_line::{AgentCommand, Command, CommandLine};
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Before anything could repeat it.
    if let Err(failure) = database::refuse_passwords(std::env::args_os().skip(1)) {
        return failure.report();
    }
    let line = CommandLine::parse();
    start_logging();
    match run(line) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn run(line: CommandLine) -> Result<(), Failure> {
    match line.command {
        None => serve::serve(&line.serve),
        Some(Command::Run(arguments)) => run::run(&arguments, &line.serve),
        Some(Command::Fold { file }) => documents::fold_file(&file),
        Some(Command::Replay(arguments)) => replay_command::replay(&arguments),
        Some(Command::Trace { session }) => trace_command::trace(&session, &line.serve),
        Some(Command::Import(arguments)) => documents::import(&arguments, &line.serve),
        Some(Command::Export(arguments)) => documents::export(&arguments, &line.serve),
        Some(Command::Db(command)) => database::run(&command, &line.serve),
        Some(Command::Agent(AgentCommand::Replay(arguments))) => demonstrations::play(&arguments),
        Some(Command::Agent(AgentCommand::Sessions(arguments))) => agent_sessions::list(&arguments, &line.serve),
    }
}

/// Logs go to stderr: what `PLEAT_LOG` asks for, else warnings. They carry ids, never what was said.
fn start_logging() {
    let filter = tracing_subscriber::EnvFilter::try_from_env("PLEAT_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
}

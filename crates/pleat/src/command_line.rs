//! The command line.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use pleat_transcript::call::ToolKind;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Keeps and shows the conversations that people have with coding agents.
///
/// Without a command it serves the web page and prints the link that logs a browser in.
#[derive(Debug, Parser)]
#[command(name = "pleat", version, args_conflicts_with_subcommands = false)]
pub(crate) struct CommandLine {
    #[command(flatten)]
    pub(crate) serve: ServeArguments,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// Address to serve on [default: 127.0.0.1:7420, or the next port that is free].
    #[arg(long, value_name = "ADDRESS", env = "PLEAT_LISTEN")]
    pub(crate) listen: Option<SocketAddr>,
    /// Folder that everything is kept in [default: the user's data folder].
    #[arg(long, value_name = "DIR", env = "PLEAT_DATA", global = true)]
    pub(crate) data: Option<PathBuf>,
    /// Where conversations are kept: `postgres://USER@HOST/DATABASE` or `sqlite:FILE` [default: a file in the data
    /// folder] [env: `PLEAT_STORE`, where an address may hold its password].
    // Not clap's: it would tell the variable's value.
    #[arg(long, value_name = "ADDRESS", global = true)]
    pub(crate) store: Option<String>,
    /// Configuration file [default: pleat.toml in the user's configuration folder].
    #[arg(long, value_name = "FILE", env = "PLEAT_CONFIG", global = true)]
    pub(crate) config: Option<PathBuf>,
    /// Do not open a browser.
    #[arg(long, env = "PLEAT_NO_OPEN")]
    pub(crate) no_open: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run one turn of an agent in the terminal.
    ///
    /// Exits with 0 when the turn completed, 1 when it failed, 2 when it could not begin, 3 when the agent refused or
    /// needs a person that is not there, and 130 when it was stopped. Ctrl-C once stops the turn, twice ends the agent.
    Run(RunArguments),
    /// Fold a transcript document and print the rows document.
    Fold {
        /// The document (JSON); `-` reads stdin.
        file: PathBuf,
    },
    /// Replay a recorded ACP trace and print its transcript.
    Replay(ReplayArguments),
    /// Print where the raw traffic of a session is kept, oldest first: `pleat replay` reads it.
    Trace {
        /// The session's id.
        session: String,
    },
    /// Import a transcript document as a new session.
    Import(ImportArguments),
    /// Print a session as a transcript document.
    Export(ExportArguments),
    /// Look after the database that conversations are kept in.
    #[command(subcommand)]
    Db(DatabaseCommand),
    /// Ask an agent what it knows, or be one.
    #[command(subcommand)]
    Agent(AgentCommand),
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// The agent's name, as on the first page or in pleat.toml.
    pub(crate) agent: String,
    /// The prompt; `-`, or none where stdin is no terminal, reads it from stdin.
    pub(crate) prompt: Option<String>,
    /// The working directory [default: the current one].
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// A further directory that the agent may work in; may be given several times.
    #[arg(long, value_name = "DIR")]
    pub(crate) add_dir: Vec<PathBuf>,
    /// Allow calls of this kind without asking, once each and never outside of the directories; may be given several times.
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = kinds())]
    pub(crate) allow: Vec<ToolKind>,
    /// Print JSON, one object a line: the session, each row when it is settled, and the turn.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reads the kinds of calls (ACP `kind`); help and errors list them.
fn kinds() -> impl TypedValueParser<Value = ToolKind> {
    PossibleValuesParser::new(ToolKind::WORDS.map(|(_, word)| word)).map(|word| ToolKind::of_word(&word))
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArguments {
    /// The trace: JSON lines, plain or zstd-compressed; `-` reads plain ones from stdin. Several files are read one after
    /// the other, as one trace.
    #[arg(required = true)]
    pub(crate) trace: Vec<PathBuf>,
    /// What to print.
    #[arg(long, value_enum, default_value_t = ReplayFormat::Text)]
    pub(crate) format: ReplayFormat,
    /// Print only this session of the trace, counted from 1.
    #[arg(long, value_name = "N")]
    pub(crate) session: Option<usize>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ReplayFormat {
    /// The transcript document, one a line.
    Json,
    /// Its latest window as a rows document.
    Rows,
    /// Readable text.
    Text,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// The transcript document (JSON); `-` reads stdin.
    pub(crate) file: PathBuf,
    /// Give the session a new id.
    #[arg(long)]
    pub(crate) new_id: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// The session's id.
    pub(crate) session: String,
    /// What to print.
    #[arg(long, value_enum, default_value_t = ExportFormat::Json)]
    pub(crate) format: ExportFormat,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ExportFormat {
    /// The transcript document, which can be imported again without loss.
    Json,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DatabaseCommand {
    /// Look for what is wrong; exits with 5 where there is something. Nothing is altered.
    Check,
    /// Bring the tables up to date, and tell their version. Opening a database does so by itself.
    Migrate,
    /// Make a file that opens as a store and holds what is there now; Pleat may go on meanwhile.
    Backup {
        /// The file, which must not exist.
        file: PathBuf,
    },
    /// Free what is not used any more, and put the indexes in order.
    Vacuum,
    /// Tell how much there is.
    Stats {
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Copy all of one database into another, which is empty, and compare them. A copy that was ended goes on.
    Copy {
        /// What is copied: `postgres://USER@HOST/DATABASE` or `sqlite:FILE`.
        #[arg(long, value_name = "ADDRESS")]
        from: String,
        /// Where to.
        #[arg(long, value_name = "ADDRESS")]
        to: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum AgentCommand {
    /// Be an agent over stdio: play the agent's side of a recorded trace.
    Replay(PlayArguments),
    /// List the sessions that an agent itself knows, one a line: id, time and title.
    Sessions(AgentSessionsArguments),
}

#[derive(Debug, Args)]
pub(crate) struct AgentSessionsArguments {
    /// The agent's name, as on the first page or in pleat.toml.
    pub(crate) agent: String,
    /// Only those of this working directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// As JSON, one object a line.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PlayArguments {
    /// A trace file, or the name of a demonstration.
    pub(crate) trace: String,
    /// How many times the recorded pace; 0: as fast as possible.
    #[arg(long, value_name = "N", default_value_t = 1.0)]
    pub(crate) speed: f64,
    /// Which part of a trace whose agent was started again, counted from 1.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) part: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        CommandLine::command().debug_assert();
    }
}

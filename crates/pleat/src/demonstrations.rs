//! Agents that need nothing installed: recorded conversations that ship in the program, played back by the program
//! itself as a child. They take the way that any agent takes; nothing else in the house knows of them.

use crate::command_line::PlayArguments;
use crate::failure::{Failure, Kind};
use pleat_acp::replay_agent::{self, ReplayEnd, ReplayOptions};
use pleat_host::Agent;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// A recorded conversation in the program.
struct Demonstration {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    trace: &'static str,
}

/// Twice the recorded pace: quick enough not to bore, slow enough to read.
const SPEED: &str = "2";

const DEMONSTRATIONS: [Demonstration; 4] = [
    Demonstration {
        name: "demo-tools",
        title: "Demo: tools and permissions",
        description: "Reads, searches, edits and runs, and asks you before it changes anything.",
        trace: include_str!("../demonstrations/claude-tools.jsonl"),
    },
    Demonstration {
        name: "demo-plan",
        title: "Demo: a plan",
        description: "Works down a plan that changes as it goes.",
        trace: include_str!("../demonstrations/claude-plan.jsonl"),
    },
    Demonstration {
        name: "demo-failures",
        title: "Demo: failures",
        description: "A command that fails, an edit that does not fit, a file that is not there.",
        trace: include_str!("../demonstrations/claude-fail.jsonl"),
    },
    Demonstration {
        name: "demo-sub-agent",
        title: "Demo: a sub-agent",
        description: "Hands its work to a second agent and reports what that found.",
        trace: include_str!("../demonstrations/claude-sub.jsonl"),
    },
];

/// The demonstrations as agents.
pub(crate) fn agents() -> Result<Vec<Agent>, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::internal(format!("Pleat does not find its own program: {error}")))?;
    let agents = DEMONSTRATIONS.iter().map(|demonstration| Agent {
        title: demonstration.title.to_owned(),
        description: Some(demonstration.description.to_owned()),
        args: ["agent", "replay", demonstration.name, "--speed", SPEED].map(str::to_owned).to_vec(),
        ..Agent::new(demonstration.name, program.to_string_lossy())
    });
    Ok(agents.collect())
}

/// `pleat agent replay`: plays the agent's side over stdio.
pub(crate) fn play(arguments: &PlayArguments) -> Result<(), Failure> {
    let demonstration = DEMONSTRATIONS.iter().find(|demonstration| demonstration.name == arguments.trace);
    let trace: Box<dyn BufRead> = match demonstration {
        Some(demonstration) => Box::new(demonstration.trace.as_bytes()),
        None => open(Path::new(&arguments.trace))?,
    };
    let options = ReplayOptions { speed: arguments.speed, part: arguments.part };
    let input = BufReader::new(std::io::stdin());
    let end = replay_agent::play(trace, input, std::io::stdout(), options)
        .map_err(|error| Failure::new(Kind::Agent, format!("`{}` cannot be played: {error}", arguments.trace)))?;
    match end {
        // As the recorded agent did: at once, and without a word.
        ReplayEnd::Killed => std::process::abort(),
        ReplayEnd::InputClosed | ReplayEnd::Exited => Ok(()),
    }
}

fn open(path: &Path) -> Result<Box<dyn BufRead>, Failure> {
    let opened = pleat_acp::trace::open_unpacked(path);
    let opened =
        opened.map_err(|error| Failure::user(format!("the trace `{}` cannot be opened: {error}", path.display())))?;
    Ok(opened)
}

//! One scenario: `pleat run` as a person would, and what came of it.

use super::agent::RealAgent;
use super::outcome::{Left, Outcome};
use super::processes::{self, MARK};
use super::scenario::{Deed, Person, SLOW_COMMAND, Scenario};
use super::stage::{self, Stage};
use crate::command::{self, Failure};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Some agents ask a failing model again and again.
const PATIENCE: Duration = Duration::from_mins(4);

/// How often it is looked whether something has come about. Nothing tells of another process's child.
const LOOK: Duration = Duration::from_millis(100);

/// So long the slow command runs before something happens to it.
const COMMAND_RUNS: Duration = Duration::from_secs(3);

/// What is left has so long to go by itself before it is ended.
const SETTLING: Duration = Duration::from_secs(5);

/// Every kind that a script's calls can have.
const ALL_KINDS: &str = "read,edit,delete,move,search,execute,think,fetch,other";

/// Plays a scenario in a new workspace.
pub(super) fn play(scenario: &Scenario, agent: RealAgent, pleat: &Path, stage: &Stage) -> Result<Outcome, Failure> {
    stage.renew_workspace()?;
    let output = stage.folder().join(format!("{}.jsonl", scenario.file_name()));
    let mark = format!("{}-{}", std::process::id(), scenario.file_name());
    let begun = Instant::now();
    let child = start(scenario, agent, pleat, stage, &output, &mark)?;
    let exit = Watch { child, deed: scenario.deed, command_runs_since: None }.until_ended(begun + PATIENCE)?;
    let took = begun.elapsed();
    let left = end_what_is_left(&mark);
    let summary = session_in(&output).map(|session| summary(&session, pleat, stage)).transpose()?;
    Ok(Outcome { exit, took, left, summary })
}

fn start(
    scenario: &Scenario,
    agent: RealAgent,
    pleat: &Path,
    stage: &Stage,
    output: &Path,
    mark: &str,
) -> Result<Child, Failure> {
    let create = |path: &Path| {
        File::create(path).map_err(|error| Failure::new(format!("{} could not be made: {error}.", path.display())))
    };
    let shown = create(&output.with_extension("txt"))?;
    let mut command = match scenario.person {
        Person::Answers(kind) => {
            let mut command = stage::python("answer.py");
            command.arg(kind).arg(output).arg(pleat).stdout(shown).stderr(Stdio::inherit());
            command
        }
        Person::AllowsAll | Person::Nobody => {
            let mut command = Command::new(pleat);
            command.stdout(create(output)?).stderr(shown);
            command
        }
    };
    command.args(["run", agent.name(), &scenario.prompt(), "--json", "--cwd"]).arg(stage.workspace());
    command.arg("--config").arg(stage.configuration()).arg("--data").arg(stage.data());
    match scenario.person {
        Person::AllowsAll => {
            command.args(["--allow", ALL_KINDS]);
        }
        Person::Nobody | Person::Answers(_) => {}
    }
    // Not where a person keeps theirs.
    command.env_remove("PLEAT_STORE").env(MARK, mark).stdin(Stdio::null());
    command.spawn().map_err(|error| Failure::new(format!("`pleat run` could not be started: {error}.")))
}

/// A run, and what is to happen to it.
struct Watch {
    child: Child,
    deed: Option<Deed>,
    command_runs_since: Option<Instant>,
}

impl Watch {
    /// How it ended; `None` where it had to be ended.
    fn until_ended(mut self, deadline: Instant) -> Result<Option<ExitStatus>, Failure> {
        loop {
            let ended = self.child.try_wait();
            let ended = ended.map_err(|error| Failure::new(format!("`pleat run` cannot be waited for: {error}.")))?;
            if ended.is_some() {
                return Ok(ended);
            }
            if Instant::now() > deadline {
                self.child.kill().ok();
                self.child.wait().ok();
                return Ok(None);
            }
            self.do_what_is_due();
            sleep(LOOK);
        }
    }

    fn do_what_is_due(&mut self) {
        let Some(deed) = self.deed else { return };
        let below = processes::below(self.child.id());
        if self.command_runs_since.is_none() && below.iter().any(|it| it.command_line.contains(SLOW_COMMAND)) {
            self.command_runs_since = Some(Instant::now());
        }
        if self.command_runs_since.is_none_or(|since| since.elapsed() < COMMAND_RUNS) {
            return;
        }
        self.deed = None;
        match deed {
            Deed::Interrupt => processes::signal("INT", self.child.id()),
            // The nearest one is the agent.
            Deed::KillAgent => below.first().map(|agent| processes::signal("KILL", agent.pid)).unwrap_or_default(),
        }
    }
}

fn end_what_is_left(mark: &str) -> Left {
    let at_once = processes::marked(mark);
    if at_once.is_empty() {
        return Left::default();
    }
    sleep(SETTLING);
    let later = processes::marked(mark);
    for process in &later {
        processes::signal("KILL", process.pid);
    }
    let names = at_once.iter().map(|process| process.command_line.clone()).collect();
    Left { at_once: at_once.len(), later: later.len(), names }
}

/// The session that `pleat run --json` names in its first line.
fn session_in(output: &Path) -> Option<String> {
    let text = fs::read_to_string(output).ok()?;
    let (session, _) = text.strip_prefix("{\"session\":\"")?.split_once('"')?;
    Some(session.to_owned())
}

/// What the transcript says, column by column.
fn summary(session: &str, pleat: &Path, stage: &Stage) -> Result<String, Failure> {
    let mut export = Command::new(pleat);
    export.args(["export", session, "--data"]).arg(stage.data()).env_remove("PLEAT_STORE");
    let document = stage.folder().join("exported.json");
    let written = fs::write(&document, command::output(&mut export)?).and_then(|()| File::open(&document));
    let file = written.map_err(|error| Failure::new(format!("{} could not be kept: {error}.", document.display())))?;
    command::output(stage::python("summary.py").stdin(file)).map(|columns| columns.trim_end().to_owned())
}

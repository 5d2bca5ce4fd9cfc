//! `pleat run`: one turn in the terminal.
//!
//! It is a face as the web page is one: rows and labels are the fold's, read from the store by windows whenever a signal
//! says that something changed. What is printed is only added to, so it reads well in a pipe too.

mod asked;
mod asking;
mod face;
mod following;
mod json_lines;
mod outcome;
mod page;
mod pieces;
mod printer;
#[cfg(test)]
mod printer_tests;
mod prompt;
mod question;
mod screen;
mod stopping;
mod style;
mod told;
mod turn;
mod typed_lines;

use crate::agent_host::{AgentHost, directory};
use crate::command_line::{RunArguments, ServeArguments};
use crate::failure::Failure;
use asking::Party;
use face::{Face, Form};
use following::Following;
use json_lines::JsonLines;
use pleat_host::{Agent, AllowRule, Host, NewPrompt};
use pleat_transcript::call::ToolKind;
use pleat_transcript::ids::SessionId;
use pleat_transcript::session::Turn;
use printer::{Look, Printer};
use screen::Screen;
use serde_json::{Value, json};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use stopping::{SignalListener, Stopper};
use style::{Style, Tone};

/// What is to be run, found right.
struct Job {
    agent: Agent,
    allowed: Vec<ToolKind>,
    prompt: String,
    root: PathBuf,
    further: Vec<PathBuf>,
    as_json: bool,
}

/// `pleat run`. What keeps it from beginning is the command line's fault; then the turn's end tells the exit code.
pub(crate) fn run(arguments: &RunArguments, place: &ServeArguments) -> Result<(), Failure> {
    let (job, house) = prepare(arguments, place).map_err(Failure::before_it_began)?;
    let ended = house.run_unstopped(async |host| Ok(run_turn(host, job).await));
    ended.map_err(Failure::before_it_began)?
}

fn prepare(arguments: &RunArguments, place: &ServeArguments) -> Result<(Job, AgentHost), Failure> {
    let mut house = AgentHost::prepare(place)?;
    let mut agent = house.agent(&arguments.agent)?;
    let root = directory(arguments.cwd.as_deref().unwrap_or(Path::new(".")))?;
    let further = arguments.add_dir.iter().map(|path| directory(path)).collect::<Result<_, _>>()?;
    let allowed = arguments.allow.clone();
    agent.allow.push(AllowRule { directory: root.clone(), kinds: allowed.clone() });
    house.agents.set(agent.clone());
    let prompt = prompt::read(arguments.prompt.as_deref())?;
    Ok((Job { agent, allowed, prompt, root, further, as_json: arguments.json }, house))
}

async fn run_turn(host: &Host, job: Job) -> Result<(), Failure> {
    let mut face = face(job.as_json);
    let ended = begin_and_follow(host, job, &mut face).await;
    face.screen.finish();
    let (last, result) = last_line(ended);
    face.print_json(&last);
    result
}

/// How the turn ended. The error: it could not begin, or not be followed.
type Ended = Result<(Option<Turn>, Result<(), Failure>), Failure>;

/// The last line that `--json` tells, whatever came of it.
fn last_line(ended: Ended) -> (Value, Result<(), Failure>) {
    let (turn, result) = ended.unwrap_or_else(|failure| (None, Err(failure)));
    let code = result.as_ref().map_or_else(Failure::code, |()| 0);
    (turn::turn_json(turn.as_ref(), code), result)
}

async fn begin_and_follow(host: &Host, job: Job, face: &mut Face) -> Ended {
    let session = open(host, &job, face).await.map_err(Failure::before_it_began)?;
    let stopper = Stopper::new(host.clone(), session.clone());
    let listening = SignalListener::start(stopper.clone()).map_err(Failure::internal);
    let _listening = listening.map_err(Failure::before_it_began)?;
    let mut following = Following::new(host.store().clone(), session.clone());
    let prompted = host.prompt(&session, NewPrompt::text(job.prompt)).await.map_err(Failure::user);
    prompted.map_err(Failure::before_it_began)?;
    stopper.catch_up().await;
    let party = Party { host, session, title: job.agent.title, allowed: job.allowed, stopper };
    let outcome = turn::follow(&party, &mut following, face).await.map_err(Failure::of_a_turn)?;
    let result = outcome.result(&party.title, party.session.as_str()).map_err(Failure::of_a_turn);
    Ok((outcome.turn, result))
}

/// Makes the session, and tells which it is.
async fn open(host: &Host, job: &Job, face: &mut Face) -> Result<SessionId, Failure> {
    let session = host.new_session(&job.agent.name, job.root.clone()).await.map_err(Failure::user)?;
    if std::io::stderr().is_terminal() {
        let words = face.screen.style.paint(Tone::Quiet, &format!("session {session}"));
        face.screen.say(&words);
    }
    face.print_json(&json!({"session": session.as_str()}));
    for directory in &job.further {
        host.add_directory(&session, directory.clone()).await.map_err(Failure::user)?;
    }
    Ok(session)
}

fn face(as_json: bool) -> Face {
    let form = if as_json {
        Form::Json(JsonLines::default())
    } else {
        let output = std::io::stdout();
        Form::Text(Printer::new(Look { style: Style::of(&output), shows_thinking: output.is_terminal() }))
    };
    Face { form, screen: Screen::standard() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_that_could_not_begin_or_be_followed_has_a_last_line_too() {
        for (failure, code) in [
            (Failure::user("no directory").before_it_began(), 2),
            (Failure::internal("it cannot be followed any more").of_a_turn(), 1),
        ] {
            let (last, result) = last_line(Err(failure));
            assert_eq!((last, result.unwrap_err().code()), (json!({"turn": null, "exit": code}), code));
        }
    }
}

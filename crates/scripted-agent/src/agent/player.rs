//! Playing a script: which statement is next.

use super::end::{self, Ending};
use super::expand::{NOW, Variables};
use super::parse::ROUND;
use super::process::Process;
use super::script::{Action, Block, Condition, Extent, Hearing, Statement};
use super::template::{Fields, Template};
use serde_json::{Map, Value};
use std::fs;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// The id of the session that is spoken of: the one that was opened, or named in what was heard, last.
pub(crate) const SESSION: &str = "SESSION";

/// The variables that every script has.
pub(crate) const BUILT_IN: [&str; 7] = [SESSION, NOW, "PID", "RUN", "CWD", "ENV", "ARGUMENTS"];

/// One course of what the agent does; a background is another.
#[derive(Clone)]
pub(crate) struct Player {
    pub(crate) process: Arc<Process>,
    pub(crate) variables: Variables,
}

impl Player {
    /// Notes the process, and begins with the variables that every script has.
    pub(crate) fn new(process: Arc<Process>, arguments: &[String]) -> std::io::Result<Self> {
        let environment = std::env::vars_os().filter_map(|(name, value)| {
            let (name, value) = (name.into_string().ok()?, value.into_string().ok()?);
            Some((name, value.into()))
        });
        let mut variables = Variables::default();
        for (name, value) in [
            (SESSION, process.session(0).into()),
            ("PID", process.pid.into()),
            ("RUN", process.notes.pid(process.pid)?.into()),
            ("CWD", std::env::current_dir()?.to_string_lossy().into()),
            ("ENV", environment.collect::<Map<_, _>>().into()),
            ("ARGUMENTS", arguments.into()),
        ] {
            variables.set(name, value);
        }
        Ok(Self { process, variables })
    }

    pub(crate) fn play(&mut self, block: &[Statement]) -> Result<(), Ending> {
        block.iter().try_for_each(|statement| self.act(&statement.action).map_err(|ending| ending.at(statement.line)))
    }

    fn act(&mut self, action: &Action) -> Result<(), Ending> {
        match action {
            Action::Hear(hearing) => self.hear(hearing),
            Action::HearAnswer { request, name } => self.hear_answer(request, name.as_deref()),
            Action::Listen => self.listen(),
            Action::Reply { request, result } => self.reply(request, result),
            Action::Initialize(fields) => self.initialize(fields),
            Action::Authenticate => self.authenticate(),
            Action::NewSession { name, fields } => self.new_session(name.as_deref(), fields),
            Action::Refuse { request, code, message } => self.refuse(request, code, message),
            Action::Say(message) => self.say(self.expand(message)?),
            Action::Request { id, method, fields } => self.request(id, method, fields),
            Action::Update { session, fields } => self.update(session.as_ref(), fields),
            Action::Ask(asked) => self.ask(asked),
            Action::LongLine(bytes) => self.long_line(bytes),
            Action::Write(stream, what) => self.write(*stream, what),
            Action::Fill { name, bytes } => self.fill(name, bytes),
            Action::Exit(code) => Err(self.exit(code)?),
            Action::Abort => Err(Ending::Abort),
            Action::Sleep(time) => {
                sleep(*time);
                Ok(())
            }
            Action::WaitAt(gate) => wait_at(&self.text(gate)?),
            Action::Spawn(command) => self.process.spawn(&self.text(command)?),
            Action::Repeat { times, block } => self.repeat(times.as_ref(), block),
            Action::Every { period, extent, block } => self.every(*period, extent, block),
            Action::Background(block) => {
                let block = block.clone();
                self.aside(move |player| player.play(&block));
                Ok(())
            }
            Action::If { condition, then, otherwise } => {
                let block = if self.holds(condition)? { then } else { otherwise };
                self.play(block)
            }
        }
    }

    fn exit(&self, code: &Template) -> Result<Ending, Ending> {
        let number = self.number(code)?;
        match u8::try_from(number) {
            Ok(code) if code != end::BAD_SCRIPT => Ok(Ending::Exit(code)),
            Ok(_) => Err(Ending::trouble(format!("{number} is the exit code of a script that is wrong"))),
            Err(_) => Err(Ending::trouble(format!("an exit code is at most 255, not {number}"))),
        }
    }

    fn holds(&self, condition: &Condition) -> Result<bool, Ending> {
        let compared = |template| self.variables.compared(template).map_err(Ending::trouble);
        Ok((compared(&condition.left)? == compared(&condition.right)?) == condition.equal)
    }

    fn repeat(&mut self, times: Option<&Template>, block: &Block) -> Result<(), Ending> {
        let times = times.map(|times| self.number(times)).transpose()?;
        self.rounds(|player, round| {
            if times.is_some_and(|times| round >= times) {
                return Ok(false);
            }
            player.round(round, block)
        })
    }

    /// Goes on as long as a round says so. Afterwards a loop around this one has its own number again.
    fn rounds(&mut self, mut round: impl FnMut(&mut Self, u64) -> Result<bool, Ending>) -> Result<(), Ending> {
        let around = self.variables.get(ROUND).ok().cloned();
        let mut number = 0;
        while round(self, number)? {
            number += 1;
        }
        if let Some(around) = around {
            self.variables.set(ROUND, around);
        }
        Ok(())
    }

    fn round(&mut self, number: u64, block: &Block) -> Result<bool, Ending> {
        self.variables.set(ROUND, number.into());
        self.play(block).map(|()| true)
    }

    fn every(&mut self, period: Duration, extent: &Extent, block: &Block) -> Result<(), Ending> {
        let mut clock = Clock { due: Instant::now(), period };
        match extent {
            Extent::Endless => self.rounds(|player, round| {
                thread::sleep(clock.until_next());
                player.round(round, block)
            }),
            Extent::Ticks(ticks) => self.rounds(|player, round| {
                if round >= *ticks {
                    return Ok(false);
                }
                thread::sleep(clock.until_next());
                player.round(round, block)
            }),
            Extent::Until(hearing) => {
                let heard = self.hear_aside(hearing);
                self.rounds(|player, round| match heard.recv_timeout(clock.until_next()) {
                    Ok(message) => {
                        player.take(hearing, message);
                        Ok(false)
                    }
                    Err(RecvTimeoutError::Timeout) => player.round(round, block),
                    Err(RecvTimeoutError::Disconnected) => Ok(false),
                })
            }
        }
    }

    /// Waits for a message while something else goes on.
    fn hear_aside(&self, hearing: &Hearing) -> Receiver<Value> {
        let (sender, heard) = mpsc::channel();
        let hearing = hearing.clone();
        self.aside(move |player| {
            let message = player.wait_for(&hearing)?;
            // Whoever waited may have been ended.
            drop(sender.send(message));
            Ok(())
        });
        heard
    }

    /// Does something while the rest goes on; what ends it ends the process.
    fn aside(&self, act: impl FnOnce(&mut Self) -> Result<(), Ending> + Send + 'static) {
        let mut player = self.clone();
        thread::spawn(move || {
            if let Err(ending) = act(&mut player) {
                std::process::exit(end::end(ending, &player.process.script).into());
            }
        });
    }

    pub(crate) fn expand(&self, template: &Template) -> Result<Value, Ending> {
        self.variables.expand(template).map_err(Ending::trouble)
    }

    pub(crate) fn object(&self, fields: &Fields) -> Result<Map<String, Value>, Ending> {
        self.variables.object(fields).map_err(Ending::trouble)
    }

    fn text(&self, template: &Template) -> Result<String, Ending> {
        self.variables.text(template).map_err(Ending::trouble)
    }

    pub(crate) fn number(&self, template: &Template) -> Result<u64, Ending> {
        self.variables.number(template).map_err(Ending::trouble)
    }
}

/// Ticks at once, and then at its own times: a tick that was late makes no other late.
struct Clock {
    due: Instant,
    period: Duration,
}

impl Clock {
    fn until_next(&mut self) -> Duration {
        let due = self.due;
        self.due += self.period;
        due.saturating_duration_since(Instant::now())
    }
}

/// For ever where no time is given.
fn sleep(time: Option<Duration>) {
    match time {
        Some(time) => thread::sleep(time),
        None => loop {
            thread::park();
        },
    }
}

/// Waits until somebody opens a gate (a FIFO) for writing, and closes it.
fn wait_at(gate: &str) -> Result<(), Ending> {
    fs::read(gate).map(drop).map_err(|error| Ending::trouble(format!("there is no gate `{gate}`: {error}")))
}

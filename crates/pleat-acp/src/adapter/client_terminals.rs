//! Terminals that the client runs for the agent: what one prints is output of the call that shows it
//! (docs/spec/record.md, Calls 6).
//!
//! The transcript keeps what was told; here only stands what no call has shown yet.

use super::SessionEvent;
use crate::client::left_out_line;
use pleat_transcript::event::{CallReport, Event, TerminalOutput, TerminalReport};
use pleat_transcript::ids::{AgentCallId, AgentSessionId};
use serde_json::Value;
use std::collections::HashMap;

/// How much output waits for calls to show it, all terminals of an agent process together. Beyond it the beginning of
/// the oldest is left out.
const WAITING_BYTES: usize = 64 * 1024 * 1024;

/// How many terminals are remembered. Beyond it the oldest of those that have ended, or that are not ours, are
/// forgotten; whatever they said stands in the transcript.
const REMEMBERED_TERMINALS: usize = 1024;

/// The terminals of one agent process, of all its sessions.
pub(super) struct ClientTerminals {
    terminals: HashMap<String, ClientTerminal>,
    /// How many there ever were: tells the older from the newer.
    count: u64,
    waiting_bytes: usize,
    waiting_limit: usize,
}

/// A terminal, or what a call takes for one: agents also show terminals of their own under ids of their own.
#[derive(Default)]
struct ClientTerminal {
    number: u64,
    /// Whether it is one of ours.
    is_ours: bool,
    /// What it said before a call showed it.
    waiting: String,
    /// How much of that was left out at its beginning.
    left_out: u64,
    exit: Option<Value>,
    /// The first call that showed it; what it says belongs there.
    shown_by: Option<(AgentSessionId, AgentCallId)>,
}

impl Default for ClientTerminals {
    fn default() -> Self {
        Self { terminals: HashMap::new(), count: 0, waiting_bytes: 0, waiting_limit: WAITING_BYTES }
    }
}

impl ClientTerminals {
    /// Takes what a terminal says; tells it, where a call shows it.
    pub(super) fn says(&mut self, id: &str, output: Option<TerminalOutput>, exit: Option<Value>) -> Vec<SessionEvent> {
        let terminal = self.terminal(id);
        terminal.is_ours = true;
        if exit.is_some() {
            terminal.exit.clone_from(&exit);
        }
        let Some((session, call)) = terminal.shown_by.clone() else {
            if let Some(output) = output {
                self.wait(id, output);
            }
            return Vec::new();
        };
        if output.is_none() && exit.is_none() {
            return Vec::new();
        }
        let mut report = CallReport::new(call);
        report.terminal = Some(TerminalReport { output, exit });
        vec![(session, Event::Call(Box::new(report)))]
    }

    /// Takes a mention of a call. If it is the first that shows a terminal, it says what that has said so far.
    pub(super) fn shown(&mut self, session: &AgentSessionId, report: &mut CallReport) {
        let ids = report.content.iter().flatten().filter_map(|block| block.get("terminalId")?.as_str());
        let call = (session.clone(), report.agent_id.clone());
        let mut told = None;
        for id in ids {
            let shows_another = self.terminals.values().any(|terminal| terminal.shown_by.as_ref() == Some(&call));
            let terminal = self.terminal(id);
            if terminal.shown_by.is_some() {
                continue;
            }
            // The mention may come before we hear of our own terminal, so it is kept in any case.
            terminal.shown_by = Some(call.clone());
            if terminal.is_ours {
                let said = terminal.take_waiting();
                let exit = terminal.exit.clone();
                self.waiting_bytes -= said.text.len();
                tell_also(&mut told, said.into_text(), exit, shows_another);
            }
        }
        if told.is_some() {
            report.terminal = told;
        }
    }

    fn terminal(&mut self, id: &str) -> &mut ClientTerminal {
        if !self.terminals.contains_key(id) {
            self.forget_one_too_many();
            self.count += 1;
        }
        let number = self.count;
        self.terminals.entry(id.to_owned()).or_insert_with(|| ClientTerminal { number, ..ClientTerminal::default() })
    }

    fn forget_one_too_many(&mut self) {
        if self.terminals.len() < REMEMBERED_TERMINALS {
            return;
        }
        let over = self.terminals.iter().filter(|(_, terminal)| terminal.exit.is_some() || !terminal.is_ours);
        let oldest = over.min_by_key(|(_, terminal)| terminal.number).map(|(id, _)| id.clone());
        if let Some(forgotten) = oldest.and_then(|id| self.terminals.remove(&id)) {
            self.waiting_bytes -= forgotten.waiting.len();
        }
    }

    fn wait(&mut self, id: &str, output: TerminalOutput) {
        let terminal = self.terminal(id);
        let before = terminal.waiting.len();
        match output {
            TerminalOutput::Delta(delta) => terminal.waiting.push_str(&delta),
            TerminalOutput::Whole(whole) => terminal.waiting = whole,
        }
        let after = terminal.waiting.len();
        self.waiting_bytes = self.waiting_bytes - before + after;
        while self.waiting_bytes > self.waiting_limit {
            self.leave_out_the_oldest();
        }
    }

    /// A good piece at once, since what stays has to be moved.
    fn leave_out_the_oldest(&mut self) {
        let waiting = self.terminals.values_mut().filter(|terminal| !terminal.waiting.is_empty());
        let Some(oldest) = waiting.min_by_key(|terminal| terminal.number) else {
            self.waiting_bytes = 0;
            return;
        };
        let cut = oldest.waiting.ceil_char_boundary(self.waiting_limit / 4 + 1);
        oldest.waiting.drain(..cut);
        oldest.left_out += cut as u64;
        self.waiting_bytes -= cut;
    }
}

/// Adds what a terminal said to what a mention tells. A call has one text for all terminals that it shows, one after the other.
fn tell_also(report: &mut Option<TerminalReport>, said: String, exit: Option<Value>, shows_another: bool) {
    let report = report.get_or_insert_default();
    report.exit = exit.or_else(|| report.exit.take());
    report.output = Some(match report.output.take() {
        Some(TerminalOutput::Whole(text)) => TerminalOutput::Whole(text + &said),
        Some(TerminalOutput::Delta(text)) => TerminalOutput::Delta(text + &said),
        None if shows_another => TerminalOutput::Delta(said),
        None => TerminalOutput::Whole(said),
    });
}

/// What a terminal said before a call showed it.
struct Waited {
    left_out: u64,
    text: String,
}

impl Waited {
    fn into_text(self) -> String {
        if self.left_out == 0 { self.text } else { left_out_line(self.left_out) + &self.text }
    }
}

impl ClientTerminal {
    fn take_waiting(&mut self) -> Waited {
        Waited { left_out: std::mem::take(&mut self.left_out), text: std::mem::take(&mut self.waiting) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn session() -> AgentSessionId {
        AgentSessionId("s".to_owned())
    }

    fn mention(terminals: &mut ClientTerminals, call: &str, terminal: &str) -> Option<TerminalReport> {
        let mut report = CallReport::new(AgentCallId(call.to_owned()));
        report.content = Some(vec![json!({"type": "terminal", "terminalId": terminal})]);
        terminals.shown(&session(), &mut report);
        report.terminal
    }

    fn says(terminals: &mut ClientTerminals, id: &str, text: &str) -> Vec<(String, TerminalReport)> {
        told(terminals.says(id, Some(TerminalOutput::Delta(text.to_owned())), None))
    }

    fn told(events: Vec<SessionEvent>) -> Vec<(String, TerminalReport)> {
        let report = |(_, event)| {
            let Event::Call(report) = event else { panic!("{event:?} is no call") };
            (report.agent_id.0, report.terminal.expect("it tells of a terminal"))
        };
        events.into_iter().map(report).collect()
    }

    fn whole(text: &str, exit: Option<Value>) -> TerminalReport {
        TerminalReport { output: Some(TerminalOutput::Whole(text.to_owned())), exit }
    }

    fn delta(text: &str) -> TerminalReport {
        TerminalReport { output: Some(TerminalOutput::Delta(text.to_owned())), exit: None }
    }

    #[test]
    fn what_came_before_the_mention_is_told_whole_and_the_rest_as_it_comes() {
        let mut terminals = ClientTerminals::default();
        assert_eq!(terminals.says("t", None, None), []);
        assert_eq!(says(&mut terminals, "t", "one "), []);
        assert_eq!(says(&mut terminals, "t", "two "), []);
        assert_eq!(mention(&mut terminals, "c", "t"), Some(whole("one two ", None)));
        assert_eq!(terminals.waiting_bytes, 0);
        assert_eq!(says(&mut terminals, "t", "three"), [("c".to_owned(), delta("three"))]);
        assert_eq!(mention(&mut terminals, "c", "t"), None);
        let exit = told(terminals.says("t", None, Some(json!(3))));
        assert_eq!(exit, [("c".to_owned(), TerminalReport { output: None, exit: Some(json!(3)) })]);
        assert_eq!(says(&mut terminals, "t", "late"), [("c".to_owned(), delta("late"))]);
        assert!(terminals.terminals["t"].waiting.is_empty());
    }

    #[test]
    fn a_terminal_that_ended_before_its_mention_says_how() {
        let mut terminals = ClientTerminals::default();
        says(&mut terminals, "t", "out");
        assert_eq!(terminals.says("t", None, Some(json!("SIGTERM"))), []);
        assert_eq!(mention(&mut terminals, "c", "t"), Some(whole("out", Some(json!("SIGTERM")))));
    }

    #[test]
    fn a_mention_may_come_first_and_the_first_call_has_the_terminal() {
        let mut terminals = ClientTerminals::default();
        assert_eq!(mention(&mut terminals, "c", "t"), None);
        assert_eq!(mention(&mut terminals, "d", "t"), None);
        assert_eq!(told(terminals.says("t", None, None)), []);
        assert_eq!(says(&mut terminals, "t", "out"), [("c".to_owned(), delta("out"))]);
    }

    #[test]
    fn a_call_that_shows_two_terminals_has_the_text_of_both() {
        let mut terminals = ClientTerminals::default();
        says(&mut terminals, "t", "one ");
        says(&mut terminals, "u", "two ");
        says(&mut terminals, "v", "three ");
        let mut report = CallReport::new(AgentCallId("c".to_owned()));
        let block = |id: &str| json!({"type": "terminal", "terminalId": id});
        report.content = Some(vec![block("t"), block("u")]);
        terminals.shown(&session(), &mut report);
        assert_eq!(report.terminal, Some(whole("one two ", None)));
        assert_eq!(mention(&mut terminals, "c", "v"), Some(delta("three ")));
    }

    #[test]
    fn what_waits_is_bounded_and_says_what_is_missing() {
        let mut terminals = ClientTerminals { waiting_limit: 40, ..ClientTerminals::default() };
        says(&mut terminals, "old", &"ä".repeat(20));
        says(&mut terminals, "new", "abc");
        assert!(terminals.waiting_bytes <= 40);
        assert_eq!(mention(&mut terminals, "d", "new"), Some(whole("abc", None)));
        let expect = left_out_line(12) + &"ä".repeat(14);
        assert_eq!(mention(&mut terminals, "c", "old"), Some(whole(&expect, None)));
        says(&mut terminals, "long", &"x".repeat(1000));
        assert!(terminals.waiting_bytes <= 40);
        assert_eq!(terminals.waiting_bytes, terminals.terminals["long"].waiting.len());
    }

    #[test]
    fn ended_terminals_are_forgotten_in_time() {
        let mut terminals = ClientTerminals::default();
        says(&mut terminals, "running", "r");
        for number in 0..REMEMBERED_TERMINALS * 2 {
            terminals.says(&number.to_string(), Some(TerminalOutput::Delta("x".to_owned())), Some(json!(0)));
        }
        assert_eq!(terminals.terminals.len(), REMEMBERED_TERMINALS);
        assert_eq!(terminals.waiting_bytes, REMEMBERED_TERMINALS);
        assert_eq!(mention(&mut terminals, "c", "running"), Some(whole("r", None)));
    }
}

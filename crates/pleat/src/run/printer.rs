//! Pieces as text that is only ever added to: what was printed stays, and is printed once.
//!
//! The agent's text grows on the screen. While it does, nothing else is printed: what ends meanwhile comes behind it. A
//! call is one line, printed when it has ended, and what it has inside stands before it, each line as soon as it is
//! known, under a line that names the call.

use super::page::Page;
use super::pieces::{Content, Key, Parent, Piece, pieces};
use super::style::{Style, Tone};
use crate::plain_text::{block, line, mark, plan, visible};
use pleat_transcript::call::{Call, CallState};
use pleat_transcript::fold::is_blank;
use pleat_transcript::ids::{CallId, MessageId};
use pleat_transcript::message::NoticeLevel;
use pleat_transcript::rows::CallRow;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};

/// How a session is printed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    pub(super) style: Style,
    /// Thinking is shown too.
    pub(super) shows_thinking: bool,
}

/// Prints pieces, each once.
pub(super) struct Printer {
    look: Look,
    printed: HashMap<Key, Printed>,
    /// The text that grows on the screen, and its message.
    growing: Option<(Key, MessageId)>,
    /// Top-level messages with pieces that were not printed to their end.
    unfinished: BTreeSet<MessageId>,
    /// The calls that the last line stands inside of, or is.
    path: Vec<CallId>,
    last: Option<Spacing>,
    text: String,
}

/// What was printed of a piece.
enum Printed {
    /// So many bytes of a text, and whether its end is printed.
    Text {
        bytes: usize,
        has_ended: bool,
    },
    /// A call that had come to this.
    Call(CallState),
    /// A plan that looked like this.
    Plan(String),
    Whole,
}

/// Lines stand close to each other, and blocks apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spacing {
    Line,
    Block,
}

impl Printer {
    pub(super) fn new(look: Look) -> Self {
        Self {
            look,
            printed: HashMap::new(),
            growing: None,
            unfinished: BTreeSet::new(),
            path: Vec::new(),
            last: None,
            text: String::new(),
        }
    }

    /// The message whose text grows: as long as it does, nothing else is printed.
    pub(super) fn growing(&self) -> Option<&MessageId> {
        self.growing.as_ref().map(|(_, message)| message)
    }

    /// Top-level messages that have more to print when they change.
    pub(super) fn unfinished(&self) -> &BTreeSet<MessageId> {
        &self.unfinished
    }

    /// What is to be printed now that the session is as this page shows it.
    pub(super) fn print(&mut self, page: &Page) -> String {
        let pieces = pieces(page);
        self.end_what_moved(&pieces);
        for owner in page.top_level() {
            self.unfinished.remove(owner);
        }
        for piece in &pieces {
            let waits = self.growing.as_ref().is_some_and(|(key, _)| *key != piece.key);
            if waits || !self.piece(piece, page.is_over) {
                self.unfinished.insert(piece.owner.clone());
            }
        }
        std::mem::take(&mut self.text)
    }

    /// A text that grew on the screen does not go on there once it turns out to be a sub-agent's.
    fn end_what_moved(&mut self, pieces: &[Piece<'_>]) {
        let Some((key, _)) = &self.growing else { return };
        if pieces.iter().any(|piece| piece.key == *key && !piece.inside.is_empty()) {
            self.text.push('\n');
            self.growing = None;
        }
    }

    /// Prints what is new of a piece; tells whether that is all there will be.
    fn piece(&mut self, piece: &Piece<'_>, is_over: bool) -> bool {
        match &piece.content {
            Content::Text { text, grows } if piece.inside.is_empty() => self.grow(piece, text, *grows, Tone::Plain, ""),
            Content::Thinking { .. } if !self.look.shows_thinking => true,
            Content::Thinking { text, grows } if piece.inside.is_empty() => {
                self.grow(piece, text, *grows, Tone::Quiet, "thinking · ")
            }
            // Several sub-agents may speak at once: theirs is printed when it is whole.
            Content::Text { grows: true, .. } | Content::Thinking { grows: true, .. } => false,
            Content::Text { text, .. } => self.once(piece, "“", text, Tone::Plain),
            Content::Thinking { text, .. } => self.once(piece, "thinking ·", text, Tone::Quiet),
            Content::Block { mark, text, level } => self.once(piece, mark, text, tone_of(*level)),
            Content::Call { row, call } => self.call(piece, row, *call, is_over),
            Content::Plan { plan: shown, progress } => {
                let mut drawn = String::new();
                plan(shown, *progress, &mut drawn);
                self.plan(piece, drawn, is_over);
                true
            }
        }
    }

    /// A text that may go on. The line ends at its end wait until it does.
    fn grow(&mut self, piece: &Piece<'_>, text: &str, grows: bool, tone: Tone, mark: &str) -> bool {
        let (printed, has_ended) = match self.printed.get(&piece.key) {
            Some(Printed::Text { bytes, has_ended }) => (*bytes, *has_ended),
            Some(Printed::Call(_) | Printed::Plan(_) | Printed::Whole) | None => (0, true),
        };
        let Some(rest) = text.get(printed..) else { return true };
        let start = if has_ended { text.len() - rest.trim_start_matches(LINE_ENDS).len() } else { printed };
        let rest = text[start..].trim_end_matches(LINE_ENDS);
        if has_ended && is_blank(rest) {
            return !grows;
        }
        if has_ended {
            self.go_to(&piece.inside, Spacing::Block);
            self.add(tone, mark);
        }
        self.add(tone, &prose(rest));
        if !grows {
            self.text.push('\n');
        }
        self.growing = grows.then(|| (piece.key.clone(), piece.owner.clone()));
        let bytes = if grows { start + rest.len() } else { text.len() };
        self.printed.insert(piece.key.clone(), Printed::Text { bytes, has_ended: !grows });
        !grows
    }

    /// A block that does not change.
    fn once(&mut self, piece: &Piece<'_>, mark: &str, text: &str, tone: Tone) -> bool {
        let text = match self.printed.get(&piece.key) {
            Some(Printed::Text { bytes, .. }) => text.get(*bytes..).unwrap_or_default(),
            Some(Printed::Call(_) | Printed::Plan(_) | Printed::Whole) => return true,
            None => text,
        };
        self.printed.insert(piece.key.clone(), Printed::Whole);
        if is_blank(text) {
            return true;
        }
        let spacing = if piece.inside.is_empty() { Spacing::Block } else { Spacing::Line };
        self.go_to(&piece.inside, spacing);
        let mut drawn = String::new();
        block(&format!("{}{mark}", indent(piece.inside.len())), text, &mut drawn);
        self.add(tone, drawn.trim_end_matches('\n'));
        self.text.push('\n');
        true
    }

    /// A call that has ended, or that has no end in a turn that is over.
    fn call(&mut self, piece: &Piece<'_>, row: &CallRow, call: Option<&Call>, is_over: bool) -> bool {
        if row.state.is_unresolved() && !is_over {
            return false;
        }
        if matches!(self.printed.get(&piece.key), Some(Printed::Call(state)) if *state == row.state) {
            return true;
        }
        self.printed.insert(piece.key.clone(), Printed::Call(row.state));
        self.go_to(&piece.inside, Spacing::Line);
        self.path.push(row.id.clone());
        let (mark, tone) = outcome(row.state);
        self.text.push_str(&indent(piece.inside.len()));
        self.add(tone, mark);
        line("", &format!(" {}{}", row.label, call.map(exit_words).unwrap_or_default()), &mut self.text);
        true
    }

    /// A plan: as it is at first, and where it has changed since then, as it is in the end.
    fn plan(&mut self, piece: &Piece<'_>, drawn: String, is_over: bool) {
        let is_due = match self.printed.get(&piece.key) {
            Some(Printed::Plan(before)) => is_over && *before != drawn,
            Some(Printed::Text { .. } | Printed::Call(_) | Printed::Whole) | None => true,
        };
        if is_due && !drawn.is_empty() {
            self.go_to(&piece.inside, Spacing::Block);
            self.text.push_str(&drawn);
            self.printed.insert(piece.key.clone(), Printed::Plan(drawn));
        }
    }

    /// Goes to where a piece stands: names the calls around it, where the line before does not stand there too.
    fn go_to(&mut self, inside: &[Parent<'_>], spacing: Spacing) {
        if self.last.is_some_and(|last| (last, spacing) != (Spacing::Line, Spacing::Line)) {
            self.text.push('\n');
        }
        self.last = Some(spacing);
        let shared = self.path.iter().zip(inside).take_while(|(call, parent)| *call == parent.call).count();
        self.path.truncate(shared);
        for (depth, parent) in inside.iter().enumerate().skip(shared) {
            line(&format!("{}▸", indent(depth)), parent.label, &mut self.text);
            self.path.push(parent.call.clone());
        }
    }

    fn add(&mut self, tone: Tone, text: &str) {
        if !text.is_empty() {
            self.text.push_str(&self.look.style.paint(tone, text));
        }
    }
}

const LINE_ENDS: [char; 2] = ['\n', '\r'];

fn indent(depth: usize) -> String {
    "  ".repeat(depth)
}

/// Text of several lines, every character visible.
fn prose(text: &str) -> String {
    let lines = text.split('\n').map(|line| visible(line.strip_suffix('\r').unwrap_or(line)));
    lines.collect::<Vec<_>>().join("\n")
}

/// What stands before a call that is printed, and its tone.
fn outcome(state: CallState) -> (&'static str, Tone) {
    match state {
        CallState::Pending | CallState::Running | CallState::AwaitingPermission => {
            ("… without a result:", Tone::Warning)
        }
        CallState::Completed => (mark(state), Tone::Good),
        CallState::Failed | CallState::Interrupted => (mark(state), Tone::Bad),
        CallState::Denied | CallState::Cancelled | CallState::Superseded => (mark(state), Tone::Warning),
    }
}

/// How a command ended, where that says more than its state: ` (exit code 1)`.
fn exit_words(call: &Call) -> String {
    let exits = call.output.iter().filter_map(|block| block.get("exit"));
    let mut words = exits.filter_map(|exit| match exit {
        Value::Number(code) => (code.as_i64() != Some(0)).then(|| format!(" (exit code {code})")),
        Value::String(signal) => Some(format!(" (ended by {signal})")),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    });
    words.next_back().unwrap_or_default()
}

fn tone_of(level: NoticeLevel) -> Tone {
    match level {
        NoticeLevel::Info => Tone::Plain,
        NoticeLevel::Warning => Tone::Warning,
        NoticeLevel::Error => Tone::Bad,
    }
}

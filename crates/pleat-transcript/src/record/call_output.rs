//! A call's output, whatever way it came, as one list of content blocks (docs/spec/record.md, Calls 3, 6 and 7).

use crate::call::Lines;
use crate::event::{TerminalOutput, TerminalReport};
use serde_json::{Value, json};
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// The pieces that a call's output is made of.
#[derive(Debug, Clone, Default)]
pub(super) struct OutputPieces {
    content: Vec<Value>,
    terminal: Option<Terminal>,
    raw: Option<Vec<Value>>,
}

#[derive(Debug, Clone, Default)]
struct Terminal {
    output: String,
    exit: Option<Value>,
}

/// What a mention did to the output.
#[derive(Debug, PartialEq)]
pub(super) enum OutputChange {
    /// Nothing.
    None,
    /// The terminal said more, and that is all.
    Appended(String),
    /// It is to be written anew.
    Replaced,
}

impl OutputPieces {
    /// Whether nothing was said: a reference to a terminal that never spoke says nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.shows_only_raw() && self.raw.is_none()
    }

    /// Whether there is nothing to show but raw output.
    fn shows_only_raw(&self) -> bool {
        self.content.iter().all(|block| is_type(block, "terminal"))
            && self.terminal.as_ref().is_none_or(|terminal| terminal.output.is_empty() && terminal.exit.is_none())
    }

    /// The pieces of an output that is stored.
    pub(super) fn of_stored(output: &[Value]) -> Self {
        let terminal = output.iter().find(|block| is_type(block, "terminal")).and_then(|block| {
            let output = block.get("output")?.as_str()?.to_owned();
            Some(Terminal { output, exit: block.get("exit").cloned() })
        });
        Self { content: output.to_vec(), terminal, raw: None }
    }

    /// These pieces, unless what they show says as much.
    pub(super) fn unless_as_stored(&self) -> Option<Self> {
        let refers_to_terminal = self.content.iter().any(|block| is_type(block, "terminal"));
        let hides_terminal = if self.terminal.is_some() { !self.shows_terminal() } else { refers_to_terminal };
        let may_show_raw = self.raw.is_some() && self.content.iter().all(|block| is_type(block, "terminal"));
        (hides_terminal || may_show_raw).then(|| self.clone())
    }

    /// Takes what a mention says of the output; an empty list never replaces a fuller one (Calls 3).
    pub(super) fn take(
        &mut self,
        content: Option<Vec<Value>>,
        terminal: Option<TerminalReport>,
        raw: Option<Vec<Value>>,
    ) -> OutputChange {
        let shown_terminal = self.shows_terminal();
        let mut change = OutputChange::None;
        if let Some(terminal) = terminal {
            change = self.take_terminal(terminal, shown_terminal);
        }
        if let Some(content) = content.filter(|content| self.may_be_replaced_by(content)) {
            let content: Vec<Value> = content.into_iter().map(truthful_diff).collect();
            if content != self.content {
                self.content = content;
                change = OutputChange::Replaced;
            }
        }
        if let Some(raw) = raw.filter(|raw| !raw.is_empty())
            && self.raw.as_ref() != Some(&raw)
        {
            self.raw = Some(raw);
            if self.shows_only_raw() {
                change = OutputChange::Replaced;
            }
        }
        change
    }

    /// A list that is empty, or refers to terminals that never spoke, replaces no fuller one.
    fn may_be_replaced_by(&self, content: &[Value]) -> bool {
        let says_nothing = self.terminal.is_none() && content.iter().all(|block| is_type(block, "terminal"));
        !content.is_empty() && (self.content.is_empty() || !says_nothing)
    }

    /// `shown`: the terminal's block stands in the output, so that text can be appended to it.
    fn take_terminal(&mut self, report: TerminalReport, shown: bool) -> OutputChange {
        let mut change = if self.terminal.is_some() { OutputChange::None } else { OutputChange::Replaced };
        let terminal = self.terminal.get_or_insert_default();
        if let Some(exit) = report.exit
            && terminal.exit.as_ref() != Some(&exit)
        {
            terminal.exit = Some(exit);
            change = OutputChange::Replaced;
        }
        match report.output {
            Some(TerminalOutput::Delta(delta)) if !delta.is_empty() => {
                terminal.output.push_str(&delta);
                if shown && change == OutputChange::None {
                    OutputChange::Appended(delta)
                } else {
                    OutputChange::Replaced
                }
            }
            Some(TerminalOutput::Whole(whole)) if whole != terminal.output => {
                terminal.output = whole;
                OutputChange::Replaced
            }
            Some(TerminalOutput::Delta(_) | TerminalOutput::Whole(_)) | None => change,
        }
    }

    /// The content blocks, each thing shown once: a terminal stands at the place of the first reference to it, and
    /// raw output only where there is nothing else.
    pub(super) fn blocks(&self) -> Vec<Value> {
        let mut terminal = self.terminal.as_ref().filter(|terminal| !self.content_says(&terminal.output));
        if let Some(raw) = &self.raw
            && self.shows_only_raw()
        {
            return raw.clone();
        }
        let mut blocks = Vec::new();
        for block in &self.content {
            if is_type(block, "terminal") {
                blocks.extend(terminal.take().map(terminal_block));
            } else {
                blocks.push(block.clone());
            }
        }
        blocks.extend(terminal.map(terminal_block));
        blocks
    }

    /// Whether the content holds what the terminal said: then that is shown once.
    fn content_says(&self, output: &str) -> bool {
        let output = output.trim();
        !output.is_empty() && self.content.iter().filter_map(text_of).any(|text| text.contains(output))
    }

    /// Whether appending to the terminal block is the same as writing the output anew.
    pub(super) fn shows_terminal(&self) -> bool {
        let hidden = self.raw.is_some() && self.shows_only_raw();
        !hidden && self.terminal.as_ref().is_some_and(|terminal| !self.content_says(&terminal.output))
    }
}

fn terminal_block(terminal: &Terminal) -> Value {
    json!({"type": "terminal", "output": terminal.output, "exit": terminal.exit})
}

fn is_type(block: &Value, kind: &str) -> bool {
    block.get("type").and_then(Value::as_str) == Some(kind)
}

fn text_of(block: &Value) -> Option<&str> {
    block.get("content")?.get("text")?.as_str()
}

/// A diff that says it deletes its file, though its texts are equal (the protocol allows no absent new text), is
/// stored with an empty new text (Calls 7, case B52).
fn truthful_diff(mut block: Value) -> Value {
    let deletes = is_type(&block, "diff")
        && block.pointer("/_meta/kind").and_then(Value::as_str).is_some_and(|kind| kind.starts_with("delete"));
    if deletes && let Some(text) = block.get_mut("newText") {
        *text = Value::String(String::new());
    }
    block
}

/// The lines that the diffs among content blocks add and remove, or `None` where there is no diff
/// (docs/spec/fold.md, section 5, `lines`).
pub fn count_lines(output: &[Value]) -> Option<Lines> {
    let diffs = output.iter().filter(|block| is_type(block, "diff"));
    diffs.map(lines_of_diff).reduce(|a, b| Lines { added: a.added + b.added, removed: a.removed + b.removed })
}

fn lines_of_diff(diff: &Value) -> Lines {
    let text = |key| diff.get(key).and_then(Value::as_str).unwrap_or_default();
    let (old, new) = (lines_of(text("oldText")), lines_of(text("newText")));
    let mut lines = Lines::default();
    for op in capture_diff_slices(Algorithm::Myers, &old, &new) {
        match op {
            DiffOp::Equal { .. } => {}
            DiffOp::Delete { old_len, .. } => lines.removed += old_len as u64,
            DiffOp::Insert { new_len, .. } => lines.added += new_len as u64,
            DiffOp::Replace { old_len, new_len, .. } => {
                lines.removed += old_len as u64;
                lines.added += new_len as u64;
            }
        }
    }
    lines
}

/// A line ends at LF or at the end; an absent or empty text has none.
fn lines_of(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.split('\n').collect();
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn longest_common_subsequence(old: &[&str], new: &[&str]) -> usize {
        let mut row = vec![0; new.len() + 1];
        for a in old {
            let mut diagonal = 0;
            for (n, b) in new.iter().enumerate() {
                let above = row[n + 1];
                row[n + 1] = if a == b { diagonal + 1 } else { above.max(row[n]) };
                diagonal = above;
            }
        }
        row[new.len()]
    }

    proptest! {
        #[test]
        fn lines_are_those_outside_the_longest_common_subsequence(old in "([abc]\n?){0,24}", new in "([abc]\n?){0,24}") {
            let lines = lines_of_diff(&json!({"type": "diff", "oldText": old, "newText": new}));
            let (old, new) = (lines_of(&old), lines_of(&new));
            let common = longest_common_subsequence(&old, &new);
            prop_assert_eq!(lines, Lines { added: (new.len() - common) as u64, removed: (old.len() - common) as u64 });
        }
    }

    #[test]
    fn an_absent_old_text_has_no_lines() {
        let diff = json!({"type": "diff", "path": "a", "oldText": null, "newText": "a\nb\n"});
        assert_eq!(count_lines(&[diff]), Some(Lines { added: 2, removed: 0 }));
        assert_eq!(count_lines(&[]), None);
    }

    #[test]
    fn a_terminal_that_content_repeats_is_written_anew_when_it_says_more() {
        let delta =
            |text: &str| Some(TerminalReport { output: Some(TerminalOutput::Delta(text.to_owned())), exit: None });
        let said = vec![json!({"type": "content", "content": {"type": "text", "text": "one"}})];
        let mut pieces = OutputPieces::default();
        pieces.take(Some(said.clone()), delta("one"), None);
        assert_eq!(pieces.blocks(), said);
        assert_eq!(pieces.take(None, delta(" two"), None), OutputChange::Replaced);
        assert_eq!(pieces.blocks()[1]["output"], "one two");
        assert_eq!(pieces.take(None, delta("!"), None), OutputChange::Appended("!".to_owned()));
    }

    #[test]
    fn b53_raw_output_is_shown_only_where_nothing_else_is() {
        let text = |t: &str| vec![json!({"type": "content", "content": {"type": "text", "text": t}})];
        let mut pieces = OutputPieces::default();
        assert_eq!(pieces.take(None, None, Some(text("raw"))), OutputChange::Replaced);
        assert_eq!(pieces.blocks(), text("raw"));
        assert_eq!(pieces.take(Some(text("said")), None, Some(text("raw"))), OutputChange::Replaced);
        assert_eq!(pieces.blocks(), text("said"));
    }
}

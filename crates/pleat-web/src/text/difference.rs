//! What an edit changes, line by line.

use crate::text::terminal::visible;
use pleat_transcript::request::{Edit, Fate};
use similar::{ChangeTag, TextDiff};

/// Lines around a change.
const CONTEXT_LINES: usize = 3;

/// A run of lines near each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hunk {
    /// The number of its first line, in the new text, from 1.
    pub(crate) first_line: usize,
    /// Its lines.
    pub(crate) lines: Vec<Line>,
}

/// A line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// Whether it comes, goes or stays.
    pub(crate) change: LineChange,
    /// Its text, with every character visible, without the line's end.
    pub(crate) text: String,
}

/// Whether a line comes, goes or stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineChange {
    /// Only in the new text.
    Added,
    /// Only in the old text.
    Removed,
    /// In both.
    Kept,
}

/// Bytes of both texts of an edit.
pub(crate) fn bytes_of_texts(edit: &Edit<'_>) -> usize {
    edit.old.len() + edit.new.len()
}

/// The changes of an edit with the lines around them.
pub(crate) fn hunks(edit: &Edit<'_>) -> Vec<Hunk> {
    // The protocol wants a new text even of a deletion.
    let new = if edit.fate == Fate::Deleted { "" } else { edit.new };
    let diff = TextDiff::from_lines(edit.old, new);
    diff.grouped_ops(CONTEXT_LINES)
        .iter()
        .map(|group| Hunk {
            first_line: group.first().map_or(0, |op| op.new_range().start + 1),
            lines: group.iter().flat_map(|op| diff.iter_changes(op)).map(|change| line(&change)).collect(),
        })
        .collect()
}

fn line(change: &similar::Change<&str>) -> Line {
    let text = change.value();
    let text = text.strip_suffix('\n').unwrap_or(text);
    let change = match change.tag() {
        ChangeTag::Insert => LineChange::Added,
        ChangeTag::Delete => LineChange::Removed,
        ChangeTag::Equal => LineChange::Kept,
    };
    Line { change, text: visible(text.strip_suffix('\r').unwrap_or(text)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(old: &str, new: &str, deleted: bool) -> String {
        let fate = if deleted { Fate::Deleted } else { Fate::of_texts(old, new) };
        let edit = Edit { path: "a", old, new, fate };
        let mut out = fate.word().to_owned();
        for line in hunks(&edit).into_iter().flat_map(|hunk| hunk.lines) {
            let mark = match line.change {
                LineChange::Added => '+',
                LineChange::Removed => '-',
                LineChange::Kept => ' ',
            };
            out.push('\n');
            out.push(mark);
            out.push_str(&line.text);
        }
        out
    }

    #[test]
    fn b52_new_deleted_changed_and_empty_files() {
        assert_eq!(shown("", "a\nb\n", false), "new file\n+a\n+b");
        assert_eq!(shown("a\n", "", true), "deleted file\n-a");
        assert_eq!(shown("a\n", "a\n", true), "deleted file\n-a");
        assert_eq!(shown("a\nb\n", "", false), "emptied\n-a\n-b");
        assert_eq!(shown("", "", false), "new file");
        assert_eq!(shown("a\nb\nc\n", "a\nx\nc\n", false), "changed\n a\n-b\n+x\n c");
    }

    #[test]
    fn far_changes_are_hunks_of_their_own() {
        let old: Vec<_> = (1..=40).map(|n| n.to_string()).collect();
        let old = old.join("\n");
        let new = old.replace("5\n", "five\n").replacen("38\n", "x\n", 1);
        let edit = Edit { path: "a", old: &old, new: &new, fate: Fate::Changed };
        let starts: Vec<_> = hunks(&edit).iter().map(|hunk| hunk.first_line).collect();
        assert_eq!(starts.first(), Some(&2));
        assert!(starts.len() > 1);
    }
}

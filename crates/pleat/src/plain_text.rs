//! Marks, words and lines that everything shares which draws a session as plain text. What an agent wrote never reaches
//! a terminal as it came: [`visible`].

use pleat_transcript::call::CallState;
use pleat_transcript::message::{EntryStatus, Media, NoticeLevel, Plan, PlanContent, PlanEntry};
use pleat_transcript::rows::Progress;
use std::fmt::Write;

/// What stands before a call.
pub(crate) fn mark(state: CallState) -> &'static str {
    match state {
        CallState::Pending | CallState::Running => "…",
        CallState::AwaitingPermission => "?",
        CallState::Completed => "✓",
        CallState::Failed => "✗ failed:",
        CallState::Denied => "⊘ denied:",
        CallState::Cancelled | CallState::Superseded => "■ stopped:",
        CallState::Interrupted => "⚡ interrupted:",
    }
}

/// What stands before a notice.
pub(crate) fn notice_mark(level: NoticeLevel) -> &'static str {
    match level {
        NoticeLevel::Info => "note ·",
        NoticeLevel::Warning => "warning !",
        NoticeLevel::Error => "error !",
    }
}

/// `[image image/png chart.png]`
pub(crate) fn media_words(media: &Media) -> String {
    let name = media.name.as_deref().or(media.uri.as_deref()).unwrap_or_default();
    let words = [Some(media.kind.word()), media.mime.as_deref(), Some(name).filter(|name| !name.is_empty())];
    format!("[{}]", words.into_iter().flatten().collect::<Vec<_>>().join(" "))
}

/// A plan: its text, or how far it is and its entries. `progress` is the fold's.
pub(crate) fn plan(plan: &Plan, progress: Option<Progress>, text: &mut String) {
    match (&plan.content, progress) {
        (PlanContent::Text(plan), _) => block("plan ·", plan, text),
        (PlanContent::Entries(entries), Some(progress)) => {
            line("plan ·", &format!("{} of {} done", progress.done, progress.total), text);
            for entry in entries {
                line(&format!("  {}", entry_mark(entry, progress)), &entry.content, text);
            }
        }
        (PlanContent::Entries(_), None) => {}
    }
}

/// An entry runs only where the fold says that one does: not in a turn that is over.
fn entry_mark(entry: &PlanEntry, progress: Progress) -> &'static str {
    match entry.status() {
        EntryStatus::Completed => "[x]",
        EntryStatus::InProgress if progress.running > 0 => "[>]",
        EntryStatus::InProgress | EntryStatus::Pending => "[ ]",
    }
}

/// Some lines, the first behind a mark and the rest as far in as that.
pub(crate) fn block(mark: &str, content: &str, text: &mut String) {
    let indent = " ".repeat(mark.len() - mark.trim_start().len());
    for (number, each) in content.trim_matches('\n').lines().enumerate() {
        line(if number == 0 { mark } else { &indent }, each, text);
    }
}

/// One line behind a mark.
pub(crate) fn line(mark: &str, content: &str, text: &mut String) {
    let gap = if mark.trim().is_empty() { "" } else { " " };
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}", format!("{mark}{gap}{}", visible(content)).trim_end());
}

/// Control characters made visible: a terminal must not obey what an agent wrote, nor show it in another order.
pub(crate) fn visible(content: &str) -> String {
    content
        .chars()
        .map(|c| match c {
            '\t' => '\t',
            '\u{7f}' => '␡',
            '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('␀'),
            '\u{80}'..='\u{9f}' | '\u{2028}' | '\u{2029}' => '�',
            c if reorders(c) => '�',
            c => c,
        })
        .collect()
}

/// The same of a text whose line ends stay.
pub(crate) fn visible_lines(content: &str) -> String {
    content.split('\n').map(|line| visible(line.trim_end_matches('\r'))).collect::<Vec<_>>().join("\n")
}

/// Whether a character reorders those around it.
fn reorders(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown_instead() {
        assert_eq!(visible("a\x1b[2J\tb\r\u{7f}\u{9b}1m\u{202e}c\0é👩‍🚀"), "a␛[2J\tb␍␡�1m�c␀é👩‍🚀");
    }

    #[test]
    fn line_ends_stay_where_a_text_has_several_lines() {
        assert_eq!(visible_lines("a\x1b[2J\r\n\nb\rc\n"), "a␛[2J\n\nb␍c\n");
    }

    #[test]
    fn a_block_is_as_far_in_as_its_mark() {
        let mut text = String::new();
        block("  “", "\none\n\ntwo\n", &mut text);
        assert_eq!(text, "  “ one\n\n  two\n");
    }
}

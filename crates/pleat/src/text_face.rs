//! A session as readable text: the rows of its fold, drawn for a terminal or a file.

use pleat_transcript::call::CallState;
use pleat_transcript::document::{Document, Window};
use pleat_transcript::fold::{FoldError, fold, top_level_messages};
use pleat_transcript::ids::MessageId;
use pleat_transcript::message::{Body, EntryStatus, Media, Message, NoticeLevel, Part, PlanContent, PlanEntry};
use pleat_transcript::rows::{ActivityRow, Children, PlanRow, Progress, Round, Row, RowsDocument, Summary};
use std::collections::HashMap;
use std::fmt::Write;

/// How many messages are folded at once; the fold takes at most 200 as one range.
const MESSAGES_AT_ONCE: usize = 200;

/// A session's messages by id.
type Messages<'a> = HashMap<&'a MessageId, &'a Message>;

/// The whole session, without a line end at its end.
pub(crate) fn draw(document: &Document) -> Result<String, FoldError> {
    let mut text = heading(document);
    let messages: Messages<'_> = document.messages.iter().map(|message| (&message.id, message)).collect();
    for page in top_level_messages(document).chunks(MESSAGES_AT_ONCE) {
        let (Some(from), Some(to)) = (page.first(), page.last()) else { continue };
        let window = Window::Range { from: (*from).clone(), to: (*to).clone() };
        draw_rows(&fold(document, &window)?, &messages, &mut text);
    }
    Ok(text.trim_end().to_owned())
}

fn heading(document: &Document) -> String {
    let session = &document.session;
    let about = [session.title.as_deref(), session.agent.as_deref(), session.root.as_deref()];
    let about: Vec<&str> = about.into_iter().flatten().collect();
    let states: Vec<&str> = session.turns.iter().map(|turn| turn.state.word()).collect();
    let turns = if states.is_empty() { "no turns".to_owned() } else { states.join(", ") };
    format!("{} · {}\n{turns}\n", session.id, about.join(" · "))
}

fn draw_rows(rows: &RowsDocument, messages: &Messages<'_>, text: &mut String) {
    for row in &rows.rows {
        text.push('\n');
        match row {
            Row::Message(row) => draw_message(messages.get(&row.message), text),
            Row::Activity(row) => draw_activity(row, messages, text),
            Row::Plan(row) => draw_plan(row, messages, text),
            Row::Notice(row) => draw_message(messages.get(&row.message), text),
        }
    }
}

fn draw_message(message: Option<&&Message>, text: &mut String) {
    match message.map(|message| &message.body) {
        Some(Body::User(user)) => {
            let who = if user.lead { "lead" } else { "you" };
            block(&format!("{who} ›"), &user.text, text);
            for media in &user.attachments {
                line("", &media_words(media), text);
            }
        }
        Some(Body::Assistant(assistant)) => {
            for part in &assistant.parts {
                match part {
                    Part::Thinking(thinking) => block("thinking ·", &thinking.text, text),
                    Part::Text(said) => block("", &said.text, text),
                    Part::Media(media) => line("", &media_words(media), text),
                    Part::Call(_) => {}
                }
            }
            if let Some(error) = &assistant.error {
                block("error !", error, text);
            }
        }
        Some(Body::Tool(result)) => block("result ·", &result.text, text),
        Some(Body::Notice(notice)) => {
            let level = match notice.level {
                NoticeLevel::Info => "note ·",
                NoticeLevel::Warning => "warning !",
                NoticeLevel::Error => "error !",
            };
            block(level, &notice.text, text);
        }
        Some(Body::Plan(_)) | None => {}
    }
}

fn draw_activity(row: &ActivityRow, messages: &Messages<'_>, text: &mut String) {
    line("▸", &headline(&row.summary), text);
    for error in &row.errors {
        block("  error !", &error.text, text);
    }
    draw_rounds(&row.rounds, 1, messages, text);
}

fn headline(summary: &Summary) -> String {
    format!("{} · {}", summary.title, summary.headline)
}

/// What was said in each round, then what was done.
fn draw_rounds(rounds: &[Round], depth: usize, messages: &Messages<'_>, text: &mut String) {
    let indent = "  ".repeat(depth);
    for round in rounds {
        if let Some(Body::Assistant(assistant)) = messages.get(&round.message).map(|message| &message.body) {
            for part in &assistant.parts {
                match part {
                    Part::Thinking(thinking) => block(&format!("{indent}thinking ·"), &thinking.text, text),
                    Part::Text(said) => block(&format!("{indent}“"), &said.text, text),
                    Part::Media(media) => line(&indent, &media_words(media), text),
                    Part::Call(_) => {}
                }
            }
        }
        for call in &round.calls {
            line(&format!("{indent}{}", mark(call.state)), &call.label, text);
            if let Some(children) = &call.children {
                draw_children(children, depth + 1, messages, text);
            }
        }
    }
}

fn mark(state: CallState) -> &'static str {
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

fn draw_children(children: &Children, depth: usize, messages: &Messages<'_>, text: &mut String) {
    draw_rounds(&children.rounds, depth, messages, text);
    for error in &children.errors {
        line(&format!("{}error !", "  ".repeat(depth)), &error.text, text);
    }
}

fn draw_plan(row: &PlanRow, messages: &Messages<'_>, text: &mut String) {
    let Some(Body::Plan(plan)) = messages.get(&row.message).map(|message| &message.body) else { return };
    match (&plan.content, row.progress) {
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

fn media_words(media: &Media) -> String {
    let name = media.name.as_deref().or(media.uri.as_deref()).unwrap_or_default();
    let words = [Some(media.kind.word()), media.mime.as_deref(), Some(name).filter(|name| !name.is_empty())];
    format!("[{}]", words.into_iter().flatten().collect::<Vec<_>>().join(" "))
}

/// Some lines, the first behind a mark and the rest as far in as that.
fn block(mark: &str, content: &str, text: &mut String) {
    let indent = " ".repeat(mark.len() - mark.trim_start().len());
    for (number, each) in content.trim_matches('\n').lines().enumerate() {
        line(if number == 0 { mark } else { &indent }, each, text);
    }
}

fn line(mark: &str, content: &str, text: &mut String) {
    let gap = if mark.trim().is_empty() { "" } else { " " };
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}", format!("{mark}{gap}{}", visible(content)).trim_end());
}

/// Control characters made visible: a terminal must not obey what an agent wrote.
fn visible(content: &str) -> String {
    content
        .chars()
        .map(|c| match c {
            '\t' => '\t',
            '\u{7f}' => '␡',
            '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('␀'),
            '\u{80}'..='\u{9f}' => '�',
            c => c,
        })
        .collect()
}

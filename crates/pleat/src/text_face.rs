//! A session as readable text: the rows of its fold, drawn for a terminal or a file.

use crate::plain_text::{block, line, mark, media_words, notice_mark, plan, visible};
use pleat_transcript::document::{Document, Window};
use pleat_transcript::fold::{FoldError, fold, top_level_messages};
use pleat_transcript::ids::MessageId;
use pleat_transcript::message::{Body, Message, Part};
use pleat_transcript::rows::{ActivityRow, Children, PlanRow, Round, Row, RowsDocument, Summary};
use std::collections::HashMap;

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
    let about = visible(&format!("{} · {}", session.id, about.join(" · ")));
    format!("{about}\n{turns}\n")
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
        Some(Body::Notice(notice)) => block(notice_mark(notice.level), &notice.text, text),
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

fn draw_children(children: &Children, depth: usize, messages: &Messages<'_>, text: &mut String) {
    draw_rounds(&children.rounds, depth, messages, text);
    for error in &children.errors {
        line(&format!("{}error !", "  ".repeat(depth)), &error.text, text);
    }
}

fn draw_plan(row: &PlanRow, messages: &Messages<'_>, text: &mut String) {
    if let Some(Body::Plan(shown)) = messages.get(&row.message).map(|message| &message.body) {
        plan(shown, row.progress, text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_holds_nothing_that_a_terminal_would_obey() {
        let session =
            serde_json::json!({"id": "s", "title": "a\u{1b}[2Jb\nc", "agent": "x\u{7}", "root": "/w\u{202e}"});
        let document = Document::from_json(&serde_json::json!({"session": session}).to_string()).unwrap();
        assert_eq!(draw(&document).unwrap(), "s · a␛[2Jb␊c · x␇ · /w�\nno turns");
    }
}

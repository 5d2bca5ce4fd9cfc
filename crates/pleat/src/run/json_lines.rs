//! `pleat run --json`: each row of the fold as a line, when it is settled.
//!
//! A row is settled when a later one exists and it cannot grow any more, or when the turn is over. One that changed after
//! that is printed again, with the same key: its `run` where it has one, else its `id`.

use super::following::Reader;
use super::page::Page;
use pleat_store::StoreError;
use pleat_transcript::document::Window;
use pleat_transcript::document::message_to_json;
use pleat_transcript::fold::MOST_IN_RANGE;
use pleat_transcript::ids::MessageId;
use pleat_transcript::rows::{ActivityRow, Row};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Rows as JSON lines.
#[derive(Default)]
pub(super) struct JsonLines {
    /// What was printed of each row, by its id.
    printed: HashMap<MessageId, u64>,
    /// The messages of the run that was read last: a window may hold only a part of it.
    run: Option<(MessageId, Vec<MessageId>)>,
}

impl JsonLines {
    /// The lines of rows that are settled now, and new or changed.
    pub(super) async fn print(&mut self, page: &Page, reader: &Reader) -> Result<String, StoreError> {
        let mut text = String::new();
        let last = page.rows.rows.len().saturating_sub(1);
        for (place, row) in page.rows.rows.iter().enumerate() {
            let is_last = place == last && !page.rows.window.later;
            match row {
                Row::Activity(row) => {
                    self.gather(row);
                    if !row.continues.later && (page.is_over || !is_last && !row.summary.live) {
                        self.activity(row, page, reader, &mut text).await?;
                    }
                }
                Row::Message(_) | Row::Plan(_) | Row::Notice(_) if page.is_over || !is_last => {
                    self.row(row, page, &mut text);
                }
                Row::Message(_) | Row::Plan(_) | Row::Notice(_) => {}
            }
        }
        Ok(text)
    }

    /// Remembers which messages a run has, as windows show them one after the other.
    fn gather(&mut self, row: &ActivityRow) {
        match &mut self.run {
            Some((run, messages)) if *run == row.run && row.continues.earlier => {
                let known = row.messages.iter().position(|message| Some(message) == messages.last());
                messages.extend(row.messages[known.map_or(0, |place| place + 1)..].iter().cloned());
            }
            Some(_) | None => self.run = Some((row.run.clone(), row.messages.clone())),
        }
    }

    /// A row that its window may show only the end of: it is read whole, or where that is too long for one window, in
    /// several rows.
    async fn activity(
        &mut self,
        row: &ActivityRow,
        page: &Page,
        reader: &Reader,
        text: &mut String,
    ) -> Result<(), StoreError> {
        if !row.continues.earlier {
            self.row(&Row::Activity(Box::new(row.clone())), page, text);
            return Ok(());
        }
        if self.printed.contains_key(&row.run) && !page.is_over {
            // Whether it has changed is seen in the end.
            return Ok(());
        }
        let messages = self.run.take().map(|(_, messages)| messages).unwrap_or_default();
        for part in messages.chunks(MOST_IN_RANGE) {
            let (Some(from), Some(to)) = (part.first(), part.last()) else { continue };
            let part = reader.page(Window::Range { from: from.clone(), to: to.clone() }).await?;
            for row in &part.rows.rows {
                self.row(row, &part, text);
            }
        }
        Ok(())
    }

    fn row(&mut self, row: &Row, page: &Page, text: &mut String) {
        let mut line = Map::new();
        line.insert("row".to_owned(), serde_json::to_value(row).unwrap_or_default());
        if let Some(message) = shown_by(row).and_then(|id| page.excerpt.messages().find(|message| message.id == *id)) {
            line.insert("message".to_owned(), message_to_json(message));
        }
        let line = Value::Object(line).to_string();
        let mut hasher = DefaultHasher::new();
        line.hash(&mut hasher);
        if self.printed.insert(row.id().clone(), hasher.finish()) != Some(hasher.finish()) {
            text.push_str(&line);
            text.push('\n');
        }
    }
}

/// The message that a row shows, which says what it is about. What an activity row did is in the row.
fn shown_by(row: &Row) -> Option<&MessageId> {
    match row {
        Row::Message(row) => Some(&row.message),
        Row::Plan(row) => Some(&row.message),
        Row::Notice(row) => Some(&row.message),
        Row::Activity(_) => None,
    }
}

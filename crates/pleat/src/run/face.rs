//! The two forms of what is printed on stdout.

use super::following::Reader;
use super::json_lines::JsonLines;
use super::page::Page;
use super::printer::Printer;
use super::screen::Screen;
use pleat_store::StoreError;
use pleat_transcript::ids::MessageId;
use std::collections::BTreeSet;

/// What is printed on stdout.
pub(super) enum Form {
    Text(Printer),
    Json(JsonLines),
}

/// Prints what pages show, on a screen.
pub(super) struct Face {
    pub(super) form: Form,
    pub(super) screen: Screen,
}

impl Face {
    pub(super) async fn show(&mut self, page: &Page, reader: &Reader) -> Result<(), StoreError> {
        let text = match &mut self.form {
            Form::Text(printer) => printer.print(page),
            Form::Json(lines) => lines.print(page, reader).await?,
        };
        self.screen.print(&text);
        Ok(())
    }

    /// The message whose text grows on the screen.
    pub(super) fn growing(&self) -> Option<MessageId> {
        match &self.form {
            Form::Text(printer) => printer.growing().cloned(),
            Form::Json(_) => None,
        }
    }

    /// Messages that have more to print when they change, wherever they stand.
    pub(super) fn unfinished(&self) -> BTreeSet<MessageId> {
        match &self.form {
            Form::Text(printer) => printer.unfinished().clone(),
            Form::Json(_) => BTreeSet::new(),
        }
    }

    /// Prints a JSON line, where those are printed.
    pub(super) fn print_json(&mut self, line: &serde_json::Value) {
        match &self.form {
            Form::Text(_) => {}
            Form::Json(_) => self.screen.print(&format!("{line}\n")),
        }
    }
}

//! A transcript document → rows: whatever is read, every window folds, and an export is read without loss.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pleat_transcript::document::{Document, Window};
use pleat_transcript::fold::{FoldError, MOST_IN_RANGE, MOST_IN_WINDOW, fold, top_level_messages};
use pleat_transcript::ids::MessageId;

/// How many messages windows are made around: more would only slow the search down.
const MOST_TRIED: usize = 48;

fuzz_target!(|text: &str| {
    let Ok(document) = Document::from_json(text) else { return };
    export_is_read_without_loss(&document);
    every_window_folds(&document);
    let mut imported = document;
    imported.prepare_import();
    export_is_read_without_loss(&imported);
});

fn export_is_read_without_loss(document: &Document) {
    let text = document.to_json().to_string();
    let again = Document::from_json(&text).expect("an export is a document");
    assert_eq!(&again, document);
    assert_eq!(again.to_json().to_string(), text);
}

fn every_window_folds(document: &Document) {
    match fold(document, &document.window) {
        Ok(_)
        | Err(FoldError::UnknownMessage(_) | FoldError::BackwardRange { .. } | FoldError::RangeTooLong { .. }) => {}
    }
    check(document, &Window::Latest, MOST_IN_WINDOW);
    for message in document.messages.iter().take(MOST_TRIED) {
        for window in [Window::At, Window::Earlier, Window::Later].map(|of| of(message.id.clone())) {
            check(document, &window, MOST_IN_WINDOW);
        }
    }
    let top: Vec<MessageId> = top_level_messages(document).into_iter().take(MOST_TRIED).cloned().collect();
    for (number, from) in top.iter().enumerate() {
        let to = &top[number + (top.len() - 1 - number) / 2];
        check(document, &Window::Range { from: from.clone(), to: to.clone() }, MOST_IN_RANGE);
    }
}

fn check(document: &Document, window: &Window, most: usize) {
    let folded = fold(document, window).expect("its message is there");
    let top = top_level_messages(document).len();
    let held = top - folded.window.before - folded.window.after;
    assert!(held <= most && folded.rows.len() <= held);
    serde_json::to_string(&folded).expect("rows are JSON");
}

//! What is typed into a search, and a text → where it matches: nothing panics, what is found lies in the text, and the
//! index proposes every text that matches.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pleat_store::search::{Query, chunks, snippet};

fuzz_target!(|input: (&str, &str)| {
    let (typed, text) = input;
    let Ok(query) = Query::parse(typed) else { return };
    let Some(found) = query.find_in(text) else { return };
    assert!(!found.is_empty());
    for range in &found {
        assert!(text.get(range.clone()).is_some_and(|piece| !piece.is_empty()));
    }
    let snippet = snippet(text, &found, 80);
    for mark in &snippet.marks {
        assert!(snippet.text.get(mark.clone()).is_some());
    }
    // Each phrase stands in some chunk: its tokens do.
    let chunks = chunks(text);
    for phrase in query.phrases() {
        let whole = phrase.tokens().len() - usize::from(phrase.is_prefix());
        let has = |token: &String| chunks.iter().any(|chunk| chunk.tokens().any(|known| known == token));
        assert!(phrase.tokens()[..whole].iter().all(has));
    }
});

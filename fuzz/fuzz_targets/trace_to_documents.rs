//! A trace file, also a session's raw traffic as Pleat keeps it → documents: nothing in it makes reading or replaying
//! panic, and what comes of it are documents.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pleat_acp::{trace, trace_replay};
use pleat_transcript::document::Document;

fuzz_target!(|input: &[u8]| {
    let Ok(replayed) = trace_replay::replay(trace::read(input)) else { return };
    for document in replayed.documents {
        let text = document.to_json().to_string();
        assert_eq!(Document::from_json(&text).expect("what is replayed is a document"), document);
    }
});

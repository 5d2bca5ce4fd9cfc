//! How fast the record is, with a figure that `cargo xtask bench core` sets beside its aim.

#![allow(clippy::unwrap_used, missing_docs, reason = "a bench may panic, and its parts are nobody's interface")]

use divan::Bencher;
use divan::counter::ItemsCount;
use pleat_transcript::event::{Channel, Event, PromptKey, TextChunk};
use pleat_transcript::ids::{CountedIds, SessionId};
use pleat_transcript::record::SessionRecord;

fn main() {
    divan::main();
}

/// A plain delta, as agents without message ids send them.
fn delta(number: usize) -> Event {
    let text = format!("word {number} ");
    Event::Text(TextChunk { channel: Channel::Message, text, message_id: None, parent: None })
}

/// A turn of so many plain deltas.
#[divan::bench(args = [100_000])]
fn plain_deltas(bencher: Bencher, deltas: usize) {
    bencher
        .counter(ItemsCount::new(deltas))
        .with_inputs(|| {
            let mut ids = CountedIds::default();
            let mut record = SessionRecord::new(SessionId::new("s1").unwrap());
            let prompt =
                Event::Prompt { prompt: PromptKey("1".to_owned()), text: "Go".to_owned(), attachments: vec![] };
            record.apply(prompt, 0, &mut ids);
            (record, ids, (0..deltas).map(delta).collect::<Vec<_>>())
        })
        .bench_local_values(|(mut record, mut ids, events)| {
            let mut changes = 0;
            for event in events {
                changes += record.apply(divan::black_box(event), 1, &mut ids).len();
            }
            changes
        });
}

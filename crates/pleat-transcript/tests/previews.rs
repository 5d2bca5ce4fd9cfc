//! Calls that hold previews of large requests and results have the labels, headlines and summaries of the whole ones.

#![allow(clippy::unwrap_used, reason = "the helpers of tests may panic too")]

mod document_generator;

use document_generator::conversation::conversation;
use pleat_transcript::call::Call;
use pleat_transcript::document::{Document, Window};
use pleat_transcript::fold::fold;
use pleat_transcript::message::{Body, Part};
use pleat_transcript::preview::{PREVIEW_BYTES, bytes_of_output, of_input, preview_input, preview_output};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

fn calls(document: &mut Document) -> impl Iterator<Item = &mut Call> {
    let parts = document.messages.iter_mut().flat_map(|message| match &mut message.body {
        Body::Assistant(assistant) => assistant.parts.iter_mut(),
        Body::User(_) | Body::Tool(_) | Body::Plan(_) | Body::Notice(_) => [].iter_mut(),
    });
    parts.filter_map(|part| match part {
        Part::Call(call) => Some(&mut **call),
        Part::Thinking(_) | Part::Text(_) | Part::Media(_) => None,
    })
}

/// A text of many bytes, of a character each.
fn long_text() -> impl Strategy<Value = String> {
    let character = proptest::sample::select(&["a", "\n", "\u{1}", "é", "😀", "e\u{301}", "/"][..]);
    (character, 20_000..70_000_usize).prop_map(|(character, count)| character.repeat(count))
}

fn large_input() -> impl Strategy<Value = Value> {
    let keys = &["path", "command", "cmd", "pattern", "query", "url", "description", "prompt", "name", "content"];
    let key = proptest::sample::select(&keys[..]);
    let text = prop_oneof![1 => long_text(), 2 => "[a-c/. ]{0,9}"];
    prop_oneof![
        6 => vec((key, text), 1..6).prop_map(|members| {
            members.into_iter().map(|(key, value)| (key.to_owned(), json!(value))).collect::<Value>()
        }),
        1 => long_text().prop_map(Value::from),
        1 => vec(long_text(), 1..3).prop_map(Value::from),
    ]
}

fn block() -> impl Strategy<Value = Value> {
    let path = prop_oneof![
        4 => "(/home/me/app/)?[a-c/.]{0,9}".prop_map(Value::from),
        1 => (50..200_usize).prop_map(|count| json!(format!("/home/me/app/{}x", "../folder/".repeat(count)))),
        1 => Just(json!(7)),
        1 => Just(Value::Null),
        1 => vec(long_text(), 1).prop_map(Value::from),
    ];
    prop_oneof![
        2 => (path, long_text()).prop_map(|(path, text)| json!({"type": "diff", "newText": text, "path": path})),
        2 => long_text().prop_map(|text| json!({"type": "content", "content": {"type": "text", "text": text}})),
        1 => long_text().prop_map(|text| json!({"type": "terminal", "output": text, "exit": 1})),
        1 => (0..200_usize).prop_map(|count| json!(vec!["item"; count])),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Rule: fold 6.11
    #[test]
    fn rows_with_previews_are_the_rows(
        mut document in conversation(12),
        inputs in vec(large_input(), 6),
        outputs in vec(vec(block(), 0..4), 6),
    ) {
        for (call, (input, output)) in calls(&mut document).zip(inputs.into_iter().zip(outputs)) {
            (call.input, call.output) = (Some(input), output);
        }
        let whole = fold(&document, &Window::Latest).unwrap();
        let mut bytes = 0;
        for call in calls(&mut document) {
            if let Some(preview) = call.input.as_ref().and_then(preview_input) {
                prop_assert!(preview.to_string().len() <= PREVIEW_BYTES);
                prop_assert!(of_input(&preview).is_some());
                call.input = Some(preview);
            }
            if let Some(preview) = preview_output(&call.output) {
                bytes += serde_json::to_string(&preview).unwrap().len();
                prop_assert!(bytes_of_output(&preview).is_some());
                call.output = preview;
            }
        }
        prop_assert!(bytes <= 6 * (PREVIEW_BYTES + 2_100));
        prop_assert_eq!(fold(&document, &Window::Latest).unwrap(), whole);
    }
}

//! The conformance vectors of docs/spec/fold.md, each as its own test (vectors/README.md).

#![allow(clippy::unwrap_used, reason = "the helpers of tests may panic too")]

use pleat_transcript::document::Document;
use pleat_transcript::fold::fold;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/fold")
}

/// What `pleat fold` does with a document: rows, or the text of the error.
fn fold_text(document: &Value) -> Result<Value, String> {
    let document = Document::from_json(&document.to_string()).map_err(|error| error.to_string())?;
    let rows = fold(&document, &document.window).map_err(|error| error.to_string())?;
    Ok(serde_json::to_value(rows).unwrap())
}

/// Where `found` does not match `expected`: an object's unlisted keys are ignored, all else must be equal.
fn mismatch(path: &str, expected: &Value, found: &Value) -> Option<String> {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            expected.iter().find_map(|(key, value)| match found.get(key) {
                Some(found) => mismatch(&format!("{path}.{key}"), value, found),
                None => Some(format!("{path}.{key}: not there")),
            })
        }
        (Value::Array(expected), Value::Array(found)) if expected.len() == found.len() => {
            let mut items = expected.iter().zip(found).enumerate();
            items.find_map(|(index, (expected, found))| mismatch(&format!("{path}[{index}]"), expected, found))
        }
        (expected, found) if expected == found => None,
        (expected, found) => Some(format!("{path}: expected {expected}, found {found}")),
    }
}

fn check_step(step: &Value) -> Option<String> {
    let (expected, outcome) = (&step["expect"], fold_text(&step["given"]));
    match (expected.get("error"), outcome) {
        (Some(text), Err(error)) => {
            let text = text.as_str().unwrap();
            (!error.contains(text)).then(|| format!("the error {error:?} does not contain {text:?}"))
        }
        (Some(_), Ok(rows)) => Some(format!("expected an error, found {rows}")),
        (None, Err(error)) => Some(format!("unexpected error: {error}")),
        (None, Ok(rows)) => mismatch("", expected, &rows),
    }
}

fn check(file: &str) {
    let text = std::fs::read_to_string(folder().join(file)).unwrap();
    let vector: Value = serde_json::from_str(&text).unwrap();
    let whole = std::slice::from_ref(&vector);
    let steps = vector["steps"].as_array().map_or(whole, Vec::as_slice);
    assert!(!steps.is_empty());
    for (index, step) in steps.iter().enumerate() {
        if let Some(problem) = check_step(step) {
            panic!("{file}, step {index} ({}): {problem}", vector["name"]);
        }
    }
}

macro_rules! vectors {
    ($($test:ident => $file:literal,)*) => {
        $(
            #[test]
            fn $test() {
                check($file);
            }
        )*

        const FILES: &[&str] = &[$($file),*];
    };
}

vectors! {
    input_01_unknown_words => "0-input-01-unknown-words.json",
    window_01_empty => "1-window-01-empty.json",
    window_02_one => "1-window-02-one.json",
    window_03_up_to_forty => "1-window-03-up-to-forty.json",
    window_04_forty_one => "1-window-04-forty-one.json",
    window_05_eighty => "1-window-05-eighty.json",
    window_06_at => "1-window-06-at.json",
    window_07_page_earlier => "1-window-07-page-earlier.json",
    window_08_page_later => "1-window-08-page-later.json",
    window_09_run_split => "1-window-09-run-split.json",
    window_10_live_steps => "1-window-10-live-steps.json",
    window_11_unknown_id => "1-window-11-unknown-id.json",
    window_12_not_top_level => "1-window-12-not-top-level.json",
    window_13_range => "1-window-13-range.json",
    norow_01_result_on_call => "2-norow-01-result-on-call.json",
    norow_02_unmatched_result => "2-norow-02-unmatched-result.json",
    norow_03_blank_assistant => "2-norow-03-blank-assistant.json",
    norow_04_error_alone => "2-norow-04-error-alone.json",
    norow_05_thinking_alone => "2-norow-05-thinking-alone.json",
    plan_01_one_stream => "3-plan-01-one-stream.json",
    plan_02_two_streams => "3-plan-02-two-streams.json",
    plan_03_stream_other_turn => "3-plan-03-stream-other-turn.json",
    plan_04_list_replaced => "3-plan-04-list-replaced.json",
    plan_05_list_cleared => "3-plan-05-list-cleared.json",
    plan_06_list_next_turn => "3-plan-06-list-next-turn.json",
    plan_07_list_place => "3-plan-07-list-place.json",
    plan_08_chain => "3-plan-08-chain.json",
    plan_09_chain_broken_by_message => "3-plan-09-chain-broken-by-message.json",
    plan_10_chain_other_turn => "3-plan-10-chain-other-turn.json",
    plan_11_chain_not_a_prefix => "3-plan-11-chain-not-a-prefix.json",
    plan_12_chain_equal => "3-plan-12-chain-equal.json",
    plan_13_chain_over_no_rows => "3-plan-13-chain-over-no-rows.json",
    plan_14_edge_stream => "3-plan-14-edge-stream.json",
    plan_15_edge_chain => "3-plan-15-edge-chain.json",
    plan_16_turn_over => "3-plan-16-turn-over.json",
    plan_17_snapshot_ends_no_group => "3-plan-17-snapshot-ends-no-group.json",
    children_01_calls_with_parent => "4-children-01-calls-with-parent.json",
    children_02_sub_agent_messages => "4-children-02-sub-agent-messages.json",
    children_03_depth_three => "4-children-03-depth-three.json",
    children_04_parent_unknown => "4-children-04-parent-unknown.json",
    children_05_calls_alone => "4-children-05-calls-alone.json",
    group_01_rounds => "4-group-01-rounds.json",
    group_02_growth => "4-group-02-growth.json",
    group_03_notice => "4-group-03-notice.json",
    group_04_single => "4-group-04-single.json",
    group_05_error_in_round => "4-group-05-error-in-round.json",
    group_06_streaming_prose => "4-group-06-streaming-prose.json",
    group_07_blank_between_calls => "4-group-07-blank-between-calls.json",
    group_08_what_ends => "4-group-08-what-ends.json",
    summary_01_mixed_live => "5-summary-01-mixed-live.json",
    summary_02_singular => "5-summary-02-singular.json",
    summary_03_stopped_interrupted => "5-summary-03-stopped-interrupted.json",
    summary_04_all_completed => "5-summary-04-all-completed.json",
    summary_05_queued_siblings => "5-summary-05-queued-siblings.json",
    summary_06_awaiting_permission => "5-summary-06-awaiting-permission.json",
    summary_07_active_assistant => "5-summary-07-active-assistant.json",
    summary_08_what_follows => "5-summary-08-what-follows.json",
    summary_09_narration => "5-summary-09-narration.json",
    summary_10_kinds_lines_elapsed => "5-summary-10-kinds-lines-elapsed.json",
    label_01_create_file => "6-label-01-create-file.json",
    label_02_args => "6-label-02-args.json",
    label_03_malformed_input => "6-label-03-malformed-input.json",
    label_04_search => "6-label-04-search.json",
    label_05_servers => "6-label-05-servers.json",
    label_06_memory => "6-label-06-memory.json",
    label_07_paths => "6-label-07-paths.json",
    label_08_over_64_kib => "6-label-08-over-64-kib.json",
    label_09_cut => "6-label-09-cut.json",
    label_10_clusters => "6-label-10-clusters.json",
    label_11_same_id_other_server => "6-label-11-same-id-other-server.json",
    label_12_shell_wrapper => "6-label-12-shell-wrapper.json",
    label_13_mcp_names => "6-label-13-mcp-names.json",
    label_14_by_kind => "6-label-14-by-kind.json",
    label_15_by_name => "6-label-15-by-name.json",
    label_16_unknown_tool => "6-label-16-unknown-tool.json",
    label_17_title_as_argument => "6-label-17-title-as-argument.json",
}

#[test]
fn every_vector_file_has_a_test() {
    let files = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let tested = FILES.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
    assert_eq!(files.collect::<BTreeSet<_>>(), tested);
}

/// Storing or exporting a session changes none of its rows.
#[test]
fn an_export_of_any_vector_folds_to_the_same_rows() {
    for file in FILES {
        let vector: Value = serde_json::from_str(&std::fs::read_to_string(folder().join(file)).unwrap()).unwrap();
        let steps = vector["steps"].as_array().cloned().unwrap_or_else(|| vec![vector]);
        for given in steps.iter().map(|step| &step["given"]) {
            if let Ok(document) = Document::from_json(&given.to_string()) {
                assert_eq!(fold_text(&document.to_json()), fold_text(given), "{file}");
            }
        }
    }
}

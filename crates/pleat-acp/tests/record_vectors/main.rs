//! The vectors of docs/spec/record.md, each as its own test, from the copies in `tests/vectors/record/`.

#![allow(clippy::unwrap_used, reason = "the helpers of tests may panic too")]
#![allow(clippy::needless_pass_by_value, reason = "`json!` reads better without a reference")]

mod expand;
mod matching;

use expand::expand;
use matching::{assert_matches, assert_shows};
use pleat_acp::trace;
use pleat_acp::trace_replay::replay;
use pleat_transcript::document::{Document, Window};
use pleat_transcript::fold::fold;
use serde_json::{Value, json};
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/record")
}

fn check(name: &str) {
    let text = std::fs::read_to_string(folder().join(format!("{name}.json"))).unwrap();
    let vector: Value = serde_json::from_str(&text).unwrap();
    let lines = expand(&vector).join("\n") + "\n";
    let replayed = replay(trace::read(lines.as_bytes())).unwrap();
    let documents: Vec<Value> = replayed.documents.iter().map(Document::to_json).collect();
    let printed = documents.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    let expected = &vector["expect"];
    let expected = expected.as_array().cloned().unwrap_or_else(|| vec![expected.clone()]);
    assert_eq!(documents.len(), expected.len(), "{name}: documents\n{printed}");
    for (expected, document) in expected.iter().zip(&documents) {
        assert_matches(expected, document, name);
    }
    if let Some(rows) = vector.get("rows") {
        let folded = fold(&replayed.documents[0], &Window::Latest).unwrap();
        assert_matches(rows, &json!(folded), &format!("{name}: rows"));
    }
    assert_shows(vector.get("shows"), &documents, name);
    for text in strings(&vector, "mentions") {
        assert!(printed.contains(&text), "{name}: `{text}` is mentioned nowhere in\n{printed}");
    }
    for text in strings(&vector, "never") {
        assert!(!printed.contains(&text), "{name}: `{text}` is mentioned in\n{printed}");
    }
}

fn strings(vector: &Value, key: &str) -> Vec<String> {
    let list = vector.get(key).and_then(Value::as_array).into_iter().flatten();
    list.map(|text| text.as_str().unwrap().to_owned()).collect()
}

macro_rules! vectors {
    ($($test:ident $name:literal)*) => {
        $(#[test] fn $test() { check($name); })*

        #[test]
        fn every_vector_has_a_test() {
            let mut files: Vec<String> = std::fs::read_dir(folder()).unwrap()
                .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned()).collect();
            files.sort();
            let mut tests = vec![$($name),*];
            tests.sort_unstable();
            assert_eq!(files, tests);
        }
    };
}

vectors! {
    calls_01_permission_first "calls-01-permission-first"
    calls_01_update_first "calls-01-update-first"
    calls_02_background "calls-02-background"
    calls_02_id_repeats_across_turns "calls-02-id-repeats-across-turns"
    calls_02_id_repeats_in_a_turn "calls-02-id-repeats-in-a-turn"
    calls_03_empty_input "calls-03-empty-input"
    calls_03_sparse_updates "calls-03-sparse-updates"
    calls_04_cancel "calls-04-cancel"
    calls_04_end_while_request_open "calls-04-end-while-request-open"
    calls_04_opencode_exit_code "calls-04-opencode-exit-code"
    calls_04_output_means_running "calls-04-output-means-running"
    calls_04_permission_allowed "calls-04-permission-allowed"
    calls_04_permission_refused "calls-04-permission-refused"
    calls_04_states_are_no_ladder "calls-04-states-are-no-ladder"
    calls_04_status_in_request "calls-04-status-in-request"
    calls_05_failed_turn "calls-05-failed-turn"
    calls_05_kill "calls-05-kill"
    calls_05_late_end_after_the_answer "calls-05-late-end-after-the-answer"
    calls_05_times_and_lines "calls-05-times-and-lines"
    calls_06_growing_content "calls-06-growing-content"
    calls_06_output_deltas "calls-06-output-deltas"
    calls_06_raw_output "calls-06-raw-output"
    calls_06_terminal_output "calls-06-terminal-output"
    calls_07_deleted_file "calls-07-deleted-file"
    calls_08_copilot_agent_id "calls-08-copilot-agent-id"
    calls_08_sub_agent_session "calls-08-sub-agent-session"
    calls_09_names "calls-09-names"
    plans_01_announcement_only "plans-01-announcement-only"
    plans_01_equal_and_shorter "plans-01-equal-and-shorter"
    plans_01_growing_text "plans-01-growing-text"
    plans_01_two_calls "plans-01-two-calls"
    plans_02_entries "plans-02-entries"
    plans_02_to_do_call_and_plan "plans-02-to-do-call-and-plan"
    plans_02_to_do_call_only "plans-02-to-do-call-only"
    plans_04_empty_text "plans-04-empty-text"
    rest_00_refused_second_prompt "rest-00-refused-second-prompt"
    rest_00_two_sessions "rest-00-two-sessions"
    rest_01_options "rest-01-options"
    rest_02_error_reports_our_cancel "rest-02-error-reports-our-cancel"
    rest_02_nothing_said "rest-02-nothing-said"
    rest_02_stop_reasons "rest-02-stop-reasons"
    rest_02_unknown_reason "rest-02-unknown-reason"
    rest_03_failed_without_calls "rest-03-failed-without-calls"
    rest_03_late_text "rest-03-late-text"
    rest_04_torn_last_line "rest-04-torn-last-line"
    rest_04_unknown_things "rest-04-unknown-things"
    rest_05_load_after_kill_adds_tail "rest-05-load-after-kill-adds-tail"
    rest_05_load_repeats "rest-05-load-repeats"
    rest_05_load_with_empty_store "rest-05-load-with-empty-store"
    rest_05_load_with_other_ids "rest-05-load-with-other-ids"
    rest_06_usage "rest-06-usage"
    text_01_exact_deltas "text-01-exact-deltas"
    text_02_message_ids "text-02-message-ids"
    text_02_parallel_sub_agents "text-02-parallel-sub-agents"
    text_02_plan_ends_round "text-02-plan-ends-round"
    text_02_qwen_end_of_text "text-02-qwen-end-of-text"
    text_02_repeated_plan_new_part "text-02-repeated-plan-new-part"
    text_02_thinking_text_calls "text-02-thinking-text-calls"
    text_03_empty_chunk "text-03-empty-chunk"
    text_03_white_space_held "text-03-white-space-held"
    text_04_consolidated_copy "text-04-consolidated-copy"
    text_04_overlap_is_no_copy "text-04-overlap-is-no-copy"
    text_05_echo_and_injected "text-05-echo-and-injected"
    text_06_image "text-06-image"
}

//! What every store must do, asked of each store there is.

#![allow(clippy::unwrap_used, reason = "this is a test, its helpers too")]

#[allow(dead_code, reason = "not all of it is needed here")]
mod conversation;
mod databases;
mod suite;

use databases::TestDatabase;
use pleat_store::sqlite::SqliteStore;

/// Makes a test of each function of the suite, for each store.
macro_rules! conformance {
    ($($name:ident),* $(,)?) => {
        mod sqlite {
            $(#[tokio::test]
            async fn $name() {
                super::suite::$name(&super::SqliteStore::open_temporary().unwrap()).await;
            })*
        }

        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                let Some(database) = super::TestDatabase::create().await else { return };
                super::suite::$name(&database.open().await).await;
                database.remove().await;
            })*
        }
    };
}

conformance! {
    a_created_session_is_read_back,
    every_change_is_applied,
    every_kind_of_message_is_read_back,
    random_changes_leave_what_a_document_would_be,
    changes_that_alter_nothing_write_nothing,
    a_change_that_does_not_fit_leaves_nothing,
    an_id_that_is_taken_leaves_nothing,
    appended_output_is_joined_and_replaced,
    sessions_are_kept_apart,
    unknown_sessions_are_errors,
    an_imported_document_is_read_back,
    sessions_are_listed_by_activity,
    the_list_shows_the_last_words,
    the_list_shows_who_waits,
    open_sessions_are_found,
    names_that_agents_give_are_kept,
    commits_at_once_are_all_counted,
    questions_are_told_with_any_window,
    recovery_closes_all_that_is_open_at_once,
    recovery_again_changes_nothing,
    recovery_of_several_sessions_keeps_them_apart,
    recovery_closes_whatever_is_open,
    recovery_closes_turns_that_wait,
    recovery_leaves_no_earlier_question_open,
    what_was_recovered_goes_on,
    large_values_come_back_whole,
    a_value_is_large_above_its_limit,
    large_media_come_back_whole,
    a_large_value_again_is_no_change,
    large_values_replace_each_other,
    a_long_output_is_joined_when_its_call_ends,
    a_long_text_comes_back_exactly,
    a_plan_that_grows_is_one_message,
    a_plan_that_comes_again_is_no_news,
    each_call_and_turn_has_a_plan_of_its_own,
    plans_without_a_call_are_appended,
    a_message_that_is_not_the_plan_is_left_alone,
    a_plan_keeps_its_place,
    a_plan_never_has_the_id_of_its_call,
    a_plan_that_was_updated_otherwise_is_compared_with_what_is_stored,
    searches_find_any_script,
    searches_take_what_is_typed_literally,
    searches_look_into_everything,
    searches_follow_changes,
    searches_find_what_long_texts_hold_once,
    searches_are_paged,
    searches_find_long_texts_wherever_they_match_best,
    copies_of_a_plan_come_back,
    huge_appends_come_back,
    searches_are_filtered,
    imports_are_searched,
    prompts_wait_in_order,
    the_same_key_is_the_same_prompt,
    ids_of_prompts_are_used_once,
    prompts_are_edited_held_and_released,
    a_prompt_is_sent_at_once_with_its_message,
    prompts_are_not_closed_by_recovery,
    large_attachments_wait_whole,
    an_imported_session_has_its_prompts,
}

/// The same for functions that take two stores of one database.
macro_rules! conformance_of_two {
    ($($name:ident),* $(,)?) => {
        mod two_of_sqlite {
            $(#[tokio::test]
            async fn $name() {
                let first = super::SqliteStore::open_temporary().unwrap();
                let second = super::SqliteStore::open(first.file()).unwrap();
                super::suite::$name(&first, &second).await;
            })*
        }

        mod two_of_postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                let Some(database) = super::TestDatabase::create().await else { return };
                super::suite::$name(&database.open().await, &database.open().await).await;
                database.remove().await;
            })*
        }
    };
}

conformance_of_two! {
    a_session_has_one_owner,
    a_session_is_claimed_by_one_of_two,
    an_owners_turn_is_not_interrupted_by_others,
    commands_reach_the_owner_once,
    what_came_of_a_command_is_kept,
    commands_are_taken_once_however_many_take,
    commands_follow_a_session_to_its_next_owner,
    prompts_are_there_for_the_next,
    processes_of_a_server_that_left_are_found,
    processes_of_another_machine_are_left_alone,
}

//! What every store must do, asked of each store there is.

#![allow(clippy::unwrap_used, reason = "this is a test, its helpers too")]

mod suite;

use pleat_store::sqlite::SqliteStore;

/// Makes a test of each function of the suite.
macro_rules! conformance {
    ($open:expr; $($name:ident),* $(,)?) => {
        $(#[tokio::test]
        async fn $name() {
            suite::$name(&$open).await;
        })*
    };
}

conformance! { SqliteStore::open_temporary().unwrap();
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
}

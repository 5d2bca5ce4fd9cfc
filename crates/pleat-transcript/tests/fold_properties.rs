//! What holds for the fold of any document (docs/spec/fold.md).

#![allow(clippy::unwrap_used, reason = "the helpers of tests may panic too")]

mod document_generator;

use document_generator::document;
use pleat_transcript::document::{Document, Window};
use pleat_transcript::fold::{FoldError, MOST_IN_RANGE, MOST_IN_WINDOW, fold, top_level_messages};
use pleat_transcript::ids::{CallId, MessageId};
use pleat_transcript::message::Body;
use pleat_transcript::rows::{MessageRole, Round, Row, RowsDocument};
use proptest::prelude::*;
use serde_json::json;
use std::collections::HashSet;

/// The most messages that a generated session has: one window and a half.
const MOST_MESSAGES: usize = 70;

fn range(from: &MessageId, to: &MessageId) -> Window {
    Window::Range { from: from.clone(), to: to.clone() }
}

/// The rows of a whole session that one range can hold.
fn whole(document: &Document) -> Option<RowsDocument> {
    let top = top_level_messages(document);
    let window = range(top.first()?, top.last()?);
    Some(fold(document, &window).unwrap())
}

/// What rows show, so that it does not matter where a group is split: each message under the key of its row.
fn shown(rows: &[Row]) -> Vec<(MessageId, MessageId)> {
    let mut shown = Vec::new();
    for row in rows {
        match row {
            Row::Message(row) => shown.push((row.id.clone(), row.message.clone())),
            Row::Plan(row) => shown.push((row.id.clone(), row.message.clone())),
            Row::Notice(row) => shown.push((row.id.clone(), row.message.clone())),
            Row::Activity(row) => shown.extend(row.messages.iter().map(|id| (row.run.clone(), id.clone()))),
        }
    }
    shown
}

/// The run and the id of each activity row.
fn groups(folded: &RowsDocument) -> Vec<(&MessageId, &MessageId)> {
    let groups = folded.rows.iter().filter_map(|row| match row {
        Row::Activity(row) => Some((&row.run, &row.id)),
        Row::Message(_) | Row::Plan(_) | Row::Notice(_) => None,
    });
    groups.collect()
}

/// Results whose calls are nowhere.
fn unmatched_results(folded: &RowsDocument) -> Vec<&MessageId> {
    let results = folded.rows.iter().filter_map(|row| match row {
        Row::Message(row) if row.role == MessageRole::Tool => Some(&row.id),
        Row::Message(_) | Row::Activity(_) | Row::Plan(_) | Row::Notice(_) => None,
    });
    results.collect()
}

fn calls_in(rounds: &[Round], found: &mut Vec<CallId>) {
    for call in rounds.iter().flat_map(|round| &round.calls) {
        found.push(call.id.clone());
        if let Some(children) = &call.children {
            calls_in(&children.rounds, found);
        }
    }
}

/// How many levels of calls stand inside calls.
fn depth_of(row: &Row) -> usize {
    fn depth(rounds: &[Round]) -> usize {
        let inside = rounds.iter().flat_map(|round| &round.calls).filter_map(|call| call.children.as_deref());
        inside.map(|children| 1 + depth(&children.rounds)).max().unwrap_or(0)
    }
    match row {
        Row::Activity(row) => depth(&row.rounds),
        Row::Message(_) | Row::Plan(_) | Row::Notice(_) => 0,
    }
}

/// Checks what holds for every window and returns the ids of the top-level messages that it holds.
fn check(document: &Document, window: &Window, most: usize) -> Vec<MessageId> {
    let top = top_level_messages(document);
    let folded = fold(document, window).unwrap();
    let bounds = &folded.window;
    let held = &top[bounds.before..top.len() - bounds.after];
    assert_eq!(bounds.first.as_ref(), held.first().copied());
    assert_eq!(bounds.last.as_ref(), held.last().copied());
    assert_eq!((bounds.earlier, bounds.later), (bounds.before > 0, bounds.after > 0));
    assert!(held.len() <= most);
    let ids: HashSet<_> = folded.rows.iter().map(Row::id).collect();
    assert_eq!(ids.len(), folded.rows.len(), "row ids are unique");
    assert!(ids.iter().all(|id| held.contains(id)), "a row stands at a message of the window");
    held.iter().map(|id| (*id).clone()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Rule: fold 1.1, fold 1.9, fold 1.11, fold Output.3
    #[test]
    fn any_window_of_any_document_folds_or_says_why(document in document(MOST_MESSAGES)) {
        match fold(&document, &document.window) {
            Ok(_) => { check(&document, &document.window, MOST_IN_RANGE); }
            Err(FoldError::UnknownMessage(id)) => {
                prop_assert!(document.messages.iter().all(|message| message.id != id));
            }
            Err(FoldError::BackwardRange { .. } | FoldError::RangeTooLong { .. }) => {}
        }
        check(&document, &Window::Latest, MOST_IN_WINDOW);
        for message in document.messages.iter().step_by(7) {
            for window in [Window::At(message.id.clone()), Window::Earlier(message.id.clone()), Window::Later(message.id.clone())] {
                check(&document, &window, MOST_IN_WINDOW);
            }
        }
    }

    /// Rule: fold 1.6
    #[test]
    fn pages_show_every_message(document in document(MOST_MESSAGES)) {
        let top: Vec<_> = top_level_messages(&document).into_iter().cloned().collect();
        for towards_start in [true, false] {
            let mut page = if towards_start || top.is_empty() {
                check(&document, &Window::Latest, MOST_IN_WINDOW)
            } else {
                check(&document, &Window::At(top[0].clone()), MOST_IN_WINDOW)
            };
            let mut seen: HashSet<_> = page.iter().cloned().collect();
            for _ in 0..top.len() {
                let Some(edge) = (if towards_start { page.first() } else { page.last() }) else { break };
                let window = if towards_start { Window::Earlier(edge.clone()) } else { Window::Later(edge.clone()) };
                page = check(&document, &window, MOST_IN_WINDOW);
                seen.extend(page.iter().cloned());
            }
            prop_assert_eq!(seen.len(), top.len());
        }
    }

    /// Rule: fold 3.4, fold 4.3
    #[test]
    fn no_row_depends_on_where_a_window_ends(document in document(MOST_MESSAGES), cut in 0..MOST_MESSAGES) {
        let Some(whole) = whole(&document) else { return Ok(()) };
        let top = top_level_messages(&document);
        let cut = cut % top.len();
        let mut in_two = Vec::new();
        if cut > 0 {
            in_two.extend(shown(&fold(&document, &range(top[0], top[cut - 1])).unwrap().rows));
        }
        in_two.extend(shown(&fold(&document, &range(top[cut], top[top.len() - 1])).unwrap().rows));
        prop_assert_eq!(in_two, shown(&whole.rows));
    }

    /// Rule: fold 4.3, fold 4.4
    #[test]
    fn what_is_appended_leaves_the_groups_before_it_as_they_are(document in document(MOST_MESSAGES), kept in 0..MOST_MESSAGES) {
        let mut earlier = document.clone();
        earlier.messages.truncate(kept);
        let (Some(before), Some(after)) = (whole(&earlier), whole(&document)) else { return Ok(()) };
        // A result whose call comes later makes no row any more: then what it parted may join.
        prop_assume!(unmatched_results(&before).iter().all(|id| unmatched_results(&after).contains(id)));
        let groups = groups(&after);
        for (run, id) in self::groups(&before) {
            prop_assert!(groups.contains(&(run, id)), "the group {run} that begins with {id} is still there");
        }
    }

    /// Rule: fold 4.6
    #[test]
    fn every_call_is_shown_once(document in document(MOST_MESSAGES)) {
        let mut found = Vec::new();
        for row in whole(&document).into_iter().flat_map(|folded| folded.rows) {
            if let Row::Activity(row) = row {
                calls_in(&row.rounds, &mut found);
                prop_assert_eq!(row.messages.len(), row.rounds.len());
            }
        }
        let mut stored = Vec::new();
        for message in &document.messages {
            if let Body::Assistant(assistant) = &message.body {
                stored.extend(assistant.calls().map(|call| call.id.clone()));
            }
        }
        found.sort();
        stored.sort();
        prop_assert_eq!(found, stored);
    }

    /// Rule: fold 5.counts, fold 5.actions, fold 5.kinds
    #[test]
    fn the_counts_of_a_summary_add_up(document in document(MOST_MESSAGES)) {
        for row in whole(&document).into_iter().flat_map(|folded| folded.rows) {
            let Row::Activity(row) = row else { continue };
            let summary = &row.summary;
            let ended = summary.completed + summary.failed + summary.denied + summary.stopped + summary.interrupted;
            prop_assert_eq!(summary.actions, ended + summary.unresolved);
            prop_assert_eq!(summary.actions, summary.kinds.values().sum::<usize>());
            prop_assert!(summary.missing == 0 || summary.missing == summary.unresolved);
            prop_assert!(summary.live || summary.current.is_none());
            prop_assert!(summary.live || !summary.title.starts_with("Working"));
        }
    }

    /// Rule: fold 6.9
    #[test]
    fn labels_are_one_line_and_not_long(document in document(20)) {
        for row in whole(&document).into_iter().flat_map(|folded| folded.rows) {
            let Row::Activity(row) = row else { continue };
            for call in row.rounds.iter().flat_map(|round| &round.calls) {
                let breaks = call.label.contains(['\n', '\r', '\u{2028}', '\u{2029}', '\u{85}']);
                prop_assert!(!breaks, "{}", call.label);
                prop_assert!(!call.label.is_empty());
            }
        }
    }
}

/// Sub-agents in sub-agents, as deep as a hostile document likes: all are shown, and no stack ends.
/// Rule: fold 4.8
#[test]
fn nesting_without_end_is_shown_flat_below_a_depth() {
    let count = 5_000;
    let round = |n: usize| {
        let call = json!({"id": format!("c{n}"), "name": "Task", "state": "completed"});
        let parent = if n == 0 { json!(null) } else { json!(format!("c{}", n - 1)) };
        json!({"id": format!("m{n}"), "role": "assistant", "parent": parent, "parts": [{"type": "call", "call": call}]})
    };
    let messages: Vec<_> = (0..count).map(round).collect();
    let document = Document::from_value(json!({"session": {"id": "s1"}, "messages": messages})).unwrap();
    let folded = fold(&document, &Window::At(MessageId::new("m4999").unwrap())).unwrap();
    assert_eq!(folded.rows.len(), 1);
    let mut found = Vec::new();
    for row in &folded.rows {
        let Row::Activity(row) = row else { continue };
        calls_in(&row.rounds, &mut found);
    }
    assert_eq!(found.len(), count);
    assert_eq!(folded.rows.iter().map(depth_of).max(), Some(64));
    assert!(serde_json::to_string(&folded).unwrap().len() > count);
}

/// Everything is linear: a session of this size would take minutes otherwise.
#[test]
fn a_very_long_session_folds_at_once() {
    let message = |n: usize| match n % 4 {
        0 => json!({"id": format!("m{n}"), "role": "plan", "turn": "t1", "stream": "c0", "text": format!("{n}")}),
        1 => json!({"id": format!("m{n}"), "role": "tool", "call": format!("c{}", n + 1), "text": "ok"}),
        _ => json!({"id": format!("m{n}"), "role": "assistant", "turn": "t1",
            "parts": [{"type": "call", "call": {"id": format!("c{n}"), "state": "completed"}}]}),
    };
    let messages: Vec<_> = (0..60_000).map(message).collect();
    let document = Document::from_value(json!({"session": {"id": "s1"}, "messages": messages})).unwrap();
    let folded = fold(&document, &Window::Latest).unwrap();
    assert_eq!(folded.rows.len(), 1);
    assert_eq!(folded.window.before + MOST_IN_WINDOW, 45_000);
}

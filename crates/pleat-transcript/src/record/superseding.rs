//! Inputs and outputs that an agent sends again and again as they grow, held back before they reach the store
//! (docs/spec/record.md, Calls 7).
//!
//! An agent that streams a file of 200 kB token by token sends it thousands of times. Writing each would cost the square
//! of its size, so a value that supersedes one already written waits until it grew by a quarter, until 5 s have passed,
//! or until its call changes state. What is written for a call is then a few times its final size, however often it
//! came.

use super::coalesce::{coalesce, merge_call};
use crate::change::{CallUpdate, Change, append_to_terminal};
use crate::ids::CallId;
use crate::session::Millis;
use serde_json::Value;
use std::collections::BTreeMap;

/// How long a superseding value waits at most.
const LONGEST_WAIT: Millis = 5_000;

/// Holds back superseded values of one session's calls. A pure stage between record and store.
#[derive(Debug, Clone, Default)]
pub struct Superseding {
    calls: BTreeMap<CallId, Growing>,
}

/// A call whose values grow.
#[derive(Debug, Clone, Default)]
struct Growing {
    written_at: Millis,
    /// The size of what was written last, in bytes.
    written: usize,
    /// What waits to be written; only its input and output are set.
    waiting: CallUpdate,
}

impl Superseding {
    /// Takes the changes that were made up to a time, and gives those that are to be stored now, each value once.
    pub fn take(&mut self, changes: Vec<Change>, at: Millis) -> Vec<Change> {
        let mut now = Vec::with_capacity(changes.len());
        for change in coalesce(changes) {
            match change {
                Change::UpdateCall { call, update } => now.extend(self.update(call, *update, at)),
                Change::AppendOutput { call, text } => now.extend(self.append(call, text)),
                Change::UpdateSession(_)
                | Change::InsertTurn(_)
                | Change::UpdateTurn { .. }
                | Change::InsertMessage(_)
                | Change::UpsertPlan(_)
                | Change::UpdateMessage { .. }
                | Change::InsertPart { .. }
                | Change::AppendText { .. }
                | Change::SetPartMessageId { .. }
                | Change::QueuePrompt(_)
                | Change::UpdatePrompt { .. }
                | Change::RemovePrompt { .. } => now.push(change),
            }
        }
        now.extend(self.take_due(at));
        now
    }

    /// When the next value that waits must be stored; `None` where none waits.
    pub fn due_at(&self) -> Option<Millis> {
        let waiting = self.calls.values().filter(|growing| growing.waits());
        waiting.map(|growing| growing.written_at + LONGEST_WAIT).min()
    }

    fn take_due(&mut self, at: Millis) -> Vec<Change> {
        let due = self.calls.iter_mut().filter(|(_, growing)| growing.waits() && growing.is_due(at));
        due.map(|(call, growing)| update_of(call.clone(), growing.write(at))).collect()
    }

    fn update(&mut self, call: CallId, update: CallUpdate, at: Millis) -> Option<Change> {
        if update.input.is_none() && update.output.is_none() && !self.calls.contains_key(&call) {
            return Some(update_of(call, update));
        }
        let changes_state = update.state.is_some() || update.permission.is_some();
        let ends = update.state.is_some_and(|state| !state.is_unresolved());
        let growing = self.calls.entry(call.clone()).or_default();
        let (values, mut rest) = split(update);
        merge_call(&mut growing.waiting, values);
        if changes_state || growing.is_due(at) || growing.grew_enough() {
            merge_call(&mut rest, growing.write(at));
        }
        if ends {
            self.calls.remove(&call);
        }
        (rest != CallUpdate::default()).then(|| update_of(call, rest))
    }

    /// More of a terminal: part of the output that waits, or after the one that was written.
    fn append(&mut self, call: CallId, text: String) -> Option<Change> {
        let waiting = self.calls.get_mut(&call).and_then(|growing| growing.waiting.output.as_mut());
        let taken = waiting.is_some_and(|output| append_to_terminal(output, &text));
        (!taken).then_some(Change::AppendOutput { call, text })
    }
}

impl Growing {
    fn waits(&self) -> bool {
        self.waiting != CallUpdate::default()
    }

    fn is_due(&self, at: Millis) -> bool {
        at - self.written_at >= LONGEST_WAIT
    }

    /// By a quarter, or it is the first.
    fn grew_enough(&self) -> bool {
        let size = size_of(&self.waiting);
        self.written == 0 || size >= self.written + self.written.div_ceil(4)
    }

    fn write(&mut self, at: Millis) -> CallUpdate {
        if self.waits() {
            self.written = size_of(&self.waiting);
            self.written_at = at;
        }
        std::mem::take(&mut self.waiting)
    }
}

fn update_of(call: CallId, update: CallUpdate) -> Change {
    Change::UpdateCall { call, update: Box::new(update) }
}

/// The values that grow, and the rest.
fn split(mut update: CallUpdate) -> (CallUpdate, CallUpdate) {
    let values = CallUpdate { input: update.input.take(), output: update.output.take(), ..CallUpdate::default() };
    (values, update)
}

fn size_of(update: &CallUpdate) -> usize {
    let output = update.output.iter().flatten().map(size_of_value).sum::<usize>();
    update.input.as_ref().map_or(0, size_of_value) + output
}

/// About how many bytes a value takes; its texts make nearly all of it.
fn size_of_value(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(size_of_value).sum::<usize>() + 2,
        Value::Object(object) => object.iter().map(|(key, value)| key.len() + 4 + size_of_value(value)).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::CallState;
    use serde_json::json;

    fn call() -> CallId {
        CallId::new("c1").unwrap()
    }

    fn output(bytes: usize) -> Change {
        let block = json!({"type": "content", "content": {"type": "text", "text": "x".repeat(bytes)}});
        update_of(call(), CallUpdate { output: Some(vec![block]), ..CallUpdate::default() })
    }

    fn state(state: CallState) -> Change {
        update_of(call(), CallUpdate { state: Some(state), ..CallUpdate::default() })
    }

    fn written(changes: &[Change]) -> usize {
        let updates = changes
            .iter()
            .map(|change| if let Change::UpdateCall { update, .. } = change { size_of(update) } else { 0 });
        updates.sum()
    }

    /// Rule: record Calls.7.1
    #[test]
    fn a_superseding_value_waits_until_it_grew_by_a_quarter() {
        let mut stage = Superseding::default();
        assert_eq!(stage.take(vec![output(1_000)], 0).len(), 1, "the first is written");
        assert_eq!(stage.take(vec![output(1_100)], 10), []);
        assert_eq!(stage.take(vec![output(1_400)], 20).len(), 1);
        assert_eq!(stage.take(vec![output(1_500)], 30), []);
    }

    /// Rule: record Calls.7.1
    #[test]
    fn it_waits_for_5_s_at_most() {
        let mut stage = Superseding::default();
        stage.take(vec![output(1_000)], 0);
        stage.take(vec![output(1_001)], 10);
        assert_eq!(stage.due_at(), Some(5_000));
        assert_eq!(stage.take(vec![], 4_999), []);
        assert_eq!(stage.take(vec![], 5_000), [output(1_001)]);
        assert_eq!(stage.due_at(), None);
    }

    /// Rule: record Calls.7.1
    #[test]
    fn a_change_of_state_brings_what_waits() {
        let mut stage = Superseding::default();
        stage.take(vec![output(1_000)], 0);
        stage.take(vec![output(1_001)], 10);
        let [Change::UpdateCall { update, .. }] = &stage.take(vec![state(CallState::Completed)], 20)[..] else {
            panic!("one update");
        };
        assert_eq!((update.state, update.output.is_some()), (Some(CallState::Completed), true));
        assert!(stage.calls.is_empty(), "nothing is kept of a call that ended");
    }

    /// Rule: record Calls.7.2
    #[test]
    fn what_is_written_follows_the_final_size() {
        let mut stage = Superseding::default();
        let final_size = 200_000;
        let sizes = (1..=final_size / 20).map(|n| {
            let changes = stage.take(vec![output(n * 20)], i64::try_from(n).unwrap());
            written(&changes)
        });
        let all: usize = sizes.sum();
        assert!(all < 6 * final_size, "{all} bytes were written for {final_size}");
    }

    #[test]
    fn a_terminal_appends_to_the_output_that_waits() {
        let mut stage = Superseding::default();
        let terminal = |text: &str| {
            let block = json!({"type": "terminal", "output": text, "exit": null});
            update_of(call(), CallUpdate { output: Some(vec![block]), ..CallUpdate::default() })
        };
        stage.take(vec![terminal(&"x".repeat(1_000))], 0);
        stage.take(vec![terminal("short")], 10);
        assert_eq!(stage.take(vec![Change::AppendOutput { call: call(), text: "er".to_owned() }], 20), []);
        assert_eq!(stage.take(vec![], 5_000), [terminal("shorter")]);
        let more = Change::AppendOutput { call: call(), text: "!".to_owned() };
        assert_eq!(stage.take(vec![more.clone()], 5_001), [more]);
    }
}

//! Plans: text streams by call, and entry lists by turn (docs/spec/record.md, Plans).

use super::{SessionRecord, Step};
use crate::change::{Change, MessageUpdate, PlanSnapshot};
use crate::ids::{CallId, MessageId, TurnId};
use crate::message::{Body, Plan, PlanContent, PlanEntry};

/// The entry list of a turn.
#[derive(Debug, Clone)]
pub(super) struct EntryList {
    pub(super) message: MessageId,
    pub(super) entries: Vec<PlanEntry>,
    /// Who made it. ACP's `plan` outranks a to-do call that says the same.
    pub(super) source: ListSource,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListSource {
    PlanUpdate,
    ToDoCall,
}

impl SessionRecord {
    /// ACP's `plan` update: the whole list of the turn (Plans 2).
    pub(super) fn plan_entries(&mut self, entries: Vec<PlanEntry>, step: &mut Step<'_>) {
        self.set_entry_list(entries, ListSource::PlanUpdate, step);
    }

    /// A to-do call's list: the turn's, unless the agent sends plans (Plans 2).
    pub(super) fn set_to_do_list(&mut self, entries: Vec<PlanEntry>, step: &mut Step<'_>) {
        let sends_plans =
            self.turns.active().entry_list.as_ref().is_some_and(|list| list.source == ListSource::PlanUpdate);
        if !sends_plans {
            self.set_entry_list(entries, ListSource::ToDoCall, step);
        }
    }

    fn set_entry_list(&mut self, entries: Vec<PlanEntry>, source: ListSource, step: &mut Step<'_>) {
        let Some(list) = &mut self.turns.active_mut().entry_list else {
            if !entries.is_empty() {
                self.first_entry_list(entries, source, step);
            }
            return;
        };
        list.source = source;
        if list.entries != entries {
            list.entries.clone_from(&entries);
            let update = MessageUpdate { plan: Some(PlanContent::Entries(entries)), ..MessageUpdate::default() };
            step.push(Change::UpdateMessage { message: list.message.clone(), update });
        }
        self.break_text(None);
    }

    fn first_entry_list(&mut self, entries: Vec<PlanEntry>, source: ListSource, step: &mut Step<'_>) {
        self.end_round(None, step);
        let plan = Plan { stream: None, content: PlanContent::Entries(entries.clone()) };
        let turn = self.turns.active_mut();
        turn.said = true;
        let message = step.insert_message(turn.id.clone(), Body::Plan(plan));
        turn.entry_list = Some(EntryList { message, entries, source });
    }

    /// A snapshot of the plan stream of a call (Plans 1). `turn` is the call's.
    pub(super) fn plan_text(&mut self, turn: Option<TurnId>, call: &CallId, text: String, step: &mut Step<'_>) {
        if text.is_empty() {
            // Plans 4.
            return;
        }
        let known = self.calls.plan_text_mut(call);
        let first = known.is_none();
        if known.as_ref() == Some(&text) {
            return;
        }
        *known = Some(text.clone());
        if first {
            self.end_round(None, step);
            self.turns.active_mut().said = true;
        } else {
            self.break_text(None);
        }
        let (call, content) = (call.clone(), PlanContent::Text(text));
        step.push(Change::UpsertPlan(Box::new(PlanSnapshot { turn, call, content, at: Some(step.at) })));
    }
}

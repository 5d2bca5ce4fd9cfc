//! The rows of a span of top-level messages (docs/spec/fold.md, sections 3 to 5 and "Output").

use super::groups::Runs;
use super::index::{CallNode, Index, ShownRound};
use super::places::Place;
use super::summary::{ShownCall, Standing, summarise};
use crate::message::{Body, EntryStatus, Message, PlanContent};
use crate::rows::{
    ActivityRow, CallRow, Children, Continues, MessageRole, MessageRow, NoticeRow, PlanRow, Progress, Round,
    RoundError, Row,
};
use crate::session::Session;
use std::ops::Range;

/// A session or an excerpt, decided and ready to be drawn.
pub(super) struct Scene<'s, 'd> {
    pub(super) index: &'s Index<'d>,
    pub(super) places: &'s [Place<'d>],
    pub(super) runs: &'s Runs<'s>,
    pub(super) session: &'d Session,
}

impl<'d> Scene<'_, 'd> {
    /// The rows of a span, in order.
    pub(super) fn rows(&self, span: Range<usize>) -> Vec<Row> {
        let mut rows = Vec::new();
        let mut drawn_run = None;
        for position in span.clone() {
            let Some(message) = self.index.top_level(position) else { continue };
            match self.places[position] {
                Place::Nothing | Place::Emptied => {}
                Place::Round => {
                    let run = self.runs.number_at(position);
                    if let Some(number) = run.filter(|_| run != drawn_run) {
                        rows.push(Row::Activity(Box::new(self.activity(message, number, &span))));
                        drawn_run = run;
                    }
                }
                Place::Reply { .. } => rows.push(message_row(message, MessageRole::Assistant)),
                Place::Message(role) => rows.push(message_row(message, role)),
                Place::Plan { content } => rows.extend(self.plan(message, content)),
                Place::Notice => {
                    rows.push(Row::Notice(NoticeRow { id: message.id.clone(), message: message.id.clone() }));
                }
            }
        }
        rows
    }

    fn is_live(&self, message: &Message) -> bool {
        message.turn.is_some() && message.turn == self.session.live_turn
    }

    /// The row at the place of a plan, with the content of a message.
    fn plan(&self, place: &Message, message: &Message) -> Option<Row> {
        let Body::Plan(plan) = &message.body else { return None };
        Some(Row::Plan(PlanRow {
            id: place.id.clone(),
            message: message.id.clone(),
            stream: plan.stream.clone(),
            progress: progress(&plan.content, self.is_live(message)),
        }))
    }

    /// The part of a run that lies in a span; `first` is its first message there.
    fn activity(&self, first: &Message, number: usize, span: &Range<usize>) -> ActivityRow {
        let run = self.runs.run(number);
        let shown = run.first.max(span.start)..(run.last + 1).min(span.end);
        let rounds: Vec<&ShownRound> = shown.filter_map(|position| self.index.round_at(position)).collect();
        let continues = Continues {
            earlier: run.continues.earlier || run.first < span.start,
            later: run.continues.later || run.last >= span.end,
        };
        let turn_live = self.is_live(first);
        let standing = Standing { turn_live, live: run.live, has_active_round: !continues.later };
        let calls = ShownCall::of(self.index, self.root(), &rounds);
        ActivityRow {
            id: first.id.clone(),
            run: run.start.clone(),
            turn: first.turn.clone(),
            messages: rounds.iter().map(|round| round.message.id.clone()).collect(),
            continues,
            summary: summarise(&rounds, &calls, self.root(), standing),
            errors: errors(&rounds),
            rounds: self.rounds(&rounds, &calls, turn_live),
        }
    }

    fn root(&self) -> Option<&'d str> {
        self.session.root.as_deref()
    }

    /// Rounds with the calls that are shown in them, which `calls` has in the same order.
    fn rounds(&self, rounds: &[&ShownRound<'d>], calls: &[ShownCall<'_, 'd>], turn_live: bool) -> Vec<Round> {
        let mut calls = calls.iter();
        let round = |round: &&ShownRound<'d>| Round {
            message: round.message.id.clone(),
            calls: calls.by_ref().take(round.calls.len()).map(|shown| self.call(shown, turn_live)).collect(),
        };
        rounds.iter().map(round).collect()
    }

    fn call(&self, shown: &ShownCall<'_, 'd>, turn_live: bool) -> CallRow {
        let label = shown.deed.label();
        CallRow {
            id: shown.node.call.id.clone(),
            label: label.text,
            progress_label: label.progress,
            state: shown.state(),
            detail: label.detail,
            children: self.children(shown.node, turn_live).map(Box::new),
        }
    }

    /// What stands directly inside a call. It is at work while its call is (section 5, `live`).
    fn children(&self, node: &CallNode<'d>, turn_live: bool) -> Option<Children> {
        if node.inside.is_empty() {
            return None;
        }
        let rounds: Vec<&ShownRound> = node.inside.iter().collect();
        let calls = ShownCall::of(self.index, self.root(), &rounds);
        let live = turn_live && node.call.state.is_unresolved();
        Some(Children {
            summary: summarise(&rounds, &calls, self.root(), Standing { turn_live, live, has_active_round: true }),
            errors: errors(&rounds),
            rounds: self.rounds(&rounds, &calls, turn_live),
        })
    }
}

fn message_row(message: &Message, role: MessageRole) -> Row {
    let lead = match &message.body {
        Body::User(user) => Some(user.lead),
        Body::Assistant(_) | Body::Tool(_) | Body::Plan(_) | Body::Notice(_) => None,
    };
    Row::Message(MessageRow { id: message.id.clone(), message: message.id.clone(), role, lead })
}

/// How far a plan's entries are; nothing of a turn that is over is running (section 3, rule 5).
fn progress(content: &PlanContent, live: bool) -> Option<Progress> {
    let PlanContent::Entries(entries) = content else { return None };
    let count = |status| entries.iter().filter(|entry| entry.status() == status).count();
    Some(Progress {
        done: count(EntryStatus::Completed),
        total: entries.len(),
        running: if live { count(EntryStatus::InProgress) } else { 0 },
    })
}

/// The errors of the messages that are shown here themselves.
fn errors(rounds: &[&ShownRound]) -> Vec<RoundError> {
    let error = |round: &&ShownRound| {
        let text = round.assistant.error.clone().filter(|_| round.whole)?;
        Some(RoundError { message: round.message.id.clone(), text })
    };
    rounds.iter().filter_map(error).collect()
}

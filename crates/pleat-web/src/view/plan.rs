//! A plan: one card with its progress.

use super::block::{Block, segment};
use super::prose::markdown;
use super::transcript::Transcript;
use super::words::StateWord;
use maud::html;
use pleat_transcript::message::{Body, EntryStatus, PlanContent, PlanEntry};
use pleat_transcript::rows::{PlanRow, Progress};

/// A plan row; `None` where its message is not a plan of the excerpt.
pub(super) fn plan(page: &Transcript<'_>, row: &PlanRow) -> Option<Block> {
    let message = page.index.message(&row.message)?;
    let Body::Plan(plan) = &message.body else { return None };
    let key = format!("p:{}", segment(row.id.as_str()));
    let live = page.is_live(message.turn.as_ref());
    let content = match &plan.content {
        PlanContent::Text(text) => markdown(&format!("{key}/text"), text),
        PlanContent::Entries(entries) => list(&format!("{key}/list"), entries, live),
    };
    let children = vec![heading(&format!("{key}/head"), row.progress), content];
    Some(Block::parent("section", key, children).class("row plan").linkable())
}

fn heading(key: &str, progress: Option<Progress>) -> Block {
    let html = html! {
        span.title { "Plan" }
        @if let Some(it) = progress {
            span.measures {
                (it.done) " of " (it.total) " done"
                progress value=(it.done) max=(it.total) aria-hidden="true" {}
            }
        }
    };
    Block::leaf("h2", key, html.into_string())
}

fn list(key: &str, entries: &[PlanEntry], live: bool) -> Block {
    let items = entries.iter().enumerate().map(|(n, entry)| item(format!("{key}/{n}"), entry, live)).collect();
    Block::parent("ol", key, items)
}

fn item(key: String, entry: &PlanEntry, live: bool) -> Block {
    let (state, class) = status(entry.status(), live);
    let html = html! {
        span.mark aria-hidden="true" { (state.mark) }
        span.content dir="auto" { (entry.content) }
        span.word { (state.word) }
    };
    Block::leaf("li", key, html.into_string()).class(class)
}

/// When the turn is over, nothing is at work any more.
fn status(status: EntryStatus, live: bool) -> (StateWord, &'static str) {
    let (mark, word, class) = match (status, live) {
        (EntryStatus::Completed, _) => ("✓", "done", "done"),
        (EntryStatus::InProgress, true) => ("◐", "in progress", "busy"),
        (EntryStatus::Pending, true) => ("○", "to do", "todo"),
        (EntryStatus::InProgress | EntryStatus::Pending, false) => ("–", "unfinished", "unfinished"),
    };
    (StateWord { mark, word, class }, class)
}

//! Activity rows: a run of tool rounds as one native `<details>` whose summary is the whole header.
//!
//! What a reader must see while it is closed (an error, a question) stands after the row, not in its summary, where a
//! click toggles; the style sheet hides it while the row is open, which shows it in its place.

use super::block::{Block, escape, segment};
use super::call::call_item;
use super::message::{Place, error, part};
use super::permission;
use super::transcript::Transcript;
use super::words::{call_state, is_asking, issues, lines};
use crate::text::dates::duration;
use crate::text::preview::one_line;
use maud::html;
use pleat_transcript::call::Call;
use pleat_transcript::ids::{CallId, MessageId};
use pleat_transcript::message::{Assistant, Part};
use pleat_transcript::rows::{ActivityRow, Continues, Round, RoundError, Summary};

/// An activity row, and what stands beside it while it is closed.
pub(super) fn activity(page: &Transcript<'_>, row: &ActivityRow) -> Vec<Block> {
    let key = format!("a:{}", segment(row.run.as_str()));
    let live = page.is_live(row.turn.as_ref());
    let inside = Inside { parent: None, prefix: "", live };
    let body = Block::parent("div", format!("{key}/in"), rounds(page, &row.rounds, &inside)).class("rounds");
    let details = Block::parent("details", &key, vec![header(&key, row), body])
        .class("row activity")
        .flag("data-live", row.summary.live)
        .linkable();
    let mut blocks = vec![details];
    blocks.extend(beside(page, &key, row));
    blocks
}

fn header(key: &str, row: &ActivityRow) -> Block {
    let mut lines = vec![title(&format!("{key}/title"), &row.summary, row.continues)];
    lines.extend(told(key, &row.summary, true));
    Block::parent("summary", format!("{key}/s"), lines)
}

fn title(key: &str, summary: &Summary, continues: Continues) -> Block {
    let html = html! {
        span.title { (summary.title) }
        (issues(&summary.issues))
        @if continues.earlier { span.continues { "continues earlier" } }
        @if continues.later { span.continues { "continues later" } }
        span.measures {
            @if let Some(changed) = summary.lines { (lines(changed)) }
            @if let Some(elapsed) = summary.elapsed_ms { span.duration { (duration(elapsed)) } }
        }
    };
    Block::leaf("span", key, html.into_string()).class("headline")
}

/// What a group is at; when it is done, what it did and what it said last.
pub(super) fn told(key: &str, summary: &Summary, live: bool) -> Vec<Block> {
    if let Some(current) = &summary.current {
        let html = html! { span.label { (current.label) } " " (call_state(current.state, live).markup()) };
        return vec![Block::leaf("span", format!("{key}/now"), html.into_string()).class("now")];
    }
    let did = (!summary.live && summary.actions > 0)
        .then(|| Block::leaf("span", format!("{key}/did"), escape(&summary.headline)).class("did"));
    let said = summary.narration.as_ref().map(|narration| {
        let said = Block::leaf("span", format!("{key}/said"), escape(&one_line(narration)));
        said.class("narration").attribute("dir", "auto")
    });
    did.into_iter().chain(said).collect()
}

fn beside(page: &Transcript<'_>, key: &str, row: &ActivityRow) -> Option<Block> {
    let mut children = errors(&format!("{key}/beside"), &row.errors);
    children.extend(question_cards(page, &row.rounds, &format!("{key}/beside")));
    (!children.is_empty()).then(|| Block::parent("div", format!("{key}/beside"), children).class("beside"))
}

/// The cards of what is asked inside of rounds, for the place beside them while they are closed.
pub(super) fn question_cards(page: &Transcript<'_>, rounds: &[Round], place: &str) -> Vec<Block> {
    questions(page, rounds).into_iter().filter_map(|call| permission::card(page, call, place)).collect()
}

fn errors(key: &str, errors: &[RoundError]) -> Vec<Block> {
    errors.iter().map(|it| error(&format!("{key}/{}", segment(it.message.as_str())), &it.text)).collect()
}

/// The calls in rounds, and inside of those, that a person is asked about.
pub(super) fn questions<'a>(page: &Transcript<'a>, rounds: &[Round]) -> Vec<&'a Call> {
    let mut found = Vec::new();
    for row in rounds.iter().flat_map(|round| &round.calls) {
        found.extend(page.index.call(&row.id).filter(|call| is_asking(page.session, call)));
        if let Some(inner) = row.children.as_deref() {
            found.extend(questions(page, &inner.rounds));
        }
    }
    found
}

/// Where rounds are shown.
pub(super) struct Inside<'a> {
    /// The call that they are shown inside of.
    pub(super) parent: Option<&'a CallId>,
    /// What their keys begin with: a round may be shown in a group and in a call.
    pub(super) prefix: &'a str,
    /// Whether their turn is running.
    pub(super) live: bool,
}

/// Rounds in order, each with what it said and the calls that are shown here.
pub(super) fn rounds(page: &Transcript<'_>, rounds: &[Round], inside: &Inside<'_>) -> Vec<Block> {
    rounds
        .iter()
        .filter_map(|round| Some(round_block(page, round, page.index.round(&round.message)?, inside)))
        .collect()
}

fn round_block(page: &Transcript<'_>, row: &Round, round: &Assistant, inside: &Inside<'_>) -> Block {
    let key = round_key(inside.prefix, &row.message);
    let is_here = page.index.parent_of_round(&row.message) == inside.parent;
    let mut children = Vec::new();
    for (n, it) in round.parts.iter().enumerate() {
        match it {
            Part::Call(call) => {
                let shown = row.calls.iter().find(|shown| shown.id == call.id);
                children.extend(shown.map(|shown| call_item(page, shown, call, inside.live)));
            }
            Part::Thinking(_) | Part::Text(_) | Part::Media(_) if is_here => {
                children.extend(part(page, &format!("{key}/{n}"), &Place { message: &row.message, number: n }, it));
            }
            Part::Thinking(_) | Part::Text(_) | Part::Media(_) => {}
        }
    }
    children.extend(round.error.as_deref().filter(|_| is_here).map(|text| error(&format!("{key}/error"), text)));
    Block::parent("div", key, children).class("round")
}

fn round_key(prefix: &str, message: &MessageId) -> String {
    format!("{prefix}r:{}", segment(message.as_str()))
}

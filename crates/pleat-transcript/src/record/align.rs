//! A stored turn beside its replay, item by item (docs/spec/record.md, "the rest" 5).

use crate::call::Call;
use crate::document::Document;
use crate::ids::{MessageId, TurnId};
use crate::message::{Assistant, Body, Media, Message, Part};

/// Where an item stands: its message, and its place among that one's parts.
pub(super) type ItemPlace<'a> = (&'a MessageId, usize);

/// Something that was said or done in a turn.
struct Item<'a> {
    place: ItemPlace<'a>,
    what: What<'a>,
    /// It has a counterpart.
    known: bool,
}

#[derive(Clone, Copy)]
enum What<'a> {
    Text(&'a str),
    Thinking(&'a str),
    Call(&'a Call),
    Media(&'a Media),
}

/// What a stored turn and its replay have in common.
pub(super) struct Alignment<'a> {
    /// Calls of both, the stored one first.
    pub(super) calls: Vec<(&'a Call, &'a Call)>,
    /// The place in the replay up to which everything is known; `None`: nothing is.
    pub(super) known_to: Option<ItemPlace<'a>>,
    /// More of the stored turn's last text, and where that stands.
    pub(super) rest: Option<(ItemPlace<'a>, &'a str)>,
}

/// The rounds of a turn.
pub(super) fn rounds<'a>(document: &'a Document, turn: &TurnId) -> impl Iterator<Item = (&'a Message, &'a Assistant)> {
    document.messages.iter().filter_map(move |message| match &message.body {
        Body::Assistant(assistant) if message.turn.as_ref() == Some(turn) => Some((message, assistant)),
        Body::Assistant(_) | Body::User(_) | Body::Tool(_) | Body::Plan(_) | Body::Notice(_) => None,
    })
}

fn items<'a>(document: &'a Document, turn: &TurnId) -> Vec<Item<'a>> {
    let rounds = rounds(document, turn);
    let items = rounds.flat_map(|(message, assistant)| {
        assistant.parts.iter().enumerate().map(|(part, what)| {
            let what = match what {
                Part::Text(text) => What::Text(&text.text),
                Part::Thinking(thinking) => What::Thinking(&thinking.text),
                Part::Call(call) => What::Call(call),
                Part::Media(media) => What::Media(media),
            };
            Item { place: (&message.id, part), what, known: false }
        })
    });
    items.collect()
}

/// Aligns a stored turn with its replay.
pub(super) fn align<'a>(stored: (&'a Document, &TurnId), replayed: (&'a Document, &TurnId)) -> Alignment<'a> {
    let (mut ours, mut theirs) = (items(stored.0, stored.1), items(replayed.0, replayed.1));
    let calls = match_singly(&mut ours, &mut theirs);
    // An agent may replay several texts as one, or one as several.
    match_joined(&mut ours, &mut theirs);
    match_joined(&mut theirs, &mut ours);
    let known_to = theirs.iter().rposition(|item| item.known);
    let rest = rest_of_last_text(&ours, theirs.get(known_to.map_or(0, |place| place + 1)));
    let last_known = known_to.map(|place| theirs[place].place);
    Alignment {
        calls,
        known_to: rest.map(|(_, _, place)| place).or(last_known),
        rest: rest.map(|(place, text, _)| (place, text)),
    }
}

/// Matches each of theirs with the first of ours that is the same and not taken yet.
fn match_singly<'a>(ours: &mut [Item<'a>], theirs: &mut [Item<'a>]) -> Vec<(&'a Call, &'a Call)> {
    let mut calls = Vec::new();
    for item in theirs {
        if let Some(our) = counterpart(item.what, ours) {
            our.known = true;
            item.known = true;
            if let (What::Call(our), What::Call(their)) = (our.what, item.what) {
                calls.push((our, their));
            }
        }
    }
    calls
}

/// Texts by whole equality, calls by the agent's id, else by kind and title where the ids changed.
fn counterpart<'i, 'a>(what: What<'_>, ours: &'i mut [Item<'a>]) -> Option<&'i mut Item<'a>> {
    let find =
        |ours: &[Item<'_>], same: &dyn Fn(What<'_>) -> bool| ours.iter().position(|our| !our.known && same(our.what));
    let place = match what {
        What::Text(text) => find(ours, &|our| matches!(our, What::Text(our) if our == text)),
        What::Thinking(text) => find(ours, &|our| matches!(our, What::Thinking(our) if our == text)),
        What::Media(media) => find(ours, &|our| matches!(our, What::Media(our) if our == media)),
        What::Call(call) => {
            find(ours, &|our| matches!(our, What::Call(our) if our.agent_id == call.agent_id)).or_else(|| {
                let changed = |our: &Call| our.kind() == call.kind() && our.title == call.title;
                find(ours, &|our| matches!(our, What::Call(our) if changed(our)))
            })
        }
    };
    ours.get_mut(place?)
}

/// Matches a text of `wholes` with several consecutive ones of `pieces` that say the same together.
fn match_joined(pieces: &mut [Item<'_>], wholes: &mut [Item<'_>]) {
    let texts: Vec<usize> = (0..pieces.len()).filter(|place| matches!(pieces[*place].what, What::Text(_))).collect();
    for whole in wholes.iter_mut().filter(|item| !item.known) {
        let What::Text(text) = whole.what else { continue };
        let run = (0..texts.len()).find_map(|first| run_that_says(text, pieces, &texts[first..]));
        if let Some(run) = run {
            whole.known = true;
            for place in run {
                pieces[*place].known = true;
            }
        }
    }
}

/// The places at the beginning of `texts`, none of them known, whose texts are together the whole one.
fn run_that_says<'t>(whole: &str, pieces: &[Item<'_>], texts: &'t [usize]) -> Option<&'t [usize]> {
    let mut rest = whole;
    for (count, place) in texts.iter().enumerate() {
        let What::Text(piece) = pieces[*place].what else { return None };
        rest = rest.strip_prefix(piece).filter(|_| !pieces[*place].known)?;
        if rest.is_empty() {
            return Some(&texts[..=count]);
        }
    }
    None
}

/// Where a stored turn ends in the middle of a text: that text's place, what the replay has more of it, and the place
/// of the replay's copy. The texts before it may be part of that copy.
fn rest_of_last_text<'a>(
    ours: &[Item<'a>],
    next: Option<&Item<'a>>,
) -> Option<(ItemPlace<'a>, &'a str, ItemPlace<'a>)> {
    let last = ours.last().filter(|item| matches!(item.what, What::Text(_)))?;
    let What::Text(text) = next?.what else { return None };
    let unknown_texts = ours.iter().rev().take_while(|item| !item.known || !matches!(item.what, What::Text(_)));
    let pieces: Vec<&str> = unknown_texts
        .filter_map(|item| match item.what {
            What::Text(piece) if !item.known => Some(piece),
            What::Text(_) | What::Thinking(_) | What::Call(_) | What::Media(_) => None,
        })
        .collect();
    // The longest run that the copy begins with: `pieces` stands last first.
    let rest = (1..=pieces.len())
        .rev()
        .find_map(|count| pieces[..count].iter().rev().try_fold(text, |rest, piece| rest.strip_prefix(*piece)))?;
    Some((last.place, rest, next?.place))
}

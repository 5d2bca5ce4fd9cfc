//! What a call was done to, as a headline names it.

use crate::fold::label::Deed;
use crate::fold::text::{first_characters, last_characters, one_line};
use std::borrow::Cow;

/// The longest target in a headline, in characters.
const LONGEST_TARGET: usize = 40;

/// What a call was done to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Target<'c> {
    text: Cow<'c, str>,
    is_path: bool,
}

impl<'c> Target<'c> {
    /// The argument of an action, the tool of a server, the name of a memory, the words of an unknown tool.
    pub(super) fn of(deed: &'c Deed<'c>) -> Option<Self> {
        let words = |text: &'c str| Self { text: one_line(text), is_path: false };
        match deed {
            Deed::Own { target, .. } => {
                target.as_ref().map(|target| Self { text: Cow::Borrowed(&target.text), is_path: target.is_path })
            }
            Deed::OfServer { tool, .. } => tool.map(words),
            Deed::Memory { action, name } => pair(*action, name.as_deref()),
            Deed::Titled(title) => Some(words(title)),
            Deed::Named { name, target } => pair(Some(name), target.as_ref().map(|target| target.text.as_str())),
        }
    }

    /// At most [`LONGEST_TARGET`] characters: of a path the end, of all else the beginning.
    pub(super) fn shown(&self) -> Cow<'_, str> {
        if self.is_path { last_characters(&self.text, LONGEST_TARGET) } else { beginning(&self.text) }
    }
}

/// Two words that are both optional, as one.
fn pair<'c>(one: Option<&'c str>, other: Option<&'c str>) -> Option<Target<'c>> {
    let text = match (one, other) {
        (Some(one), Some(other)) => Cow::Owned(format!("{} {}", one_line(one), one_line(other))),
        (Some(word), None) | (None, Some(word)) => one_line(word),
        (None, None) => return None,
    };
    Some(Target { text, is_path: false })
}

/// The beginning of a text that is too long, with a `…` for the rest.
pub(super) fn beginning(text: &str) -> Cow<'_, str> {
    let kept = first_characters(text, LONGEST_TARGET);
    if kept.len() == text.len() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{}…", first_characters(kept, LONGEST_TARGET - 1).trim_end()))
}

/// A deed before its outcome is told in words of its own: `read src/a.rs`.
pub(super) fn bare(deed: &Deed) -> String {
    let target = Target::of(deed);
    match (deed, target.as_ref().map(Target::shown)) {
        (Deed::Own { action, .. }, Some(target)) => format!("{} {target}", action.words.bare),
        (Deed::Own { action, .. }, None) => action.name.to_lowercase(),
        (Deed::OfServer { server, .. }, target) => with_target(&format!("use {}", named(server)), target),
        (Deed::Memory { .. }, target) => with_target("use memory", target),
        (Deed::Titled(_) | Deed::Named { .. }, target) => target.unwrap_or_default().into_owned(),
    }
}

/// A deed that is at work: `Reading src/a.rs`.
pub(super) fn doing(deed: &Deed) -> String {
    let target = Target::of(deed);
    match (deed, target.as_ref().map(Target::shown)) {
        (Deed::Own { action, .. }, Some(target)) => format!("{} {target}", action.words.doing),
        (Deed::Own { action, .. }, None) => action.running.to_owned(),
        (Deed::OfServer { server, .. }, target) => with_target(&format!("Using {}", named(server)), target),
        (Deed::Memory { .. }, target) => with_target("Using memory", target),
        (Deed::Titled(_) | Deed::Named { .. }, target) => target.unwrap_or_default().into_owned(),
    }
}

fn with_target(words: &str, target: Option<Cow<str>>) -> String {
    target.map_or_else(|| words.to_owned(), |target| format!("{words}: {target}"))
}

/// A server's name in a headline.
pub(super) fn named(server: &str) -> String {
    beginning(&one_line(server)).into_owned()
}

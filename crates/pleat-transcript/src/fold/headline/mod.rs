//! The headline of a group: one line that tells what was done (docs/spec/fold.md, section 5.1).
//!
//! `Read 3 files · Edited src/a.rs +12 −3 · 1 failed: run cargo test · Running cargo test --all`
//!
//! Each call is told once, by its state. What ended well stands first, one phrase for each action, the newest last; then
//! what did not, in the order of `issues`; then, in a live turn, what waits for a person and what is at work. A phrase
//! names its targets where they are few and counts them where they are many. What is too long becomes shorter, what
//! only looked first and what changed files last, so that changes, outcomes and what runs now are the last to go.
//!
//! `work` makes the phrases of what ended well, `outcomes` those of the rest, `target` what all of them name, and
//! `fit` makes one line of them.

mod fit;
mod outcomes;
mod target;
mod work;

use super::label::Weight;
use super::summary::{ShownCall, Standing};

/// The longest headline, in characters.
const LONGEST_HEADLINE: usize = 120;

/// A part of a headline, with a shorter form that names no target.
#[derive(Debug)]
struct Phrase {
    full: String,
    short: String,
    /// How many calls it tells of.
    calls: usize,
    weight: Weight,
}

/// One line that tells what the calls of a group, or of what stands inside a call, did.
pub(super) fn headline(calls: &[ShownCall], root: Option<&str>, standing: Standing) -> String {
    if calls.is_empty() {
        let text = if standing.live { "Working" } else { "No actions" };
        return text.to_owned();
    }
    fit::one_line(work::phrases(calls), outcomes::phrases(calls, root, standing.turn_live))
}

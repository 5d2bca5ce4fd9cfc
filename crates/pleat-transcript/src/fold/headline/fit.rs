//! One line of at most so many characters: what is too long becomes shorter, the lightest work first.

use super::{LONGEST_HEADLINE, Phrase};
use crate::fold::label::Weight;
use crate::fold::text::{count, first_characters};

/// Between two phrases.
const SEPARATOR: &str = " · ";

/// What the separator takes, in characters.
const SEPARATOR_LENGTH: usize = 3;

/// The phrases in one line, shortened until they fit.
pub(super) fn one_line(work: Vec<Phrase>, outcomes: Vec<Phrase>) -> String {
    let mut line = Line::of(work, outcomes);
    line.shorten_work();
    line.gather_work(1);
    line.shorten_outcomes();
    line.gather_work(0);
    line.text()
}

/// How much of a phrase is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Full,
    Short,
    /// Only its calls are counted, with those of others.
    Gathered,
}

/// A phrase as it is shown.
#[derive(Debug)]
struct Piece {
    phrase: Phrase,
    form: Form,
    /// Of its form, with a separator.
    length: usize,
}

impl Piece {
    fn of(phrase: Phrase) -> Self {
        let length = count(&phrase.full) + SEPARATOR_LENGTH;
        Self { phrase, form: Form::Full, length }
    }

    fn text(&self) -> Option<&str> {
        match self.form {
            Form::Full => Some(&self.phrase.full),
            Form::Short => Some(&self.phrase.short),
            Form::Gathered => None,
        }
    }

    /// Takes the short form where that is shorter.
    fn shorten(&mut self) {
        let length = count(&self.phrase.short) + SEPARATOR_LENGTH;
        if length < self.length {
            (self.form, self.length) = (Form::Short, length);
        }
    }

    fn gather(&mut self) {
        (self.form, self.length) = (Form::Gathered, 0);
    }
}

/// A line that is being fitted.
#[derive(Debug)]
struct Line {
    work: Vec<Piece>,
    outcomes: Vec<Piece>,
    /// Characters of all pieces.
    length: usize,
    /// How many calls those tell of that are gathered in one number.
    gathered: usize,
}

impl Line {
    fn of(work: Vec<Phrase>, outcomes: Vec<Phrase>) -> Self {
        let pieces = |phrases: Vec<Phrase>| phrases.into_iter().map(Piece::of).collect::<Vec<_>>();
        let (work, outcomes) = (pieces(work), pieces(outcomes));
        let length = work.iter().chain(&outcomes).map(|piece| piece.length).sum();
        Self { work, outcomes, length, gathered: 0 }
    }

    fn is_too_long(&self) -> bool {
        let number = self.number().map_or(0, |text| count(&text) + SEPARATOR_LENGTH);
        self.length + number > LONGEST_HEADLINE + SEPARATOR_LENGTH
    }

    /// Counts take the place of targets.
    fn shorten_work(&mut self) {
        for place in order(&self.work) {
            if !self.is_too_long() {
                return;
            }
            let piece = &mut self.work[place];
            self.length -= piece.length;
            piece.shorten();
            self.length += piece.length;
        }
    }

    /// One number takes the place of phrases, until so many are left.
    fn gather_work(&mut self, kept: usize) {
        let mut left = self.work.iter().filter(|piece| piece.form != Form::Gathered).count();
        for place in order(&self.work) {
            if left <= kept || !self.is_too_long() {
                return;
            }
            let piece = &mut self.work[place];
            if piece.form != Form::Gathered {
                self.length -= piece.length;
                self.gathered += piece.phrase.calls;
                piece.gather();
                left -= 1;
            }
        }
    }

    fn shorten_outcomes(&mut self) {
        for place in 0..self.outcomes.len() {
            if !self.is_too_long() {
                return;
            }
            let piece = &mut self.outcomes[place];
            self.length -= piece.length;
            piece.shorten();
            self.length += piece.length;
        }
    }

    /// What stands for the work that is gathered.
    fn number(&self) -> Option<String> {
        let noun = if self.gathered == 1 { "action" } else { "actions" };
        (self.gathered > 0).then(|| format!("{} more {noun}", self.gathered))
    }

    fn text(&self) -> String {
        let number = self.number();
        let pieces = self.work.iter().chain(&self.outcomes).filter_map(Piece::text);
        let line = number.as_deref().into_iter().chain(pieces).collect::<Vec<_>>().join(SEPARATOR);
        if first_characters(&line, LONGEST_HEADLINE).len() == line.len() {
            return line;
        }
        format!("{}…", first_characters(&line, LONGEST_HEADLINE - 1).trim_end())
    }
}

/// The places of work in the order in which it may become shorter: the lightest first, and of those the oldest.
fn order(work: &[Piece]) -> Vec<usize> {
    let weighing = |weight| (0..work.len()).filter(move |place| work[*place].phrase.weight == weight);
    Weight::ALL.into_iter().flat_map(weighing).collect()
}

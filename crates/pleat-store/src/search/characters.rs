//! What a character is to the search: part of a word, of a script without spaces, or between words.

use std::sync::LazyLock;
use unicode_normalization::char::{canonical_combining_class, decompose_compatible, is_combining_mark};
use unicode_normalization::{IsNormalized, is_nfc_quick};

/// What a folded character is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Of a word: letters, digits and their marks.
    Word,
    /// Of a script whose words cannot be told by spaces, indexed in pairs.
    Unspaced,
    /// Everything else.
    Between,
}

/// The class of a folded character.
pub(super) fn class(c: char) -> Class {
    if c.is_ascii() {
        return if c.is_ascii_alphanumeric() { Class::Word } else { Class::Between };
    }
    if is_common_unspaced(c) {
        return Class::Unspaced;
    }
    traits(c).class
}

/// What looking up in many tables tells of a character that is not ASCII.
#[derive(Debug, Clone, Copy)]
struct Traits {
    class: Class,
    joins: bool,
    /// Folding leaves it as it is, wherever it stands.
    plain: bool,
    /// The order of marks like it does not count, so folding may change it.
    reorders: bool,
}

/// Those of all scripts that are alphabets: without them, folding such a text takes three times as long.
static TRAITS: LazyLock<Vec<Traits>> = LazyLock::new(|| ('\0'..'\u{3000}').map(Traits::of).collect());

const EMOJI: Traits = Traits { class: Class::Between, joins: false, plain: true, reorders: false };

fn traits(c: char) -> Traits {
    if matches!(c, '\u{1f1e6}'..='\u{1f1ff}' | '\u{1f300}'..='\u{1faff}') {
        return EMOJI;
    }
    TRAITS.get(c as usize).copied().unwrap_or_else(|| Traits::of(c))
}

impl Traits {
    fn of(c: char) -> Self {
        let mark = is_combining_mark(c);
        let mut decomposes = false;
        decompose_compatible(c, |decomposed| decomposes |= decomposed != c);
        let class = if !c.is_alphanumeric() && !mark {
            Class::Between
        } else if is_unspaced(c) {
            Class::Unspaced
        } else {
            Class::Word
        };
        let plain = !decomposes
            && c.to_lowercase().eq([c])
            && spelling(c).is_none()
            && !c.is_control()
            && !is_left_out(c)
            && !is_common_mark(c)
            && is_nfc_quick([c].into_iter()) == IsNormalized::Yes;
        Self { class, joins: mark || is_invisible(c), plain, reorders: canonical_combining_class(c) != 0 }
    }
}

/// Whether folding leaves a character with all that joins it as it is.
pub(super) fn is_plain(unit: &str) -> bool {
    let mut marks = 0;
    unit.chars().all(|c| {
        let traits = traits(c);
        marks += usize::from(traits.reorders);
        traits.plain && marks < 2
    })
}

/// The most frequent of those. Folding leaves them as they are.
pub(super) fn is_common_unspaced(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{3096}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
}

/// Han, Kana, Bopomofo, Yi and Hangul; Thai, Lao, Myanmar, Khmer and their neighbours.
fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}' | '\u{1780}'..='\u{17ff}'
        | '\u{1980}'..='\u{19df}' | '\u{1a20}'..='\u{1aaf}' | '\u{1b00}'..='\u{1b7f}' | '\u{2e80}'..='\u{2fdf}'
        | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{30ff}' | '\u{3100}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{a4cf}' | '\u{a960}'..='\u{a9df}' | '\u{a9e0}'..='\u{a9ff}' | '\u{aa60}'..='\u{aadf}'
        | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ffdc}' | '\u{16fe0}'..='\u{18dff}'
        | '\u{1aff0}'..='\u{1b2ff}' | '\u{20000}'..='\u{3ffff}')
}

/// Belongs to the character before it, so that both are folded as one.
pub(super) fn joins(before: char, c: char) -> bool {
    if c < '\u{ad}' || is_common_unspaced(c) {
        return false;
    }
    match c {
        '\u{1160}'..='\u{11ff}' | '\u{d7b0}'..='\u{d7ff}' => {
            matches!(before, '\u{1100}'..='\u{11ff}' | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7ff}')
        }
        '\u{ff9e}' | '\u{ff9f}' => true,
        _ => traits(c).joins,
    }
}

/// Makes no difference, wherever it stands.
pub(super) fn is_left_out(c: char) -> bool {
    is_invisible(c) || is_optional_point(c)
}

/// Draws nothing: soft hyphens, joiners, directions, variation selectors, tags.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Marks that go with any letter. Those of a script of its own, vowels among them, are not meant.
pub(super) fn is_common_mark(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}'
        | '\u{fe20}'..='\u{fe2f}')
}

/// What Arabic and Hebrew are mostly written without: points, and the stroke that only lengthens.
fn is_optional_point(c: char) -> bool {
    matches!(c, '\u{640}' | '\u{64b}'..='\u{65f}' | '\u{670}')
        || (('\u{591}'..='\u{5c7}').contains(&c) && c != '\u{5be}')
}

/// A letter whose common marks make another letter, as in Cyrillic, and not only another sound.
pub(super) fn keeps_marks(base: char) -> bool {
    base.is_alphabetic() && !is_latin_or_greek(base) && class(base) == Class::Word
}

fn is_latin_or_greek(c: char) -> bool {
    c.is_ascii()
        || matches!(c,
            '\u{80}'..='\u{3ff}' | '\u{1d00}'..='\u{1dbf}' | '\u{1e00}'..='\u{1fff}' | '\u{2c60}'..='\u{2c7f}'
            | '\u{a720}'..='\u{a7ff}' | '\u{ab30}'..='\u{ab6f}')
}

/// How a lower-case character is spelled for the search, where neither Unicode's normalization nor case tells.
pub(super) fn spelling(c: char) -> Option<&'static str> {
    match c {
        'ß' => Some("ss"),
        'æ' => Some("ae"),
        'œ' => Some("oe"),
        'ø' => Some("o"),
        'đ' | 'ð' => Some("d"),
        'þ' => Some("th"),
        'ħ' => Some("h"),
        'ł' => Some("l"),
        'ı' => Some("i"),
        'ς' => Some("σ"),
        '\u{2018}'..='\u{201b}' | '\u{2bc}' => Some("'"),
        '\u{201c}'..='\u{201f}' => Some("\""),
        '\u{2010}'..='\u{2015}' | '\u{2212}' => Some("-"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortcuts_tell_what_the_tables_tell() {
        let shown = |traits: Traits| format!("{traits:?}");
        for c in ('\u{1f1e6}'..='\u{1f1ff}').chain('\u{1f300}'..='\u{1faff}') {
            assert_eq!(shown(Traits::of(c)), shown(EMOJI), "{c}");
        }
        for c in ('\0'..=char::MAX).filter(|c| is_common_unspaced(*c)) {
            let traits = Traits::of(c);
            // Syllables decompose, and are composed again.
            assert!(
                (traits.plain
                    || ('\u{ac00}'..='\u{d7a3}').contains(&c)
                    || "がぎぐげござじずぜぞだぢづでどばぱびぴぶぷべぺぼぽゔ".contains(c)),
                "{c}"
            );
            assert!(traits.class == Class::Unspaced && !traits.joins, "{c}");
        }
    }

    #[test]
    fn no_token_character_separates_tokens_elsewhere() {
        for c in ('\0'..=char::MAX).filter(|c| class(*c) != Class::Between) {
            assert!(!c.is_control() && !c.is_whitespace() && (!c.is_ascii() || c.is_ascii_alphanumeric()), "{c:?}");
        }
    }
}

//! U+0000 in texts: agents write it, PostgreSQL cannot store it. It is written as two other characters, in a way that
//! holds for texts that are appended piece by piece.

use std::borrow::Cow;

/// A character that no text means: it stands for itself and for U+0000, told apart by what follows.
const ESCAPE: char = '\u{10FFFF}';

/// The text as it is stored.
pub(super) fn written(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', ESCAPE]) {
        return Cow::Borrowed(text);
    }
    let mut written = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\0' => written.extend([ESCAPE, '0']),
            ESCAPE => written.extend([ESCAPE, '1']),
            other => written.push(other),
        }
    }
    Cow::Owned(written)
}

/// The text as it was. One that was cut inside of what stands for a character loses that character.
pub(super) fn read(stored: String) -> String {
    if !stored.contains(ESCAPE) {
        return stored;
    }
    let mut read = String::with_capacity(stored.len());
    let mut characters = stored.chars();
    while let Some(character) = characters.next() {
        if character != ESCAPE {
            read.push(character);
        } else if let Some(which) = characters.next() {
            read.push(if which == '0' { '\0' } else { ESCAPE });
        }
    }
    read
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pieces_come_back_as_one(pieces in proptest::collection::vec("[a\0\u{10FFFF}01é]{0,6}", 0..5)) {
            let stored: String = pieces.iter().map(|piece| written(piece).into_owned()).collect();
            prop_assert!(!stored.contains('\0'));
            prop_assert_eq!(read(stored), pieces.concat());
        }
    }
}

//! Halves of characters. JavaScript's strings are UTF-16, and an agent that cuts one anywhere may write half a pair as
//! an escape (`"\ud83d"`), which is no text: JSON parsers refuse the whole line, an answer that ends a turn included.

/// U+FFFD as the four digits of an escape.
const REPLACEMENT: &[u8; 4] = b"fffd";

/// How long `\uXXXX` is.
const ESCAPE: usize = 6;

/// The line with every half of a pair replaced by U+FFFD; `None` where it has none.
pub(super) fn replaced(line: &[u8]) -> Option<Vec<u8>> {
    let mut replaced: Option<Vec<u8>> = None;
    let mut at = 0;
    while let Some(offset) = memchr::memchr(b'\\', line.get(at..)?) {
        at += offset;
        at += match (Half::at(line, at), Half::at(line, at + ESCAPE)) {
            (Some(Half::High), Some(Half::Low)) => 2 * ESCAPE,
            (Some(Half::High | Half::Low), _) => {
                replaced.get_or_insert_with(|| line.to_vec())[at + 2..at + ESCAPE].copy_from_slice(REPLACEMENT);
                ESCAPE
            }
            // A backslash and what it escapes.
            (None, _) => 2,
        };
    }
    replaced
}

#[derive(Clone, Copy)]
enum Half {
    High,
    Low,
}

impl Half {
    /// Which half the escape that begins here is, if it is one.
    fn at(line: &[u8], at: usize) -> Option<Self> {
        let digits = line.get(at..at + ESCAPE)?.strip_prefix(b"\\u")?;
        match u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()? {
            0xD800..=0xDBFF => Some(Self::High),
            0xDC00..=0xDFFF => Some(Self::Low),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expect: Option<&str>) {
        assert_eq!(replaced(line.as_bytes()).as_deref(), expect.map(str::as_bytes), "{line}");
    }

    #[test]
    fn only_halves_are_replaced() {
        check(r#"{"a":"plain \n \u00e4 \ud83d\ude00"}"#, None);
        check(r#"{"a":"\ud83d"}"#, Some(r#"{"a":"\ufffd"}"#));
        check(r#"{"a":"\uDE00x\uD83D\n"}"#, Some(r#"{"a":"\ufffdx\ufffd\n"}"#));
        check(r#"{"a":"\ud83d\ud83d\ude00"}"#, Some(r#"{"a":"\ufffd\ud83d\ude00"}"#));
        check(r#"{"a":"\\ud83d"}"#, None);
        check(r#"{"a":"\ud8"#, None);
        check(r"\", None);
    }
}

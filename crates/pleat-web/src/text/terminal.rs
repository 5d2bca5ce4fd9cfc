//! Terminal output and other raw text, so that every character that is shown is one that can be seen.
//!
//! [`screen`] carries out what a plain screen would: it drops escape sequences and lets a carriage return write over its
//! line. [`visible`] changes nothing and names every character that would hide or reorder others, for text that a
//! person decides on (a command) or that merely contains such bytes (a file).

use std::fmt::Write as _;

const ESCAPE: char = '\u{1b}';

/// Output of a command as its last state on the screen, without colours.
pub(crate) fn screen(output: &str) -> String {
    let mut screen = Screen::default();
    let mut rest = output.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\n' => screen.end_line(),
            '\r' => screen.column = 0,
            '\u{8}' => screen.column = screen.column.saturating_sub(1),
            ESCAPE => screen.obey(&sequence(&mut rest)),
            '\u{9b}' => screen.obey(&control_sequence(&mut rest)),
            _ => screen.put(c),
        }
    }
    screen.finish()
}

/// An escape sequence.
enum Sequence {
    /// Erases a part of the line: 0 behind, 1 before, 2 all.
    EraseLine(u8),
    /// Anything else.
    Ignored,
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn sequence(rest: &mut Chars<'_>) -> Sequence {
    match rest.peek() {
        Some('[') => {
            rest.next();
            control_sequence(rest)
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            skip_string(rest);
            Sequence::Ignored
        }
        Some(_) => {
            // Intermediate bytes, then one final one (`ESC ( B`).
            while rest.next_if(|c| (' '..='/').contains(c)).is_some() {}
            rest.next_if(|c| ('0'..='~').contains(c));
            Sequence::Ignored
        }
        None => Sequence::Ignored,
    }
}

fn control_sequence(rest: &mut Chars<'_>) -> Sequence {
    let mut parameters = String::new();
    while let Some(c) = rest.next_if(|c| (' '..='?').contains(c)) {
        parameters.push(c);
    }
    match rest.next_if(|c| ('@'..='~').contains(c)) {
        Some('K') => Sequence::EraseLine(parameters.parse().unwrap_or(0)),
        Some(_) | None => Sequence::Ignored,
    }
}

/// Skips what an operating system command and its like carry, up to BEL or `ESC \`.
fn skip_string(rest: &mut Chars<'_>) {
    while let Some(c) = rest.next_if(|c| *c != '\n') {
        if c == '\u{7}' {
            return;
        }
        if c == ESCAPE && rest.next_if_eq(&'\\').is_some() {
            return;
        }
    }
}

#[derive(Default)]
struct Screen {
    done: String,
    line: Vec<char>,
    column: usize,
}

impl Screen {
    fn put(&mut self, c: char) {
        if self.column < self.line.len() {
            self.line[self.column] = c;
        } else {
            self.line.resize(self.column, ' ');
            self.line.push(c);
        }
        self.column += 1;
    }

    fn obey(&mut self, sequence: &Sequence) {
        match sequence {
            Sequence::EraseLine(0) => self.line.truncate(self.column),
            Sequence::EraseLine(1) => {
                let end = self.column.saturating_add(1).min(self.line.len());
                self.line[..end].fill(' ');
            }
            Sequence::EraseLine(2) => self.line.clear(),
            Sequence::EraseLine(_) | Sequence::Ignored => {}
        }
    }

    fn end_line(&mut self) {
        self.write_line();
        self.done.push('\n');
    }

    fn write_line(&mut self) {
        let line: String = self.line.drain(..).collect();
        self.done.push_str(&visible(&line));
        self.column = 0;
    }

    fn finish(mut self) -> String {
        self.write_line();
        self.done
    }
}

/// Text in which every control and direction character is named.
pub(crate) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\r' if rest.peek() == Some(&'\n') => {}
            '\n' | '\t' => out.push(c),
            '\u{0}'..='\u{1f}' => out.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('�')),
            '\u{7f}' => out.push('␡'),
            _ if hides(c) => {
                // Writing to a String cannot fail.
                let _ = write!(out, "⟨U+{:04X}⟩", u32::from(c));
            }
            _ => out.push(c),
        }
    }
    out
}

/// Characters that hide or reorder what stands around them.
fn hides(c: char) -> bool {
    matches!(c,
        '\u{80}'..='\u{9f}' | '\u{ad}' | '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_leave_no_noise_and_the_last_progress_stays() {
        assert_eq!(screen("\x1b[1m\x1b[94m --> \x1b[0msrc/x.rs\n\x1b[1A10%\r20%\rdone"), " --> src/x.rs\ndone");
        assert_eq!(screen("\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b\x1b(Bc"), "abc");
        assert_eq!(screen("\u{9b}31mred"), "red");
    }

    #[test]
    fn a_carriage_return_writes_over_its_line() {
        assert_eq!(screen("abcdef\rXY\r\nnext\r\n"), "XYcdef\nnext\n");
        assert_eq!(screen("downloading\r\x1b[Kok"), "ok");
        assert_eq!(screen("ab\x08c"), "ac");
    }

    #[test]
    fn unfinished_sequences_end_with_the_text() {
        for output in ["\x1b", "\x1b[", "\x1b[31", "\x1b]0;x", "\x1b("] {
            assert_eq!(screen(output), "");
        }
    }

    #[test]
    fn what_would_hide_is_named() {
        assert_eq!(visible("a\x1b[31m\u{202e}b\x07\r\nc"), "a␛[31m⟨U+202E⟩b␇\nc");
        assert_eq!(screen("a\x07\u{200b}"), "a␇⟨U+200B⟩");
    }
}

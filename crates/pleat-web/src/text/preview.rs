//! Text on one line where Markdown is not drawn: titles and the list of sessions.

use pulldown_cmark::{Event, Options, Parser};

/// A line without the marks of Markdown: emphasis, code, links. What is cut in the middle of one keeps its mark.
pub(crate) fn one_line(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = text.trim_start_matches('#').trim_start();
    // Behind a word, nothing at the beginning makes a list, a fence or the like of the line.
    let guarded = format!("{GUARD}{text}");
    let words: String = Parser::new_ext(&guarded, Options::ENABLE_STRIKETHROUGH).map(words_of).collect();
    words.strip_prefix(GUARD).unwrap_or(text).trim_end().to_owned()
}

const GUARD: &str = "x ";

fn words_of(event: Event<'_>) -> String {
    match event {
        Event::Text(text)
        | Event::Code(text)
        | Event::InlineMath(text)
        | Event::DisplayMath(text)
        | Event::Html(text)
        | Event::InlineHtml(text)
        | Event::FootnoteReference(text) => text.into_string(),
        Event::SoftBreak | Event::HardBreak => " ".to_owned(),
        Event::Start(_) | Event::End(_) | Event::Rule | Event::TaskListMarker(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn marks_go_and_words_stay() {
        for (text, expect) in [
            ("All tests pass now. I fixed `sub` in `src/calc.py`.", "All tests pass now. I fixed sub in src/calc.py."),
            ("**Done.** See [the RFC](https://x.example) and ~~that~~ *this*", "Done. See the RFC and that this"),
            ("## Plan\n\n1. Read `a`", "Plan 1. Read a"),
            ("- [x] a_file_name and 2 * 3 * 4", "- [x] a_file_name and 2 * 3 * 4"),
            ("```rust fn main() {} ```", "rust fn main() {}"),
            ("cut in `the mid", "cut in `the mid"),
            ("<img src=x onerror=alert(1)> & <b>bold</b>", "<img src=x onerror=alert(1)> & <b>bold</b>"),
            ("    indented", "indented"),
            ("", ""),
        ] {
            assert_eq!(one_line(text), expect, "{text}");
        }
    }
}

//! Markdown from an agent, as HTML that can do nothing.
//!
//! Raw HTML is shown as the text it is. Links keep only the schemes `http`, `https` and `mailto`; images become links,
//! so reading a transcript loads nothing from elsewhere. The text is rendered as it stands, nothing is repaired: a
//! finished message looks as if it had come at once (case B47). It is split into its top-level blocks, so that a reply
//! which grows changes only its last one.

use crate::view::block::escape;
use pulldown_cmark::{CodeBlockKind, CowStr, Event, LinkType, Options, Parser, Tag, TagEnd, html};

/// A top-level block of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MarkdownBlock {
    /// Anything but a code block, as HTML.
    Html(String),
    /// A code block.
    Code {
        /// The first word after the opening fence.
        language: Option<String>,
        /// The code, not escaped, in pieces of whole lines. A growing block changes only its last piece.
        pieces: Vec<String>,
    },
}

/// From this size on a piece of code ends with its line.
const PIECE_BYTES: usize = 4096;
/// A piece ends here even inside of a line.
const LONGEST_PIECE_BYTES: usize = 16 * 1024;

/// The top-level blocks of a text.
pub(crate) fn blocks(text: &str) -> Vec<MarkdownBlock> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS | Options::ENABLE_STRIKETHROUGH;
    let mut blocks = Vec::new();
    let mut pending = Vec::new();
    let mut depth = 0_usize;
    for event in Parser::new_ext(text, options) {
        match &event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            Event::Text(_)
            | Event::Code(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::Html(_)
            | Event::InlineHtml(_)
            | Event::FootnoteReference(_)
            | Event::SoftBreak
            | Event::HardBreak
            | Event::Rule
            | Event::TaskListMarker(_) => {}
        }
        pending.push(event);
        if depth == 0 {
            blocks.push(finished_block(std::mem::take(&mut pending)));
        }
    }
    blocks
}

fn finished_block(events: Vec<Event<'_>>) -> MarkdownBlock {
    if let Some(Event::Start(Tag::CodeBlock(kind))) = events.first() {
        let language = language_of(kind);
        let code: String = events.iter().filter_map(text_of).collect();
        return MarkdownBlock::Code { language, pieces: pieces(&code) };
    }
    let mut out = String::new();
    html::push_html(&mut out, Harmless::default().events(events).into_iter());
    MarkdownBlock::Html(out)
}

fn language_of(kind: &CodeBlockKind<'_>) -> Option<String> {
    match kind {
        CodeBlockKind::Indented => None,
        CodeBlockKind::Fenced(info) => {
            info.split([' ', ',', '\t']).next().filter(|word| !word.is_empty()).map(ToOwned::to_owned)
        }
    }
}

fn text_of<'a>(event: &'a Event<'_>) -> Option<&'a str> {
    if let Event::Text(text) = event { Some(text) } else { None }
}

fn pieces(code: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut piece = String::new();
    for line in code.split_inclusive('\n') {
        let mut rest = line;
        while piece.len() + rest.len() > LONGEST_PIECE_BYTES {
            let (head, tail) = rest.split_at(rest.floor_char_boundary(LONGEST_PIECE_BYTES.saturating_sub(piece.len())));
            piece.push_str(head);
            pieces.push(std::mem::take(&mut piece));
            rest = tail;
        }
        piece.push_str(rest);
        if piece.len() >= PIECE_BYTES && piece.ends_with('\n') {
            pieces.push(std::mem::take(&mut piece));
        }
    }
    if !piece.is_empty() {
        pieces.push(piece);
    }
    pieces
}

/// Turns events into ones whose HTML can do nothing.
#[derive(Default)]
struct Harmless {
    /// For each link and image that is open: whether an `<a>` was written for it.
    anchors: Vec<bool>,
}

impl Harmless {
    fn events(mut self, events: Vec<Event<'_>>) -> Vec<Event<'_>> {
        events.into_iter().map(|event| self.event(event)).collect()
    }

    fn event<'a>(&mut self, event: Event<'a>) -> Event<'a> {
        match event {
            Event::Html(markup) | Event::InlineHtml(markup) => Event::Text(markup),
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(_)
            | Event::Code(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::FootnoteReference(_)
            | Event::SoftBreak
            | Event::HardBreak
            | Event::Rule
            | Event::TaskListMarker(_) => event,
        }
    }

    fn start<'a>(&mut self, tag: Tag<'a>) -> Event<'a> {
        match tag {
            Tag::Link { link_type, dest_url, .. } => self.open_anchor(link_type, &dest_url, ""),
            Tag::Image { link_type, dest_url, .. } => self.open_anchor(link_type, &dest_url, "Image: "),
            Tag::HtmlBlock => markup("<p class=\"raw\">"),
            Tag::Heading { level, .. } => markup(format!("<h{}>", heading_level(level as usize))),
            Tag::Table(_)
            | Tag::Paragraph
            | Tag::BlockQuote(_)
            | Tag::CodeBlock(_)
            | Tag::List(_)
            | Tag::Item
            | Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::TableHead
            | Tag::TableRow
            | Tag::TableCell
            | Tag::Emphasis
            | Tag::Strong
            | Tag::Strikethrough
            | Tag::Superscript
            | Tag::Subscript
            | Tag::MetadataBlock(_) => Event::Start(tag),
        }
    }

    fn end<'a>(&mut self, tag: TagEnd) -> Event<'a> {
        match tag {
            TagEnd::Link | TagEnd::Image => {
                markup(if self.anchors.pop().unwrap_or(false) { "</a>" } else { "</span>" })
            }
            TagEnd::HtmlBlock => markup("</p>"),
            TagEnd::Heading(level) => markup(format!("</h{}>", heading_level(level as usize))),
            TagEnd::Table
            | TagEnd::Paragraph
            | TagEnd::BlockQuote(_)
            | TagEnd::CodeBlock
            | TagEnd::List(_)
            | TagEnd::Item
            | TagEnd::FootnoteDefinition
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::TableHead
            | TagEnd::TableRow
            | TagEnd::TableCell
            | TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Strikethrough
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::MetadataBlock(_) => Event::End(tag),
        }
    }

    /// An anchor where the address is harmless and no other is open, else a span that tells the address.
    fn open_anchor<'a>(&mut self, link_type: LinkType, address: &str, prefix: &str) -> Event<'a> {
        let address = match link_type {
            LinkType::Email => format!("mailto:{address}"),
            LinkType::Inline
            | LinkType::Reference
            | LinkType::ReferenceUnknown
            | LinkType::Collapsed
            | LinkType::CollapsedUnknown
            | LinkType::Shortcut
            | LinkType::ShortcutUnknown
            | LinkType::Autolink
            | LinkType::WikiLink { .. } => address.to_owned(),
        };
        let linked = is_harmless(&address) && !self.anchors.contains(&true);
        self.anchors.push(linked);
        let address = escape(&address);
        markup(if linked {
            format!("<a href=\"{address}\" rel=\"noopener noreferrer nofollow\" target=\"_blank\">{prefix}")
        } else {
            format!("<span class=\"unlinked\" title=\"{address}\">{prefix}")
        })
    }
}

fn markup<'a>(html: impl Into<CowStr<'a>>) -> Event<'a> {
    Event::InlineHtml(html.into())
}

/// A message's headings stand below the page's own.
fn heading_level(level: usize) -> usize {
    (level + 2).min(6)
}

fn is_harmless(address: &str) -> bool {
    let Some((scheme, _)) = address.split_once(':') else { return false };
    ["http", "https", "mailto"].iter().any(|harmless| scheme.eq_ignore_ascii_case(harmless))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let html: String = blocks(text)
            .into_iter()
            .map(|block| match block {
                MarkdownBlock::Html(html) => html,
                MarkdownBlock::Code { language, pieces } => format!("[{language:?} {:?}]\n", pieces.concat()),
            })
            .collect();
        assert_eq!(html, expect);
    }

    #[test]
    fn raw_html_is_text() {
        check(
            "<img src=x onerror=alert(1)> and <script>location='//e'</script>\n\n<div>\n<b>bold</b>\n</div>\n",
            "<p>&lt;img src=x onerror=alert(1)&gt; and &lt;script&gt;location='//e'&lt;/script&gt;</p>\n\
             <p class=\"raw\">&lt;div&gt;\n&lt;b&gt;bold&lt;/b&gt;\n&lt;/div&gt;\n</p>",
        );
    }

    #[test]
    fn only_harmless_schemes_are_linked() {
        let anchor = |href: &str, text: &str| {
            format!("<p><a href=\"{href}\" rel=\"noopener noreferrer nofollow\" target=\"_blank\">{text}</a></p>\n")
        };
        check("[a](https://x.example/?a=1&b=\"2\")", &anchor("https://x.example/?a=1&amp;b=&quot;2&quot;", "a"));
        check("<me@x.example>", &anchor("mailto:me@x.example", "me@x.example"));
        for address in
            ["javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x", "vbscript:x", "src/a.rs", "//x.example"]
        {
            let expect = format!("<p><span class=\"unlinked\" title=\"{address}\">a</span></p>\n");
            check(&format!("[a](<{address}>)"), &expect);
        }
    }

    #[test]
    fn images_are_links_and_never_stand_in_another() {
        check(
            "![cat](http://x.example/c.png)",
            "<p><a href=\"http://x.example/c.png\" rel=\"noopener noreferrer nofollow\" target=\"_blank\">Image: cat</a></p>\n",
        );
        check(
            "[![cat](http://x.example/c.png)](http://x.example)",
            "<p><a href=\"http://x.example\" rel=\"noopener noreferrer nofollow\" target=\"_blank\">\
             <span class=\"unlinked\" title=\"http://x.example/c.png\">Image: cat</span></a></p>\n",
        );
    }

    #[test]
    fn a_closing_fence_at_the_end_closes() {
        check(
            "Use `a_meta` here\n\n```text\nabc\n```",
            "<p>Use <code>a_meta</code> here</p>\n[Some(\"text\") \"abc\\n\"]\n",
        );
    }

    #[test]
    fn tables_tasks_and_strikethrough() {
        check(
            "|a|b|\n|-|-|\n|1|2|\n",
            "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody>\n<tr><td>1</td><td>2</td></tr>\n</tbody></table>\n",
        );
        check(
            "- [x] ~~old~~",
            "<ul>\n<li><input disabled=\"\" type=\"checkbox\" checked=\"\"/>\n<del>old</del></li>\n</ul>\n",
        );
        check("# Title", "<h3>Title</h3>");
    }

    #[test]
    fn a_growing_text_changes_only_its_last_block() {
        let text = "One.\n\nTwo *three* four.\n\n- a\n- b\n\n```rust\nfn main() {}\n```\n\nEnd of it.";
        let whole = blocks(text);
        for end in text.char_indices().map(|(at, _)| at) {
            let part = blocks(&text[..end]);
            let settled = part.len().saturating_sub(1);
            assert_eq!(part[..settled], whole[..settled], "at {end}");
        }
    }

    #[test]
    fn a_growing_code_block_changes_only_its_last_piece() {
        let code = format!("{}{}", "let x = 1;\n".repeat(3000), "é".repeat(40_000));
        let whole = pieces(&code);
        assert_eq!(whole.concat(), code);
        assert!(whole.len() > 10 && whole.iter().all(|piece| piece.len() <= LONGEST_PIECE_BYTES));
        for end in [5000, 20_000, 33_000, 60_000].map(|at| code.floor_char_boundary(at)) {
            let part = pieces(&code[..end]);
            let settled = part.len() - 1;
            assert_eq!(part[..settled], whole[..settled]);
        }
    }
}

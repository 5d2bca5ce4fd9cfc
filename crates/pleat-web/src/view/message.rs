//! Message rows: what a person said, a reply, a result without its call; and notices.

use super::block::{Block, escape, segment};
use super::prose::{markdown, plain, raw};
use super::transcript::Transcript;
use crate::text::terminal::visible;
use maud::html;
use pleat_transcript::ids::MessageId;
use pleat_transcript::message::{
    Assistant, Body, Media, MediaKind, Notice, NoticeLevel, Origin, Part, ToolResult, User,
};
use pleat_transcript::rows::{MessageRow, NoticeRow};

/// A message row; `None` where its message is not in the document.
pub(super) fn message(page: &Transcript<'_>, row: &MessageRow) -> Option<Block> {
    let key = format!("m:{}", segment(row.id.as_str()));
    Some(match &page.index.message(&row.message)?.body {
        Body::User(user) => user_row(&key, user),
        Body::Assistant(round) => reply(&key, round),
        Body::Tool(result) => result_row(&key, result),
        Body::Plan(_) | Body::Notice(_) => return None,
    })
}

fn user_row(key: &str, user: &User) -> Block {
    let speaker = match (user.lead, user.origin) {
        (_, Some(Origin::Agent)) => "Sent by the agent",
        (true, Some(Origin::Typed) | None) => "You, while it worked",
        (false, Some(Origin::Typed) | None) => "You",
    };
    let mut children = vec![Block::leaf("h2", format!("{key}/who"), speaker).class("who")];
    if !user.text.trim().is_empty() {
        children.push(plain(format!("{key}/text"), &user.text));
    }
    children.extend(user.attachments.iter().enumerate().map(|(n, it)| media(format!("{key}/file/{n}"), it)));
    Block::parent("article", key, children)
        .class(if user.lead { "row message user lead" } else { "row message user" })
        .linkable()
}

fn reply(key: &str, round: &Assistant) -> Block {
    let mut children = vec![Block::leaf("h2", format!("{key}/who"), "Agent").class("hidden")];
    children.extend(round.parts.iter().enumerate().filter_map(|(n, it)| part(&format!("{key}/{n}"), it)));
    children.extend(round.error.as_deref().map(|text| error(&format!("{key}/error"), text)));
    Block::parent("article", key, children).class("row message reply").linkable()
}

/// What a part of a round shows by itself. Calls are shown by their rows.
pub(super) fn part(key: &str, part: &Part) -> Option<Block> {
    match part {
        Part::Thinking(it) => (!it.text.trim().is_empty()).then(|| thinking(key, &it.text)),
        Part::Text(it) => (!it.text.trim().is_empty()).then(|| markdown(key, &it.text)),
        Part::Media(it) => Some(media(key.to_owned(), it)),
        Part::Call(_) => None,
    }
}

fn thinking(key: &str, text: &str) -> Block {
    let summary = Block::leaf("summary", format!("{key}/s"), "Thinking");
    Block::parent("details", key, vec![summary, markdown(&format!("{key}/t"), text)]).class("thinking")
}

/// The error of a round or turn.
pub(super) fn error(key: &str, text: &str) -> Block {
    let (words, printed) = printed(text);
    let html = html! {
        p dir="auto" { span.state.bad { span.mark aria-hidden="true" { "✕" } " error" } " " span.plain { (words) } }
        @if let Some(printed) = printed { pre.printed { (visible(printed)) } }
    };
    Block::leaf("div", key, html.into_string()).class("error")
}

fn result_row(key: &str, result: &ToolResult) -> Block {
    let summary = Block::leaf("summary", format!("{key}/s"), "A result without its call");
    let details = Block::parent("details", format!("{key}/d"), vec![summary, raw(format!("{key}/t"), &result.text)]);
    Block::parent("article", key, vec![details]).class("row message result").linkable()
}

/// An image is shown where its bytes are here and its type is harmless; everything else is named.
fn media(key: String, media: &Media) -> Block {
    let source = media.data.as_deref().and_then(|data| image_source(media.mime.as_deref(), data));
    let name = media.name.as_deref().or(media.uri.as_deref()).unwrap_or(match media.kind {
        MediaKind::Image => "Image",
        MediaKind::Audio => "Audio",
        MediaKind::Resource => "Resource",
    });
    let html = html! {
        @if let (MediaKind::Image, Some(source)) = (media.kind, source) { img src=(source) alt=(name); }
        @else { figcaption { (media.kind.word()) " · " (name) @if let Some(mime) = &media.mime { " · " (mime) } } }
    };
    Block::leaf("figure", key, html.into_string())
}

/// A `data:` address for an image that cannot run anything (no SVG).
pub(super) fn image_source(mime: Option<&str>, base64: &str) -> Option<String> {
    let mime = ["image/png", "image/jpeg", "image/gif", "image/webp"].into_iter().find(|known| Some(*known) == mime)?;
    let is_base64 = base64.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=\r\n".contains(&b));
    is_base64.then(|| format!("data:{mime};base64,{base64}"))
}

/// A notice row; `None` where its message is not a notice of the document.
pub(super) fn notice(page: &Transcript<'_>, row: &NoticeRow) -> Option<Block> {
    let Body::Notice(notice) = &page.index.message(&row.message)?.body else { return None };
    Some(notice_row(&row.id, notice))
}

fn notice_row(id: &MessageId, notice: &Notice) -> Block {
    let key = format!("n:{}", segment(id.as_str()));
    let (class, mark, word) = match notice.level {
        NoticeLevel::Info => ("row notice info", "i", "note"),
        NoticeLevel::Warning => ("row notice warn", "!", "warning"),
        NoticeLevel::Error => ("row notice bad", "✕", "error"),
    };
    let (words, printed) = printed(&notice.text);
    let html = html! {
        span.level { span.mark aria-hidden="true" { (mark) } " " (word) }
        " " span.plain dir="auto" { (words) }
    };
    let mut children = vec![Block::leaf("p", format!("{key}/text"), html.into_string())];
    children.extend(
        printed.map(|printed| Block::leaf("pre", format!("{key}/printed"), escape(&visible(printed))).class("printed")),
    );
    Block::parent("article", key, children).class(class).linkable()
}

/// What is said, and apart from it what a program printed: the lines after the first that ends with a colon.
fn printed(text: &str) -> (&str, Option<&str>) {
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        end += line.len();
        if line.trim_end().ends_with(':') {
            let (words, printed) = (text[..end].trim_end(), text[end..].trim_matches('\n').trim_end());
            return if printed.trim().is_empty() { (text, None) } else { (words, Some(printed)) };
        }
    }
    (text, None)
}

#[cfg(test)]
mod tests {
    use super::printed;

    #[test]
    fn what_a_program_printed_stands_apart() {
        let text = "Codex ended as soon as it was started (exit code 1). It wrote last:\n  thread panicked\nnote: x\n";
        assert_eq!(
            printed(text),
            ("Codex ended as soon as it was started (exit code 1). It wrote last:", Some("  thread panicked\nnote: x"))
        );
        for text in ["One line.", "It wrote last:", "It wrote last:\n\n", "Two: words\nmore", ""] {
            assert_eq!(printed(text), (text, None), "{text:?}");
        }
    }
}

//! Message rows: what a person said, a reply, a result without its call; and notices.

use super::block::{Block, escape, segment};
use super::prose::{markdown, plain, raw};
use super::transcript::Transcript;
use crate::text::terminal::visible;
use maud::{Markup, html};
use pleat_transcript::ids::MessageId;
use pleat_transcript::message::{
    Assistant, Body, Media, MediaKind, Notice, NoticeLevel, Origin, Part, ToolResult, User,
};
use pleat_transcript::rows::{MessageRow, NoticeRow};

/// A message row; `None` where its message is not in the excerpt.
pub(super) fn message(page: &Transcript<'_>, row: &MessageRow) -> Option<Block> {
    let key = format!("m:{}", segment(row.id.as_str()));
    Some(match &page.index.message(&row.message)?.body {
        Body::User(user) => user_row(page, &key, &row.message, user),
        Body::Assistant(round) => reply(page, &key, &row.message, round),
        Body::Tool(result) => result_row(&key, result),
        Body::Plan(_) | Body::Notice(_) => return None,
    })
}

/// Where something stands in its message: among the parts of a round, or the attachments of a prompt.
pub(super) struct Place<'a> {
    /// The message.
    pub(super) message: &'a MessageId,
    /// From 0.
    pub(super) number: usize,
}

fn user_row(page: &Transcript<'_>, key: &str, id: &MessageId, user: &User) -> Block {
    let speaker = match (user.lead, user.origin) {
        (_, Some(Origin::Agent)) => "Sent by the agent",
        (true, Some(Origin::Typed) | None) => "You, while it worked",
        (false, Some(Origin::Typed) | None) => "You",
    };
    let mut children = vec![Block::leaf("h2", format!("{key}/who"), speaker).class("who")];
    if !user.text.trim().is_empty() {
        children.push(plain(format!("{key}/text"), &user.text));
    }
    let file = |(number, it)| media(page, format!("{key}/file/{number}"), &Place { message: id, number }, it);
    children.extend(user.attachments.iter().enumerate().map(file));
    Block::parent("article", key, children)
        .class(if user.lead { "row message user lead" } else { "row message user" })
        .linkable()
}

fn reply(page: &Transcript<'_>, key: &str, id: &MessageId, round: &Assistant) -> Block {
    let mut children = vec![Block::leaf("h2", format!("{key}/who"), "Agent").class("hidden")];
    let shown = |(number, it)| part(page, &format!("{key}/{number}"), &Place { message: id, number }, it);
    children.extend(round.parts.iter().enumerate().filter_map(shown));
    children.extend(round.error.as_deref().map(|text| error(&format!("{key}/error"), text)));
    Block::parent("article", key, children).class("row message reply").linkable()
}

/// What a part of a round shows by itself. Calls are shown by their rows.
pub(super) fn part(page: &Transcript<'_>, key: &str, place: &Place<'_>, part: &Part) -> Option<Block> {
    match part {
        Part::Thinking(it) => (!it.text.trim().is_empty()).then(|| thinking(key, &it.text)),
        Part::Text(it) => (!it.text.trim().is_empty()).then(|| markdown(key, &it.text)),
        Part::Media(it) => Some(media(page, key.to_owned(), place, it)),
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

/// An image of a harmless type is shown, a large one by its own address; everything else is named.
fn media(page: &Transcript<'_>, key: String, place: &Place<'_>, media: &Media) -> Block {
    let source = match &media.data {
        _ if media.kind != MediaKind::Image => None,
        Some(data) => image_source(media.mime.as_deref(), data),
        None => harmless_image(media.mime.as_deref()).and_then(|_| page.media_address(place)),
    };
    // Where it is somewhere else, there may be no data to be shown here.
    let is_named = source.is_none() || (media.data.is_none() && media.uri.is_some());
    let html = html! {
        @if let Some(source) = source { img src=(source) alt=(name_of(media)); }
        @if is_named { figcaption { (caption(media)) } }
    };
    Block::leaf("figure", key, html.into_string())
}

/// `image · a.png · image/png`
pub(super) fn caption(media: &Media) -> Markup {
    html! { (media.kind.word()) " · " (name_of(media)) @if let Some(mime) = &media.mime { " · " (mime) } }
}

fn name_of(media: &Media) -> &str {
    media.name.as_deref().or(media.uri.as_deref()).unwrap_or(match media.kind {
        MediaKind::Image => "Image",
        MediaKind::Audio => "Audio",
        MediaKind::Resource => "Resource",
    })
}

/// The type of an image that cannot run anything (no SVG).
pub(crate) fn harmless_image(mime: Option<&str>) -> Option<&'static str> {
    ["image/png", "image/jpeg", "image/gif", "image/webp"].into_iter().find(|known| Some(*known) == mime)
}

/// A `data:` address for a harmless image.
pub(super) fn image_source(mime: Option<&str>, base64: &str) -> Option<String> {
    let mime = harmless_image(mime)?;
    let is_base64 = base64.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=\r\n".contains(&b));
    is_base64.then(|| format!("data:{mime};base64,{base64}"))
}

/// A notice row; `None` where its message is not a notice of the excerpt.
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
pub(super) fn printed(text: &str) -> (&str, Option<&str>) {
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

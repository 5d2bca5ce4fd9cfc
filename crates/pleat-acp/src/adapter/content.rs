//! ACP content blocks: text, and everything that is not (docs/spec/record.md, Text 6).

use super::text_at;
use pleat_transcript::message::{JsonObject, Media, MediaKind};
use serde_json::Value;

/// A content block.
pub(super) enum Content {
    Text(String),
    Media(Media),
}

/// Reads a block; `None` where its type is not known.
pub(super) fn read_content(block: &Value, message_id: Option<String>) -> Option<Content> {
    let kind = match block.get("type")?.as_str()? {
        "text" => return text_at(block, "text").map(Content::Text),
        "image" => MediaKind::Image,
        "audio" => MediaKind::Audio,
        "resource" | "resource_link" => MediaKind::Resource,
        _ => return None,
    };
    // An embedded resource holds its fields one level down.
    let fields = block.get("resource").unwrap_or(block);
    Some(Content::Media(Media {
        kind,
        mime: text_at(fields, "mimeType"),
        data: text_at(fields, "data").or_else(|| text_at(fields, "text")).or_else(|| text_at(fields, "blob")),
        uri: text_at(fields, "uri"),
        name: text_at(fields, "name"),
        message_id,
        extra: JsonObject::new(),
    }))
}

/// The text of a prompt's text blocks, a line each, and its other blocks in order.
pub(super) fn read_prompt(blocks: &[Value]) -> (String, Vec<Media>) {
    let mut texts = Vec::new();
    let mut media = Vec::new();
    for block in blocks {
        match read_content(block, None) {
            Some(Content::Text(text)) => texts.push(text),
            Some(Content::Media(each)) => media.push(each),
            None => {}
        }
    }
    (texts.join("\n"), media)
}

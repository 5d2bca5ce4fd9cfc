//! A prompt as the agent gets it: its text and attachments, by what the agent takes (ACP, "Prompt capabilities").

use pleat_acp::connection::messages::{AgentInfo, PromptPart, ResourceContent};
use pleat_transcript::message::{Media, MediaKind};

/// The parts of a prompt, and what of it the agent does not take, in words.
pub(crate) fn prompt_parts(text: &str, attachments: &[Media], info: &AgentInfo) -> (Vec<PromptPart>, Vec<String>) {
    let mut parts = Vec::new();
    let mut left_out = Vec::new();
    if !text.is_empty() {
        parts.push(PromptPart::Text(text.to_owned()));
    }
    for media in attachments {
        match part(media, info) {
            Some(part) => parts.push(part),
            None => left_out.push(words(media)),
        }
    }
    (parts, left_out)
}

fn part(media: &Media, info: &AgentInfo) -> Option<PromptPart> {
    let mime_type = media.mime.clone();
    match media.kind {
        MediaKind::Image => {
            let data = media.data.clone().filter(|_| info.takes_images);
            let mime_type = mime_type.unwrap_or_else(|| "image/png".to_owned());
            data.map(|data| PromptPart::Image { data, mime_type }).or_else(|| link(media))
        }
        MediaKind::Audio => {
            let data = media.data.clone().filter(|_| info.takes_audio);
            let mime_type = mime_type.unwrap_or_else(|| "audio/wav".to_owned());
            data.map(|data| PromptPart::Audio { data, mime_type }).or_else(|| link(media))
        }
        MediaKind::Resource => embedded(media, info).or_else(|| link(media)).or_else(|| as_text(media)),
    }
}

fn embedded(media: &Media, info: &AgentInfo) -> Option<PromptPart> {
    let data = media.data.clone().filter(|_| info.takes_embedded_resources)?;
    let uri = media.uri.clone().or_else(|| media.name.clone())?;
    let content = if is_text(media) { ResourceContent::Text(data) } else { ResourceContent::Blob(data) };
    Some(PromptPart::Resource { uri, mime_type: media.mime.clone(), content })
}

/// Every agent takes links.
fn link(media: &Media) -> Option<PromptPart> {
    let uri = media.uri.clone()?;
    let name = media.name.clone().unwrap_or_else(|| uri.clone());
    Some(PromptPart::ResourceLink { name, uri, mime_type: media.mime.clone() })
}

/// Every agent takes text.
fn as_text(media: &Media) -> Option<PromptPart> {
    let data = media.data.as_ref().filter(|_| is_text(media))?;
    let name = media.name.as_deref().unwrap_or("attachment");
    Some(PromptPart::Text(format!("{name}:\n{data}")))
}

/// Whether the data of a resource is text and no base64.
fn is_text(media: &Media) -> bool {
    media.mime.as_deref().is_none_or(|mime| {
        mime.starts_with("text/")
            || ["json", "xml", "yaml", "toml", "javascript"].iter().any(|word| mime.contains(word))
    })
}

fn words(media: &Media) -> String {
    let name = media.name.as_deref().or(media.mime.as_deref()).unwrap_or("without a name");
    format!("{} {name}", media.kind.word())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleat_transcript::message::JsonObject;

    fn media(kind: MediaKind, mime: &str, data: Option<&str>, uri: Option<&str>) -> Media {
        Media {
            kind,
            mime: Some(mime.to_owned()),
            data: data.map(str::to_owned),
            uri: uri.map(str::to_owned),
            name: Some("name".to_owned()),
            message_id: None,
            extra: JsonObject::new(),
        }
    }

    fn everything() -> AgentInfo {
        AgentInfo { takes_images: true, takes_audio: true, takes_embedded_resources: true, ..AgentInfo::default() }
    }

    fn resource(content: ResourceContent, mime: &str) -> PromptPart {
        PromptPart::Resource { uri: "file:///a".to_owned(), mime_type: Some(mime.to_owned()), content }
    }

    #[test]
    fn each_attachment_goes_the_best_way_that_the_agent_takes() {
        let image = media(MediaKind::Image, "image/png", Some("AA=="), None);
        let text = media(MediaKind::Resource, "text/plain", Some("hello"), Some("file:///a"));
        let blob = media(MediaKind::Resource, "application/pdf", Some("AA=="), Some("file:///a"));
        let link = media(MediaKind::Resource, "text/plain", None, Some("file:///a"));
        let all = [image, text, blob, link];
        let linked = |mime: &str| PromptPart::ResourceLink {
            name: "name".to_owned(),
            uri: "file:///a".to_owned(),
            mime_type: Some(mime.to_owned()),
        };

        let (parts, left_out) = prompt_parts("look", &all, &everything());
        let expected = [
            PromptPart::Text("look".to_owned()),
            PromptPart::Image { data: "AA==".to_owned(), mime_type: "image/png".to_owned() },
            resource(ResourceContent::Text("hello".to_owned()), "text/plain"),
            resource(ResourceContent::Blob("AA==".to_owned()), "application/pdf"),
            linked("text/plain"),
        ];
        assert_eq!((parts.as_slice(), left_out.len()), (expected.as_slice(), 0));

        // Where it is only named, it is told where it is.
        let named = media(MediaKind::Image, "image/png", None, Some("file:///a"));
        assert_eq!(prompt_parts("", &[named], &everything()).0, [linked("image/png")]);

        // An agent that takes nothing but text and links.
        let (parts, left_out) = prompt_parts("look", &all, &AgentInfo::default());
        assert_eq!(parts[1..], [linked("text/plain"), linked("application/pdf"), linked("text/plain")]);
        assert_eq!(left_out, ["image name"]);
    }

    #[test]
    fn a_text_that_is_nowhere_else_is_told_as_text() {
        let notes = media(MediaKind::Resource, "text/markdown", Some("# Notes"), None);
        let (parts, left_out) = prompt_parts("", &[notes], &AgentInfo::default());
        assert_eq!((parts, left_out.len()), (vec![PromptPart::Text("name:\n# Notes".to_owned())], 0));
    }
}

//! A call's request and result.

use super::message::image_source;
use crate::links;
use crate::text::difference::{Edit, LineChange};
use crate::text::terminal::{screen, visible};
use maud::{Markup, html};
use pleat_transcript::call::{Call, ToolKind};
use pleat_transcript::ids::SessionId;
use serde_json::Value;

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// For a decision: the request in full, save differences too large for a card, which are one link away.
    Card,
    /// The beginning of what is long, with a link to all of it.
    Preview,
    /// Everything.
    Full,
}

/// What is no longer than this stands beside its name.
const SHORT_BYTES: usize = 80;
/// How much of one text a preview shows.
const PREVIEW_BYTES: usize = 64 * 1024;
/// Differences of larger texts are not computed for a card or a preview.
const COMPARED_BYTES: usize = 256 * 1024;

/// Request and result of a call.
pub(crate) fn details(session: &SessionId, call: &Call, extent: Extent) -> Markup {
    let shown = Shown { session, call, extent };
    let is_edit = call.output.iter().any(|block| edit(block).is_some());
    html! {
        section.request {
            h3 { "Request" }
            // The difference says it better than the request.
            @if is_edit { details { summary { "The request as it was sent" } (shown.input()) } }
            @else { (shown.input()) }
        }
        section.result {
            h3 { "Result" }
            @for block in &call.output { (shown.block(block)) }
            @if call.output.is_empty() {
                p.quiet { (if call.state.is_unresolved() { "No result yet." } else { "No result was recorded." }) }
            }
        }
    }
}

/// What a person decides on: the command, the differences, and whatever else the request says.
pub(crate) fn request(session: &SessionId, call: &Call, extent: Extent) -> Markup {
    let shown = Shown { session, call, extent };
    let edits: Vec<_> = call.output.iter().filter_map(edit).collect();
    html! {
        @for edit in &edits { (shown.edit(edit)) }
        @if edits.is_empty() { (shown.input()) }
        @else { details { summary { "The request as it was sent" } (shown.input()) } }
        @for text in call.output.iter().filter_map(text_of) { (shown.text(&visible(text), "output")) }
    }
}

struct Shown<'a> {
    session: &'a SessionId,
    call: &'a Call,
    extent: Extent,
}

impl Shown<'_> {
    fn input(&self) -> Markup {
        match &self.call.input {
            None | Some(Value::Null) => html! { p.quiet { "The agent sent no request data." } },
            Some(Value::Object(members)) => html! {
                dl.members { @for (name, value) in members { (self.member(name, value)) } }
            },
            Some(other) => self.json(other),
        }
    }

    fn member(&self, name: &str, value: &Value) -> Markup {
        if is_command(name)
            && let Some(command) = command_of(value)
        {
            return html! { dt.hidden { (visible(name)) } dd { (self.text(&visible(&command), "command")) } };
        }
        let text = visible(&text_of_value(value));
        let is_short = text.len() <= SHORT_BYTES && !text.contains('\n');
        html! {
            @if is_short { dt { (visible(name)) } dd.short { code { (text) } } }
            @else { dt.long { (visible(name)) } dd { (self.text(&text, "value")) } }
        }
    }

    fn block(&self, block: &Value) -> Markup {
        let text_at = |pointer: &str| block.pointer(pointer).and_then(Value::as_str);
        if let Some(edit) = edit(block) {
            return self.edit(&edit);
        }
        match (text_at("/type"), text_at("/content/type")) {
            (Some("terminal"), _) => self.terminal(text_at("/output").unwrap_or(""), block.get("exit")),
            (Some("content"), Some("text")) => self.output(text_at("/content/text").unwrap_or("")),
            (Some("content"), Some("image")) => {
                let source = text_at("/content/data").and_then(|data| image_source(text_at("/content/mimeType"), data));
                html! {
                    @if let Some(source) = source { img src=(source) alt="Image in the result"; }
                    @else { p.quiet { "An image that cannot be shown here." } }
                }
            }
            (Some("content"), Some("resource")) if text_at("/content/resource/text").is_some() => html! {
                p.quiet { (visible(text_at("/content/resource/uri").unwrap_or("A resource"))) }
                (self.output(text_at("/content/resource/text").unwrap_or("")))
            },
            (Some("content"), Some("resource_link")) => html! {
                p { "Resource: " (visible(text_at("/content/uri").unwrap_or(""))) }
            },
            _ => self.json(block),
        }
    }

    /// Text of a result. Commands and servers write for a screen; what was read from a file is shown as it stands (B49).
    fn output(&self, text: &str) -> Markup {
        let text = without_fence(text);
        match self.call.kind() {
            ToolKind::Read | ToolKind::Edit | ToolKind::Delete | ToolKind::Move => self.text(&visible(text), "output"),
            ToolKind::Search
            | ToolKind::Execute
            | ToolKind::Think
            | ToolKind::Fetch
            | ToolKind::SwitchMode
            | ToolKind::Other => self.text(&screen(text), "output"),
        }
    }

    fn terminal(&self, output: &str, exit: Option<&Value>) -> Markup {
        let code = exit.and_then(|exit| exit.get("exitCode").unwrap_or(exit).as_i64());
        let signal = exit.and_then(|exit| exit.get("signal")).and_then(Value::as_str);
        html! {
            (self.text(&screen(output), "output"))
            @if let Some(code) = code { p.quiet { "Exit code " (code) } }
            @if let Some(signal) = signal { p.quiet { "Ended by signal " (visible(signal)) } }
        }
    }

    fn json(&self, value: &Value) -> Markup {
        self.text(&visible(&text_of_value(value)), "value")
    }

    /// Text whose every character is visible already.
    fn text(&self, text: &str, class: &str) -> Markup {
        let end = match self.extent {
            Extent::Preview => text.floor_char_boundary(PREVIEW_BYTES),
            Extent::Card | Extent::Full => text.len(),
        };
        html! {
            pre class=(class) tabindex="0" { (text[..end]) }
            @if end < text.len() { (self.all(&format!("The first {} of {}.", size(end), size(text.len())))) }
        }
    }

    fn edit(&self, edit: &Edit<'_>) -> Markup {
        let is_compared = self.extent == Extent::Full || edit.size() <= COMPARED_BYTES;
        html! {
            figure.diff {
                figcaption { span.path { (visible(edit.path)) } " " span.quiet { (edit.word()) } }
                @if is_compared { (difference(edit)) }
                @else { (self.all(&format!("A difference of {}.", size(edit.size())))) }
            }
        }
    }

    fn all(&self, what: &str) -> Markup {
        let address = format!("{}?full", links::call(self.session, &self.call.id));
        html! { p.quiet { (what) " " a href=(address) { "Show all" } } }
    }
}

/// Shown as one, so that its name need not be.
fn is_command(member: &str) -> bool {
    matches!(member, "command" | "cmd")
}

/// A command as a string or as its words.
fn command_of(value: &Value) -> Option<String> {
    if let Some(words) = value.as_array() {
        let words: Option<Vec<_>> = words.iter().map(Value::as_str).collect();
        return words.map(|words| words.join(" "));
    }
    value.as_str().map(ToOwned::to_owned)
}

/// A string as it is, anything else as JSON.
fn text_of_value(value: &Value) -> String {
    // Serialising a value cannot fail.
    value.as_str().map_or_else(|| serde_json::to_string_pretty(value).unwrap_or_default(), ToOwned::to_owned)
}

fn difference(edit: &Edit<'_>) -> Markup {
    let hunks = edit.hunks();
    html! {
        @if hunks.is_empty() { p.quiet { "No line changes." } }
        @else {
            pre tabindex="0" {
                @for (n, hunk) in hunks.iter().enumerate() {
                    @if n > 0 { span.gap { "⋯ line " (hunk.first_line) } "\n" }
                    @for line in &hunk.lines {
                        @match line.change {
                            LineChange::Added => { ins { "+" (line.text) } },
                            LineChange::Removed => { del { "−" (line.text) } },
                            LineChange::Kept => { span { " " (line.text) } },
                        }
                        "\n"
                    }
                }
            }
        }
    }
}

fn edit(block: &Value) -> Option<Edit<'_>> {
    let text_at = |name: &str| block.get(name).and_then(Value::as_str);
    if text_at("type") != Some("diff") {
        return None;
    }
    let kind = block.pointer("/_meta/kind").and_then(Value::as_str).unwrap_or("");
    let new = text_at("newText");
    let deleted = kind.starts_with("delete") || new.is_none();
    Some(Edit { path: text_at("path").unwrap_or("a file"), old: text_at("oldText"), new, deleted })
}

fn text_of(block: &Value) -> Option<&str> {
    block.get("content")?.get("text")?.as_str()
}

/// Adapters wrap output into one Markdown fence; the fence is not part of it.
fn without_fence(text: &str) -> &str {
    let inner = || {
        let (first, rest) = text.trim().split_once('\n')?;
        let fence = &first[..first.len() - first.trim_start_matches('`').len()];
        let inner = rest.strip_suffix(fence)?;
        (fence.len() >= 3 && (inner.is_empty() || inner.ends_with('\n')) && !inner.contains(fence)).then_some(inner)
    };
    inner().unwrap_or(text)
}

fn size(bytes: usize) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{} KiB", bytes / 1024),
        _ => format!("{} MiB", bytes / 1_048_576),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_fence_around_all_is_taken_off() {
        assert_eq!(without_fence("```console\nok\n```"), "ok\n");
        assert_eq!(without_fence("````\na\n```\nb\n````\n"), "a\n```\nb\n");
        for text in ["plain", "```\na\n```\nb\n```", "a\n```\nb\n```", "```\na", "x\ny"] {
            assert_eq!(without_fence(text), text);
        }
    }
}

//! A call's request and result.

use super::message::image_source;
use super::{asked, edits, exit};
use crate::links;
use crate::text::difference::{LineChange, bytes_of_texts, hunks};
use crate::text::terminal::{screen, visible};
use maud::{Markup, html};
use pleat_transcript::call::{Call, CallState, ToolKind};
use pleat_transcript::ids::SessionId;
use pleat_transcript::preview;
use pleat_transcript::request::{Edit, command_of, edit_of_block, is_command};
use serde_json::{Map, Value};

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
    // What is not done is only asked for: its differences are no result.
    let is_done = call.state == CallState::Completed;
    let (differences, rest): (Vec<_>, Vec<_>) = call.output.iter().partition(|block| edit_of_block(block).is_some());
    let asked = if is_done && !differences.is_empty() { Vec::new() } else { asked::edits(call) };
    let is_edit = !asked.is_empty() || !differences.is_empty();
    let has_request = !asked.is_empty() || asked::input(call).is_some() || asked::title(call).is_some();
    html! {
        @if has_request {
            section.request {
                h3 { "Request" }
                (shown.title())
                @for edit in &asked { (shown.edit(edit)) }
                // The difference says it better than the request.
                @if is_edit { (shown.folded_input()) } @else { (shown.input()) }
            }
        }
        section.result {
            h3 { "Result" }
            @if is_done { @for block in &call.output { (shown.block(block)) } }
            @else { @for block in &rest { (shown.block(block)) } }
            @if let Some(words) = shown.without_result(if is_done { call.output.len() } else { rest.len() }) {
                p.quiet { (words) }
            }
        }
    }
}

/// What a person decides on: the command, the differences, and whatever else the request says, all of it in full. Where
/// only a preview of something is at hand, that is said before it, and the rest is one link away.
pub(crate) fn request(session: &SessionId, call: &Call) -> Markup {
    let shown = Shown { session, call, extent: Extent::Card };
    let is_empty = asked::input(call).is_none() && asked::title(call).is_none() && call.output.is_empty();
    html! {
        (shown.title())
        (shown.edits_and_input())
        @for block in shown.blocks().filter(|block| edit_of_block(block).is_none()) {
            // No screen: nothing of it may be hidden.
            @if let Some(text) = text_of(block) { (shown.text(&visible(text), "output")) }
            @else { (shown.block(block)) }
        }
        @if is_empty { p.quiet { "The agent sent no request data." } }
    }
}

struct Shown<'a> {
    session: &'a SessionId,
    call: &'a Call,
    extent: Extent,
}

impl Shown<'_> {
    fn title(&self) -> Markup {
        html! {
            @match asked::title(self.call) {
                Some(title) if asked::is_title_the_command(self.call) => (self.text(&visible(title), "command")),
                Some(title) => p.plain dir="auto" { (visible(title)) },
                None => {}
            }
        }
    }

    fn input(&self) -> Markup {
        html! {
            @if let Some(input) = asked::input(self.call) { (self.value(input)) }
        }
    }

    fn value(&self, value: &Value) -> Markup {
        match value {
            Value::Object(members) => self.members(members),
            other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
                self.json(other)
            }
        }
    }

    /// The differences and the request, as far as they are at hand.
    fn edits_and_input(&self) -> Markup {
        let edits = asked::edits(self.call);
        let input = asked::input(self.call).and_then(preview::of_input);
        let output = preview::bytes_of_output(&self.call.output);
        html! {
            @if let Some(bytes) = output {
                (self.cut("what it would do", bytes))
                // Of two texts that were cut there is no difference.
                @for edit in &edits { p { span.path { (visible(edit.path)) } " " span.quiet { "Its difference is there." } } }
            } @else {
                @for edit in &edits { (self.edit(edit)) }
            }
            @if let Some(preview) = input {
                (self.cut("the request", preview.bytes))
                (self.value(preview.value))
            } @else if edits.is_empty() {
                (self.input())
            } @else {
                (self.members(&edits::rest_of_request(self.call, &edits)))
                (self.folded_input())
            }
        }
    }

    /// The blocks of the result, without what says that they are a preview.
    fn blocks(&self) -> impl Iterator<Item = &Value> {
        let marks = usize::from(preview::bytes_of_output(&self.call.output).is_some());
        self.call.output.iter().take(self.call.output.len() - marks)
    }

    /// Says that what follows is not the whole.
    fn cut(&self, what: &str, bytes: u64) -> Markup {
        let size = size(usize::try_from(bytes).unwrap_or(usize::MAX));
        let address = links::whole_call(self.session, &self.call.id);
        html! {
            p.cut {
                strong { "This is only the beginning of " (what) ", which has " (size) "." } " "
                a href=(address) { "Show all of it" }
            }
        }
    }

    fn folded_input(&self) -> Markup {
        html! {
            @if asked::input(self.call).is_some() {
                details { summary { "The request as it was sent" } (self.input()) }
            }
        }
    }

    fn members(&self, members: &Map<String, Value>) -> Markup {
        html! {
            @if !members.is_empty() {
                dl.members { @for (name, value) in members { (self.member(name, value)) } }
            }
        }
    }

    fn without_result(&self, blocks: usize) -> Option<&'static str> {
        match self.call.state {
            _ if blocks > 0 => None,
            CallState::Pending | CallState::AwaitingPermission | CallState::Running => Some("No result yet."),
            CallState::Denied | CallState::Superseded => Some("It was not carried out."),
            CallState::Completed | CallState::Failed | CallState::Cancelled | CallState::Interrupted => {
                Some("No result was recorded.")
            }
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
        if let Some(edit) = edit_of_block(block) {
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
        let texts = self.call.output.iter().filter_map(|block| {
            let text = text_of(block).or_else(|| block.get("output")?.as_str())?;
            Some(&text[..self.end_of(text)])
        });
        let ended = exit.and_then(|exit| exit::words(exit, texts));
        html! {
            @if output.trim().is_empty() { p.quiet { "No output." } }
            @else { (self.text(&screen(output), "output")) }
            @if let Some(ended) = ended { p.quiet { (visible(&ended)) } }
        }
    }

    fn json(&self, value: &Value) -> Markup {
        self.text(&visible(&text_of_value(value)), "value")
    }

    /// How much of a text is shown.
    fn end_of(&self, text: &str) -> usize {
        match self.extent {
            Extent::Preview => text.floor_char_boundary(PREVIEW_BYTES),
            Extent::Card | Extent::Full => text.len(),
        }
    }

    /// Text whose every character is visible already.
    fn text(&self, text: &str, class: &str) -> Markup {
        let end = self.end_of(text);
        html! {
            pre class=(class) tabindex="0" { (text[..end]) }
            @if end < text.len() { (self.all(&format!("The first {} of {}.", size(end), size(text.len())))) }
        }
    }

    fn edit(&self, edit: &Edit<'_>) -> Markup {
        let is_compared = self.extent == Extent::Full || bytes_of_texts(edit) <= COMPARED_BYTES;
        html! {
            figure.diff {
                figcaption { span.path { (visible(edit.path)) } " " span.quiet { (edit.fate.word()) } }
                @if is_compared { (difference(edit)) }
                @else { (self.all(&format!("A difference of {}.", size(bytes_of_texts(edit))))) }
            }
        }
    }

    fn all(&self, what: &str) -> Markup {
        let address = links::whole_call(self.session, &self.call.id);
        html! { p.quiet { (what) " " a href=(address) { "Show all" } } }
    }
}

/// A string as it is, anything else as JSON.
fn text_of_value(value: &Value) -> String {
    // Serialising a value cannot fail.
    value.as_str().map_or_else(|| serde_json::to_string_pretty(value).unwrap_or_default(), ToOwned::to_owned)
}

fn difference(edit: &Edit<'_>) -> Markup {
    let hunks = hunks(edit);
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

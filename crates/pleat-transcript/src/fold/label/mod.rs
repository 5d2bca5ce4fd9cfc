//! Labels: one line that says what a call does (spec/fold.md, section 6).

mod argument;
mod path;
mod shell;
mod table;

use super::text::{is_blank, one_line};
use crate::call::Call;
use crate::rows::Detail;
use argument::Arguments;
use table::{Action, FirstSought, action_of, same_word};

/// How a call is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// `Read file · src/a.rs`
    pub text: String,
    /// `Reading file · src/a.rs`; the text itself where there is no running form.
    pub progress: String,
    /// How faces offer the call's details, where that is special.
    pub detail: Option<Detail>,
}

impl Label {
    fn plain(text: String) -> Self {
        Self { progress: text.clone(), text, detail: None }
    }
}

/// The label of a call; paths inside `root` are shown relative to it.
pub fn label(call: &Call, root: Option<&str>) -> Label {
    match Tool::of(call) {
        Tool::OfServer { server, tool } if is_memory_server(server) => memory(tool, call, root),
        Tool::OfServer { server, tool } => Label::plain(joined(&[Some(server), tool])),
        Tool::BrokenServerName(name) => Label::plain(joined(&[Some(name)])),
        Tool::Own => match own_memory_action(call) {
            Some(action) => memory(Some(action), call, root),
            None => own(call, root),
        },
    }
}

/// Whose tool a call uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tool<'c> {
    /// A tool of an MCP server.
    OfServer { server: &'c str, tool: Option<&'c str> },
    /// A name that begins as a server's tool and lacks a part: shown unchanged.
    BrokenServerName(&'c str),
    /// A tool of the agent itself.
    Own,
}

impl<'c> Tool<'c> {
    fn of(call: &'c Call) -> Self {
        let name = call.name.as_deref().filter(|name| !is_blank(name));
        if let Some(server) = call.server.as_deref().filter(|server| !is_blank(server)) {
            return Self::OfServer { server, tool: name };
        }
        let Some((name, rest)) = name.and_then(|name| Some((name, name.strip_prefix("mcp__")?))) else {
            return Self::Own;
        };
        match rest.split_once("__") {
            Some((server, tool)) if !server.is_empty() && !tool.is_empty() => {
                Self::OfServer { server, tool: Some(tool) }
            }
            Some(_) | None => Self::BrokenServerName(name),
        }
    }
}

/// The parts that are there, in one line.
fn joined(parts: &[Option<&str>]) -> String {
    let parts: Vec<_> = parts.iter().flatten().map(|part| one_line(part)).collect();
    parts.join(" · ")
}

fn is_memory_server(server: &str) -> bool {
    server.to_lowercase() == "memory"
}

/// What one of the agent's own memory tools does.
fn own_memory_action(call: &Call) -> Option<&'static str> {
    const ACTIONS: [(&str, &str); 3] = [("save_memory", "save"), ("write_memory", "write"), ("read_memory", "read")];
    let name = call.name.as_deref()?;
    ACTIONS.iter().find(|(tool, _)| same_word(tool, name)).map(|(_, action)| *action)
}

/// `Memory · action · name`, never the body.
fn memory(action: Option<&str>, call: &Call, root: Option<&str>) -> Label {
    let name = Arguments::of(call, root).memory_name();
    let text = joined(&[Some("Memory"), action, name.as_deref()]);
    Label { progress: text.clone(), text, detail: Some(Detail::Memory) }
}

/// The label of one of the agent's own tools.
fn own(call: &Call, root: Option<&str>) -> Label {
    let arguments = Arguments::of(call, root);
    match action_of(call.name.as_deref(), call.kind()) {
        Some(action) => {
            let detail = arguments.sought(action.first).or_else(|| title_as_argument(call, action));
            Label {
                text: joined(&[Some(action.name), detail.as_deref()]),
                progress: joined(&[Some(action.running), detail.as_deref()]),
                detail: None,
            }
        }
        None => Label::plain(unknown_tool(call, &arguments)),
    }
}

/// Some agents send no input: then the title says what is done, unless it only repeats what the label says already.
fn title_as_argument(call: &Call, action: &Action) -> Option<String> {
    if call.input.as_ref().is_some_and(|input| !input.is_null()) {
        return None;
    }
    let title = title(call)?;
    let bare = title.replace(char::is_whitespace, "");
    let repeats = |word: &str| same_word(&bare, &word.replace(char::is_whitespace, ""));
    let repeated = repeats(action.name) || call.name.as_deref().is_some_and(repeats);
    (!repeated).then(|| argument::form(title))
}

fn title(call: &Call) -> Option<&str> {
    call.title.as_deref().filter(|title| !is_blank(title))
}

/// The agent's title alone; without one, its name (or `Tool`) in the action's place.
fn unknown_tool(call: &Call, arguments: &Arguments) -> String {
    if let Some(title) = title(call) {
        return argument::form(title);
    }
    let name = call.name.as_deref().filter(|name| !is_blank(name)).unwrap_or("Tool");
    let detail = arguments.sought(FirstSought::Path);
    joined(&[Some(name), detail.as_deref()])
}

#[cfg(test)]
mod tests;

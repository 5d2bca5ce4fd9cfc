//! Labels: one line that says what a call does (docs/spec/fold.md, section 6).

mod argument;
mod path;
mod shell;
mod table;

use super::text::{is_blank, one_line};
use crate::call::Call;
use crate::rows::Detail;
use argument::Arguments;
use table::{FirstSought, action_of, same_word};

pub(super) use argument::Argument;
pub(super) use table::{Action, Counted, Nouns, Weight};

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

/// The label of a call; paths inside `root` are shown relative to it.
pub fn label(call: &Call, root: Option<&str>) -> Label {
    Deed::of(call, root).label()
}

/// What a call does, and to what: what its label and the headline of its group are made of.
#[derive(Debug)]
pub(super) enum Deed<'c> {
    /// One of the agent's own tools whose action is known.
    Own { action: &'static Action, target: Option<Argument> },
    /// A tool of an MCP server; or a name that begins as one and lacks a part, in the server's place.
    OfServer { server: &'c str, tool: Option<&'c str> },
    /// Something is remembered or looked up; the body is never shown.
    Memory { action: Option<&'c str>, name: Option<String> },
    /// An own tool of no known action, in the agent's words.
    Titled(String),
    /// An own tool of no known action that has no title.
    Named { name: &'c str, target: Option<Argument> },
}

impl<'c> Deed<'c> {
    pub(super) fn of(call: &'c Call, root: Option<&'c str>) -> Self {
        let arguments = Arguments::of(call, root);
        let memory = |action| Self::Memory { action, name: arguments.memory_name() };
        match server_tool(call) {
            Some((server, tool)) if is_memory_server(server) => memory(tool),
            Some((server, tool)) => Self::OfServer { server, tool },
            None => match own_memory_action(call) {
                Some(action) => memory(Some(action)),
                None => Self::of_own_tool(call, &arguments),
            },
        }
    }

    fn of_own_tool(call: &'c Call, arguments: &Arguments<'c>) -> Self {
        if let Some(action) = action_of(call.name.as_deref(), call.kind(), arguments.has_command()) {
            let target = arguments.sought(action.first).or_else(|| title_as_argument(call, action));
            return Self::Own { action, target };
        }
        if let Some(title) = title(call) {
            return Self::Titled(argument::form(title));
        }
        // Without a title, its name (or `Tool`) stands in the action's place.
        let name = call.name.as_deref().filter(|name| !is_blank(name)).unwrap_or("Tool");
        Self::Named { name, target: arguments.sought(FirstSought::Path) }
    }

    pub(super) fn label(&self) -> Label {
        match self {
            Self::Own { action, target } => {
                let target = target.as_ref().map(|target| target.text.as_str());
                Label {
                    text: joined(&[Some(action.name), target]),
                    progress: joined(&[Some(action.running), target]),
                    detail: None,
                }
            }
            Self::OfServer { server, tool } => Label::plain(joined(&[Some(server), *tool])),
            Self::Memory { action, name } => Label {
                detail: Some(Detail::Memory),
                ..Label::plain(joined(&[Some("Memory"), *action, name.as_deref()]))
            },
            Self::Titled(title) => Label::plain(title.clone()),
            Self::Named { name, target } => {
                Label::plain(joined(&[Some(name), target.as_ref().map(|target| target.text.as_str())]))
            }
        }
    }
}

impl Label {
    fn plain(text: String) -> Self {
        Self { progress: text.clone(), text, detail: None }
    }
}

/// The server and the tool where a call uses one of an MCP server. A name that begins as a server's and lacks a part
/// is shown unchanged, alone, so it stands in the server's place.
fn server_tool(call: &Call) -> Option<(&str, Option<&str>)> {
    let name = call.name.as_deref().filter(|name| !is_blank(name));
    if let Some(server) = call.server.as_deref().filter(|server| !is_blank(server)) {
        return Some((server, name));
    }
    let (name, rest) = name.and_then(|name| Some((name, name.strip_prefix("mcp__")?)))?;
    match rest.split_once("__") {
        Some((server, tool)) if !server.is_empty() && !tool.is_empty() => Some((server, Some(tool))),
        Some(_) | None => Some((name, None)),
    }
}

/// The parts that are there, in one line.
fn joined(parts: &[Option<&str>]) -> String {
    let mut line = String::with_capacity(64);
    for part in parts.iter().flatten() {
        if !line.is_empty() {
            line.push_str(" · ");
        }
        line.push_str(&one_line(part));
    }
    line
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

/// Some agents send no input: then the title says what is done, unless it only repeats what the label says already.
fn title_as_argument(call: &Call, action: &Action) -> Option<Argument> {
    if call.input.as_ref().is_some_and(|input| !input.is_null()) {
        return None;
    }
    let title = title(call)?;
    let bare = title.replace(char::is_whitespace, "");
    let repeats = |word: &str| same_word(&bare, &word.replace(char::is_whitespace, ""));
    let repeated = repeats(action.name) || call.name.as_deref().is_some_and(repeats);
    (!repeated).then(|| Argument { text: argument::form(title), is_path: false })
}

fn title(call: &Call) -> Option<&str> {
    call.title.as_deref().filter(|title| !is_blank(title))
}

#[cfg(test)]
mod tests;

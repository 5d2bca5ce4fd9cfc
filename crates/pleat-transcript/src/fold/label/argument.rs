//! Where the argument of a label is sought, and its form (docs/spec/fold.md, section 6).

use super::table::FirstSought;
use super::{path, shell};
use crate::call::Call;
use crate::fold::text::{cut, is_blank};
use crate::message::JsonObject;
use crate::preview::is_large;
use serde_json::Value;

/// The longest argument, in characters.
pub(super) const LONGEST_ARGUMENT: usize = 160;

/// The longest detail, in characters: a command with its `args`.
const LONGEST_DETAIL: usize = 240;

/// The longest of a command's `args`, in characters.
const LONGEST_ARG: usize = 80;

/// How many of a command's `args` are shown.
const MOST_ARGS: usize = 4;

const PATH_KEYS: [&str; 7] =
    ["path", "file_path", "filePath", "absolute_path", "abs_path", "target_file", "notebook_path"];
const PATTERN_KEYS: [&str; 2] = ["pattern", "query"];
const COMMAND_KEYS: [&str; 2] = ["command", "cmd"];
const ADDRESS_KEYS: [&str; 1] = ["url"];
const DESCRIPTION_KEYS: [&str; 2] = ["description", "prompt"];
const MEMORY_KEYS: [&str; 4] = ["name", "memory_name", "key", "path"];

/// A text in the form of an argument.
pub(super) fn form(text: &str) -> String {
    cut(text, LONGEST_ARGUMENT)
}

/// What a call works on, in one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::fold) struct Argument {
    pub(in crate::fold) text: String,
    /// Of a path, the end says most.
    pub(in crate::fold) is_path: bool,
}

/// Where an argument is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Path,
    Pattern,
    Command,
    Address,
    Description,
}

/// The order in which arguments are sought after the action's own.
const SOURCES: [Source; 5] = [Source::Path, Source::Pattern, Source::Command, Source::Address, Source::Description];

/// The places of a call that may be read for its label: never content, output or a result.
pub(super) struct Arguments<'c> {
    call: &'c Call,
    root: Option<&'c str>,
}

impl<'c> Arguments<'c> {
    pub(super) fn of(call: &'c Call, root: Option<&'c str>) -> Self {
        Self { call, root }
    }

    /// The action's own argument, else the first of the rest.
    pub(super) fn sought(&self, first: FirstSought) -> Option<Argument> {
        let own = match first {
            FirstSought::PathOnly => return self.from(Source::Path),
            FirstSought::Path => Source::Path,
            FirstSought::Pattern => Source::Pattern,
            FirstSought::Command => Source::Command,
            FirstSought::Address => Source::Address,
            FirstSought::Description => Source::Description,
        };
        let rest = SOURCES.into_iter().filter(|source| *source != own);
        std::iter::once(own).chain(rest).find_map(|source| self.from(source))
    }

    fn from(&self, source: Source) -> Option<Argument> {
        let text = match source {
            Source::Path => self.path(),
            Source::Pattern => self.text(&PATTERN_KEYS),
            Source::Command => self.command(),
            Source::Address => self.text(&ADDRESS_KEYS),
            Source::Description => self.text(&DESCRIPTION_KEYS),
        };
        text.map(|text| Argument { text, is_path: source == Source::Path })
    }

    /// Whether the request holds a command.
    pub(super) fn has_command(&self) -> bool {
        self.command().is_some()
    }

    /// The name of a memory.
    pub(super) fn memory_name(&self) -> Option<String> {
        self.text(&MEMORY_KEYS)
    }

    fn text(&self, keys: &[&str]) -> Option<String> {
        first_text(self.input()?, keys).map(form)
    }

    fn path(&self) -> Option<String> {
        let stated = self.location().or_else(|| self.diff_path());
        let found = match stated {
            Some(path) => path,
            None => first_text(self.input()?, &PATH_KEYS)?,
        };
        Some(path::shown(found, self.root))
    }

    fn location(&self) -> Option<&'c str> {
        text_at(self.call.locations.first()?, "path")
    }

    fn diff_path(&self) -> Option<&'c str> {
        let is_diff = |block: &&Value| block.get("type").and_then(Value::as_str) == Some("diff");
        text_at(self.call.output.iter().find(is_diff)?, "path")
    }

    fn command(&self) -> Option<String> {
        let input = self.input()?;
        let args = texts(input.get("args"));
        COMMAND_KEYS.iter().find_map(|key| command_line(input.get(*key)?, &args))
    }

    /// The input, where it is an object and not too large to be read.
    fn input(&self) -> Option<&'c JsonObject> {
        let input = self.call.input.as_ref()?;
        let object = input.as_object()?;
        (!is_large(input)).then_some(object)
    }
}

fn text_at<'v>(object: &'v Value, key: &str) -> Option<&'v str> {
    object.get(key).and_then(Value::as_str).filter(|text| !is_blank(text))
}

fn first_text<'v>(input: &'v JsonObject, keys: &[&str]) -> Option<&'v str> {
    keys.iter().find_map(|key| input.get(*key)?.as_str().filter(|text| !is_blank(text)))
}

/// The items of an array that are strings and not blank.
fn texts(array: Option<&Value>) -> Vec<&str> {
    let items = array.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).filter(|text| !is_blank(text)).collect()
}

/// A command, a string or an array, and the first of its `args`; of a shell wrapper, the command inside.
fn command_line(command: &Value, args: &[&str]) -> Option<String> {
    let words = match command.as_str() {
        Some(text) if is_blank(text) => return None,
        Some(text) => vec![text],
        None => texts(Some(command)),
    };
    if words.is_empty() {
        return None;
    }
    if let Some(inner) = shell::command_inside(&words, args) {
        return Some(form(&inner));
    }
    let mut line = form(&words.join(" "));
    for arg in args.iter().take(MOST_ARGS) {
        line.push(' ');
        line.push_str(&cut(arg, LONGEST_ARG));
    }
    Some(cut(&line, LONGEST_DETAIL))
}

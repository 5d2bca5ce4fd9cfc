//! What a person is asked: whether the agent may do something, in full, or how to log in.

use super::asked::request;
use super::style::{Style, Tone};
use crate::plain_text::{block, line, visible};
use pleat_host::Login;
use pleat_transcript::call::Call;
use pleat_transcript::fold::label::label;
use pleat_transcript::ids::PermissionId;
use serde_json::{Value, json};

/// A question to a person.
pub(super) struct Question {
    pub(super) about: About,
    /// The answers that there are, in the agent's order and words.
    choices: Vec<Choice>,
    text: String,
}

/// What a question is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum About {
    Permission(PermissionId),
    /// The login that the agent wanted when its state had changed so often.
    Login {
        changes: u64,
    },
}

/// An answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choice {
    /// The option's or the method's id.
    pub(super) id: String,
    name: String,
    /// A command that a person runs for it in another terminal.
    pub(super) command: Option<String>,
}

/// What was typed, read as an answer.
pub(super) enum Typed<'q> {
    Choice(&'q Choice),
    /// Nothing: the question is to be repeated.
    Nothing,
    /// Something that is no answer.
    NoAnswer,
}

impl Question {
    /// Whether the agent may do what a call says. `None`: nobody is asked about it.
    pub(super) fn permission(call: &Call, root: Option<&str>, style: Style) -> Option<Self> {
        let permission = call.permission.as_ref()?;
        let choices = permission.options.iter().filter_map(|option| {
            let text = |name: &str| option.get(name).and_then(Value::as_str);
            let id = text("optionId")?;
            let name = text("name").filter(|name| !name.trim().is_empty()).unwrap_or(id);
            Some(Choice { id: id.to_owned(), name: name.to_owned(), command: None })
        });
        let mut text = String::new();
        line(&style.paint(Tone::Warning, "?"), &label(call, root).text, &mut text);
        text.push_str(&request(call, style));
        Some(Self { about: About::Permission(permission.request.clone()?), choices: choices.collect(), text })
    }

    /// How to log in.
    pub(super) fn login(title: &str, login: &Login, changes: u64, style: Style) -> Self {
        let choices = login.methods.iter().map(|method| {
            let description = method.description.as_deref().map(|words| format!(": {words}")).unwrap_or_default();
            let command =
                method.command.as_deref().map(|command| format!(" (run `{command}` in another terminal first)"));
            let name = format!("{}{description}{}", method.name, command.unwrap_or_default());
            Choice { id: method.id.clone(), name, command: method.command.clone() }
        });
        let mut text = String::new();
        let mark = style.paint(Tone::Warning, "?");
        block(&mark, &format!("{title} wants a login: {}", login.said), &mut text);
        Self { about: About::Login { changes }, choices: choices.collect(), text }
    }

    /// Whether it can be answered at all.
    pub(super) fn has_choices(&self) -> bool {
        !self.choices.is_empty()
    }

    /// The question as a person reads it, with its answers numbered.
    pub(super) fn text(&self) -> String {
        let mut text = self.text.clone();
        for (place, choice) in self.choices.iter().enumerate() {
            line(&format!("  {}.", place + 1), &choice.name.replace(['\n', '\r'], " "), &mut text);
        }
        if self.has_choices() {
            text + &self.prompt()
        } else {
            text + "It offers no answer; press Ctrl-C to stop the turn.\n"
        }
    }

    /// What stands before the cursor.
    pub(super) fn prompt(&self) -> String {
        format!("Type a number from 1 to {}: ", self.choices.len())
    }

    /// Reads what was typed.
    pub(super) fn read(&self, typed: &str) -> Typed<'_> {
        let typed = typed.trim();
        if typed.is_empty() {
            return Typed::Nothing;
        }
        let place = typed.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        place.and_then(|place| self.choices.get(place)).map_or(Typed::NoAnswer, Typed::Choice)
    }
}

/// A request as `--json` tells it.
pub(super) fn permission_json(call: &Call, root: Option<&str>) -> Value {
    let permission = call.permission.as_ref();
    json!({"asks": {
        "permission": permission.and_then(|it| it.request.as_ref()).map(PermissionId::as_str),
        "call": call.id.as_str(),
        "kind": call.kind().word(),
        "label": label(call, root).text,
        "options": permission.map(|it| it.options.as_slice()),
    }})
}

/// A login as `--json` tells it.
pub(super) fn login_json(login: &Login) -> Value {
    let methods = login.methods.iter().map(|method| {
        json!({"id": method.id, "name": method.name, "description": method.description, "command": method.command})
    });
    json!({"asks": {"login": {"said": login.said, "methods": methods.collect::<Vec<_>>()}}})
}

/// What is said where nobody can be asked about a call.
pub(super) fn permission_sentence(title: &str, call: &Call, root: Option<&str>, is_allowed: bool) -> String {
    let (label, kind) = (visible(&label(call, root).text), call.kind().word());
    let advice = if is_allowed {
        format!(
            "`--allow {kind}` does not cover it, since it may reach outside of the directories or cannot be allowed just \
             once; run this in a terminal and answer there"
        )
    } else {
        format!("allow it with `--allow {kind}`, or run this in a terminal and answer there")
    };
    format!("{title} asks whether it may: {label}. Nobody is here to answer: {advice}")
}

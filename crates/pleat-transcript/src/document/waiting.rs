//! What a session has beside its turns: prompts that wait, what a person chose, and further directories.
//!
//! These keys came late, so a document may use them for something else: a value of another shape is foreign, and stays in
//! the session's `extra`. So does a list of prompts of which one has keys that we do not know.

use super::error::{DOCUMENT, DocumentError, Path, Problem};
use super::fields::Fields;
use super::read::{Read, attachment_at, check_new, keep_unknown};
use super::write::{media_to_json, put, put_list, put_some, put_text};
use crate::ids::{MAX_ID_BYTES, PromptId};
use crate::message::JsonObject;
use crate::session::{ChosenSettings, Session, WaitingPrompt};
use serde_json::Value;
use std::collections::HashSet;

/// Reads what a person chose; unknown keys are not kept.
pub fn chosen_from_json(value: Value) -> Result<ChosenSettings, DocumentError> {
    chosen_at(value, Path::Root("chosen")).map(|(chosen, _)| chosen)
}

/// Takes what is here out of the fields of a session, and tells what belongs into its `extra`.
pub(super) fn take_into(session: &mut Session, fields: &mut Fields) -> JsonObject {
    let mut extra = JsonObject::new();
    session.waiting = take(fields, "waiting", &mut extra, waiting_at);
    let (chosen, unknown) = take(fields, "chosen", &mut extra, chosen_at);
    session.chosen = chosen;
    keep_unknown(&mut extra, "chosen", unknown);
    session.directories = take(fields, "directories", &mut extra, directories_at);
    extra
}

/// What stands under a key, where it has the shape of ours.
fn take<T: Default>(
    fields: &mut Fields,
    key: &'static str,
    extra: &mut JsonObject,
    read: impl Fn(Value, Path<'_>) -> Read<T>,
) -> T {
    let Some(value) = fields.any(key) else { return T::default() };
    read(value.clone(), fields.path(key)).unwrap_or_else(|_| {
        extra.insert(key.to_owned(), value);
        T::default()
    })
}

fn waiting_at(value: Value, path: Path) -> Read<Vec<WaitingPrompt>> {
    let prompts = list(value, &path)?.into_iter().enumerate();
    prompts.map(|(index, value)| prompt_at(value, Path::Item(&path, index))).collect()
}

fn list(value: Value, path: &Path) -> Read<Vec<Value>> {
    if let Value::Array(list) = value { Ok(list) } else { Err(Problem::of_type(&value, "a list").at(path)) }
}

fn prompt_at(value: Value, path: Path) -> Read<WaitingPrompt> {
    let mut fields = Fields::of(value, path)?;
    let prompt = WaitingPrompt {
        id: fields.own_id("id", PromptId::new)?,
        key: key_of(&mut fields)?,
        text: fields.text("text")?.unwrap_or_default(),
        attachments: fields.list_of("attachments", attachment_at)?,
        created_at: fields.integer("created_at")?,
        held: fields.text("held")?,
    };
    let unknown = fields.rest();
    if unknown.is_empty() {
        return Ok(prompt);
    }
    Err(Problem::of_type(&Value::Object(unknown), "the keys of a prompt").at(&path))
}

fn key_of(fields: &mut Fields) -> Read<Option<String>> {
    match fields.text("key")? {
        Some(key) if key.len() > MAX_ID_BYTES => Err(fields.wrong("key", &Value::String(key), "at most 128 bytes")),
        key => Ok(key),
    }
}

/// What a person chose, and the unknown keys beside it.
fn chosen_at(value: Value, path: Path) -> Read<(ChosenSettings, JsonObject)> {
    let mut fields = Fields::of(value, path)?;
    let (mode, model) = (fields.text("mode")?, fields.text("model")?);
    let options = match fields.any("options") {
        None => JsonObject::new(),
        Some(Value::Object(options)) => options,
        Some(other) => return Err(fields.wrong("options", &other, "an object")),
    };
    Ok((ChosenSettings { mode, model, options: options.into_iter().collect() }, fields.rest()))
}

fn directories_at(value: Value, path: Path) -> Read<Vec<String>> {
    let directory = |(index, value)| {
        if let Value::String(directory) = value {
            return Ok(directory);
        }
        Err(Problem::of_type(&value, "a string").at(&Path::Item(&path, index)))
    };
    list(value, &path)?.into_iter().enumerate().map(directory).collect()
}

/// Prompts have ids, and keys, of their own.
pub(super) fn check(session: &Session) -> Read<()> {
    let path = Path::Key(&DOCUMENT, "session");
    let path = Path::Key(&path, "waiting");
    let (mut ids, mut keys) = (HashSet::new(), HashSet::new());
    for (index, prompt) in session.waiting.iter().enumerate() {
        let path = Path::Item(&path, index);
        check_new(&mut ids, "prompt", prompt.id.as_str(), path)?;
        if let Some(key) = prompt.key.as_deref().filter(|key| !keys.insert(*key)) {
            return Err(Problem::RepeatedKey { key: key.to_owned() }.at(&Path::Key(&path, "key")));
        }
    }
    Ok(())
}

/// Writes what is here into the object of a session.
pub(super) fn put_all(object: &mut JsonObject, session: &Session) {
    put_list(object, "waiting", session.waiting.iter().map(prompt_to_json).collect());
    if !session.chosen.is_empty() {
        put(object, "chosen", chosen_to_json(&session.chosen));
    }
    put_list(object, "directories", session.directories.iter().map(|path| Value::from(path.as_str())).collect());
}

fn prompt_to_json(prompt: &WaitingPrompt) -> Value {
    let mut object = JsonObject::new();
    put(&mut object, "id", prompt.id.as_str());
    put_some(&mut object, "key", prompt.key.as_deref());
    put_text(&mut object, "text", &prompt.text);
    put_list(&mut object, "attachments", prompt.attachments.iter().map(media_to_json).collect());
    put_some(&mut object, "created_at", prompt.created_at);
    put_some(&mut object, "held", prompt.held.as_deref());
    Value::Object(object)
}

/// Writes what a person chose.
pub fn chosen_to_json(chosen: &ChosenSettings) -> Value {
    let mut object = JsonObject::new();
    put_some(&mut object, "mode", chosen.mode.as_deref());
    put_some(&mut object, "model", chosen.model.as_deref());
    if !chosen.options.is_empty() {
        put(&mut object, "options", chosen.options.clone().into_iter().collect::<JsonObject>());
    }
    Value::Object(object)
}

//! Values made shorter without losing their shape.

use serde_json::{Map, Value, json};

/// The names of members that say what a block is; they are kept before others.
const TELLING: [&str; 10] =
    ["type", "path", "exit", "mimeType", "uri", "name", "title", "content", "resource", "output"];

/// The names of members that hold encoded bytes: half of them is nothing, so they are whole or not there.
const ENCODED: [&str; 2] = ["data", "blob"];

/// Stands where something was cut away.
const CUT: &str = "…";

/// How many levels of lists and objects are kept.
const DEEPEST: usize = 8;

/// The longest name of a member that is kept, in bytes.
const LONGEST_NAME: usize = 128;

/// How much of a value is kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// The longest text, in bytes.
    text: usize,
    /// The most items of a list, and the most members of an object besides the telling ones.
    pub(super) items: usize,
}

impl Limits {
    /// From generous to strict: the first that makes a value short enough is taken.
    pub(super) const ALL: [Self; 7] = [
        Self { text: 2048, items: 64 },
        Self { text: 2048, items: 16 },
        Self { text: 1024, items: 8 },
        Self { text: 512, items: 4 },
        Self { text: 256, items: 2 },
        Self { text: 128, items: 1 },
        Self { text: 32, items: 1 },
    ];
}

/// A value within limits.
pub(super) fn shortened(value: &Value, limits: Limits) -> Value {
    shortened_at(value, limits, DEEPEST)
}

fn shortened_at(value: &Value, limits: Limits, levels: usize) -> Value {
    match (value, levels.checked_sub(1)) {
        (Value::Null | Value::Bool(_) | Value::Number(_), _) => value.clone(),
        (Value::String(text), _) => Value::String(beginning(text, limits.text)),
        (Value::Array(_) | Value::Object(_), None) => Value::from(CUT),
        (Value::Array(items), Some(levels)) => {
            items.iter().take(limits.items).map(|item| shortened_at(item, limits, levels)).collect()
        }
        (Value::Object(object), Some(levels)) => Value::Object(members(object, limits, levels)),
    }
}

/// The telling members and the first of the others, in their order.
fn members(object: &Map<String, Value>, limits: Limits, levels: usize) -> Map<String, Value> {
    let is_terminal = object.get("type").and_then(Value::as_str) == Some("terminal");
    let mut others = limits.items;
    let mut kept = Map::new();
    for (name, value) in object {
        let is_telling = TELLING.contains(&name.as_str());
        if name.len() > LONGEST_NAME || (!is_telling && others == 0) || is_broken(name, value, limits) {
            continue;
        }
        if !is_telling {
            others -= 1;
        }
        let short = match value {
            // How a command ended stands last.
            Value::String(text) if is_terminal && name == "output" => Value::String(both_ends(text, limits.text)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
                shortened_at(value, limits, levels)
            }
        };
        kept.insert(name.clone(), short);
    }
    kept
}

/// Encoded bytes that would not stay whole.
fn is_broken(name: &str, value: &Value, limits: Limits) -> bool {
    ENCODED.contains(&name) && value.as_str().is_some_and(|data| data.len() > limits.text)
}

/// The beginning of a text that is longer than `most` bytes.
fn beginning(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    format!("{}{CUT}", &text[..text.floor_char_boundary(most)])
}

/// The beginning and the end of a text that is longer than `most` bytes.
fn both_ends(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let (head, tail) = (text.floor_char_boundary(most / 2), text.ceil_char_boundary(text.len() - most / 2));
    format!("{}\n{CUT}\n{}", &text[..head], &text[tail..])
}

/// Gives the first diff its whole path, which the label of its call is made of, whatever else had to go.
pub(super) fn whole_path_of_first_diff(output: &[Value], preview: &mut Vec<Value>) {
    let is_diff = |block: &Value| block.get("type").and_then(Value::as_str) == Some("diff");
    let Some(place) = output.iter().position(is_diff) else { return };
    let Some(path) = output[place].get("path").filter(|path| path.is_string()) else { return };
    match preview.get_mut(place).and_then(Value::as_object_mut) {
        Some(diff) => {
            diff.insert("path".to_owned(), path.clone());
        }
        // It was among the blocks that were left out.
        None => preview.push(json!({"type": "diff", "path": path})),
    }
}

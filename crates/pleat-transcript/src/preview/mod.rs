//! Previews of large requests and results, so that a session can be shown without holding every byte of it.
//!
//! A value of more than [`LARGE_VALUE_BYTES`] as compact JSON is large. Its preview has at most [`PREVIEW_BYTES`]; it
//! keeps the shape, with long texts cut and long lists shortened, and the fold makes the same of a call that holds it
//! instead of the whole value. It says that it is one, in the least of ways:
//!
//! - A result's preview is a list of blocks as any other, the last of which is `{"type":"preview","bytes":N}`, with the
//!   size of the whole result. ACP has no block of this type. See [`bytes_of_output`].
//! - A request's preview is a list of one, `[{"type":"preview","bytes":N,"value":…}]`, with the shortened request. It is
//!   no object, because the fold does not read large requests (docs/spec/fold.md, fold 6.11). See [`of_input`].

mod shorten;

use serde_json::{Map, Value, json};
use shorten::{Limits, shortened, whole_path_of_first_diff};

/// A value of more bytes than this as compact JSON is large: the fold does not read it, and faces need only a preview.
pub const LARGE_VALUE_BYTES: usize = 64 * 1024;

/// The most bytes that a preview has as compact JSON; the path of a result's first diff comes on top, since it is what
/// the call's label is made of.
pub const PREVIEW_BYTES: usize = 8 * 1024;

/// The `type` of what says that a value is a preview.
const TYPE: &str = "preview";

/// Room for what says that a value is a preview, and for the brackets around.
const MARK_BYTES: usize = 128;

/// The preview of a request; `None` where it is not large.
pub fn preview_input(input: &Value) -> Option<Value> {
    if !is_large(input) {
        return None;
    }
    let fitting = Limits::ALL.iter().map(|limits| shortened(input, *limits)).find(fits_in_preview);
    let mut mark = mark(bytes_of(input));
    mark.insert("value".to_owned(), fitting.unwrap_or_default());
    Some(Value::Array(vec![Value::Object(mark)]))
}

/// The preview of a result; `None` where it is not large.
pub fn preview_output(output: &[Value]) -> Option<Vec<Value>> {
    if !is_large(output) {
        return None;
    }
    let short = |limits: &Limits| output.iter().take(limits.items).map(|block| shortened(block, *limits)).collect();
    let mut blocks: Vec<Value> = Limits::ALL.iter().map(short).find(fits_in_preview).unwrap_or_default();
    whole_path_of_first_diff(output, &mut blocks);
    blocks.push(Value::Object(mark(bytes_of(output))));
    Some(blocks)
}

/// A request of which only a preview is at hand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PreviewOfInput<'v> {
    /// The shortened request.
    pub value: &'v Value,
    /// How many bytes the whole one has as compact JSON.
    pub bytes: u64,
}

/// What a request is a preview of, where it is one.
pub fn of_input(input: &Value) -> Option<PreviewOfInput<'_>> {
    match input.as_array()?.as_slice() {
        [mark] => Some(PreviewOfInput { value: mark.get("value")?, bytes: marked_bytes(mark)? }),
        [] | [_, _, ..] => None,
    }
}

/// How many bytes the whole result has as compact JSON, where this is a preview.
pub fn bytes_of_output(output: &[Value]) -> Option<u64> {
    marked_bytes(output.last()?)
}

fn mark(bytes: u64) -> Map<String, Value> {
    Map::from_iter([("type".to_owned(), json!(TYPE)), ("bytes".to_owned(), json!(bytes))])
}

fn marked_bytes(mark: &Value) -> Option<u64> {
    if mark.get("type")?.as_str()? == TYPE { mark.get("bytes")?.as_u64() } else { None }
}

#[allow(clippy::ptr_arg, reason = "it is passed to `find`, which hands over a reference to what it looks at")]
fn fits_in_preview<T: Measured>(value: &T) -> bool {
    !value.is_longer_than(PREVIEW_BYTES - MARK_BYTES)
}

/// Whether a value has more than [`LARGE_VALUE_BYTES`] as compact JSON.
pub(crate) fn is_large<T: Measured + ?Sized>(value: &T) -> bool {
    value.is_longer_than(LARGE_VALUE_BYTES)
}

/// How long a value is as compact JSON.
fn bytes_of<T: serde::Serialize + ?Sized>(value: &T) -> u64 {
    let mut counted = Counted(0);
    // Counting takes every byte, and a value of JSON can always be written.
    serde_json::to_writer(&mut counted, value).map_or(0, |()| counted.0)
}

/// What has a length as compact JSON.
pub(crate) trait Measured: serde::Serialize {
    /// No fewer bytes than it has, found without writing it.
    fn most_bytes(&self) -> usize;

    /// Whether it has more bytes than this as compact JSON.
    fn is_longer_than(&self, most: usize) -> bool {
        // To write it costs as much as it is long; an estimate is enough for nearly all.
        self.most_bytes() > most && serde_json::to_writer(Allowance(most), self).is_err()
    }
}

impl Measured for Value {
    fn most_bytes(&self) -> usize {
        /// The longest number, `-1.7976931348623157e308`, and more.
        const NUMBER: usize = 32;
        // A byte is at most `\u0000`; quotes and a comma or colon stand around.
        let text = |text: &str| text.len() * 6 + 3;
        match self {
            Self::Null | Self::Bool(_) => 6,
            Self::Number(_) => NUMBER,
            Self::String(string) => text(string),
            Self::Array(items) => items.most_bytes(),
            Self::Object(object) => 3 + object.iter().map(|(key, value)| text(key) + value.most_bytes()).sum::<usize>(),
        }
    }
}

impl Measured for [Value] {
    fn most_bytes(&self) -> usize {
        3 + self.iter().map(Measured::most_bytes).sum::<usize>()
    }
}

impl Measured for Vec<Value> {
    fn most_bytes(&self) -> usize {
        self.as_slice().most_bytes()
    }
}

/// Takes so many bytes and no more, and keeps none.
struct Allowance(usize);

impl std::io::Write for Allowance {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self.0.checked_sub(bytes.len()) {
            Some(left) => {
                self.0 = left;
                Ok(bytes.len())
            }
            None => Err(std::io::ErrorKind::FileTooLarge.into()),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Counts bytes and keeps none.
struct Counted(u64);

impl std::io::Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;

//! From a line to what it is. Lenient: what we can act on is acted on, whatever else is wrong with it.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::correlation::{Pending, Question};
use super::incoming::{Incoming, RequestId, RpcError, Token};
use super::lone_surrogates;

/// A line from the agent and what it is.
pub(super) struct Heard<'a> {
    /// The line, with halves of characters replaced.
    pub(super) line: Cow<'a, [u8]>,
    pub(super) what: Incoming,
    /// Whether the line is a JSON object; it may be noise all the same.
    pub(super) is_object: bool,
    /// The request of ours that it answers.
    pub(super) answers: Option<Question>,
}

/// Parses one line, without its line end.
pub(super) fn classify<'a>(line: &'a [u8], pending: &Pending) -> Heard<'a> {
    let Some(Parsed { line, message }) = parse(line) else { return noise(line) };
    let mut answers = None;
    let what = message_of(message, |token| {
        answers = pending.take(&token);
        answers.is_some()
    });
    let what = what.unwrap_or_else(|| Incoming::Noise(String::from_utf8_lossy(&line).into_owned()));
    Heard { line, what, is_object: true, answers }
}

struct Parsed<'a> {
    line: Cow<'a, [u8]>,
    message: Map<String, Value>,
}

fn parse(line: &[u8]) -> Option<Parsed<'_>> {
    if let Ok(message) = serde_json::from_slice(line) {
        return Some(Parsed { line: Cow::Borrowed(line), message });
    }
    let line = lone_surrogates::replaced(line)?;
    let message = serde_json::from_slice(&line).ok()?;
    Some(Parsed { line: Cow::Owned(line), message })
}

/// A line that is no message.
pub(super) fn noise(line: &[u8]) -> Heard<'_> {
    let what = Incoming::Noise(String::from_utf8_lossy(line).into_owned());
    Heard { line: Cow::Borrowed(line), what, is_object: false, answers: None }
}

/// The message that the object is, if it is one; answers only where their request waits for one.
fn message_of(mut message: Map<String, Value>, is_awaited: impl FnOnce(Token) -> bool) -> Option<Incoming> {
    match (message.remove("method"), message.remove("id")) {
        (Some(Value::String(method)), None | Some(Value::Null)) => {
            Some(Incoming::Notification { method, params: params(&mut message) })
        }
        (Some(Value::String(method)), Some(id)) => {
            Some(Incoming::Request { id: RequestId(id), method, params: params(&mut message) })
        }
        (None, Some(id)) => {
            let to = token(&id)?;
            is_awaited(to).then(|| Incoming::Answer { to, result: answer(message) })
        }
        (Some(_) | None, _) => None,
    }
}

fn params(message: &mut Map<String, Value>) -> Value {
    message.remove("params").unwrap_or(Value::Null)
}

/// Our ids are whole numbers; an agent that gives one back as text means the same.
fn token(id: &Value) -> Option<Token> {
    id.as_u64().or_else(|| id.as_str()?.parse().ok()).map(Token)
}

/// An answer with neither result nor error is the empty one: JavaScript leaves `undefined` out.
fn answer(mut message: Map<String, Value>) -> Result<Value, RpcError> {
    match message.remove("error") {
        None | Some(Value::Null) => Ok(message.remove("result").unwrap_or(Value::Null)),
        Some(error) => Err(RpcError::from_wire(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `line` is while our request 1 waits for its answer.
    fn check(line: &str, expect: &str) {
        let pending = Pending::default();
        pending.put(Token(1), Question::default());
        let got = match classify(line.as_bytes(), &pending).what {
            Incoming::Notification { method, params } => format!("notification {method} {params}"),
            Incoming::Request { id, method, params } => format!("request {id} {method} {params}"),
            Incoming::Answer { to, result: Ok(result) } => format!("answer {to} {result}"),
            Incoming::Answer { to, result: Err(error) } => format!("error {to} {error} {:?}", error.data),
            Incoming::Noise(line) => format!("noise {line}"),
            Incoming::SkippedLine { .. } | Incoming::Closed(_) => panic!("no line is that"),
        };
        assert_eq!(got, expect);
    }

    #[test]
    fn messages_are_told_apart_by_method_and_id() {
        check(r#"{"jsonrpc":"2.0","method":"m","params":{"b":1,"a":2}}"#, r#"notification m {"b":1,"a":2}"#);
        check(r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{}}"#, "request 1 m {}");
        check(r#"{"jsonrpc":"2.0","id":1,"result":{"x":1.0}}"#, r#"answer 1 {"x":1.0}"#);
    }

    #[test]
    fn params_may_be_anything_or_nothing() {
        check(r#"{"jsonrpc":"2.0","method":"m"}"#, "notification m null");
        check(r#"{"jsonrpc":"2.0","method":"m","params":"text"}"#, r#"notification m "text""#);
        check(r#"{"method":"m","params":[1]}"#, "notification m [1]");
    }

    #[test]
    fn request_ids_stay_as_they_are() {
        check(r#"{"id":"1","method":"m"}"#, r#"request "1" m null"#);
        check(r#"{"id":0,"method":"m"}"#, "request 0 m null");
        check(r#"{"id":1.5,"method":"m"}"#, "request 1.5 m null");
        check(r#"{"id":null,"method":"m"}"#, "notification m null");
    }

    #[test]
    fn an_answer_is_taken_however_it_is_written() {
        check(r#"{"id":"1","result":null}"#, "answer 1 null");
        check(r#"{"id":1}"#, "answer 1 null");
        check(r#"{"id":1,"result":{},"error":null}"#, "answer 1 {}");
        check(
            r#"{"id":1,"result":null,"error":{"code":500,"message":"m","data":7}}"#,
            "error 1 m (500) Some(Number(7))",
        );
        check(r#"{"id":1,"error":"broken"}"#, "error 1 broken (-32603) None");
        check(r#"{"id":1,"error":{"why":1}}"#, r#"error 1 {"why":1} (-32603) None"#);
    }

    /// What JavaScript writes of a text that was cut inside a character.
    #[test]
    fn half_a_character_loses_no_message() {
        check(r#"{"id":1,"result":{"x":"a\ud83d"}}"#, "answer 1 {\"x\":\"a\u{fffd}\"}");
        check(r#"{"id":1,"result":"\ud83d}"#, r#"noise {"id":1,"result":"\ud83d}"#);
    }

    #[test]
    fn the_rest_is_noise() {
        for line in
            ["plain", "[1]", "17", "{}", r#"{"id":2,"result":{}}"#, r#"{"method":3}"#, r#"{"id":null,"error":{}}"#]
        {
            check(line, &format!("noise {line}"));
        }
    }
}

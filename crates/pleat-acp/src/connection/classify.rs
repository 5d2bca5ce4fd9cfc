//! From a line to what it is. Lenient: what we can act on is acted on, whatever else is wrong with it.

use serde_json::{Map, Value};

use super::incoming::{Incoming, RequestId, RpcError, Token};
use super::outgoing::Pending;

/// Parses one line, without its line end.
pub(super) fn classify(line: &[u8], pending: &Pending) -> Incoming {
    let Ok(mut message) = serde_json::from_slice::<Map<String, Value>>(line) else { return noise(line) };
    match (message.remove("method"), message.remove("id")) {
        (Some(Value::String(method)), None | Some(Value::Null)) => {
            Incoming::Notification { method, params: params(&mut message) }
        }
        (Some(Value::String(method)), Some(id)) => {
            Incoming::Request { id: RequestId(id), method, params: params(&mut message) }
        }
        (None, Some(id)) => match token(&id).filter(|token| pending.take(*token)) {
            Some(to) => Incoming::Answer { to, result: answer(message) },
            None => noise(line),
        },
        (Some(_) | None, _) => noise(line),
    }
}

/// A line that is no message.
pub(super) fn noise(line: &[u8]) -> Incoming {
    Incoming::Noise(String::from_utf8_lossy(line).into_owned())
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
        pending.put(Token(1));
        let got = match classify(line.as_bytes(), &pending) {
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

    #[test]
    fn the_rest_is_noise() {
        for line in
            ["plain", "[1]", "17", "{}", r#"{"id":2,"result":{}}"#, r#"{"method":3}"#, r#"{"id":null,"error":{}}"#]
        {
            check(line, &format!("noise {line}"));
        }
    }
}

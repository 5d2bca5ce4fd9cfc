//! A line of the log, as it is written.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;

use crate::connection::{Token, WireDirection, WireLine};

/// What a line begins with that stands in a file again.
const AGAIN: &[u8] = b"{\"again\":true,";

/// A line with what is needed to know whose it is.
#[derive(Debug, Clone)]
pub(super) struct LogLine {
    /// The text, with its line end.
    pub(super) text: Vec<u8>,
    /// What the agent calls the session that it is about.
    pub(super) session: Option<Arc<str>>,
    /// Its part in opening a session.
    pub(super) opens: Option<Opening>,
}

/// A line's part in opening a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opening {
    /// The request.
    Asked(Token),
    /// Its answer.
    Answered(Token),
}

impl LogLine {
    /// The line as it went over the wire.
    pub(super) fn new(line: &WireLine<'_>) -> Self {
        let (dir, opens) = match line.direction {
            WireDirection::ToAgent => ("client->agent", line.opens.map(Opening::Asked)),
            WireDirection::FromAgent => ("agent->client", line.opens.map(Opening::Answered)),
        };
        let at_ms = millis(line.at);
        // An object is embedded as it is; it has been parsed, and a line holds no line end.
        let text = if line.is_object {
            let before = format!("{{\"t_ms\":{at_ms},\"dir\":\"{dir}\",\"msg\":");
            [before.as_bytes(), line.bytes, b"}\n"].concat()
        } else {
            let raw = json!(String::from_utf8_lossy(line.bytes));
            format!("{{\"t_ms\":{at_ms},\"dir\":\"{dir}\",\"raw\":{raw}}}\n").into_bytes()
        };
        Self { text, session: line.session.map(Arc::from), opens }
    }

    /// A note of ours.
    pub(super) fn note(at: SystemTime, event: &str) -> Self {
        let note = json!({"event": event});
        let text = format!("{{\"t_ms\":{},\"dir\":\"note\",\"msg\":{note}}}\n", millis(at)).into_bytes();
        Self { text, session: None, opens: None }
    }
}

/// The text of a line that stands in a file again.
pub(super) fn again(text: &[u8]) -> Vec<u8> {
    [AGAIN, text.strip_prefix(b"{").unwrap_or(text)].concat()
}

/// Since 1970.
fn millis(at: SystemTime) -> u128 {
    at.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::trace::{self, TraceItem, TraceLine};

    fn check(direction: WireDirection, bytes: &[u8], is_object: bool, expect: &TraceItem) {
        let at = UNIX_EPOCH + Duration::from_millis(1_795_000_000_123);
        let line = LogLine::new(&WireLine { direction, at, bytes, is_object, session: None, opens: None });
        for text in [line.text.clone(), again(&line.text)] {
            assert!(text.ends_with(b"\n"));
            let read: Vec<_> = trace::read(text.as_slice()).collect::<Result<_, _>>().expect("a trace line");
            assert_eq!(read, [TraceLine { line: 1, at_ms: 1_795_000_000_123, what: expect.clone() }]);
        }
    }

    #[test]
    fn lines_are_what_a_trace_holds() {
        let object = br#" {"id": 1.50, "x": "\u00e4", "x": 2} "#;
        let value = serde_json::from_slice(object).expect("JSON");
        check(WireDirection::ToAgent, object, true, &TraceItem::ClientToAgent(serde_json::Value::clone(&value)));
        check(WireDirection::FromAgent, object, true, &TraceItem::AgentToClient(value));
        check(
            WireDirection::FromAgent,
            b"a \"b\"\t\\ \xff",
            false,
            &TraceItem::AgentRaw("a \"b\"\t\\ \u{fffd}".into()),
        );
        check(WireDirection::FromAgent, b"[1]", false, &TraceItem::AgentRaw("[1]".into()));
    }

    /// Nothing is parsed and written anew.
    #[test]
    fn an_object_is_embedded_as_it_is() {
        let bytes = br#"{"id": 1.50,  "x": "\u00e4"}"#;
        let at = UNIX_EPOCH + Duration::from_millis(7);
        let direction = WireDirection::ToAgent;
        let line = LogLine::new(&WireLine { direction, at, bytes, is_object: true, session: None, opens: None });
        let expect = r#"{"t_ms":7,"dir":"client->agent","msg":{"id": 1.50,  "x": "\u00e4"}}"#.to_owned() + "\n";
        assert_eq!(String::from_utf8(line.text).expect("text"), expect);
    }
}

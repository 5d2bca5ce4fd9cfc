//! The addresses of the pages, in one place.

use pleat_store::SessionCursor;
use pleat_transcript::document::Window;
use pleat_transcript::ids::{CallId, MessageId, PermissionId, PromptId, SessionId};
use std::fmt::Write as _;

/// A session's page.
pub(crate) fn session(session: &SessionId) -> String {
    format!("/s/{}", encoded(session.as_str()))
}

/// The end of a session's page.
pub(crate) fn session_end(id: &SessionId) -> String {
    format!("{}#end", session(id))
}

/// A session's page at another window, at the row with this key.
pub(crate) fn window(id: &SessionId, window: &Window, row: Option<&str>) -> String {
    let fragment = row.map(at_key).unwrap_or_default();
    format!("{}{}{fragment}", session(id), query(window))
}

/// The element of this key on the same page.
pub(crate) fn at_key(key: &str) -> String {
    format!("#{}", encoded(key))
}

/// The event stream of a session's page.
pub(crate) fn events(id: &SessionId, window: &Window) -> String {
    format!("{}/events{}", session(id), query(window))
}

/// Where a prompt is posted.
pub(crate) fn prompt(id: &SessionId) -> String {
    format!("{}/prompt", session(id))
}

/// Where Stop is posted.
pub(crate) fn stop(id: &SessionId) -> String {
    format!("{}/stop", session(id))
}

/// Where Force is posted.
pub(crate) fn force_stop(id: &SessionId) -> String {
    format!("{}/force", stop(id))
}

/// Where the new text of a prompt that waits is posted.
pub(crate) fn waiting(id: &SessionId, prompt: &PromptId) -> String {
    format!("{}/waiting/{}", session(id), encoded(prompt.as_str()))
}

/// Where it is posted that a prompt shall wait no more.
pub(crate) fn remove_waiting(id: &SessionId, prompt: &PromptId) -> String {
    format!("{}/remove", waiting(id, prompt))
}

/// Where it is posted that a prompt that is held shall be sent.
pub(crate) fn send_waiting(id: &SessionId, prompt: &PromptId) -> String {
    format!("{}/send", waiting(id, prompt))
}

/// Where it is posted that the agent shall be started.
pub(crate) fn start_agent(id: &SessionId) -> String {
    format!("{}/agent/start", session(id))
}

/// Where a way to log in is posted.
pub(crate) fn log_in(id: &SessionId) -> String {
    format!("{}/agent/login", session(id))
}

/// Where an answer to a permission request is posted.
pub(crate) fn permission(id: &SessionId, request: &PermissionId) -> String {
    format!("{}/permissions/{}", session(id), encoded(request.as_str()))
}

/// A call's page.
pub(crate) fn call(id: &SessionId, call: &CallId) -> String {
    format!("{}/calls/{}", session(id), encoded(call.as_str()))
}

/// A call's page with everything that is known of it.
pub(crate) fn whole_call(id: &SessionId, of: &CallId) -> String {
    format!("{}?full", call(id, of))
}

/// An image of a message.
pub(crate) fn media(id: &SessionId, message: &MessageId, place: usize) -> String {
    format!("{}/messages/{}/media/{place}", session(id), encoded(message.as_str()))
}

/// The list of sessions behind this one.
pub(crate) fn sessions(after: Option<&SessionCursor>) -> String {
    format!("/{}", after_query(after))
}

/// The event stream of the list of sessions.
pub(crate) fn sessions_events(after: Option<&SessionCursor>) -> String {
    format!("/events{}", after_query(after))
}

fn after_query(after: Option<&SessionCursor>) -> String {
    after.map_or_else(String::new, |after| format!("?after={}:{}", after.updated_at, encoded(after.id.as_str())))
}

fn query(window: &Window) -> String {
    match window {
        Window::Latest => String::new(),
        Window::At(id) => format!("?at={}", encoded(id.as_str())),
        Window::Earlier(id) => format!("?earlier={}", encoded(id.as_str())),
        Window::Later(id) => format!("?later={}", encoded(id.as_str())),
        Window::Range { from, to } => format!("?from={}&to={}", encoded(from.as_str()), encoded(to.as_str())),
    }
}

/// Text as one segment of a path, value of a query or fragment.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b':' => out.push(char::from(byte)),
            _ => {
                // Writing to a String cannot fail.
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn ids_of_any_kind_stay_one_segment() {
        let id = SessionId::new("a/b?c#d é").unwrap();
        assert_eq!(session(&id), "/s/a%2Fb%3Fc%23d%20%C3%A9");
        let at = Window::At(MessageId::new("m&1").unwrap());
        assert_eq!(window(&id, &at, Some("m:m&1")), "/s/a%2Fb%3Fc%23d%20%C3%A9?at=m%261#m:m%261");
    }
}

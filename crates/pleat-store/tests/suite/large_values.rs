//! Large values: whole where all of them is asked for, previews in windows.

use super::sample::{media, terminal, text};
use super::{Twin, call_id, message_id, round_of, session_id};
use pleat_store::{Durability, Revision, Store};
use pleat_transcript::call::{Call, CallState};
use pleat_transcript::change::{CallUpdate, Change, MessageUpdate};
use pleat_transcript::document::Window;
use pleat_transcript::message::{Assistant, Body, JsonObject, Media, MediaKind, Message, Part, User};
use pleat_transcript::preview::{LARGE_VALUE_BYTES, bytes_of_output, of_input};
use pleat_transcript::session::Session;
use serde_json::{Value, json};
use std::fmt::Write;

/// More than any preview has.
const PREVIEW_ROW_BYTES: usize = 16 * 1024;

/// A text of about so many bytes, no part of which is like another.
fn numbered(name: &str, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 32);
    let mut line = 0;
    while text.len() < bytes {
        writeln!(text, "{name} {line}").unwrap();
        line += 1;
    }
    text
}

/// What is hard to keep: a NUL, what PostgreSQL's stand-in for it is made of, escapes, an emoji of several characters.
fn odd(name: &str, bytes: usize) -> String {
    let odd = "\0 \u{10FFFF}0 \u{10FFFF} \\ud800 \\u0000 \"\\\" 👩‍👩‍👧‍👦 é\u{301} \r\n\t \u{feff}";
    format!("{odd}{}{odd}", numbered(name, bytes))
}

fn insert(id: &str, body: Body) -> Change {
    let message = Message { id: message_id(id), turn: None, created_at: None, body, extra: JsonObject::new() };
    Change::InsertMessage(Box::new(message))
}

fn round(parts: Vec<Part>) -> Body {
    Body::Assistant(Assistant { parts, ..Assistant::default() })
}

fn part(call: Call) -> Part {
    Part::Call(Box::new(call))
}

fn call(id: &str, input: Option<Value>, output: Vec<Value>) -> Call {
    Call { input, output, name: Some("Bash".to_owned()), ..Call::new(call_id(id)) }
}

fn update(id: &str, update: CallUpdate) -> Change {
    Change::UpdateCall { call: call_id(id), update: Box::new(update) }
}

fn output_update(output: Vec<Value>) -> CallUpdate {
    CallUpdate { output: Some(output), ..CallUpdate::default() }
}

fn append_output(id: &str, text: &str) -> Change {
    Change::AppendOutput { call: call_id(id), text: text.to_owned() }
}

fn content(text: &str) -> Value {
    json!({"type": "content", "content": {"type": "text", "text": text}})
}

impl Twin<'_> {
    /// A call as the document has it.
    fn own_call(&self, id: &str) -> Call {
        let rounds = self.document.messages.iter().filter_map(round_of);
        rounds.flat_map(Assistant::calls).find(|call| call.id == call_id(id)).unwrap().clone()
    }

    /// The store has all of a call, and a window at most so many bytes of its request and of its result.
    async fn compare_call(&self, store: &dyn Store, id: &str, most: usize) -> Call {
        let own = self.own_call(id);
        assert!(store.call(self.id(), call_id(id)).await.unwrap().as_ref() == Some(&own), "{id}");
        let excerpt = store.excerpt(self.id(), Window::Latest).await.unwrap().excerpt;
        let rounds = excerpt.messages().filter_map(round_of);
        let shown = rounds.flat_map(Assistant::calls).find(|call| call.id == own.id).unwrap().clone();
        let input = shown.input.as_ref().map_or(0, |input| input.to_string().len());
        let output = Value::Array(shown.output.clone()).to_string().len();
        assert!(input <= most && output <= most, "{id}: {input} and {output} bytes");
        shown
    }
}

pub(crate) async fn large_values_come_back_whole(store: &dyn Store) {
    let mut twin = Twin::create(store, Session::new(session_id("s"))).await;
    let input = json!({"command": odd("request", 200_000), "n": 0.1, "z": null, "a": [u64::MAX]});
    let output = vec![content(&odd("result", 300_000)), terminal(&odd("terminal", 100_000)), json!(1)];
    let calls = vec![
        part(call("both", Some(input.clone()), output.clone())),
        part(call("input", Some(input), Vec::new())),
        part(call("output", None, output)),
        part(call("neither", Some(json!({"command": "ls"})), vec![content("a")])),
    ];
    twin.commit(vec![insert("m", round(calls))]).await;
    for id in ["both", "input", "output", "neither"] {
        let shown = twin.compare_call(store, id, PREVIEW_ROW_BYTES).await;
        let own = twin.own_call(id);
        let whole = |value: &Value| value.to_string().len() as u64;
        let preview = shown.input.as_ref().and_then(of_input).map(|preview| preview.bytes);
        assert_eq!(preview, own.input.as_ref().map(whole).filter(|_| id == "both" || id == "input"));
        let preview = bytes_of_output(&shown.output);
        assert_eq!(preview, Some(whole(&own.output.into())).filter(|_| id == "both" || id == "output"));
    }
}

/// One byte makes the difference.
pub(crate) async fn a_value_is_large_above_its_limit(store: &dyn Store) {
    let mut twin = Twin::create(store, Session::new(session_id("s"))).await;
    let of_length = |bytes: usize| Value::String("a".repeat(bytes - 2));
    let limit = LARGE_VALUE_BYTES;
    let calls = vec![
        part(call("at", Some(of_length(limit)), vec![of_length(limit - 2)])),
        part(call("above", Some(of_length(limit + 1)), vec![of_length(limit - 1)])),
    ];
    twin.commit(vec![insert("m", round(calls))]).await;
    let at = twin.compare_call(store, "at", limit).await;
    assert!(at == twin.own_call("at"));
    let above = twin.compare_call(store, "above", PREVIEW_ROW_BYTES).await;
    assert!(of_input(above.input.as_ref().unwrap()).is_some());
    assert_eq!(bytes_of_output(&above.output), Some(limit as u64 + 1));
}

pub(crate) async fn large_media_come_back_whole(store: &dyn Store) {
    let mut twin = Twin::create(store, Session::new(session_id("s"))).await;
    let picture = |name: &str| Media { data: Some(odd(name, 150_000)), ..media(MediaKind::Image) };
    let small = media(MediaKind::Audio);
    let attachments = vec![picture("of a person"), small.clone(), picture("of a person")];
    let user = User { text: "look".to_owned(), attachments, ..User::default() };
    let parts = vec![Part::Media(picture("of the agent")), Part::Media(small)];
    twin.commit(vec![insert("u", Body::User(user)), insert("r", round(parts))]).await;
    let append_attachments = vec![picture("that came later")];
    let later = MessageUpdate { append_attachments, ..MessageUpdate::default() };
    twin.commit(vec![Change::UpdateMessage { message: message_id("u"), update: later }]).await;
    let picture = Part::Media(picture("of the agent"));
    twin.commit(vec![Change::InsertPart { message: message_id("r"), part: picture }]).await;
    let excerpt = store.excerpt(twin.id(), Window::Latest).await.unwrap().excerpt;
    for message in excerpt.messages() {
        let data: usize = match &message.body {
            Body::User(user) => user.attachments.iter().filter_map(|media| media.data.as_ref()).map(String::len).sum(),
            Body::Assistant(_) | Body::Tool(_) | Body::Plan(_) | Body::Notice(_) => 0,
        };
        assert!(data < PREVIEW_ROW_BYTES);
    }
}

pub(crate) async fn a_large_value_again_is_no_change(store: &dyn Store) {
    let mut twin = Twin::create(store, Session::new(session_id("s"))).await;
    let input = json!({"command": odd("request", 100_000)});
    let output = vec![terminal(&odd("result", 100_000))];
    twin.commit(vec![insert("m", round(vec![part(call("c", Some(input.clone()), output.clone()))]))]).await;
    let again = CallUpdate { input: Some(input.clone()), ..output_update(output.clone()) };
    twin.commit(vec![update("c", again.clone())]).await;
    assert_eq!(twin.revision, Revision(2));
    // What was appended makes another whole, which may come again as well.
    twin.commit(vec![append_output("c", "and more"), append_output("c", &odd("more", 70_000))]).await;
    let whole = twin.own_call("c").output;
    twin.commit(vec![update("c", output_update(whole.clone()))]).await;
    assert_eq!(twin.revision, Revision(3));
    // Back to what it was, and forward.
    twin.commit(vec![update("c", again.clone())]).await;
    twin.commit(vec![update("c", again)]).await;
    assert_eq!(twin.revision, Revision(4));
    twin.commit(vec![update("c", output_update(whole))]).await;
    assert_eq!(twin.revision, Revision(5));
    twin.compare_call(store, "c", PREVIEW_ROW_BYTES).await;
}

pub(crate) async fn large_values_replace_each_other(store: &dyn Store) {
    let mut twin = Twin::create(store, Session::new(session_id("s"))).await;
    twin.commit(vec![insert("m", round(vec![part(call("c", None, Vec::new()))]))]).await;
    for size in [100_000, 10, 70_000, 200_000, 10, 0] {
        let input = Some(json!({"command": odd("request", size)}));
        let set = CallUpdate { input, ..output_update(vec![terminal(&odd("result", size))]) };
        twin.commit(vec![update("c", set)]).await;
        twin.compare_call(store, "c", PREVIEW_ROW_BYTES).await;
    }
    // Several in one list of changes, the same among them.
    let sizes = [70_000, 80_000, 70_000, 0, 70_000];
    let changes = sizes.map(|size| update("c", output_update(vec![terminal(&odd("result", size))])));
    twin.commit(changes.to_vec()).await;
    let same = json!({"command": odd("request", 90_000)});
    let calls = ["d", "e"].map(|id| part(call(id, Some(same.clone()), vec![same.clone()])));
    let set = CallUpdate { input: Some(same.clone()), ..output_update(vec![same.clone()]) };
    twin.commit(vec![insert("n", round(calls.to_vec())), update("c", set.clone()), update("d", set)]).await;
    twin.commit(vec![update("d", output_update(Vec::new()))]).await;
    for id in ["c", "d", "e"] {
        twin.compare_call(store, id, PREVIEW_ROW_BYTES).await;
    }
}

pub(crate) async fn a_long_output_is_joined_when_its_call_ends(store: &dyn Store) {
    let mut twin = Twin::create(store, Session::new(session_id("s"))).await;
    let running = |id| Call { state: CallState::Running, ..call(id, None, vec![content("first"), terminal("$ ")]) };
    let calls = ["long", "short", "broken off"].map(|id| part(running(id)));
    twin.commit(vec![insert("m", round(calls.to_vec()))]).await;
    let mut pieces = Vec::new();
    for n in 0..40 {
        let text = odd(&format!("line {n}"), 4_000);
        pieces.push(append_output("long", &text));
        pieces.push(append_output("broken off", &text));
    }
    pieces.push(append_output("short", "done\n"));
    twin.commit(pieces).await;
    let end = |state| CallUpdate { state: Some(state), ended_at: Some(9), ..CallUpdate::default() };
    let interrupted = CallUpdate { closed_by_host: Some(true), ..end(CallState::Interrupted) };
    twin.commit(vec![
        update("long", end(CallState::Completed)),
        update("short", end(CallState::Failed)),
        update("broken off", interrupted),
    ])
    .await;
    for id in ["long", "short", "broken off"] {
        twin.compare_call(store, id, PREVIEW_ROW_BYTES).await;
    }
    // What comes late still stands at the end, also where it is long itself.
    for text in ["late\0".to_owned(), odd("later", 90_000), "latest".to_owned()] {
        let changes = ["long", "short", "broken off"].map(|id| append_output(id, &text));
        twin.commit(changes.to_vec()).await;
        for id in ["long", "short", "broken off"] {
            twin.compare_call(store, id, 2 * LARGE_VALUE_BYTES).await;
        }
    }
    twin.commit(vec![update("broken off", end(CallState::Completed))]).await;
    let whole = twin.own_call("long").output;
    let revision = twin.revision;
    twin.commit(vec![update("long", output_update(whole))]).await;
    assert_eq!(twin.revision, revision);
    twin.commit(vec![update("long", output_update(vec![terminal("")])), append_output("long", "anew")]).await;
    twin.compare_call(store, "long", PREVIEW_ROW_BYTES).await;
}

pub(crate) async fn a_long_text_comes_back_exactly(store: &dyn Store) {
    let session = session_id("s");
    store.create_session(Session::new(session.clone())).await.unwrap();
    let commit = async |changes| store.commit(session.clone(), changes, 0, Durability::Stream).await.unwrap();
    commit(vec![insert("m", round(vec![text(""), text("another")]))]).await;
    let whole = odd("said", 1_000_000);
    let mut deltas = Vec::new();
    let mut rest = whole.as_str();
    while !rest.is_empty() {
        let end = (0..=rest.len().min(100)).rev().find(|end| rest.is_char_boundary(*end)).unwrap();
        let (delta, after) = rest.split_at(end);
        deltas.push(Change::AppendText { message: message_id("m"), part: 0, text: delta.to_owned() });
        rest = after;
    }
    assert!(deltas.len() >= 10_000);
    for deltas in deltas.chunks(500) {
        commit(deltas.to_vec()).await;
    }
    let document = store.document(session.clone()).await.unwrap().document;
    let excerpt = store.excerpt(session.clone(), Window::Latest).await.unwrap().excerpt;
    for message in document.messages.iter().chain(excerpt.messages()) {
        let parts = &round_of(message).unwrap().parts;
        let Part::Text(said) = &parts[0] else { panic!("it is no text") };
        assert!(said.text == whole);
        assert_eq!(parts[1], text("another"));
    }
}

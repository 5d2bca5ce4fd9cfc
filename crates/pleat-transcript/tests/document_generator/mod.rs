//! Any document: proptest strategies over the domain types, with ids from small pools so that references meet. They are
//! boxed, because a strategy of this size does not fit on a test's stack.

#![allow(dead_code, reason = "each test takes what it needs")]

pub(crate) mod conversation;

use pleat_transcript::call::{Call, CallState, Lines, Permission, PermissionState};
use pleat_transcript::document::{Document, Window};
use pleat_transcript::ids::{AgentCallId, CallId, MessageId, PermissionId, PromptId, SessionId, TurnId};
use pleat_transcript::message::{
    Assistant, Body, JsonObject, Media, MediaKind, Message, Notice, NoticeLevel, Origin, Part, Plan, PlanContent,
    PlanEntry, Rating, RoundState, TextPart, ToolResult, User,
};
use pleat_transcript::session::{ChosenSettings, ContextGauge, Session, Turn, TurnState, WaitingPrompt};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::{Value, json};

fn text() -> BoxedStrategy<String> {
    prop_oneof![
        2 => Just(String::new()),
        2 => Just(" \n\u{3000}".to_owned()),
        3 => "[a-c]{1,4}",
        1 => "\\PC{0,12}",
        1 => any::<String>(),
    ]
    .boxed()
}

fn json_value() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            vec((text(), inner), 0..3).prop_map(|pairs| pairs.into_iter().collect::<Value>()),
        ]
    })
    .boxed()
}

fn not_null() -> BoxedStrategy<Value> {
    json_value().prop_filter("null is absent", |value| !value.is_null()).boxed()
}

/// Keys that are not ours.
fn extra() -> BoxedStrategy<JsonObject> {
    let pairs = vec(("x_[a-c]", json_value()), 0..2);
    prop_oneof![3 => Just(JsonObject::new()), 1 => pairs.prop_map(|pairs| pairs.into_iter().collect())].boxed()
}

fn word_of<T: Copy + std::fmt::Debug + 'static>(words: &'static [(T, &'static str)]) -> impl Strategy<Value = T> {
    proptest::sample::select(words).prop_map(|(value, _)| value)
}

fn turn_id() -> impl Strategy<Value = TurnId> {
    (0..3).prop_map(|n| TurnId::new(format!("t{n}")).unwrap())
}

/// The id of a call that may stand before, after, or nowhere.
fn call_reference() -> impl Strategy<Value = CallId> {
    (0..60).prop_map(|n| CallId::new(format!("c{n}")).unwrap())
}

fn input() -> BoxedStrategy<Value> {
    let key = proptest::sample::select(
        &["path", "file_path", "pattern", "query", "command", "cmd", "args", "url", "description", "name"][..],
    );
    let value = prop_oneof![
        3 => text().prop_map(Value::from),
        1 => vec(text(), 0..4).prop_map(Value::from),
        1 => json_value(),
        1 => Just(json!(["bash", "-lc", "ls"])),
        1 => Just(json!("bash -lc \"ls\"")),
    ];
    prop_oneof![
        4 => vec((key, value), 0..4)
            .prop_map(|pairs| Value::Object(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())),
        1 => not_null(),
    ]
    .boxed()
}

fn tool_name() -> impl Strategy<Value = String> {
    let known = &["Read", "Bash", "apply_patch", "Grep", "Task", "save_memory", "mcp__a__b", "mcp__a", "unheard_of"];
    prop_oneof![4 => proptest::sample::select(&known[..]).prop_map(ToOwned::to_owned), 1 => text()]
}

fn permission() -> BoxedStrategy<Permission> {
    let request = option::of((0..9).prop_map(|n| PermissionId::new(format!("p{n}")).unwrap()));
    let state = option::of(word_of(&PermissionState::WORDS));
    let fields = (request, vec(json_value(), 0..2), option::of(text()), option::of(text()));
    (fields, option::of(any::<i64>()), state, extra())
        .prop_map(|((request, options, chosen, by), at, state, extra)| Permission {
            request,
            options,
            chosen,
            by,
            at,
            state,
            extra,
        })
        .boxed()
}

fn block() -> BoxedStrategy<Value> {
    prop_oneof![json_value(), text().prop_map(|path| json!({"type": "diff", "path": path, "newText": "x"}))].boxed()
}

fn location() -> BoxedStrategy<Value> {
    prop_oneof![json_value(), text().prop_map(|path| json!({"path": path}))].boxed()
}

/// A call; its id is given by [`numbered`].
fn call() -> BoxedStrategy<Call> {
    let lines = (any::<u64>(), any::<u64>()).prop_map(|(added, removed)| Lines { added, removed });
    let kind = prop_oneof![
        proptest::sample::select(&["read", "edit", "execute", "think", "strange"][..]).prop_map(ToOwned::to_owned),
        text()
    ];
    let said = (option::of(tool_name()), option::of(text()), option::of(kind), option::of(text()));
    let found = (option::of(input()), vec(block(), 0..2), vec(location(), 0..2), option::of(call_reference()));
    let times = (option::of(any::<i64>()), option::of(any::<i64>()), option::of(any::<i64>()));
    let rest = (option::of(lines), option::of(permission()), any::<bool>(), any::<bool>(), extra());
    let own = (option::of(text()), option::of(text()), word_of(&CallState::WORDS));
    (said, found, times, rest, own)
        .prop_map(|(said, found, times, rest, own)| {
            let mut call = Call::new(CallId::new("unnumbered").unwrap());
            (call.name, call.server, call.kind_word, call.title) = said;
            (call.input, call.output, call.locations, call.parent) = found;
            (call.started_at, call.ended_at, call.waited_ms) = times;
            (call.lines, call.permission, call.announced, call.closed_by_host, call.extra) = rest;
            call.agent_id = own.0.map(AgentCallId);
            call.feedback = own.1;
            call.state = own.2;
            call
        })
        .boxed()
}

fn media() -> BoxedStrategy<Media> {
    let texts = (option::of(text()), option::of(text()), option::of(text()), option::of(text()), option::of(text()));
    (word_of(&MediaKind::WORDS), texts, extra())
        .prop_map(|(kind, (mime, data, uri, name, message_id), extra)| Media {
            kind,
            mime,
            data,
            uri,
            name,
            message_id,
            extra,
        })
        .boxed()
}

fn text_part() -> BoxedStrategy<TextPart> {
    (text(), option::of(text()), extra())
        .prop_map(|(text, message_id, extra)| TextPart { text, message_id, extra })
        .boxed()
}

fn part() -> BoxedStrategy<Part> {
    prop_oneof![
        2 => text_part().prop_map(Part::Thinking),
        3 => text_part().prop_map(Part::Text),
        4 => call().prop_map(|call| Part::Call(Box::new(call))),
        1 => media().prop_map(Part::Media),
    ]
    .boxed()
}

fn entry() -> BoxedStrategy<PlanEntry> {
    let status = proptest::sample::select(&["pending", "in_progress", "completed", "strange"][..]);
    (text(), option::of(status), option::of(text()), extra())
        .prop_map(|(content, status, priority, extra)| PlanEntry {
            content,
            status_word: status.map(ToOwned::to_owned),
            priority,
            extra,
        })
        .boxed()
}

fn plan() -> BoxedStrategy<Plan> {
    let content = prop_oneof![
        "a{0,3}".prop_map(PlanContent::Text),
        text().prop_map(PlanContent::Text),
        vec(entry(), 0..3).prop_map(PlanContent::Entries),
    ];
    let stream = option::of((0..3).prop_map(|n| CallId::new(format!("c{n}")).unwrap()));
    (stream, content).prop_map(|(stream, content)| Plan { stream, content }).boxed()
}

fn assistant() -> BoxedStrategy<Assistant> {
    let rating = option::of(prop_oneof![Just(Rating::Up), Just(Rating::Down)]);
    let parent = option::weighted(0.2, call_reference());
    let error = option::weighted(0.1, text());
    (vec(part(), 0..4), option::of(word_of(&RoundState::WORDS)), error, rating, parent)
        .prop_map(|(parts, state, error, rating, parent)| Assistant { parts, state, error, rating, parent })
        .boxed()
}

fn body() -> BoxedStrategy<Body> {
    let user = (text(), any::<bool>(), option::of(word_of(&Origin::WORDS)), vec(media(), 0..2))
        .prop_map(|(text, lead, origin, attachments)| User { text, lead, origin, attachments });
    let result = (option::of(call_reference()), text()).prop_map(|(call, text)| ToolResult { call, text });
    let notice = (word_of(&NoticeLevel::WORDS), option::of(text()), text()).prop_map(|(level, code, text)| Notice {
        level,
        code,
        text,
    });
    prop_oneof![
        1 => user.prop_map(Body::User),
        6 => assistant().prop_map(Body::Assistant),
        1 => result.prop_map(Body::Tool),
        3 => plan().prop_map(Body::Plan),
        1 => notice.prop_map(Body::Notice),
    ]
    .boxed()
}

/// A message; its id is given by [`numbered`].
fn message() -> BoxedStrategy<Message> {
    let turn = option::weighted(0.9, turn_id());
    (turn, option::of(any::<i64>()), body(), extra())
        .prop_map(|(turn, created_at, body, extra)| Message {
            id: MessageId::new("unnumbered").unwrap(),
            turn,
            created_at,
            body,
            extra,
        })
        .boxed()
}

/// Prompts that wait, each with an id and, where it has one, a key of its own.
fn waiting() -> BoxedStrategy<Vec<WaitingPrompt>> {
    let prompt = (any::<bool>(), text(), vec(media(), 0..2), option::of(any::<i64>()), option::of(text()));
    let prompts = vec(prompt, 0..3).prop_map(|prompts| {
        let numbered = prompts.into_iter().enumerate();
        let prompt = |(number, (has_key, text, attachments, created_at, held))| WaitingPrompt {
            id: PromptId::new(format!("q{number}")).unwrap(),
            key: bool::then(has_key, || format!("key {number}")),
            text,
            attachments,
            created_at,
            held,
        };
        numbered.map(prompt).collect()
    });
    prop_oneof![2 => Just(Vec::new()), 1 => prompts].boxed()
}

fn chosen() -> BoxedStrategy<ChosenSettings> {
    let options = vec((text(), json_value()), 0..3).prop_map(|options| options.into_iter().collect());
    let chosen = (option::of(text()), option::of(text()), options);
    chosen.prop_map(|(mode, model, options)| ChosenSettings { mode, model, options }).boxed()
}

fn session() -> BoxedStrategy<Session> {
    let turn =
        (word_of(&TurnState::WORDS), option::of(text()), option::of(any::<i64>()), option::of(not_null()), extra());
    let context = (any::<u64>(), any::<u64>()).prop_map(|(used, size)| ContextGauge { used, size });
    let root = option::of(prop_oneof![Just("/home/me/app".to_owned()), text()]);
    let texts = (root, option::of(text()), option::of(text()));
    let later = (waiting(), chosen(), vec(text(), 0..2));
    (texts, option::of(turn_id()), vec(turn, 0..4), option::of(context), later, extra())
        .prop_map(|((root, title, agent), live_turn, turns, context, later, extra)| {
            let mut session = Session::new(SessionId::new("s1").unwrap());
            (session.root, session.title, session.agent) = (root, title, agent);
            (session.live_turn, session.context, session.extra) = (live_turn, context, extra);
            (session.waiting, session.chosen, session.directories) = later;
            let turns = turns.into_iter().enumerate();
            session.turns = turns
                .map(|(number, (state, stop_reason, time, usage, extra))| Turn {
                    id: TurnId::new(format!("t{number}")).unwrap(),
                    state,
                    stop_reason,
                    started_at: time,
                    ended_at: time,
                    usage,
                    extra,
                })
                .collect();
            session
        })
        .boxed()
}

/// Gives each message and call an id of its own, in order.
fn numbered(mut messages: Vec<Message>) -> Vec<Message> {
    let mut calls = 0;
    for (number, message) in messages.iter_mut().enumerate() {
        message.id = MessageId::new(format!("m{number}")).unwrap();
        let Body::Assistant(assistant) = &mut message.body else { continue };
        for part in &mut assistant.parts {
            if let Part::Call(call) = part {
                call.id = CallId::new(format!("c{calls}")).unwrap();
                calls += 1;
            }
        }
    }
    messages
}

fn window() -> impl Strategy<Value = Window> {
    let id = || (0..200).prop_map(|n| MessageId::new(format!("m{n}")).unwrap());
    prop_oneof![
        Just(Window::Latest),
        id().prop_map(Window::At),
        id().prop_map(Window::Earlier),
        id().prop_map(Window::Later),
        (id(), id()).prop_map(|(from, to)| Window::Range { from, to }),
    ]
}

/// Any document of at most so many messages.
pub(crate) fn document(most_messages: usize) -> impl Strategy<Value = Document> {
    (session(), vec(message(), 0..=most_messages), window(), extra()).prop_map(|(session, messages, window, extra)| {
        Document { session, messages: numbered(messages), window, extra }
    })
}

//! Event streams: they keep an open page true.
//!
//! Level, not edge: a change only says that something changed. A stream then reads the newest state, draws it, compares it
//! with the outline of what the page shows and sends the difference. A slow reader skips states, nothing queues.
//!
//! Events, each with data in JSON or as text:
//! - `sync` `{"html"}`: the whole page, which the page reconciles by key. The first event, unless the page shows the newest state.
//! - `patch` `[…]`: patches in order ([`Patch`](crate::view::diff::Patch)).
//! - `beat` `1`: every few seconds, so that a page notices a lost connection.
//! - `gone` text: why the stream ends for good.
//!
//! The `id` of an event names what the page shows after it. A page tells it when it connects (`shown`), and where nothing
//! has changed since then, nothing is sent.

use crate::app::App;
use crate::failure::Failure;
use crate::pages;
use crate::pages::front::ListQuery;
use crate::pages::transcript::WindowQuery;
use crate::view::block::{Block, Outline};
use crate::view::diff::diff;
use axum::extract::{Path, Query, State};
use axum::response::sse::{Event, Sse};
use futures::Stream;
use futures::stream::unfold;
use pleat_host::SessionSignal;
use pleat_store::SessionCursor;
use pleat_transcript::document::Window;
use pleat_transcript::ids::SessionId;
use serde::Deserialize;
use serde_json::json;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// Patches leave at most 15 times a second.
const SESSION_PACE: Duration = Duration::from_millis(67);
/// The list of sessions need not follow every word.
const FRONT_PACE: Duration = Duration::from_millis(500);
/// A page tells a lost connection by two of these missing.
const BEAT: Duration = Duration::from_secs(4);

/// What a page shows: what is stored at a revision, and a live state by its count, as one run of the server drew them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EventId(String);

impl EventId {
    /// Of a session's page.
    pub(crate) fn new(app: &App, at: SessionSignal) -> Self {
        Self(format!("{}.{}.{}", app.epoch, at.revision.0, at.live))
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What the page that connects shows.
#[derive(Debug, Deserialize)]
pub(crate) struct Connection {
    shown: Option<String>,
}

/// The stream of a session's page.
pub(crate) async fn session(
    State(app): State<App>,
    Path(session): Path<String>,
    Query(window): Query<WindowQuery>,
    Query(connection): Query<Connection>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Failure> {
    let page = SessionPage { session: SessionId::new(session)?, window: window.window()? };
    // Subscribe first, then read: what is committed in between is seen as a change.
    let changes = app.host.signals(&page.session);
    Ok(stream(Connected::new(app, Page::Session(page), Changes::Session(changes), connection.shown)))
}

/// The stream of the first page, and of those on which its list goes on.
pub(crate) async fn front(
    State(app): State<App>,
    Query(query): Query<ListQuery>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Failure> {
    let page = Page::Front(query.cursor()?);
    let changes = app.host.any_change();
    Ok(stream(Connected::new(app, page, Changes::Any(changes), None)))
}

fn stream(connected: Connected) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    Sse::new(unfold(connected, |mut connected| async move {
        let event = connected.next().await?;
        Some((Ok(event), connected))
    }))
}

struct SessionPage {
    session: SessionId,
    window: Window,
}

enum Page {
    Session(SessionPage),
    Front(Option<SessionCursor>),
}

impl Page {
    /// The newest state, and the id that names it where there is one.
    async fn draw(&self, app: &App) -> Result<(Block, Option<EventId>), Failure> {
        match self {
            Self::Session(page) => {
                let rendered = pages::transcript::render(app, &page.session, page.window.clone()).await?;
                Ok((rendered.root, Some(EventId::new(app, rendered.at))))
            }
            Self::Front(after) => Ok((pages::front::root(app, after.as_ref()).await?, None)),
        }
    }

    fn pace(&self) -> Duration {
        match self {
            Self::Session(_) => SESSION_PACE,
            Self::Front(_) => FRONT_PACE,
        }
    }
}

enum Changes {
    Session(watch::Receiver<SessionSignal>),
    Any(watch::Receiver<u64>),
}

impl Changes {
    fn mark_seen(&mut self) {
        match self {
            Self::Session(changes) => changes.mark_unchanged(),
            Self::Any(changes) => changes.mark_unchanged(),
        }
    }

    /// Waits for a change; an error: there will be none any more.
    async fn next(&mut self) -> Result<(), watch::error::RecvError> {
        match self {
            Self::Session(changes) => changes.changed().await,
            Self::Any(changes) => changes.changed().await,
        }
    }
}

/// What is remembered of what the page shows.
enum Shown {
    /// Only its name, as the page told it.
    Named(Option<EventId>),
    /// Its keys and hashes.
    Outlined(Outline),
    /// The page was told that there is nothing to show any more.
    Nothing,
}

/// A page that is connected.
struct Connected {
    app: App,
    page: Page,
    changes: Changes,
    shown: Shown,
    waiting: VecDeque<Event>,
    not_before: Instant,
    next_beat: Instant,
    stale: bool,
}

impl Connected {
    fn new(app: App, page: Page, changes: Changes, shown: Option<String>) -> Self {
        let now = Instant::now();
        let shown = Shown::Named(shown.map(EventId));
        let (not_before, next_beat) = (now, now);
        Self { app, page, changes, shown, waiting: VecDeque::new(), not_before, next_beat, stale: true }
    }

    /// The next event; `None` ends the stream.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Some(event);
            }
            if matches!(self.shown, Shown::Nothing) || *self.app.closing.borrow() {
                return None;
            }
            match self.wait().await {
                Wake::Beat => {
                    self.next_beat = Instant::now() + BEAT;
                    return Some(Event::default().event("beat").data("1"));
                }
                Wake::Draw => self.draw().await,
                Wake::Stale => self.stale = true,
                Wake::End => return None,
            }
        }
    }

    async fn wait(&mut self) -> Wake {
        let closing = &mut self.app.closing;
        tokio::select! {
            // The sender is only dropped without a word by a router that never closes.
            Ok(()) = closing.changed() => Wake::End,
            () = sleep_until(self.not_before), if self.stale => Wake::Draw,
            changed = self.changes.next(), if !self.stale => if changed.is_ok() { Wake::Stale } else { Wake::End },
            () = sleep_until(self.next_beat) => Wake::Beat,
        }
    }

    /// Reads the newest state and keeps the event that makes the page show it.
    async fn draw(&mut self) {
        self.not_before = Instant::now() + self.page.pace();
        self.stale = false;
        // Before reading: what is committed from here on is a change again.
        self.changes.mark_seen();
        match self.page.draw(&self.app).await {
            Ok((root, id)) => {
                let event = self.difference(&root, id.as_ref());
                self.waiting.extend(event.map(|event| named(event, id.as_ref())));
                self.shown = Shown::Outlined(root.outline());
            }
            Err(failure) => {
                self.waiting.push_back(Event::default().event("gone").data(failure.sentence().replace('\n', " ")));
                self.shown = Shown::Nothing;
            }
        }
    }

    fn difference(&self, root: &Block, id: Option<&EventId>) -> Option<Event> {
        match &self.shown {
            Shown::Named(shown) if shown.is_some() && shown.as_ref() == id => None,
            Shown::Named(_) | Shown::Nothing => Some(sync(root)),
            Shown::Outlined(outline) => {
                let patches = diff(outline, root);
                if patches.is_empty() {
                    return None;
                }
                Some(event("patch", &serde_json::to_value(&patches).unwrap_or_default()))
            }
        }
    }
}

enum Wake {
    Beat,
    Draw,
    Stale,
    End,
}

fn sync(root: &Block) -> Event {
    event("sync", &json!({ "html": root.html() }))
}

/// JSON has no line breaks of its own, so it is one line of an event.
fn event(name: &str, data: &serde_json::Value) -> Event {
    Event::default().event(name).data(data.to_string())
}

fn named(event: Event, id: Option<&EventId>) -> Event {
    match id {
        Some(id) => event.id(id.to_string()),
        None => event,
    }
}

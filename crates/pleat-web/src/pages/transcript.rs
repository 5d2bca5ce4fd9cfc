//! The page of a session.

use crate::app::App;
use crate::failure::Failure;
use crate::links;
use crate::live::EventId;
use crate::text::dates::now;
use crate::view::block::Block;
use crate::view::index::calls_of;
use crate::view::layout::{Stream, page};
use crate::view::transcript::Transcript;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use maud::Markup;
use pleat_host::SessionSignal;
use pleat_store::StoredExcerpt;
use pleat_transcript::call::Call;
use pleat_transcript::document::Window;
use pleat_transcript::fold::{Excerpt, fold_excerpt};
use pleat_transcript::ids::{IdError, MessageId, SessionId};
use serde::Deserialize;

/// Which window an address asks for.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct WindowQuery {
    at: Option<String>,
    earlier: Option<String>,
    later: Option<String>,
}

impl WindowQuery {
    /// The window; the latest where none is named.
    pub(crate) fn window(self) -> Result<Window, IdError> {
        Ok(match (self.at, self.earlier, self.later) {
            (Some(id), _, _) => Window::At(MessageId::new(id)?),
            (None, Some(id), _) => Window::Earlier(MessageId::new(id)?),
            (None, None, Some(id)) => Window::Later(MessageId::new(id)?),
            (None, None, None) => Window::Latest,
        })
    }
}

/// A session's page as it was at one moment.
pub(crate) struct Rendered {
    /// Its blocks.
    pub(crate) root: Block,
    /// The tab's title.
    pub(crate) title: String,
    /// The moment.
    pub(crate) at: SessionSignal,
}

/// Shows it.
pub(crate) async fn show(
    State(app): State<App>,
    Path(session): Path<String>,
    Query(query): Query<WindowQuery>,
) -> Result<Markup, Failure> {
    let session = SessionId::new(session)?;
    let window = query.window()?;
    let rendered = render(&app, &session, window.clone()).await?;
    let stream = Stream {
        address: links::events(&session, &window),
        at: EventId::new(&app, rendered.at).to_string(),
        now: now(),
        draft: Some(session.to_string()),
    };
    Ok(page(&rendered.title, &stream, &rendered.root))
}

/// Reads, folds and draws a window of a session, away from the threads that answer requests.
pub(crate) async fn render(app: &App, session: &SessionId, window: Window) -> Result<Rendered, Failure> {
    // Before what is stored: a page that is drawn of an older live state is drawn again when that has changed.
    let (live, count) = app.host.live(session);
    let StoredExcerpt { excerpt, questions, revision } =
        app.host.store().excerpt(session.clone(), window.clone()).await?;
    let asked_elsewhere = asked_elsewhere(questions, &excerpt);
    let agent = excerpt.document.session.agent.as_deref().and_then(|name| app.host.agent_title(name));
    let agent = agent.map(str::to_owned);
    let drawing = tokio::task::spawn_blocking(move || {
        let rows = fold_excerpt(&excerpt);
        let form_key = form_key();
        let page = Transcript::new(&excerpt, &live, &asked_elsewhere, &rows, &window, agent.as_deref(), &form_key);
        Rendered { root: page.page(), title: page.title_with_state(), at: SessionSignal { revision, live: count } }
    });
    drawing.await.map_err(|error| {
        tracing::error!(%error, "a page could not be drawn");
        Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "This page could not be drawn; the server's log says why.")
    })
}

/// What a person is asked about outside of what is shown.
fn asked_elsewhere(questions: Vec<Call>, shown: &Excerpt) -> Vec<Call> {
    let is_shown = |call: &Call| shown.document.messages.iter().flat_map(calls_of).any(|other| other.id == call.id);
    questions.into_iter().filter(|call| !is_shown(call)).collect()
}

/// A key by which a prompt that is sent twice is known; empty, and so none, where the system gives no random bytes.
fn form_key() -> String {
    getrandom::u64().map(|key| format!("{key:016x}")).unwrap_or_default()
}

//! What a person asks for. Without script the answer leads back to the page; with it, it is empty or one sentence.

use crate::app::App;
use crate::failure::Failure;
use crate::links;
use crate::view::index::calls_of;
use crate::view::permission::answer_words;
use axum::Form;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use pleat_host::{AgentName, HostError, NewPrompt};
use pleat_transcript::document::Window;
use pleat_transcript::ids::{PermissionId, SessionId};
use serde::Deserialize;
use std::path::PathBuf;

/// Set by the page's script, which keeps its page.
const SCRIPT_HEADER: &str = "x-pleat-script";

/// A new session.
#[derive(Debug, Deserialize)]
pub(crate) struct NewSession {
    agent: String,
    root: String,
}

/// Begins a session and leads to its page. Its agent is started meanwhile, so that what it offers is there; how that goes
/// is told by the session's live state.
pub(crate) async fn new_session(State(app): State<App>, Form(form): Form<NewSession>) -> Result<Redirect, Failure> {
    let session = app.host.new_session(&AgentName(form.agent), PathBuf::from(form.root.trim())).await?;
    let (host, started) = (app.host.clone(), session.clone());
    tokio::spawn(async move {
        if let Err(error) = host.start_agent(&started).await {
            tracing::warn!(session = %started, %error, "the agent of a new session is not started yet");
        }
    });
    Ok(Redirect::to(&links::session(&session)))
}

/// A prompt.
#[derive(Debug, Deserialize)]
pub(crate) struct Prompt {
    text: String,
    key: Option<String>,
}

/// Sends a prompt. A refused one is given back.
pub(crate) async fn prompt(
    State(app): State<App>,
    Path(session): Path<String>,
    headers: HeaderMap,
    Form(form): Form<Prompt>,
) -> Result<Response, Failure> {
    let session = SessionId::new(session)?;
    let text = form.text.replace("\r\n", "\n");
    let key = form.key.filter(|key| !key.is_empty());
    let sent = app.host.prompt(&session, NewPrompt::text(text.clone()).with_key(key)).await;
    Ok(answered(&headers, &session, sent.map_err(Failure::from), || again(&session, &text)))
}

/// A form with what a person wrote and could not be taken.
pub(super) fn again(session: &SessionId, text: &str) -> Markup {
    html! {
        form.composer method="post" action=(links::prompt(session)) {
            label for="prompt" { "Your prompt, which was not sent" }
            textarea #prompt name="text" rows="8" required { "\n" (text) }
            div.actions { a href=(links::session_end(session)) { "Back to the session" } " " button.primary type="submit" { "Send" } }
        }
    }
}

/// Stops the running turn.
pub(crate) async fn stop(
    State(app): State<App>,
    Path(session): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let session = SessionId::new(session)?;
    let stopped = app.host.stop(&session).await.map_err(Failure::from);
    Ok(answered(&headers, &session, stopped, || back(&session)))
}

/// Ends the running turn with its agent's process.
pub(crate) async fn force_stop(
    State(app): State<App>,
    Path(session): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let session = SessionId::new(session)?;
    let stopped = app.host.force_stop(&session).await.map_err(Failure::from);
    Ok(answered(&headers, &session, stopped, || back(&session)))
}

/// An answer to a permission request.
#[derive(Debug, Deserialize)]
pub(crate) struct Answer {
    option: String,
}

/// Answers a permission request, once.
pub(crate) async fn answer(
    State(app): State<App>,
    Path((session, request)): Path<(String, String)>,
    headers: HeaderMap,
    Form(form): Form<Answer>,
) -> Result<Response, Failure> {
    let session = SessionId::new(session)?;
    let request = PermissionId::new(request)?;
    let given = match app.host.answer(&session, &request, &form.option).await {
        Err(HostError::AlreadyAnswered) => Err(already_answered(&app, &session, &request).await),
        other => other.map_err(Failure::from),
    };
    Ok(answered(&headers, &session, given, || back(&session)))
}

/// Says who was first and what that was, where the end of the session tells.
async fn already_answered(app: &App, session: &SessionId, request: &PermissionId) -> Failure {
    let latest = app.host.store().excerpt(session.clone(), Window::Latest).await.ok();
    let words = latest.and_then(|latest| {
        let messages = &latest.excerpt.document.messages;
        answer_words(messages.iter().flat_map(calls_of), request)
    });
    let sentence = match words {
        Some(words) => format!("This request was already answered: {words}."),
        None => "This request was already answered.".to_owned(),
    };
    Failure::new(StatusCode::CONFLICT, sentence).titled("Already answered")
}

pub(super) fn back(session: &SessionId) -> Markup {
    html! { p { a href=(links::session_end(session)) { "Back to the session" } } }
}

/// Leads back to the session, or says why not and what can be done.
pub(super) fn answered(
    headers: &HeaderMap,
    session: &SessionId,
    done: Result<(), Failure>,
    next: impl FnOnce() -> Markup,
) -> Response {
    match (done, headers.contains_key(SCRIPT_HEADER)) {
        (Ok(()), true) => StatusCode::NO_CONTENT.into_response(),
        (Ok(()), false) => Redirect::to(&links::session_end(session)).into_response(),
        (Err(failure), true) => (failure.status(), failure.sentence().to_owned()).into_response(),
        (Err(failure), false) => failure.page(&next()),
    }
}

//! What a person does with a prompt that waits.

use super::commands::{again, answered, back};
use crate::app::App;
use crate::failure::Failure;
use axum::Form;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use pleat_transcript::ids::{PromptId, SessionId};
use serde::Deserialize;

/// The new text of a prompt that waits.
#[derive(Debug, Deserialize)]
pub(crate) struct NewText {
    text: String,
}

/// Changes its text. One that is refused, since the prompt was sent meanwhile, is given back as a prompt of its own.
pub(crate) async fn edit(
    State(app): State<App>,
    Path((session, prompt)): Path<(String, String)>,
    headers: HeaderMap,
    Form(form): Form<NewText>,
) -> Result<Response, Failure> {
    let (session, prompt) = (SessionId::new(session)?, PromptId::new(prompt)?);
    let text = form.text.replace("\r\n", "\n");
    let edited = app.host.edit_prompt(&session, &prompt, text.clone()).await.map_err(Failure::from);
    Ok(answered(&headers, &session, edited, || again(&session, &text)))
}

/// Takes it out of the queue.
pub(crate) async fn remove(
    State(app): State<App>,
    Path((session, prompt)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let (session, prompt) = (SessionId::new(session)?, PromptId::new(prompt)?);
    let removed = app.host.remove_prompt(&session, &prompt).await.map_err(Failure::from);
    Ok(answered(&headers, &session, removed, || back(&session)))
}

/// Lets one that is held be sent.
pub(crate) async fn release(
    State(app): State<App>,
    Path((session, prompt)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let (session, prompt) = (SessionId::new(session)?, PromptId::new(prompt)?);
    let released = app.host.release_prompt(&session, &prompt).await.map_err(Failure::from);
    Ok(answered(&headers, &session, released, || back(&session)))
}

//! What a person does about an agent that could not be used.

use super::commands::{answered, back};
use crate::app::App;
use crate::failure::Failure;
use axum::Form;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use pleat_transcript::ids::SessionId;
use serde::Deserialize;

/// Starts it, or starts it anew.
pub(crate) async fn start(
    State(app): State<App>,
    Path(session): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let session = SessionId::new(session)?;
    let started = app.host.start_agent(&session).await.map_err(Failure::from);
    Ok(answered(&headers, &session, started, || back(&session)))
}

/// A way to log in.
#[derive(Debug, Deserialize)]
pub(crate) struct LogIn {
    method: String,
}

/// Asks the agent to log in by it.
pub(crate) async fn log_in(
    State(app): State<App>,
    Path(session): Path<String>,
    headers: HeaderMap,
    Form(form): Form<LogIn>,
) -> Result<Response, Failure> {
    let session = SessionId::new(session)?;
    let asked = app.host.log_in(&session, form.method).await.map_err(Failure::from);
    Ok(answered(&headers, &session, asked, || back(&session)))
}

//! What went wrong, as one sentence on a page.

use crate::view::layout::still_page;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use pleat_host::HostError;
use pleat_store::StoreError;
use pleat_transcript::ids::IdError;

/// Why a page cannot be shown, or a command was not carried out.
#[derive(Debug)]
pub(crate) struct Failure {
    status: StatusCode,
    title: &'static str,
    sentence: String,
}

impl Failure {
    /// A failure with its status.
    pub(crate) fn new(status: StatusCode, sentence: impl Into<String>) -> Self {
        Self { status, title: "That did not work", sentence: sentence.into() }
    }

    /// The same under another title.
    #[must_use]
    pub(crate) fn titled(self, title: &'static str) -> Self {
        Self { title, ..self }
    }

    /// One sentence for a person.
    pub(crate) fn sentence(&self) -> &str {
        &self.sentence
    }

    /// Its status.
    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// A page that says it, with what the person may do next.
    pub(crate) fn page(&self, next: &Markup) -> Response {
        let content = html! {
            div.page.failure {
                header.top { nav { a href="/" { "Pleat" } } }
                main.column { h1 { (self.title) } p { (self.sentence) } (next) }
            }
        };
        (self.status, still_page(self.title, &content)).into_response()
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        self.page(&html! { p { a href="/" { "All sessions and agents" } } })
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let unknown = matches!(error, StoreError::UnknownSession(_) | StoreError::NoWindow(_));
        let status = if unknown { StatusCode::NOT_FOUND } else { StatusCode::INTERNAL_SERVER_ERROR };
        Self::new(status, sentence_of(&error.to_string()))
    }
}

impl From<HostError> for Failure {
    fn from(error: HostError) -> Self {
        let status = match &error {
            HostError::AlreadyAnswered
            | HostError::NotOpen
            | HostError::NotWaiting
            | HostError::NoLoginWanted
            | HostError::Elsewhere => StatusCode::CONFLICT,
            HostError::Stopping => StatusCode::SERVICE_UNAVAILABLE,
            HostError::AgentRefused(_) => StatusCode::BAD_GATEWAY,
            HostError::UnknownAgent(_)
            | HostError::NoDirectory(_)
            | HostError::EmptyPrompt
            | HostError::KeyTooLong
            | HostError::NoUnicode(_)
            | HostError::UnknownOption(_) => StatusCode::UNPROCESSABLE_ENTITY,
            HostError::Store(error) => return error.clone().into(),
        };
        Self::new(status, sentence_of(&error.to_string()))
    }
}

impl From<IdError> for Failure {
    fn from(error: IdError) -> Self {
        Self::new(StatusCode::BAD_REQUEST, sentence_of(&error.to_string()))
    }
}

/// An error's words as a sentence.
fn sentence_of(error: &str) -> String {
    let mut letters = error.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}.", letters.as_str())
}

//! The handlers of pages and commands.

pub(crate) mod agent;
pub(crate) mod call;
pub(crate) mod commands;
pub(crate) mod front;
pub(crate) mod media;
pub(crate) mod queue;
pub(crate) mod transcript;

use crate::failure::Failure;
use axum::http::StatusCode;

/// An address that leads nowhere.
pub(crate) async fn nothing_here() -> Failure {
    Failure::new(StatusCode::NOT_FOUND, "There is nothing at this address.")
}

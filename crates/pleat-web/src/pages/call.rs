//! Request and result of a call: a page, or the fragment of it that a row shows when it is opened.

use crate::app::App;
use crate::failure::Failure;
use crate::links;
use crate::view::details::{Extent, details};
use crate::view::layout::still_page;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use maud::{Markup, html};
use pleat_transcript::fold::label::label;
use pleat_transcript::ids::{CallId, SessionId};
use serde::Deserialize;

/// What of a call is asked for: both keys are flags.
#[derive(Debug, Deserialize)]
pub(crate) struct CallQuery {
    fragment: Option<String>,
    full: Option<String>,
}

/// Shows it.
pub(crate) async fn show(
    State(app): State<App>,
    Path((session, call)): Path<(String, String)>,
    Query(query): Query<CallQuery>,
) -> Result<Markup, Failure> {
    let session = SessionId::new(session)?;
    let id = CallId::new(call)?;
    let call = app.host.store().call(session.clone(), id.clone()).await?;
    let call =
        call.ok_or_else(|| Failure::new(StatusCode::NOT_FOUND, format!("There is no call `{id}` in this session.")))?;
    let extent = if query.full.is_some() { Extent::Full } else { Extent::Preview };
    let details = details(&session, &call, extent);
    if query.fragment.is_some() {
        return Ok(details);
    }
    // The root is not at hand here, so paths are shown in full.
    let label = label(&call, None).text;
    let content = html! {
        div.page.call-page {
            header.top { nav { a href="/" { "Pleat" } " " a href=(links::session(&session)) { "The session" } } h1 { (label) } }
            main.column { div.call-details { (details) } }
        }
    };
    Ok(still_page(&label, &content))
}

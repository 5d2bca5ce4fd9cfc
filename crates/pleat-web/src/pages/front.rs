//! The first page.

use crate::app::App;
use crate::failure::Failure;
use crate::view::block::Block;
use crate::view::front::Front;
use crate::view::layout::{Stream, page};
use axum::extract::State;
use maud::Markup;

/// How many sessions the first page lists.
const LISTED_SESSIONS: usize = 200;

/// Shows it.
pub(crate) async fn show(State(app): State<App>) -> Result<Markup, Failure> {
    let root = root(&app).await?;
    let stream = Stream { address: "/events".into(), at: String::new(), draft: None };
    Ok(page("Sessions", &stream, &root))
}

/// Its blocks as they are now.
pub(crate) async fn root(app: &App) -> Result<Block, Failure> {
    let sessions = app.host.store().sessions(LISTED_SESSIONS).await?;
    let agents = app.host.agents();
    let directory = working_directory();
    Ok(Front { sessions: &sessions, agents: &agents, directory: &directory }.page())
}

fn working_directory() -> String {
    std::env::current_dir().map(|directory| directory.display().to_string()).unwrap_or_default()
}

//! The first page, and the pages behind it on which its list of sessions goes on.

use crate::app::App;
use crate::failure::Failure;
use crate::links;
use crate::text::dates::now;
use crate::view::block::Block;
use crate::view::front::Front;
use crate::view::layout::{Stream, page};
use crate::view::state::activity_of;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use maud::Markup;
use pleat_store::SessionCursor;
use pleat_transcript::ids::SessionId;
use serde::Deserialize;

/// How many sessions a page lists.
const LISTED_SESSIONS: usize = 50;

/// Behind which session the list begins.
#[derive(Debug, Deserialize)]
pub(crate) struct ListQuery {
    after: Option<String>,
}

impl ListQuery {
    /// The place in the list; none is its beginning.
    pub(crate) fn cursor(self) -> Result<Option<SessionCursor>, Failure> {
        let Some(after) = self.after else { return Ok(None) };
        let place = || {
            let (updated_at, id) = after.split_once(':')?;
            Some(SessionCursor { updated_at: updated_at.parse().ok()?, id: SessionId::new(id).ok()? })
        };
        let failure = || Failure::new(StatusCode::BAD_REQUEST, "This address names no place in the list of sessions.");
        place().map(Some).ok_or_else(failure)
    }
}

/// Shows it.
pub(crate) async fn show(State(app): State<App>, Query(query): Query<ListQuery>) -> Result<Markup, Failure> {
    let after = query.cursor()?;
    let root = root(&app, after.as_ref()).await?;
    let stream = Stream { address: links::sessions_events(after.as_ref()), at: String::new(), now: now(), draft: None };
    Ok(page("Sessions", &stream, &root))
}

/// Its blocks as they are now.
pub(crate) async fn root(app: &App, after: Option<&SessionCursor>) -> Result<Block, Failure> {
    // One more tells whether the list goes on.
    let mut sessions = app.host.store().sessions(after.cloned(), LISTED_SESSIONS + 1).await?;
    let goes_on = sessions.len() > LISTED_SESSIONS;
    sessions.truncate(LISTED_SESSIONS);
    let sessions: Vec<_> = sessions
        .into_iter()
        .map(|session| {
            let activity = activity_of(&session, &app.host.live(&session.id).0);
            (session, activity)
        })
        .collect();
    let agents = app.host.agents();
    let directory = working_directory();
    let front =
        Front { sessions: &sessions, is_first: after.is_none(), goes_on, agents: &agents, directory: &directory };
    Ok(front.page())
}

fn working_directory() -> String {
    std::env::current_dir().map(|directory| directory.display().to_string()).unwrap_or_default()
}

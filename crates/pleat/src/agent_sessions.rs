//! `pleat agent sessions`: the sessions that an agent itself knows.

use crate::agent_host::{AgentHost, directory};
use crate::command_line::{AgentSessionsArguments, ServeArguments};
use crate::documents::print;
use crate::failure::{Failure, Kind};
use crate::plain_text::visible;
use pleat_host::ListedSession;
use serde_json::json;

pub(crate) fn list(arguments: &AgentSessionsArguments, place: &ServeArguments) -> Result<(), Failure> {
    let house = AgentHost::prepare(place)?;
    let name = house.agent(&arguments.agent)?.name;
    let root = arguments.cwd.as_deref().map(directory).transpose()?;
    let listed = house.run(async |host| {
        let listed = host.agent_sessions(&name, root.as_deref()).await;
        listed.map_err(|error| Failure::new(Kind::Agent, error))
    })?;
    listed.iter().try_for_each(|session| print(&line(session, arguments.json)))
}

/// A session of an agent's: its columns are told apart by tabs.
fn line(session: &ListedSession, as_json: bool) -> String {
    let ListedSession { id, cwd, title, updated_at } = session;
    if as_json {
        return json!({"id": id.0, "cwd": cwd, "title": title, "updated_at": updated_at}).to_string();
    }
    let one_line = |text: &str| visible(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    let columns = [id.0.as_str(), updated_at.as_deref().unwrap_or("-"), title.as_deref().unwrap_or("-")];
    columns.map(one_line).join("\t")
}

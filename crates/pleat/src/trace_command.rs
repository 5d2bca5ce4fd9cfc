//! `pleat trace`: where the raw traffic of a session is.

use crate::command_line::ServeArguments;
use crate::configuration::Configuration;
use crate::data_folder::DataFolder;
use crate::database;
use crate::documents::{print, session_id};
use crate::failure::Failure;
use pleat_store::maintenance::AnyStore;
use pleat_transcript::document::Window;
use pleat_transcript::ids::SessionId;

pub(crate) fn trace(session: &str, place: &ServeArguments) -> Result<(), Failure> {
    let session = session_id(session)?;
    let configuration = Configuration::read(place.config.as_deref())?;
    let folder = DataFolder::open(place.data.as_deref())?;
    let files = pleat_host::wire_log_files(&folder.wire(), &session);
    if files.is_empty() {
        return Err(why_there_is_none(&session, &configuration, &folder, place));
    }
    files.iter().try_for_each(|file| print(&file.display().to_string()))
}

fn why_there_is_none(
    session: &SessionId,
    configuration: &Configuration,
    folder: &DataFolder,
    place: &ServeArguments,
) -> Failure {
    let known = database::chosen(place).and_then(|address| {
        let look =
            async |store: &AnyStore| Ok(store.store().excerpt(session.clone(), Window::Latest).await.map(drop)?);
        database::with_existing_store(&address, look)
    });
    if let Err(failure) = known {
        return failure;
    }
    let Some(settings) = configuration.wire_log(folder) else {
        return Failure::user(
            "no raw traffic is kept: `wire_log_days` is 0 in pleat.toml; set it and run a session anew",
        );
    };
    let days = settings.keep.as_secs() / (24 * 60 * 60);
    Failure::user(format!(
        "no raw traffic of session `{session}` is kept in `{}`: its agent was last run more than {days} days ago, or not \
         with this data folder; `wire_log_days` in pleat.toml says for how long it is kept",
        settings.folder.display()
    ))
}

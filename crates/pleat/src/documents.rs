//! Commands that read and write transcript documents: fold, import, export.

use crate::command_line::{ExportArguments, ExportFormat, ImportArguments, ServeArguments};
use crate::database;
use crate::failure::Failure;
use pleat_transcript::document::Document;
use pleat_transcript::fold;
use pleat_transcript::ids::SessionId;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// `pleat fold`: prints the rows document of the window that the document asks for.
pub(crate) fn fold_file(file: &Path) -> Result<(), Failure> {
    let document = read_document(file)?;
    let rows = fold::fold(&document, &document.window)
        .map_err(|error| Failure::user(format!("{}: {error}", name_of(file))))?;
    print_json(&rows)
}

/// `pleat import`: stores a document as a session.
pub(crate) fn import(arguments: &ImportArguments, place: &ServeArguments) -> Result<(), Failure> {
    let mut document = read_document(&arguments.file)?;
    if arguments.new_id {
        document.session.id = SessionId::new(uuid::Uuid::now_v7().to_string()).map_err(Failure::internal)?;
    }
    document.prepare_import();
    let id = document.session.id.clone();
    let address = database::chosen(place)?;
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let at = i64::try_from(since.as_millis()).unwrap_or(i64::MAX);
    database::with_store(&address, async |store| Ok(store.store().import(document, at).await?))?;
    print(&id.to_string())
}

/// `pleat export`: prints a session as a document.
pub(crate) fn export(arguments: &ExportArguments, place: &ServeArguments) -> Result<(), Failure> {
    let id = session_id(&arguments.session)?;
    let address = database::chosen(place)?;
    let stored = database::with_store(&address, async |store| Ok(store.store().document(id).await?))?;
    match arguments.format {
        ExportFormat::Json => print_json(&stored.document.to_json()),
    }
}

/// A session's id, as it was typed.
pub(crate) fn session_id(typed: &str) -> Result<SessionId, Failure> {
    SessionId::new(typed).map_err(|error| Failure::user(format!("`{typed}` is no session id: {error}")))
}

fn read_document(file: &Path) -> Result<Document, Failure> {
    let name = name_of(file);
    let mut text = String::new();
    let read = if file == Path::new("-") {
        std::io::stdin().read_to_string(&mut text)
    } else {
        std::fs::File::open(file).and_then(|mut file| file.read_to_string(&mut text))
    };
    read.map_err(|error| Failure::user(format!("{name} cannot be read: {error}")))?;
    Document::from_json(&text).map_err(|error| Failure::user(format!("{name}: {error}")))
}

fn name_of(file: &Path) -> String {
    if file == Path::new("-") { "stdin".to_owned() } else { format!("`{}`", file.display()) }
}

/// Prints JSON on one line.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    print(&serde_json::to_string(value).map_err(Failure::internal)?)
}

/// Prints text and a line end. A reader that has seen enough (`| head`) is no failure.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    match writeln!(std::io::stdout(), "{text}") {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::internal(format!("stdout cannot be written: {error}")))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

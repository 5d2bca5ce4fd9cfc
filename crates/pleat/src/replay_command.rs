//! `pleat replay`: a recorded trace as a transcript (docs/spec/record.md, beginning).

use crate::command_line::{ReplayArguments, ReplayFormat};
use crate::documents::{print, print_json};
use crate::failure::Failure;
use crate::plain_text::visible_lines;
use crate::text_face;
use pleat_acp::trace;
use pleat_acp::trace_replay;
use pleat_transcript::document::{Document, Window};
use pleat_transcript::fold;
use std::path::{Path, PathBuf};

pub(crate) fn replay(arguments: &ReplayArguments) -> Result<(), Failure> {
    let replayed = match arguments.trace.as_slice() {
        [file] if file == Path::new("-") => trace_replay::replay(trace::read(std::io::stdin().lock())),
        files => trace_replay::replay(trace::open_all(files.to_vec())),
    };
    let replayed = replayed.map_err(Failure::user)?;
    for remark in &replayed.remarks {
        eprintln!("pleat: {}", visible_lines(remark));
    }
    let documents = replayed.documents;
    if documents.is_empty() {
        let why = replayed.last_error.map_or_else(
            || "no agent opened one".to_owned(),
            |error| format!("the agent answered with an error: {error}"),
        );
        let sentence = format!("{} holds no session: {why}", name_of(&arguments.trace));
        eprintln!("pleat: {}", visible_lines(&sentence));
        return Ok(());
    }
    match arguments.session {
        None => documents.iter().try_for_each(|document| show(document, arguments.format)),
        Some(number) => {
            let document = number.checked_sub(1).and_then(|place| documents.get(place)).ok_or_else(|| {
                let count = documents.len();
                Failure::user(format!("{} has no session {number}; it has {count}", name_of(&arguments.trace)))
            })?;
            show(document, arguments.format)
        }
    }
}

fn name_of(files: &[PathBuf]) -> String {
    files.iter().map(|file| format!("`{}`", file.display())).collect::<Vec<_>>().join(", ")
}

fn show(document: &Document, format: ReplayFormat) -> Result<(), Failure> {
    match format {
        ReplayFormat::Json => print_json(&document.to_json()),
        ReplayFormat::Rows => print_json(&fold::fold(document, &Window::Latest).map_err(Failure::internal)?),
        ReplayFormat::Text => print(&text_face::draw(document).map_err(Failure::internal)?),
    }
}

//! `pleat replay`: a recorded trace as a transcript (docs/spec/record.md, beginning).

use crate::command_line::{ReplayArguments, ReplayFormat};
use crate::documents::{print, print_json};
use crate::failure::Failure;
use crate::text_face;
use pleat_acp::trace;
use pleat_acp::trace_replay;
use pleat_transcript::document::{Document, Window};
use pleat_transcript::fold;
use std::path::Path;

pub(crate) fn replay(arguments: &ReplayArguments) -> Result<(), Failure> {
    let replayed = if arguments.trace == Path::new("-") {
        trace_replay::replay(trace::read(std::io::stdin().lock()))
    } else {
        trace::open(&arguments.trace).and_then(trace_replay::replay)
    };
    let replayed = replayed.map_err(Failure::user)?;
    for remark in &replayed.remarks {
        eprintln!("pleat: {remark}");
    }
    let documents = replayed.documents;
    if documents.is_empty() {
        let why = replayed.last_error.map_or_else(
            || "no agent opened one".to_owned(),
            |error| format!("the agent answered with an error: {error}"),
        );
        eprintln!("pleat: `{}` holds no session: {why}", arguments.trace.display());
        return Ok(());
    }
    match arguments.session {
        None => documents.iter().try_for_each(|document| show(document, arguments.format)),
        Some(number) => {
            let document = number.checked_sub(1).and_then(|place| documents.get(place)).ok_or_else(|| {
                let count = documents.len();
                Failure::user(format!("`{}` has no session {number}; it has {count}", arguments.trace.display()))
            })?;
            show(document, arguments.format)
        }
    }
}

fn show(document: &Document, format: ReplayFormat) -> Result<(), Failure> {
    match format {
        ReplayFormat::Json => print_json(&document.to_json()),
        ReplayFormat::Rows => print_json(&fold::fold(document, &Window::Latest).map_err(Failure::internal)?),
        ReplayFormat::Text => print(&text_face::draw(document).map_err(Failure::internal)?),
    }
}

//! `pleat db`: what is done with a database as a whole.

use super::progress::ProgressLine;
use super::{chosen, copy_command, with_existing_store, with_store};
use crate::command_line::{DatabaseCommand, ServeArguments};
use crate::documents::{print, print_json};
use crate::failure::Failure;
use pleat_store::maintenance::{CheckReport, StoreAddress};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

/// Does a command with the store that was chosen.
pub(crate) fn run(command: &DatabaseCommand, arguments: &ServeArguments) -> Result<(), Failure> {
    match command {
        DatabaseCommand::Check => check(&chosen(arguments)?),
        DatabaseCommand::Migrate => migrate(&chosen(arguments)?),
        DatabaseCommand::Backup { file } => back_up(&chosen(arguments)?, file),
        DatabaseCommand::Vacuum => vacuum(&chosen(arguments)?),
        DatabaseCommand::Stats { json } => stats(&chosen(arguments)?, *json),
        DatabaseCommand::Copy { from, to } => copy_command::copy(from, to),
    }
}

fn check(address: &StoreAddress) -> Result<(), Failure> {
    let (name, report) = with_existing_store(address, async |store| {
        let mut line = ProgressLine::new();
        Ok((store.name(), store.check(&mut |progress| line.show(progress)).await?))
    })?;
    print(told(&name, &report).trim_end())?;
    if report.problems.is_empty() {
        return Ok(());
    }
    let kinds: BTreeSet<&str> = report.problems.iter().map(|problem| problem.kind.word()).collect();
    let kinds: Vec<&str> = kinds.into_iter().collect();
    Err(Failure::unsound(format!(
        "`{name}` is not sound ({}): keep a copy of it as it is, restore a backup, and report this",
        kinds.join(", ")
    )))
}

/// A line for each problem: its session, its kind, how often, and where.
fn told(name: &str, report: &CheckReport) -> String {
    let mut told = String::new();
    for problem in &report.problems {
        let session = problem.session.as_ref().map_or("-", pleat_transcript::ids::SessionId::as_str);
        // Writing to a string cannot fail.
        let _ = writeln!(told, "{session}  {}  {}×  {}", problem.kind, problem.count, problem.place);
    }
    for remark in &report.remarks {
        let _ = writeln!(told, "({remark})");
    }
    if !report.left_open.is_empty() {
        let ids: Vec<&str> = report.left_open.iter().map(pleat_transcript::ids::SessionId::as_str).collect();
        let _ = writeln!(told, "left open, and closed by the next start: {}", ids.join(", "));
    }
    let problems = match report.problems.len() {
        0 => "nothing is wrong".to_owned(),
        1 => "1 problem".to_owned(),
        many => format!("{many} problems"),
    };
    let _ = writeln!(told, "`{name}`: {} sessions looked at, {problems}", report.sessions);
    told
}

fn migrate(address: &StoreAddress) -> Result<(), Failure> {
    let (name, version) = with_store(address, async |store| Ok((store.name(), store.version().await?)))?;
    print(&format!("`{name}` is at version {version}"))
}

fn back_up(address: &StoreAddress, file: &Path) -> Result<(), Failure> {
    let size = with_existing_store(address, async |store| {
        let mut line = ProgressLine::new();
        Ok(store.back_up(file, &mut |progress| line.show(progress)).await?)
    })?;
    print(&format!("`{}` ({})", file.display(), bytes(size)))
}

fn vacuum(address: &StoreAddress) -> Result<(), Failure> {
    let (name, done) = with_existing_store(address, async |store| Ok((store.name(), store.vacuum().await?)))?;
    let freed = match done.freed_values {
        0 => String::new(),
        1 => ", 1 large value freed".to_owned(),
        many => format!(", {many} large values freed"),
    };
    print(&format!("`{name}`: {} before, {} after{freed}", bytes(done.before), bytes(done.after)))
}

fn stats(address: &StoreAddress, as_json: bool) -> Result<(), Failure> {
    let (name, stats) = with_existing_store(address, async |store| Ok((store.name(), store.stats().await?)))?;
    let blobs = stats.blobs;
    if as_json {
        let tables: Map<String, Value> =
            stats.tables.iter().map(|(table, rows)| ((*table).to_owned(), json!(rows))).collect();
        return print_json(&json!({
            "database": name,
            "version": stats.version,
            "bytes": stats.bytes,
            "sessions": stats.sessions,
            "turns": stats.turns,
            "messages": stats.messages,
            "calls": stats.calls,
            "blobs": {
                "count": blobs.count,
                "value_bytes": blobs.value_bytes,
                "stored_bytes": blobs.stored_bytes,
                "references": blobs.references,
            },
            "search_chunks": stats.chunks,
            "tables": tables,
        }));
    }
    let mut lines = vec![
        ("database", name),
        ("version", stats.version.to_string()),
        ("size", bytes(stats.bytes)),
        ("sessions", stats.sessions.to_string()),
        ("turns", stats.turns.to_string()),
        ("messages", stats.messages.to_string()),
        ("calls", stats.calls.to_string()),
        ("large values", format!("{}, referred to {} times", blobs.count, blobs.references)),
        ("", format!("{} of values, {} stored", bytes(blobs.value_bytes), bytes(blobs.stored_bytes))),
        ("indexed texts", stats.chunks.to_string()),
        ("", String::new()),
    ];
    lines.extend(stats.tables.iter().map(|(table, rows)| (*table, rows.to_string())));
    let lines: Vec<String> =
        lines.iter().map(|(name, value)| format!("{name:<15}{value}").trim_end().to_owned()).collect();
    print(&lines.join("\n"))
}

/// A size as people read it.
fn bytes(bytes: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    for (unit, size) in UNITS {
        if bytes >= size {
            let tenths = u128::from(bytes) * 10 / u128::from(size);
            return format!("{}.{} {unit}", tenths / 10, tenths % 10);
        }
    }
    format!("{bytes} B")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_can_be_read() {
        for (size, expected) in
            [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (5 << 20, "5.0 MiB"), (u64::MAX, "17179869183.9 GiB")]
        {
            assert_eq!(bytes(size), expected);
        }
    }
}

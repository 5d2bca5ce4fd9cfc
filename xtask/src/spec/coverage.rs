//! `docs/spec/coverage.txt`: what vectors check exactly, and tests besides their own topic.

use super::named::{Named, function_in};
use super::{entries, list_of_rules, read};
use crate::command::Failure;
use crate::paths;
use std::path::Path;

const FILE: &str = "docs/spec/coverage.txt";

/// The folders of vectors.
const FOLDERS: [&str; 2] = ["crates/pleat-transcript/tests/vectors/fold", "crates/pleat-acp/tests/vectors/record"];

/// A chapter as vectors name it, and as rules do.
const CHAPTERS: [(&str, &str); 2] = [("(introduction)", "Replay"), ("Permissions, turns, the rest", "Rest")];

/// A vector: its file, and the section that it says it checks.
struct Vector {
    name: String,
    section: String,
}

/// A line: what is tested, and the rules.
struct Entry {
    what: String,
    rules: Vec<String>,
}

/// The rules that the file names, for each vector and test.
pub(super) fn named() -> Result<Vec<Named>, Failure> {
    let entries = entries_in(&read(&paths::root().join(FILE))?)?;
    let vectors = vectors()?;
    check_vectors(&vectors, &entries)?;
    for entry in &entries {
        check_entry(entry, &vectors)?;
    }
    let named = entries
        .into_iter()
        .flat_map(|Entry { what, rules }| rules.into_iter().map(move |rule| Named { rule, test: what.clone() }));
    Ok(named.collect())
}

fn entries_in(text: &str) -> Result<Vec<Entry>, Failure> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let entry = |line: &str| {
        let (what, rules) = line.split_once(": ").ok_or_else(|| wrong(line, "is not `WHAT: RULE, RULE`"))?;
        Ok(Entry { what: what.to_owned(), rules: list_of_rules(rules).collect() })
    };
    lines.map(entry).collect()
}

fn wrong(what: &str, problem: &str) -> Failure {
    Failure::new(format!("{FILE}: `{what}` {problem}."))
}

fn vectors() -> Result<Vec<Vector>, Failure> {
    let mut vectors = Vec::new();
    for folder in FOLDERS {
        for path in entries(&paths::root().join(folder))? {
            vectors.push(vector(&path)?);
        }
    }
    Ok(vectors)
}

fn vector(path: &Path) -> Result<Vector, Failure> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match rule_of(&read(path)?) {
        Some(rule) => Ok(Vector { section: section(rule), name }),
        None => Err(Failure::new(format!("the vector {name} names no rule."))),
    }
}

/// The text of the key `rule`.
fn rule_of(json: &str) -> Option<&str> {
    let (_, rest) = json.split_once("\"rule\"")?;
    let (_, rest) = rest.split_once(':')?;
    rest.trim_start().strip_prefix('"')?.split('"').next()
}

/// `fold 4` of `fold.md 4`, `record Rest.5` of `record.md Permissions, turns, the rest.5`.
fn section(rule: &str) -> String {
    let mut section = rule.replacen(".md", "", 1);
    for (theirs, ours) in CHAPTERS {
        section = section.replace(theirs, ours);
    }
    section
}

/// Each vector has its line.
fn check_vectors(vectors: &[Vector], entries: &[Entry]) -> Result<(), Failure> {
    for vector in vectors {
        match entries.iter().filter(|entry| entry.what == vector.name).count() {
            1 => {}
            0 => return Err(wrong(&vector.name, "is a vector without a line")),
            _ => return Err(wrong(&vector.name, "has more than one line")),
        }
    }
    Ok(())
}

fn check_entry(entry: &Entry, vectors: &[Vector]) -> Result<(), Failure> {
    if let Some((file, test)) = entry.what.split_once("::") {
        return check_test(&entry.what, &paths::root().join(file), test);
    }
    let Some(vector) = vectors.iter().find(|vector| vector.name == entry.what) else {
        return Err(wrong(&entry.what, "is neither a vector nor a `FILE::TEST`"));
    };
    let is_of_section = |rule: &String| {
        rule.strip_prefix(vector.section.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    if entry.rules.iter().any(is_of_section) {
        return Ok(());
    }
    Err(wrong(&entry.what, &format!("names no rule of its own section, {}", vector.section)))
}

fn check_test(what: &str, file: &Path, test: &str) -> Result<(), Failure> {
    let source = read(file)?;
    let is_there = source.lines().any(|line| function_in(line) == Some(test));
    if is_there { Ok(()) } else { Err(wrong(what, "is no test")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_section_of_a_vector() {
        assert_eq!(rule_of(r#"{"name": "a", "rule" : "fold.md Input", "given": 1}"#), Some("fold.md Input"));
        assert_eq!(section("fold.md 4"), "fold 4");
        assert_eq!(section("record.md (introduction)"), "record Replay");
        assert_eq!(section("record.md Permissions, turns, the rest.5"), "record Rest.5");
    }

    #[test]
    fn a_vector_names_a_rule_of_its_own_section() {
        let vectors = [Vector { name: "v.json".to_owned(), section: "fold 1".to_owned() }];
        let check = |line: &str| check_entry(&entries_in(line).unwrap()[0], &vectors).map_err(|it| it.to_string());
        assert_eq!(check("v.json: fold 4.1, fold 1.11"), Ok(()));
        let outside = format!("{FILE}: `v.json` names no rule of its own section, fold 1.");
        assert_eq!(check("v.json: fold 10.1"), Err(outside));
        assert_eq!(check("w.json: fold 1.1"), Err(format!("{FILE}: `w.json` is neither a vector nor a `FILE::TEST`.")));
    }
}

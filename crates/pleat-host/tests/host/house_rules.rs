//! The demonstrations take the way that any agent takes: the host does not know of them.

use std::fs;
use std::path::Path;

/// What only code that knows of the replay agent would say.
const FORBIDDEN: [&str; 6] = ["replay_agent", "replay agent", "replayagent", "agent replay", "demo", "\"replay\""];

#[test]
fn the_host_does_not_name_the_replay_agent() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let read = check_folder(&sources);
    assert!(read > 5, "only {read} source files were found in {}", sources.display());
}

/// Looks through every source file below a folder; how many there were.
fn check_folder(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.map(|path| if path.is_dir() { check_folder(&path) } else { check_file(&path) }).sum()
}

fn check_file(path: &Path) -> usize {
    let source = fs::read_to_string(path).expect("a source file");
    assert_eq!(forbidden_in(&source), None, "{} names the replay agent", path.display());
    1
}

fn forbidden_in(source: &str) -> Option<&'static str> {
    let source = source.to_lowercase();
    FORBIDDEN.into_iter().find(|word| source.contains(word))
}

#[test]
fn what_would_name_it_is_found() {
    for source in ["use pleat_acp::replay_agent;", r#"["agent", "replay"]"#, "if name == DEMO", "ReplayAgent::new()"] {
        assert!(forbidden_in(source).is_some(), "{source}");
    }
}

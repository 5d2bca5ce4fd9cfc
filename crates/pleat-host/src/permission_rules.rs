//! What Pleat allows by itself: only where the configuration says so for an agent and a directory, only once, and never
//! for a path outside the session's directories.

use crate::agents::AllowRule;
use pleat_acp::client::Workspace;
use pleat_transcript::call::{Call, ToolKind};
use serde_json::Value;
use std::path::Path;

/// Who has answered a permission request, as the call records it: a person.
pub const BY_PERSON: &str = "owner";

/// Who has answered a permission request, as the call records it: Pleat, because the configuration says so.
pub const BY_RULE: &str = "configuration";

/// The option that allows a call once, where a rule allows its kind and it stays inside.
pub(crate) fn allowed_option(call: &Call, rules: &[AllowRule], root: &Path, workspace: &Workspace) -> Option<String> {
    let applies = |rule: &&AllowRule| root.starts_with(&rule.directory) && rule.kinds.contains(&call.kind());
    rules.iter().find(applies)?;
    if !stays_inside(call, workspace) {
        return None;
    }
    let options = &call.permission.as_ref()?.options;
    let once = options.iter().find(|option| option.get("kind").and_then(Value::as_str) == Some("allow_once"))?;
    once.get("optionId")?.as_str().map(str::to_owned)
}

/// Whether all paths that the call names lie inside; one that works on files must name one.
fn stays_inside(call: &Call, workspace: &Workspace) -> bool {
    let paths = paths(call);
    let is_told_enough = !paths.is_empty() || !works_on_files(call.kind());
    is_told_enough && paths.iter().all(|path| workspace.contains(Path::new(path)))
}

/// Every path that the call names: where it works, what it was asked with, and what it shows to change.
fn paths(call: &Call) -> Vec<&str> {
    let mut paths: Vec<&str> = call.locations.iter().filter_map(|location| location.get("path")?.as_str()).collect();
    paths.extend(call.output.iter().filter_map(|block| block.get("path")?.as_str()));
    if let Some(input) = &call.input {
        gather_paths(input, &mut paths);
    }
    paths
}

/// Paths in a request: under a key that says so, at any depth, and keys that are paths themselves (Codex' `changes`).
fn gather_paths<'a>(input: &'a Value, paths: &mut Vec<&'a str>) {
    match input {
        Value::Object(fields) => {
            for (key, value) in fields {
                if key.starts_with('/') {
                    paths.push(key);
                }
                match value {
                    Value::String(text) if names_a_path(key) => paths.push(without_scheme(text)),
                    Value::Array(items) if names_a_path(key) => {
                        paths.extend(items.iter().filter_map(Value::as_str).map(without_scheme));
                        for item in items {
                            gather_paths(item, paths);
                        }
                    }
                    Value::Object(_) | Value::Array(_) => gather_paths(value, paths),
                    Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                gather_paths(item, paths);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Whether what stands under a key is a path. Too often is safe: what is no path inside is not allowed then.
fn names_a_path(key: &str) -> bool {
    const WORDS: [&str; 7] = ["path", "file", "dir", "cwd", "folder", "uri", "root"];
    const WHOLE: [&str; 4] = ["source", "destination", "from", "to"];
    let key = key.to_ascii_lowercase();
    WORDS.iter().any(|word| key.contains(word)) || WHOLE.contains(&key.as_str())
}

fn without_scheme(path: &str) -> &str {
    path.strip_prefix("file://").unwrap_or(path)
}

fn works_on_files(kind: ToolKind) -> bool {
    match kind {
        ToolKind::Read | ToolKind::Edit | ToolKind::Delete | ToolKind::Move | ToolKind::Search => true,
        ToolKind::Execute | ToolKind::Think | ToolKind::Fetch | ToolKind::SwitchMode | ToolKind::Other => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleat_transcript::call::Permission;
    use pleat_transcript::ids::CallId;
    use serde_json::json;

    fn asks(kind: &str, input: Value, locations: &Value) -> Call {
        let mut call = Call::new(CallId::new("c").unwrap());
        call.kind_word = Some(kind.to_owned());
        call.input = Some(input);
        call.locations = locations.as_array().unwrap().clone();
        let option = |id, kind| json!({"optionId": id, "name": id, "kind": kind});
        let options = vec![option("always", "allow_always"), option("once", "allow_once"), option("no", "reject_once")];
        call.permission = Some(Permission {
            request: None,
            options,
            chosen: None,
            by: None,
            at: None,
            state: None,
            extra: serde_json::Map::new(),
        });
        call
    }

    #[test]
    fn only_what_a_rule_names_and_what_stays_inside_is_allowed() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("app").canonicalize().unwrap_or_else(|_| {
            std::fs::create_dir(folder.path().join("app")).unwrap();
            folder.path().join("app").canonicalize().unwrap()
        });
        std::fs::write(root.join("ok.txt"), "ok").unwrap();
        std::os::unix::fs::symlink("/etc", root.join("link")).unwrap();
        let workspace = Workspace::open(&root, &[]).unwrap();
        let rules = [AllowRule { directory: root.clone(), kinds: vec![ToolKind::Read, ToolKind::Execute] }];
        let inside = root.join("ok.txt").to_string_lossy().into_owned();
        let allowed = |call: &Call| allowed_option(call, &rules, &root, &workspace);
        let once = Some("once".to_owned());
        assert_eq!(allowed(&asks("read", json!({"file_path": inside}), &json!([]))), once);
        assert_eq!(allowed(&asks("read", json!({}), &json!([{"path": inside}]))), once);
        assert_eq!(allowed(&asks("read", json!({"path": "ok.txt"}), &json!([]))), once);
        assert_eq!(allowed(&asks("execute", json!({"command": "ls"}), &json!([]))), once);
        // Another kind, no path, or one outside however it is written.
        assert_eq!(allowed(&asks("edit", json!({"file_path": inside}), &json!([]))), None);
        assert_eq!(allowed(&asks("read", json!({}), &json!([]))), None);
        for outside in ["/etc/passwd", "../x", "link/passwd", "file:///etc/passwd", "~/x/../../etc"] {
            assert_eq!(
                allowed(&asks("read", json!({"file_path": inside, "uri": outside}), &json!([]))),
                None,
                "{outside}"
            );
            assert_eq!(allowed(&asks("read", json!({"paths": [outside]}), &json!([]))), None, "{outside}");
            assert_eq!(
                allowed(&asks("read", json!({"file_path": inside}), &json!([{"path": outside}]))),
                None,
                "{outside}"
            );
        }
        assert_eq!(allowed(&asks("read", json!({"changes": {"/etc/passwd": {}}, "path": inside}), &json!([]))), None);
        assert_eq!(allowed(&asks("execute", json!({"command": "ls", "cwd": "/"}), &json!([]))), None);
        // A rule for another directory, and a request that can only be allowed for ever.
        let elsewhere = [AllowRule { directory: "/elsewhere".into(), kinds: vec![ToolKind::Read] }];
        let call = asks("read", json!({"file_path": inside}), &json!([]));
        assert_eq!(allowed_option(&call, &elsewhere, &root, &workspace), None);
        let mut for_ever = call;
        for_ever.permission.as_mut().unwrap().options.remove(1);
        assert_eq!(allowed(&for_ever), None);
    }
}

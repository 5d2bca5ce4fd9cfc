//! What Pleat allows by itself: only where the configuration says so for an agent and a directory, only once, and never
//! for a path outside the session's directories.

use crate::agents::AllowRule;
use pleat_acp::client::Workspace;
use pleat_transcript::call::{Call, ToolKind};
use serde_json::Value;
use std::path::{Component, Path};

/// Who has answered a permission request, as the call records it: a person.
pub const BY_PERSON: &str = "owner";

/// Who has answered a permission request, as the call records it: Pleat, because the configuration says so.
pub const BY_RULE: &str = "configuration";

/// The option that allows a call once, where a rule allows its kind and it stays inside.
pub(crate) fn allowed_option(call: &Call, rules: &[AllowRule], root: &Path, workspace: &Workspace) -> Option<String> {
    let applies = |rule: &&AllowRule| root.starts_with(&rule.directory) && rule.kinds.contains(&call.kind());
    rules.iter().find(applies)?;
    if !stays_inside(call, root, workspace) {
        return None;
    }
    let options = &call.permission.as_ref()?.options;
    let once = options.iter().find(|option| option.get("kind").and_then(Value::as_str) == Some("allow_once"))?;
    once.get("optionId")?.as_str().map(str::to_owned)
}

/// Whether all that the call names lies inside; one that works on files must name something. In doubt it does not.
fn stays_inside(call: &Call, root: &Path, workspace: &Workspace) -> bool {
    let Some(named) = Named::of(call) else { return false };
    let is_told_enough = !named.paths.is_empty() || !works_on_files(call.kind());
    is_told_enough && named.means_the_root(root) && named.paths.iter().all(|path| workspace.contains(Path::new(path)))
}

/// The places that a call names.
#[derive(Default)]
struct Named<'a> {
    paths: Vec<&'a str>,
    /// From where relative paths are meant, where that is said.
    from: Vec<&'a str>,
    /// Every text may be a path, not only what stands under a key that says so.
    looks_at_every_text: bool,
}

impl<'a> Named<'a> {
    /// Where the call works, what it was asked with, and what it shows to change; `None` where that cannot be told.
    fn of(call: &'a Call) -> Option<Self> {
        let mut named = Self { looks_at_every_text: works_on_files(call.kind()), ..Self::default() };
        let shown = call.locations.iter().chain(&call.output).filter_map(|block| block.get("path")?.as_str());
        for path in shown {
            named.path(path)?;
        }
        if let Some(input) = &call.input {
            named.gather("", input)?;
        }
        Some(named)
    }

    fn gather(&mut self, key: &'a str, input: &'a Value) -> Option<()> {
        match input {
            Value::Object(fields) => {
                for (key, value) in fields {
                    // Codex names what it changes by keys.
                    if key.contains('/') || looks_like_a_path(key) {
                        self.path(key)?;
                    }
                    self.gather(key, value)?;
                }
            }
            Value::Array(items) => {
                for item in items {
                    self.gather(key, item)?;
                }
            }
            Value::String(text) => self.text(key, text)?,
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        Some(())
    }

    fn text(&mut self, key: &str, text: &'a str) -> Option<()> {
        let key = key.to_ascii_lowercase();
        // A patch names its files in a form of its own.
        if self.looks_at_every_text && key.contains("patch") {
            return None;
        }
        if names_the_place(&key) {
            self.from.push(text);
        }
        if names_a_path(&key) || is_file_address(text) || (self.looks_at_every_text && looks_like_a_path(text)) {
            self.path(text)?;
        }
        Some(())
    }

    fn path(&mut self, path: &'a str) -> Option<()> {
        // Braces are several paths to whoever expands them.
        if path.contains('{') {
            return None;
        }
        let path = if is_file_address(path) {
            // With a host, or with characters that stand for others, it is whatever its reader makes of it.
            path.strip_prefix("file://").filter(|path| path.starts_with('/') && !path.contains('%'))?
        } else {
            path
        };
        self.paths.push(path);
        Some(())
    }

    /// Whether relative paths are meant from the root, as they are looked up here.
    fn means_the_root(&self, root: &Path) -> bool {
        let relative = self.paths.iter().any(|path| Path::new(path).is_relative() && !self.from.contains(path));
        !relative || self.from.iter().all(|from| Path::new(from) == root || *from == ".")
    }
}

/// Whether a text is the address of a file, however it is written.
fn is_file_address(text: &str) -> bool {
    text.trim_start().get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"))
}

/// Whether a text would be taken for a path that may lead anywhere.
fn looks_like_a_path(text: &str) -> bool {
    text.starts_with(['/', '~']) || Path::new(text).components().any(|part| part == Component::ParentDir)
}

/// Whether what stands under a key is a path. Too often is safe: what is no path inside is not allowed then.
fn names_a_path(key: &str) -> bool {
    const WORDS: [&str; 9] = ["path", "file", "dir", "cwd", "folder", "uri", "root", "glob", "pattern"];
    const WHOLE: [&str; 6] = ["source", "destination", "from", "to", "include", "exclude"];
    WORDS.iter().any(|word| key.contains(word)) || WHOLE.contains(&key)
}

/// Whether what stands under a key is the directory that a call works from.
fn names_the_place(key: &str) -> bool {
    ["cwd", "workdir", "working_dir", "workingdir"].iter().any(|word| key.contains(word))
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
        assert_eq!(allowed(&asks("read", json!({"uri": format!("file://{inside}")}), &json!([]))), once);
        assert_eq!(allowed(&asks("read", json!({"path": "ok.txt", "cwd": root}), &json!([]))), once);
        // What is to be changed is told by the diffs that it shows.
        let mut edit = asks("read", json!({}), &json!([{"path": inside}]));
        edit.output = vec![json!({"type": "diff", "path": "/etc/passwd", "newText": ""})];
        assert_eq!(allowed(&edit), None);
        for unclear in [
            json!({"path": inside, "uri": "file:///ws/%2e%2e/etc/passwd"}),
            json!({"uri": "file://localhost/etc/passwd"}),
            json!({"path": inside, "pattern": "/etc/**"}),
            json!({"path": inside, "glob": "../../**"}),
            json!({"path": inside, "query": {"in": ["a", "/etc"]}}),
            json!({"path": inside, "changes": {"../../x": {}}}),
            json!({"path": "ok.txt", "cwd": root.join("sub")}),
            json!({"path": inside, "patch": "*** Update File: /etc/passwd"}),
            json!({"path": inside, "pattern": "{..,x}/**"}),
            json!({"path": inside, "in": " FILE:///etc/passwd"}),
        ] {
            assert_eq!(allowed(&asks("read", unclear.clone(), &json!([]))), None, "{unclear}");
        }
        for url in ["file:///etc/passwd", "FILE:///etc/passwd"] {
            assert_eq!(allowed(&asks("execute", json!({"url": url}), &json!([]))), None);
        }
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

//! What a session's directories hold, for permissions that are given without a person.

use pleat_acp::client::Workspace;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

struct Directories {
    folder: tempfile::TempDir,
    workspace: Workspace,
}

impl Directories {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["app/src", "app-evil", "further", "other"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        fs::write(folder.path().join("app/src/file"), "").unwrap();
        fs::write(folder.path().join("other/file"), "").unwrap();
        let workspace = Workspace::open(&folder.path().join("app"), &[folder.path().join("further")]).unwrap();
        Self { folder, workspace }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn check(&self, expect: bool, paths: &[&str]) {
        for path in paths {
            assert_eq!(self.workspace.contains(&self.path(path)), expect, "{path}");
        }
    }
}

#[test]
fn what_is_inside_is_contained_and_the_rest_is_not() {
    let directories = Directories::new();
    directories.check(true, &["app", "app/", "app/src", "app/src/file", "app/src/../src/file", "further"]);
    directories.check(true, &["app/new", "app/src/new/er", "further/new"]);
    directories.check(false, &["", "app/..", "app-evil", "app-evil/x", "other/file", "app/../other/file", "apps"]);
    directories.check(false, &["app/src/../../other", "app/new/../../other", "app/src/file/below"]);
    assert!(!directories.workspace.contains(Path::new("/etc/passwd")));
    assert!(!directories.workspace.contains(Path::new("/")));
    assert!(!directories.workspace.contains(Path::new("app\0")));
}

#[test]
fn relative_paths_begin_at_the_session_s_directory() {
    let directories = Directories::new();
    for path in ["src/file", "src", "new", ".", "a~b"] {
        assert!(directories.workspace.contains(Path::new(path)), "{path}");
    }
    for path in ["..", "../further-than-that", "../other/file", "src/../../other"] {
        assert!(!directories.workspace.contains(Path::new(path)), "{path}");
    }
    assert!(directories.workspace.contains(Path::new("../further")));
    for path in
        ["", "~", "~/x", "~root/x", "$HOME/x", "${HOME}/x", "%TEMP%/x", r"D:\evil", r"..\x", "file:///etc/passwd"]
    {
        assert!(!directories.workspace.contains(Path::new(path)), "{path} may mean something else");
    }
}

#[test]
fn links_are_followed() {
    let directories = Directories::new();
    symlink("../other", directories.path("app/out")).unwrap();
    symlink("../other/new", directories.path("app/to-nothing-outside")).unwrap();
    symlink("nothing", directories.path("app/to-nothing")).unwrap();
    symlink(directories.path("app/src"), directories.path("app/in")).unwrap();
    symlink("app", directories.path("alias")).unwrap();
    symlink(directories.path("further"), directories.path("app/to-further")).unwrap();
    directories.check(true, &["app/in/file", "app/in/new", "alias/src/file", "app/to-further", "app/to-further/new"]);
    directories.check(false, &["app/out", "app/out/file", "app/out/new", "app/to-nothing-outside", "app/to-nothing"]);
    directories.check(false, &["app/to-nothing/below", "app/out/../src"]);
}

#[test]
fn a_directory_that_was_replaced_contains_nothing_any_more() {
    let directories = Directories::new();
    fs::rename(directories.path("app"), directories.path("moved")).unwrap();
    fs::create_dir_all(directories.path("app/src")).unwrap();
    directories.check(false, &["app", "app/src", "moved/src"]);
}

#[test]
fn directories_must_be_there_and_absolute() {
    let directories = Directories::new();
    let refused = |path: &Path| Workspace::open(path, &[]).expect_err("it is no directory").to_string();
    assert!(refused(Path::new("app")).contains("app is no absolute path"));
    let missing = directories.path("missing");
    assert!(refused(&missing).contains(&missing.display().to_string()));
    refused(&directories.path("other/file"));
    Workspace::open(&directories.path("app"), &[missing]).expect_err("a further one is missing");
}

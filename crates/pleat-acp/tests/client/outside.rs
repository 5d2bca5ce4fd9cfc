//! What lies outside of the session's directories is out of reach (docs/cases.md, B40).

use crate::{Scene, ask};
use pleat_acp::client::{ClientLimits, ClientSession, Workspace};
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use tokio::sync::mpsc;

const SECRET: &str = "tell-nobody";

/// `app` with a neighbour that is named much like it, and links of all kinds.
fn scene() -> Scene {
    let scene = Scene::new();
    let outside = scene.folder.path().join("app-evil");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("x"), SECRET).unwrap();
    fs::write(scene.folder.path().join("y"), SECRET).unwrap();
    fs::create_dir_all(scene.app("deep/er")).unwrap();
    fs::write(scene.app("ok.txt"), "content").unwrap();
    symlink(&outside, scene.app("link")).unwrap();
    symlink("../app-evil", scene.app("relative-link")).unwrap();
    symlink("../app-evil/x", scene.app("file-link")).unwrap();
    symlink("../app-evil/new", scene.app("link-to-nothing")).unwrap();
    symlink("link", scene.app("link-to-link")).unwrap();
    symlink("../deep", scene.app("deep/loop-in")).unwrap();
    symlink("../..", scene.app("deep/up")).unwrap();
    scene
}

async fn check_out_of_reach(scene: &Scene, path: &Path) {
    for answer in [scene.read(path).await.map(drop), scene.write(path, "changed").await.map(drop)] {
        let error = answer.expect_err("it is out of reach");
        assert_eq!(error.code, -32602, "{error}");
        assert!(error.message.contains(&path.display().to_string()), "{error} does not name {}", path.display());
        assert!(!error.message.contains(SECRET), "{error}");
    }
}

#[tokio::test]
async fn b40_files_outside_of_the_workspace_are_out_of_reach() {
    let scene = scene();
    let folder = scene.folder.path();
    check_out_of_reach(&scene, &folder.join("app-evil/x")).await;
    check_out_of_reach(&scene, &folder.join("app/../y")).await;
    check_out_of_reach(&scene, &folder.join("app/link/x")).await;
    check_out_of_reach(&scene, Path::new(r"D:\evil")).await;
    assert_eq!(scene.read(scene.app("ok.txt")).await.unwrap(), "content");
}

#[tokio::test]
async fn no_way_around_leads_out() {
    let scene = scene();
    for path in [
        "app/relative-link/x",
        "app/file-link",
        "app/link-to-link/x",
        "app/deep/up/y",
        "app/deep/up/app-evil/x",
        "app/deep/../../y",
        "app/deep/loop-in/../../y",
        "app/./deep/../../app-evil/x",
        "app/missing/../../y",
        "y",
        "app-evil/../y",
    ] {
        let path = scene.folder.path().join(path);
        let read = scene.read(&path).await.expect_err("it is out of reach");
        assert!([-32602, -32002].contains(&read.code), "{read}");
        assert!(!read.message.contains(SECRET), "{read}");
        scene.write(&path, "changed").await.expect_err("it is out of reach");
    }
    for path in ["relative/ok.txt", "ok.txt", "", r"C:\repo\ok.txt", r"\\server\share", "file:///etc/passwd"] {
        check_out_of_reach(&scene, Path::new(path)).await;
    }
    scene.write(scene.app("link-to-nothing"), "new").await.expect_err("it leads out");
    scene.write(scene.app("link/new"), "new").await.expect_err("it leads out");
    scene.write(scene.app("link/new/er"), "new").await.expect_err("it leads out");
    let nul = scene.read("/etc/passwd\0").await.expect_err("no path holds NUL");
    assert_eq!(nul.code, -32602, "{nul}");
    scene.read(scene.app("ok.txt\0")).await.expect_err("no path holds NUL");
    assert_eq!(fs::read_to_string(scene.folder.path().join("y")).unwrap(), SECRET);
    assert_eq!(fs::read_to_string(scene.folder.path().join("app-evil/x")).unwrap(), SECRET);
    assert_eq!(fs::read_dir(scene.folder.path().join("app-evil")).unwrap().count(), 1);
}

#[tokio::test]
async fn links_and_dots_that_stay_inside_are_followed() {
    let scene = scene();
    fs::write(scene.app("deep/er/file"), "inside").unwrap();
    symlink("er/file", scene.app("deep/link-in")).unwrap();
    symlink(scene.app("deep"), scene.app("absolute-link-in")).unwrap();
    symlink("er/new", scene.app("deep/link-to-new")).unwrap();
    for path in ["deep/link-in", "absolute-link-in/er/file", "absolute-link-in/link-in", "deep/../deep/./er//file"] {
        assert_eq!(scene.read(scene.app(path)).await.unwrap(), "inside", "{path}");
    }
    scene.write(scene.app("absolute-link-in/er/file"), "changed").await.unwrap();
    scene.write(scene.app("absolute-link-in/a/b"), "new").await.unwrap();
    scene.write(scene.app("deep/link-to-new"), "new").await.unwrap();
    assert_eq!(fs::read_to_string(scene.app("deep/er/file")).unwrap(), "changed");
    assert_eq!(fs::read_to_string(scene.app("deep/a/b")).unwrap(), "new");
    assert_eq!(fs::read_to_string(scene.app("deep/er/new")).unwrap(), "new");
    assert!(scene.app("deep/link-to-new").is_symlink());
}

#[tokio::test]
async fn each_of_several_directories_is_reached_by_any_of_its_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir_all(path("real/inner")).unwrap();
    fs::create_dir(path("further")).unwrap();
    symlink("real", path("alias")).unwrap();
    fs::write(path("real/a"), "a").unwrap();
    fs::write(path("further/b"), "b").unwrap();
    symlink(path("further"), path("real/to-further")).unwrap();
    let workspace = Workspace::open(&path("alias"), &[path("further"), path("real/inner")]).unwrap();
    let client = ClientSession::new(workspace, ClientLimits::default(), Vec::new(), mpsc::unbounded_channel().0);
    let read = async |name: &str| {
        let answer = ask(&client, "fs/read_text_file", json!({"path": path(name)})).await;
        answer.map(|answer| answer["content"].as_str().unwrap().to_owned())
    };
    assert_eq!(read("alias/a").await.unwrap(), "a");
    assert_eq!(read("real/a").await.unwrap(), "a");
    assert_eq!(read("further/b").await.unwrap(), "b");
    assert_eq!(read("real/to-further/b").await.unwrap(), "b");
    // The innermost directory decides, and from there `..` leads out.
    read("real/inner/../a").await.expect_err("it leads out of the innermost directory");
    // What a name led to when the session began is what counts.
    fs::rename(path("further"), path("moved")).unwrap();
    fs::create_dir(path("further")).unwrap();
    fs::write(path("further/b"), SECRET).unwrap();
    assert_eq!(read("further/b").await.unwrap(), "b");
}

#[tokio::test]
async fn a_terminal_starts_inside() {
    let scene = scene();
    let cwd = async |path: &Path| scene.create(json!({"command": "pwd", "cwd": path})).await;
    for path in ["app-evil", "app/..", "app/link", "app/deep/up", "."] {
        let path = scene.folder.path().join(path);
        let error = cwd(&path).await.expect_err("it is outside");
        assert_eq!(error.code, -32602, "{error}");
        assert!(error.message.contains(&path.display().to_string()), "{error}");
    }
    cwd(Path::new("deep")).await.expect_err("it is relative");
    cwd(&scene.app("ok.txt")).await.expect_err("it is a file");
    assert_eq!(cwd(&scene.app("none")).await.expect_err("it is missing").code, -32002);
    let real = |path: &str| format!("{}\n", fs::canonicalize(scene.app(path)).unwrap().display());
    let terminal = cwd(&scene.app("deep/er")).await.unwrap();
    assert_eq!(scene.printed(&terminal).await, real("deep/er"));
    let terminal = scene.create(json!({"command": "pwd", "cwd": null})).await.unwrap();
    assert_eq!(scene.printed(&terminal).await, real(""));
}

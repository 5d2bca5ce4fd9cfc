//! Paths as labels show them (docs/spec/fold.md, section 6).

use super::argument::LONGEST_ARGUMENT;
use crate::fold::text::{is_blank, last_characters, one_line};

/// A path in one line: relative where it lies inside `root`, and its end where it is too long.
pub(super) fn shown(path: &str, root: Option<&str>) -> String {
    let short = relative(path.trim(), root.filter(|root| !is_blank(root)));
    let line = one_line(short.trim());
    last_characters(&line, LONGEST_ARGUMENT).trim().to_owned()
}

fn relative<'p>(path: &'p str, root: Option<&'p str>) -> &'p str {
    if path.split(is_separator).any(|part| part == "..") {
        return path;
    }
    let inside = root.and_then(|root| inside_of(path, root)).unwrap_or(path);
    let mut rest = inside;
    while let Some(shorter) = rest.strip_prefix("./") {
        rest = shorter.trim_start_matches('/');
    }
    match rest {
        "" | "." => root.map_or(path, folder_name),
        rest => rest,
    }
}

fn is_separator(c: char) -> bool {
    matches!(c, '/' | '\\')
}

/// What follows `root` in `path`; empty for the root itself.
fn inside_of<'p>(path: &'p str, root: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(root.trim_end_matches(is_separator))?;
    let is_inside = rest.is_empty() || rest.starts_with(is_separator);
    is_inside.then(|| rest.trim_start_matches(is_separator))
}

fn folder_name(root: &str) -> &str {
    let name = root.trim_end_matches(is_separator).rsplit(is_separator).next();
    name.filter(|name| !name.is_empty()).unwrap_or(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_app(path: &str) -> String {
        shown(path, Some("/home/me/app"))
    }

    /// Rule: fold 6.7
    #[test]
    fn the_root_in_any_spelling_is_the_folders_name() {
        for path in ["/home/me/app", "/home/me/app/", "/home/me/app/.", ".", "./", "/home/me/app/./", " . "] {
            assert_eq!(in_app(path), "app", "{path:?}");
        }
        assert_eq!(shown("/home/me/app", Some("/home/me/app/")), "app");
    }

    /// Rule: fold 6.7
    #[test]
    fn a_root_without_a_name_is_shown_whole() {
        assert_eq!(shown("/", Some("/")), "/");
        assert_eq!(shown("/etc/hosts", Some("/")), "etc/hosts");
        assert_eq!(shown(".", None), ".");
        assert_eq!(shown("./", None), "./");
    }

    /// Rule: fold 6.7
    #[test]
    fn paths_inside_are_relative_and_others_as_stored() {
        assert_eq!(in_app("/home/me/app//src/./a.rs"), "src/./a.rs");
        assert_eq!(in_app("././a.rs"), "a.rs");
        assert_eq!(in_app("./../a.rs"), "./../a.rs");
        assert_eq!(in_app("..a/b"), "..a/b");
        assert_eq!(in_app("/home/me/apple"), "/home/me/apple");
        assert_eq!(shown(r"C:\me\app\src\a.rs", Some(r"C:\me\app")), r"src\a.rs");
    }

    /// Rule: fold 6.8
    #[test]
    fn a_long_path_keeps_its_end() {
        let path = shown(&format!("/{}/a.rs", "x".repeat(300)), None);
        assert_eq!(path.chars().count(), 160);
        assert!(path.starts_with('…') && path.ends_with("/a.rs"));
    }
}

//! Values of `pleat.toml` that are more than a text or a number. What is wrong with one is told with its line.

use pleat_host::AllowRule;
use pleat_transcript::call::ToolKind;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// A time in seconds, of at least 0; fractions count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "f64")]
pub(super) struct Seconds(pub(super) Duration);

impl TryFrom<f64> for Seconds {
    type Error = String;

    fn try_from(seconds: f64) -> Result<Self, String> {
        let duration = Duration::try_from_secs_f64(seconds);
        duration.map(Self).map_err(|_| format!("`{seconds}` is no number of seconds; write one of at least 0"))
    }
}

/// `[agents.NAME.directories]`: what is allowed in each directory.
pub(super) type Directories = BTreeMap<Directory, DirectorySettings>;

/// `[agents.NAME.directories."DIRECTORY"]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DirectorySettings {
    allow: Vec<Kind>,
}

/// A directory by its whole path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Directory(PathBuf);

impl TryFrom<String> for Directory {
    type Error = String;

    fn try_from(path: String) -> Result<Self, String> {
        let whole = match Path::new(&path).strip_prefix("~") {
            Ok(below) => {
                etcetera::home_dir().map_err(|_| format!("`{path}`: the home folder is not known"))?.join(below)
            }
            Err(_) => PathBuf::from(&path),
        };
        let goes_up = whole.components().any(|component| component == Component::ParentDir);
        if !whole.is_absolute() || goes_up {
            return Err(format!("`{path}` is no whole path; write one that begins with `/` or `~/`, without `..`"));
        }
        Ok(Self(canonical(&whole)))
    }
}

/// The path as the system knows it, as far as it exists: sessions have such paths too.
fn canonical(path: &Path) -> PathBuf {
    for ancestor in path.ancestors() {
        if let (Ok(canonical), Ok(rest)) = (ancestor.canonicalize(), path.strip_prefix(ancestor)) {
            // Joining nothing would add a slash.
            return if rest.as_os_str().is_empty() { canonical } else { canonical.join(rest) };
        }
    }
    path.to_owned()
}

/// A kind of calls (ACP `kind`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
struct Kind(ToolKind);

impl TryFrom<String> for Kind {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        let known = ToolKind::WORDS.into_iter().find(|(_, known)| *known == word);
        known.map(|(kind, _)| Self(kind)).ok_or_else(|| {
            let words = ToolKind::WORDS.map(|(_, word)| word).join(", ");
            format!("`{word}` is no kind of calls; the kinds are {words}")
        })
    }
}

/// The rules that these directories make.
pub(super) fn rules(directories: Directories) -> Vec<AllowRule> {
    let rule = |(directory, settings): (Directory, DirectorySettings)| AllowRule {
        directory: directory.0,
        kinds: settings.allow.into_iter().map(|kind| kind.0).collect(),
    };
    directories.into_iter().map(rule).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory(path: &str) -> Result<PathBuf, String> {
        Directory::try_from(path.to_owned()).map(|directory| directory.0)
    }

    #[test]
    fn directories_are_whole_paths_as_far_as_they_exist() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap().join("real");
        std::fs::create_dir(&real).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        assert_eq!(directory(link.to_str().unwrap()).unwrap(), real);
        assert_eq!(directory(link.join("not/there").to_str().unwrap()).unwrap(), real.join("not/there"));
        assert_eq!(directory("/no/such/place").unwrap(), Path::new("/no/such/place"));
        let home = canonical(&etcetera::home_dir().unwrap());
        assert_eq!(directory("~").unwrap(), home);
        assert_eq!(directory("~/no-such-place").unwrap(), home.join("no-such-place"));
        for wrong in ["", ".", "here", "./here", "~me/here", "/a/../b"] {
            assert!(directory(wrong).unwrap_err().contains("is no whole path"), "{wrong}");
        }
    }
}

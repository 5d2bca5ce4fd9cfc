//! Names of files. Session ids are opaque text: whatever they hold, no two share a file and none leaves the folder.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use pleat_transcript::ids::SessionId;
use sha2::{Digest as _, Sha256};

/// What the names of all files end with.
pub(super) const SUFFIX: &str = ".jsonl.zst";

/// What the names of older files end with. No encoded id holds a dot.
const OLDER_SUFFIX: &str = ".1.jsonl.zst";

/// The longest encoded id; a longer one is hashed. File systems take names of 255 bytes.
const MAX_STEM_BYTES: usize = 160;

/// A session's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Files {
    /// The one that is written.
    pub(super) current: PathBuf,
    /// The one that was turned over last.
    pub(super) older: PathBuf,
}

impl Files {
    pub(super) fn of(folder: &Path, session: &SessionId) -> Self {
        let stem = stem(session.as_str());
        Self { current: folder.join(format!("{stem}{SUFFIX}")), older: folder.join(format!("{stem}{OLDER_SUFFIX}")) }
    }
}

/// The files that there are of a session, the oldest first: read one after the other they are its wire log
/// ([`crate::trace::open_all`]).
pub fn files(folder: &Path, session: &SessionId) -> Vec<PathBuf> {
    let Files { current, older } = Files::of(folder, session);
    [older, current].into_iter().filter(|file| file.is_file()).collect()
}

/// Lower-case letters, digits and `-` are themselves, every other byte is `_` and its two hexadecimal digits: upper case
/// too, since some file systems do not tell it from lower case.
fn stem(id: &str) -> String {
    let mut stem = String::new();
    for byte in id.bytes() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' => stem.push(char::from(byte)),
            _ => push_hex(&mut stem, "_", &[byte]),
        }
    }
    if stem.len() > MAX_STEM_BYTES {
        // No byte is encoded so.
        stem.clear();
        push_hex(&mut stem, "_x", &Sha256::digest(id));
    }
    stem
}

fn push_hex(to: &mut String, before: &str, bytes: &[u8]) {
    to.push_str(before);
    for byte in bytes {
        // Writing to a String does not fail.
        let _ = write!(to, "{byte:02x}");
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::path::Component;

    use pleat_transcript::ids::MAX_ID_BYTES;

    use super::*;

    fn name(id: &str) -> String {
        let session = SessionId::new(id).expect("an id");
        let path = Files::of(Path::new("/folder"), &session).current;
        path.strip_prefix("/folder").expect("inside").to_str().expect("text").to_owned()
    }

    #[test]
    fn plain_ids_are_readable() {
        assert_eq!(name("0193a5c2-7b1e"), "0193a5c2-7b1e.jsonl.zst");
        assert_eq!(name("s_1 A"), "s_5f1_20_41.jsonl.zst");
    }

    #[test]
    fn no_id_leaves_the_folder_or_shares_a_file() {
        let longest = "Ä".repeat(MAX_ID_BYTES / 2);
        let ids = [
            "..",
            ".",
            "../a",
            "/etc/passwd",
            "a/b",
            "a_2fb",
            "a\0b",
            "a",
            "A",
            "a.1",
            "_x",
            "ä",
            "%2e",
            " ",
            "~",
            "-",
            &longest,
            &longest[2..],
            "_41",
        ];
        let mut names = HashSet::new();
        for id in ids {
            let session = SessionId::new(id).expect("an id");
            let Files { current, older } = Files::of(Path::new("folder"), &session);
            for path in [current, older] {
                assert_eq!(path.components().count(), 2, "{path:?}");
                assert!(path.components().all(|component| matches!(component, Component::Normal(_))), "{path:?}");
                assert!(path.as_os_str().len() < 200, "{path:?}");
                assert!(names.insert(path.clone()), "{path:?} twice");
            }
        }
    }
}

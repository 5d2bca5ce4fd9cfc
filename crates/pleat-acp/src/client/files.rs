//! `fs/read_text_file` and `fs/write_text_file`. What stands in a file goes into an answer and nowhere else.

use super::error::{FileFault, ServeError};
use super::workspace::Workspace;
use agent_client_protocol::v1::schema as acp;
use cap_fs_ext::OpenOptionsSyncExt as _;
use cap_std::fs::{Dir, Metadata, OpenOptions};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write as _};
use std::path::Path;

/// Reads the lines that a request asks for; `most`: the bound of the text in bytes.
pub(super) fn read_text_file(
    workspace: &Workspace,
    request: &acp::ReadTextFileRequest,
    most: usize,
) -> Result<Value, ServeError> {
    let file = workspace.reach(&request.path, open_to_read)?;
    let first = request.line.unwrap_or(1);
    let text = read_lines(BufReader::new(file), first, request.limit, most);
    Ok(json!({"content": text.map_err(|fault| fault.of(&request.path))?}))
}

/// Makes the file hold what a request says, and nothing else.
pub(super) fn write_text_file(workspace: &Workspace, request: &acp::WriteTextFileRequest) -> Result<Value, ServeError> {
    let file = workspace.reach(&request.path, open_to_write)?;
    replace_text(file, &request.content).map_err(|error| FileFault::Io(error).of(&request.path))?;
    Ok(json!({}))
}

fn open_to_read(directory: &Dir, path: &Path) -> Result<File, FileFault> {
    check_regular(&directory.metadata(path)?)?;
    open_regular(directory, path, OpenOptions::new().read(true))
}

fn open_to_write(directory: &Dir, path: &Path) -> Result<File, FileFault> {
    match directory.metadata(path) {
        Ok(metadata) => check_regular(&metadata)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if let Some(parent) = path.parent() {
                directory.create_dir_all(parent)?;
            }
        }
        Err(error) => return Err(error.into()),
    }
    open_regular(directory, path, OpenOptions::new().write(true).create(true))
}

/// Opens what was found to be a regular file, and may be a pipe by now, which must not make us wait.
fn open_regular(directory: &Dir, path: &Path, options: &mut OpenOptions) -> Result<File, FileFault> {
    let file = directory.open_with(path, options.nonblock(true))?;
    check_regular(&file.metadata()?)?;
    Ok(file.into_std())
}

fn check_regular(metadata: &Metadata) -> Result<(), FileFault> {
    if metadata.is_dir() {
        Err(FileFault::Directory)
    } else if metadata.is_file() {
        Ok(())
    } else {
        Err(FileFault::Special)
    }
}

/// The lines from `first` on, counted from 1, and no more than `limit`. Nothing beyond them is read.
fn read_lines(mut file: impl BufRead, first: u32, limit: Option<u32>, most: usize) -> Result<String, FileFault> {
    for _ in 1..first {
        if file.skip_until(b'\n')? == 0 {
            return Ok(String::new());
        }
    }
    // One byte more than may be shows that it is too long.
    let mut bounded = file.take(most as u64 + 1);
    let mut bytes = Vec::new();
    match limit {
        None => drop(bounded.read_to_end(&mut bytes)?),
        Some(limit) => {
            for _ in 0..limit {
                if bounded.read_until(b'\n', &mut bytes)? == 0 {
                    break;
                }
            }
        }
    }
    if bytes.len() > most {
        return Err(FileFault::TooLong { most });
    }
    String::from_utf8(bytes).map_err(|_| FileFault::NotUtf8)
}

/// In place, so that the file stays the same one; and its old end is cut off last, so that a full disk costs least.
fn replace_text(mut file: File, text: &str) -> io::Result<()> {
    file.write_all(text.as_bytes())?;
    file.set_len(text.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, first: u32, limit: Option<u32>, expect: &str) {
        // A small buffer, so that lines are met in pieces.
        let file = BufReader::with_capacity(2, text.as_bytes());
        let read = read_lines(file, first, limit, 100).expect("it is readable");
        assert_eq!(read, expect, "{text:?} from {first}, at most {limit:?}");
    }

    #[test]
    fn lines_come_with_their_ends() {
        let text = "one\r\ntwo\n\nfour";
        check(text, 1, None, text);
        check(text, 0, None, text);
        check(text, 1, Some(1), "one\r\n");
        check(text, 2, Some(1), "two\n");
        check(text, 2, Some(2), "two\n\n");
        check(text, 4, Some(9), "four");
        check(text, 2, None, "two\n\nfour");
        check(text, 1, Some(0), "");
    }

    #[test]
    fn beyond_the_end_is_no_text() {
        check("one\n", 2, None, "");
        check("one", 2, Some(1), "");
        check("", 1, None, "");
        check("one", u32::MAX, None, "");
    }

    #[test]
    fn no_more_than_the_lines_is_read() {
        let mut file = BufReader::with_capacity(4, &b"one\ntwo\n\xff"[..]);
        assert_eq!(read_lines(&mut file, 2, Some(1), 100).expect("it is text so far"), "two\n");
        assert!(matches!(read_lines(&b"\xff\n"[..], 1, None, 100), Err(FileFault::NotUtf8)));
        assert!(matches!(read_lines(&b"ok\n\xff"[..], 2, None, 100), Err(FileFault::NotUtf8)));
    }

    #[test]
    fn a_text_has_a_bound() {
        let text = "line\n".repeat(4);
        assert_eq!(read_lines(text.as_bytes(), 1, None, 20).expect("it just fits"), text);
        assert!(matches!(read_lines(text.as_bytes(), 1, None, 19), Err(FileFault::TooLong { most: 19 })));
        assert!(matches!(read_lines(text.as_bytes(), 1, Some(4), 19), Err(FileFault::TooLong { most: 19 })));
        assert_eq!(read_lines(text.as_bytes(), 2, Some(2), 10).expect("a part fits"), "line\nline\n");
    }
}

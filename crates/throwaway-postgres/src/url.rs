//! The URL of a database, in the one form that both libpq and the Rust clients read.

use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The URL of a database behind the socket in that folder.
///
/// The port is said, since it names the socket too and a client would otherwise take it from its environment.
pub(crate) fn of_database(folder: &Path, database: &str) -> String {
    let host = encoded(folder.as_os_str().as_bytes(), b"/");
    let database = encoded(database.as_bytes(), b"");
    format!("postgres:///{database}?host={host}&port=5432&user=postgres")
}

/// With everything escaped that is not plain and not among `kept`.
fn encoded(bytes: &[u8], kept: &[u8]) -> String {
    let mut text = String::new();
    for &byte in bytes {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) || kept.contains(&byte) {
            text.push(char::from(byte));
        } else {
            write!(text, "%{byte:02X}").ok();
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_databases() {
        let check = |folder: &str, database: &str, expected: &str| {
            assert_eq!(of_database(Path::new(folder), database), expected);
        };
        check("/tmp/a-1", "postgres", "postgres:///postgres?host=/tmp/a-1&port=5432&user=postgres");
        check("/t m&p", "a/b?ü", "postgres:///a%2Fb%3F%C3%BC?host=/t%20m%26p&port=5432&user=postgres");
    }
}

//! As much of an HTTP client as the benches need: one request, one whole answer.

use crate::command::Failure;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(10);

/// What a server answered.
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// The `NAME=VALUE` of its first cookie.
    pub(crate) cookie: Option<String>,
}

/// Asks for `path` at `authority` (`HOST:PORT`), with a cookie where there is one.
pub(crate) fn get(authority: &str, path: &str, cookie: Option<&str>) -> Result<Answer, Failure> {
    let text = exchange(authority, path, cookie)
        .map_err(|error| Failure::new(format!("GET {path} at {authority} had no answer: {error}.")))?;
    parse(&text).ok_or_else(|| Failure::new(format!("GET {path} at {authority} had an answer that is not HTTP.")))
}

fn exchange(authority: &str, path: &str, cookie: Option<&str>) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(authority)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let cookie = cookie.map(|cookie| format!("Cookie: {cookie}\r\n")).unwrap_or_default();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {authority}\r\n{cookie}Connection: close\r\n\r\n")?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn parse(text: &str) -> Option<Answer> {
    let (head, _body) = text.split_once("\r\n\r\n")?;
    let mut lines = head.lines();
    let status = lines.next()?.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok()?;
    let cookie = lines
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("set-cookie"))
        .and_then(|(_, value)| value.split(';').next())
        .map(|pair| pair.trim().to_owned());
    Some(Answer { status, cookie })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_and_cookie_of_an_answer() {
        let answer = parse("HTTP/1.1 303 See Other\r\nset-cookie: pleat=abc; HttpOnly\r\nlocation: /\r\n\r\n").unwrap();
        assert_eq!((answer.status, answer.cookie.as_deref()), (303, Some("pleat=abc")));
    }

    #[test]
    fn what_is_not_http_is_no_answer() {
        assert!(parse("SSH-2.0-OpenSSH\r\n\r\n").is_none());
        assert!(parse("HTTP/1.1 200 OK").is_none());
    }
}

//! Under which names the server answers: what stands against DNS rebinding.

use std::net::{IpAddr, SocketAddr};

/// The host names of a server.
#[derive(Debug)]
pub(super) struct Hosts {
    listen: SocketAddr,
    names: Vec<String>,
}

const HTTP_PORT: u16 = 80;

impl Hosts {
    pub(super) fn new(listen: SocketAddr, names: Vec<String>) -> Self {
        Self { listen, names }
    }

    /// Whether a `Host` header names us. Only a name can be rebound to another address, an address cannot; so a server
    /// on all addresses answers under any of them, but under no name that it was not given.
    pub(super) fn answers_to(&self, host: &str) -> bool {
        let Some((name, port)) = split_port(host) else { return false };
        port == self.listen.port() && (self.is_address_of_ours(name) || self.is_name_of_ours(name))
    }

    fn is_address_of_ours(&self, name: &str) -> bool {
        let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
        bare.parse::<IpAddr>().is_ok_and(|ip| {
            let listens_here = ip == self.listen.ip() || self.listen.ip().is_unspecified();
            ip.is_loopback() || (listens_here && !ip.is_unspecified())
        })
    }

    fn is_name_of_ours(&self, name: &str) -> bool {
        name.eq_ignore_ascii_case("localhost") || self.names.iter().any(|ours| name.eq_ignore_ascii_case(ours))
    }
}

fn split_port(host: &str) -> Option<(&str, u16)> {
    let name_end = if host.starts_with('[') { host.find(']')? + 1 } else { host.find(':').unwrap_or(host.len()) };
    match &host[name_end..] {
        "" => Some((host, HTTP_PORT)),
        port => Some((&host[..name_end], port.strip_prefix(':')?.parse().ok()?)),
    }
}

/// Whether an `Origin` is that of our own pages under the `Host` that the request names.
pub(super) fn is_own_origin(origin: &str, host: &str) -> bool {
    origin.split_once("://").is_some_and(|(scheme, rest)| {
        // A proxy in front may speak https.
        matches!(scheme, "http" | "https") && rest.eq_ignore_ascii_case(host)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(listen: &str, names: &[&str], answered: &[&str], refused: &[&str]) {
        let hosts = Hosts::new(listen.parse().unwrap(), names.iter().map(ToString::to_string).collect());
        for host in answered {
            assert!(hosts.answers_to(host), "{host}");
        }
        for host in refused {
            assert!(!hosts.answers_to(host), "{host}");
        }
    }

    #[test]
    fn a_loopback_server_answers_under_loopback_names_with_its_port() {
        check(
            "127.0.0.1:7420",
            &[],
            &["127.0.0.1:7420", "localhost:7420", "LOCALHOST:7420", "[::1]:7420"],
            &[
                "127.0.0.1",
                "localhost:80",
                "evil.example:7420",
                "10.0.0.1:7420",
                "localhost.evil.example:7420",
                "",
                "[::1",
                "a:b:c",
            ],
        );
    }

    #[test]
    fn a_server_on_all_addresses_answers_under_addresses_but_no_strange_name() {
        check("0.0.0.0:80", &["box.lan"], &["192.168.1.5", "box.lan", "localhost"], &["evil.example", "0.0.0.0"]);
    }

    #[test]
    fn origins() {
        assert!(is_own_origin("http://localhost:7420", "localhost:7420"));
        for origin in
            ["null", "http://localhost:7421", "http://evil.example", "http://localhost", "file://localhost:7420"]
        {
            assert!(!is_own_origin(origin, "localhost:7420"), "{origin}");
        }
    }
}

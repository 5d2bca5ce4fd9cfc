//! Whom Postgres runs as.

use crate::error::ClusterError;

/// A user of the system.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct User {
    pub(crate) id: u32,
    pub(crate) group: u32,
}

impl User {
    /// Whom to run Postgres as where the process is root: its own user, or else nobody.
    pub(crate) fn unprivileged() -> Result<Self, ClusterError> {
        let passwd = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        named(&passwd, "postgres").or_else(|| named(&passwd, "nobody")).ok_or(ClusterError::NoUnprivilegedUser)
    }
}

/// The user of that name in a file of lines `name:password:id:group:…`.
fn named(passwd: &str, name: &str) -> Option<User> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        if fields.next()? != name {
            return None;
        }
        Some(User { id: fields.nth(1)?.parse().ok()?, group: fields.next()?.parse().ok()? })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_of_a_passwd_file() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\npostgres:x:101:104:,,,:/var/lib/postgresql:/bin/sh\nbroken:x\n";
        assert_eq!(named(passwd, "postgres"), Some(User { id: 101, group: 104 }));
        assert_eq!(named(passwd, "broken"), None);
        assert_eq!(named(passwd, "nobody"), None);
    }
}

//! The password of an address that has none: as PostgreSQL's own programs find it, in PGPASSWORD or in the password file
//! (PGPASSFILE, else `~/.pgpass`).

use pleat_store::maintenance::StoreAddress;
use pleat_store::postgres::Address;
use std::path::{Path, PathBuf};

/// Variables of the environment that open this store, and that agents are not handed. For a file there are none: then
/// they are about other databases.
pub(crate) fn hidden_variables(address: &StoreAddress) -> Vec<String> {
    match address {
        StoreAddress::Sqlite(_) => Vec::new(),
        StoreAddress::Postgres(_) => ["PGPASSWORD", "PGPASSFILE"].map(str::to_owned).to_vec(),
    }
}

/// The address with the password that is kept for it, if there is one.
pub(super) fn found_for(address: Address) -> Address {
    if address.has_password() {
        return address;
    }
    let named = std::env::var("PGPASSWORD").ok().filter(|password| !password.is_empty());
    match named.or_else(|| in_file(&file()?, &address)) {
        Some(password) => address.with_password(&password),
        None => address,
    }
}

fn file() -> Option<PathBuf> {
    match std::env::var_os("PGPASSFILE") {
        Some(file) if !file.is_empty() => Some(file.into()),
        Some(_) | None => std::env::home_dir().map(|home| home.join(".pgpass")),
    }
}

fn in_file(file: &Path, address: &Address) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    if is_open_to_others(file) {
        tracing::warn!(file = %file.display(), "others can read the password file; it is not used (chmod 600)");
        return None;
    }
    let (host, port, database, user) = address.account();
    let wanted = [host, port.to_string(), database, user];
    text.lines().find_map(|line| password_in(line, &wanted))
}

#[cfg(unix)]
fn is_open_to_others(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn is_open_to_others(_: &Path) -> bool {
    false
}

/// The password of a line `host:port:database:user:password` that fits; `*` fits everything, `\` stands before `:`.
fn password_in(line: &str, wanted: &[String; 4]) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            ':' if fields.len() < 5 => fields.push(String::new()),
            '\\' => fields.last_mut()?.extend(characters.next()),
            other => fields.last_mut()?.push(other),
        }
    }
    let password = if fields.len() == 5 { fields.pop() } else { None };
    let fits = fields.iter().zip(wanted).all(|(field, wanted)| field == "*" || field == wanted);
    password.filter(|_| fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Option<&str>) {
        let wanted = ["db.example", "5432", "pleat", "me"].map(str::to_owned);
        assert_eq!(password_in(line, &wanted).as_deref(), expected, "{line}");
    }

    #[test]
    fn the_line_that_fits_has_the_password() {
        check("db.example:5432:pleat:me:secret", Some("secret"));
        check("*:*:*:me:a:b\\:c\\\\", Some("a:b:c\\"));
        check("db.example:5433:*:*:secret", None);
        check("db.example:5432:pleat:me", None);
        check("# db.example:5432:pleat:me:secret", None);
        check("", None);
    }
}

//! The address of a database on a server. Its password never leaves this type.

use crate::StoreError;
use std::fmt;
use tokio_postgres::Config;
use tokio_postgres::config::Host;

/// A `postgres://` address.
#[derive(Clone)]
pub struct Address {
    config: Box<Config>,
    name: String,
}

impl Address {
    /// Reads an address: `postgres://user:password@host:port/database`, or any other form that PostgreSQL's own
    /// programs take. The error does not repeat it.
    pub fn parse(address: &str) -> Result<Self, StoreError> {
        let mut config: Config = address.parse().map_err(|_| StoreError::NoAddress)?;
        // The end of a password with an `@` that was not written as `%40`.
        if config.get_hosts().iter().any(|host| matches!(host, Host::Tcp(host) if host.contains('@'))) {
            return Err(StoreError::NoAddress);
        }
        if config.get_application_name().is_none() {
            config.application_name("pleat");
        }
        let name = name(&config);
        Ok(Self { config: Box::new(config), name })
    }

    /// The address without user and password, as errors and logs may show it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it holds a password.
    pub fn has_password(&self) -> bool {
        self.config.get_password().is_some()
    }

    /// The same with a password.
    #[must_use]
    pub fn with_password(mut self, password: &str) -> Self {
        self.config.password(password);
        self
    }

    /// Whose password it wants: the first host (`localhost` for a socket), its port, the database and the user.
    pub fn account(&self) -> (String, u16, String, String) {
        let host = match self.config.get_hosts().first() {
            Some(Host::Tcp(host)) => host.clone(),
            #[cfg(unix)]
            Some(Host::Unix(_)) => "localhost".to_owned(),
            None => self.config.get_hostaddrs().first().map_or_else(|| "localhost".to_owned(), ToString::to_string),
        };
        let port = self.config.get_ports().first().copied().unwrap_or(5432);
        let user = self.config.get_user().unwrap_or_default();
        let database = self.config.get_dbname().unwrap_or(user);
        (host, port, database.to_owned(), user.to_owned())
    }

    pub(super) fn config(&self) -> &Config {
        &self.config
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

fn name(config: &Config) -> String {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        #[cfg(unix)]
        Some(Host::Unix(folder)) => folder.display().to_string(),
        None => config.get_hostaddrs().first().map_or_else(|| "localhost".to_owned(), ToString::to_string),
    };
    let port = config.get_ports().first().filter(|port| **port != 5432).map(|port| format!(":{port}"));
    let database = config.get_dbname().or(config.get_user()).unwrap_or_default();
    format!("postgres://{host}{}/{database}", port.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_is_never_told() {
        let address = Address::parse("postgres://me:s3cret@db.example:6000/pleat?sslmode=prefer").unwrap();
        assert_eq!(address.name(), "postgres://db.example:6000/pleat");
        assert_eq!(format!("{address:?}"), "postgres://db.example:6000/pleat");
        let error = Address::parse("postgres://me:s3cret@db.example:port/pleat").unwrap_err();
        assert_eq!(error, StoreError::NoAddress);
        assert!(!format!("{error} {error:?}").contains("s3cret"));
        assert_eq!(Address::parse("postgres://me:pass@word@db.example/pleat").unwrap_err(), StoreError::NoAddress);
    }

    #[test]
    fn sockets_are_named_by_their_folder() {
        let address = Address::parse("postgres:///pleat?host=/run/postgresql&user=me").unwrap();
        assert_eq!(address.name(), "postgres:///run/postgresql/pleat");
    }
}

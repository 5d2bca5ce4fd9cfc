//! The folder that everything is kept in.

use crate::failure::Failure;
use etcetera::{AppStrategy, AppStrategyArgs, choose_app_strategy};
use pleat_web::AccessToken;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

const DATABASE: &str = "pleat.db";
const TOKEN: &str = "access-token";
const WIRE: &str = "wire";

/// The folder that everything is kept in.
pub(crate) struct DataFolder {
    path: PathBuf,
}

impl DataFolder {
    /// The folder that was asked for, or the user's data folder; made where it is missing.
    pub(crate) fn open(asked: Option<&Path>) -> Result<Self, Failure> {
        let path = match asked {
            Some(path) => path.to_owned(),
            None => user_folders()?.data_dir(),
        };
        fs::create_dir_all(&path).map_err(|error| {
            let sentence =
                format!("the data folder `{}` cannot be made: {error}; choose another with --data", path.display());
            Failure::configuration(sentence)
        })?;
        Ok(Self { path })
    }

    /// The database in it.
    pub(crate) fn database(&self) -> PathBuf {
        self.path.join(DATABASE)
    }

    /// Where the raw traffic of sessions is kept in it.
    pub(crate) fn wire(&self) -> PathBuf {
        self.path.join(WIRE)
    }

    /// The secret that lets browsers in, kept so that a page goes on after a restart; made where it is missing.
    pub(crate) fn access_token(&self) -> Result<AccessToken, Failure> {
        let path = self.path.join(TOKEN);
        let kept = || fs::read_to_string(&path).ok().and_then(|text| AccessToken::parse(&text).ok());
        if let Some(token) = kept() {
            return Ok(token);
        }
        let token = AccessToken::generate().map_err(Failure::internal)?;
        // Servers that share a database may start at once: the first one's token is everyone's.
        let draft = self.path.join(format!("{TOKEN}.{}", std::process::id()));
        let put = || {
            write_secret(&draft, token.as_str())?;
            match fs::hard_link(&draft, &path) {
                // What is there is no token, or the file system has no links.
                Err(_) if kept().is_none() => fs::rename(&draft, &path),
                Ok(()) | Err(_) => fs::remove_file(&draft),
            }
        };
        put().map_err(|error| self.unwritable(&error))?;
        Ok(kept().unwrap_or(token))
    }

    fn unwritable(&self, error: &std::io::Error) -> Failure {
        let path = self.path.display();
        Failure::configuration(format!(
            "the data folder `{path}` cannot be written: {error}; choose another with --data"
        ))
    }
}

/// Where the user's programs keep their things.
pub(crate) fn user_folders() -> Result<impl AppStrategy, Failure> {
    let names =
        AppStrategyArgs { top_level_domain: String::new(), author: String::new(), app_name: "pleat".to_owned() };
    choose_app_strategy(names).map_err(|error| {
        Failure::configuration(format!("the home folder is not known ({error}); name the data folder with --data"))
    })
}

#[cfg(unix)]
fn write_secret(path: &Path, secret: &str) -> std::io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut file = fs::OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(path)?;
    file.write_all(secret.as_bytes())
}

#[cfg(not(unix))]
fn write_secret(path: &Path, secret: &str) -> std::io::Result<()> {
    fs::File::create(path)?.write_all(secret.as_bytes())
}

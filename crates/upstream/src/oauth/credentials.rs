//! What a login gave us, and where it is kept.

use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use http::HeaderValue;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::registration::Client;

/// What a login at an authorization server gave us, for one server. None of it is ever printed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credentials {
    /// The server that the token goes to, and no other.
    pub(crate) server: String,
    /// The authorization server that it is from.
    pub(crate) issuer: String,
    /// Who we are there.
    pub(crate) client: Client,
    pub(crate) access_token: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) refresh_token: Option<String>,
    /// What was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) scope: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) expires_at: Option<Timestamp>,
    /// How long it was good for when it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) life_seconds: Option<u64>,
}

/// A token is renewed this long before it expires, or when a quarter of its life is left.
const MARGIN: Duration = Duration::from_secs(20);

impl Credentials {
    pub(crate) fn is_fresh(&self) -> bool {
        let quarter = self.life_seconds.map_or(MARGIN, |life| Duration::from_secs(life) / 4);
        self.expires_at.is_none_or(|at| Timestamp::now() + MARGIN.min(quarter) < at)
    }

    pub(crate) fn bearer(&self) -> Option<HeaderValue> {
        let mut bearer = HeaderValue::try_from(format!("Bearer {}", self.access_token)).ok()?;
        bearer.set_sensitive(true);
        Some(bearer)
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("issuer", &self.issuer).finish_non_exhaustive()
    }
}

/// Keeps what logins gave, so that they outlive the process. May block.
pub trait TokenStore: fmt::Debug + Send + Sync {
    /// What is kept for a server.
    fn load(&self, server: &str) -> io::Result<Option<Credentials>>;
    /// Keeps it, instead of what was kept before.
    fn save(&self, server: &str, credentials: &Credentials) -> io::Result<()>;
    /// Keeps it no longer.
    fn remove(&self, server: &str) -> io::Result<()>;
    /// Waits for the turn to see to a server's token, where several processes share what is kept. `None` where this
    /// process has it alone. The turn lasts until it is dropped.
    fn turn(&self, _server: &str) -> io::Result<Option<TokenTurn>> {
        Ok(None)
    }
}

/// The turn to see to a token: nobody else renews, replaces or removes it meanwhile.
pub type TokenTurn = Box<dyn Send>;

/// A folder that only its owner can read, with a file for each server.
#[derive(Debug)]
pub struct TokenFolder(PathBuf);

impl TokenFolder {
    /// The folder is made when the first token is kept.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    fn file(&self, server: &str) -> io::Result<PathBuf> {
        // Names of servers are checked when mcp.json is read; a path must not hang on that.
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if server.starts_with('.') || server.is_empty() || !server.chars().all(plain) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Ok(self.0.join(format!("{server}.json")))
    }
}

impl TokenStore for TokenFolder {
    fn load(&self, server: &str) -> io::Result<Option<Credentials>> {
        match fs::read(self.file(server)?) {
            Ok(text) => Ok(Some(serde_json::from_slice(&text)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn save(&self, server: &str, credentials: &Credentials) -> io::Result<()> {
        let file = self.file(server)?;
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.0)?;
        let aside = file.with_extension("json.new");
        // What a crash left behind may have another mode.
        let _ = fs::remove_file(&aside);
        let mut written = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&aside)?;
        written.write_all(&serde_json::to_vec_pretty(credentials)?)?;
        written.sync_all()?;
        fs::rename(&aside, &file)?;
        sync_folder(&self.0)
    }

    fn remove(&self, server: &str) -> io::Result<()> {
        match fs::remove_file(self.file(server)?) {
            Ok(()) => sync_folder(&self.0),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    fs::File::open(folder)?.sync_all()
}

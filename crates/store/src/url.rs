//! Where the database is: a SQLite file or a PostgreSQL server. Never shows a password.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use postgres::config::{Host, SslMode};

use crate::StoreError;
use crate::engine::postgres::tls::driver_mode;
use crate::tls::{Tls, options};

/// A parsed database URL: `sqlite:PATH`, a plain path, or `postgres://…`.
#[derive(Clone)]
pub struct DatabaseUrl(pub(crate) Target);

#[derive(Clone)]
pub(crate) enum Target {
    Sqlite(PathBuf),
    Postgres(Box<PostgresServer>),
}

/// A PostgreSQL server and the way to it.
#[derive(Clone)]
pub(crate) struct PostgresServer {
    pub config: postgres::Config,
    pub tls: Tls,
}

impl DatabaseUrl {
    /// The SQLite database in this file.
    pub fn sqlite(path: impl Into<PathBuf>) -> Self {
        Self(Target::Sqlite(path.into()))
    }

    /// The file, if this is a SQLite database.
    pub fn sqlite_path(&self) -> Option<&Path> {
        match &self.0 {
            Target::Sqlite(path) => Some(path),
            Target::Postgres(_) => None,
        }
    }
}

impl FromStr for DatabaseUrl {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        let bad = |reason| Err(StoreError::BadUrl { reason });
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return postgres_server(text).map(|server| Self(Target::Postgres(Box::new(server))));
        }
        let path = match text.strip_prefix("sqlite:") {
            Some(rest) => rest.strip_prefix("//").unwrap_or(rest),
            None if text.contains("://") => return bad("it must start with sqlite: or postgres://"),
            None => text,
        };
        match path {
            "" => bad("it names no file"),
            ":memory:" => bad("a database in memory is not supported; name a file"),
            path if path.contains('\0') => bad("the path has U+0000"),
            path => Ok(Self::sqlite(path)),
        }
    }
}

/// The parser's own message is dropped: with a malformed URL it can quote a piece of the password.
fn postgres_server(text: &str) -> Result<PostgresServer, StoreError> {
    let (rest, tls) = options::split_off(text, None)?;
    let mut config: postgres::Config = rest.parse().map_err(|_| StoreError::BadUrl {
        reason: "expected postgres://user:password@host:port/database, special characters percent-encoded",
    })?;
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(Duration::from_secs(2));
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(Duration::from_secs(10));
    }
    if config.get_application_name().is_none() {
        config.application_name("toolroom");
    }
    // A socket in the file system is not encrypted, whatever the mode says; psql has it so, too.
    let is_local = config.get_hosts().iter().all(|host| matches!(host, Host::Unix(_)));
    config.ssl_mode(if is_local { SslMode::Disable } else { driver_mode(&tls) });
    Ok(PostgresServer { config, tls })
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let config = match &self.0 {
            Target::Sqlite(path) => return write!(f, "sqlite:{}", path.display()),
            Target::Postgres(server) => &server.config,
        };
        f.write_str("postgres://")?;
        match config.get_hosts().first() {
            Some(Host::Tcp(host)) => f.write_str(host)?,
            Some(Host::Unix(path)) => write!(f, "{}", path.display())?,
            None => f.write_str("localhost")?,
        }
        if let Some(port) = config.get_ports().first() {
            write!(f, ":{port}")?;
        }
        write!(f, "/{}", config.get_dbname().unwrap_or_default())
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
